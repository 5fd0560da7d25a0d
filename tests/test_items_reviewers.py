"""Figures about a panel: known values, known failures, and what nothing can be said about."""

import math

import pytest

from items.agreement import agreement
from items.reviewers import chao, matrix, own_item_lift, rate, remaining, rogan_gladen

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C: 4 coders, 12 units, nominal.
CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def units(coders):
    return [[value and str(value) for value in unit] for unit in zip(*coders, strict=True)]


def test_alpha_is_the_published_example():
    found = agreement(units(CODERS), resamples=200)
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert found.items == 11  # the twelfth unit has one rating


def test_ac1_of_the_published_example():
    """The same data in Gwet's Handbook of Inter-Rater Reliability give AC1 = 0.77544."""
    assert agreement(units(CODERS), resamples=200).ac1.value == pytest.approx(0.77544, abs=5e-5)


def test_high_raw_agreement_can_be_low_alpha_and_high_ac1():
    items = [["approve"] * 2] * 86 + [["revise"] * 2] * 3 + [["approve", "revise"]] * 10
    found = agreement(items, resamples=200)
    assert found.raw.value == pytest.approx(0.899, abs=1e-3)
    assert found.alpha.value < 0.35
    assert found.ac1.value > 0.85


def test_intervals_hold_the_value_and_are_the_same_each_time():
    items = [["a", "a", "a"], ["a", "a", "b"], ["b", "b", "b"]] * 20
    first, second = agreement(items), agreement(items)
    assert first == second
    for one in (first.raw, first.ac1, first.alpha):
        assert one.low < one.value < one.high


def test_one_rating_an_item_says_nothing():
    assert math.isnan(agreement([["a", None]]).raw.value)
    assert agreement([]).items == 0


def test_unanimity_is_no_evidence_for_alpha():
    found = agreement([["approve"] * 3] * 10)
    assert (found.raw.value, found.ac1.value) == (1.0, 1.0)
    assert math.isnan(found.alpha.value)


def test_29_of_29_seeded_errors_show_a_sensitivity_of_nine_tenths():
    """FACTS §6, one-sided at 95%: the lower end of the two-sided interval is a little lower."""
    assert round(0.05 ** (1 / 29), 2) == 0.90
    assert rate(29, 29).low == pytest.approx(0.025 ** (1 / 29), abs=1e-9)
    assert (rate(0, 5).low, rate(5, 5).high) == (0.0, 1.0)


def test_rogan_gladen_undoes_known_error_rates():
    flagged = [True] * 26 + [False] * 74  # 0.2 * 0.9 + 0.8 * 0.1
    found = rogan_gladen(flagged, [True] * 90 + [False] * 10, [True] * 90 + [False] * 10)
    assert found.value == pytest.approx(0.2)
    assert found.low < 0.2 < found.high


def test_a_panel_that_tells_nothing_gives_no_estimate():
    found = rogan_gladen([True, False], [True, False], [True, False])
    assert math.isnan(found.value)


def test_what_remains_follows_from_bayes():
    assert remaining(0.2, 0.9, 0.26) == pytest.approx(0.02 / 0.74)


def test_chao_adds_what_single_sightings_suggest():
    flags = [[True, False, False]] * 4 + [[True, True, False]] * 2 + [[True] * 3] * 5
    assert chao(flags) == pytest.approx(11 + 2 / 3 * 4 * 3 / (2 * 3))
    assert chao([]) == 0


def test_chao_is_a_lower_bound_that_hidden_errors_escape():
    """20 of 60 errors that nobody sees do not move it."""
    assert chao([[True] * 3] * 40) == 40


def reviews(own, others, count=100):
    names = ("a", "b", "c")
    authors = [names[item % 3] for item in range(count)]
    said = [
        {who: (item % 20) < 20 * (own if who == author else others) for who in names}
        for item, author in enumerate(authors)
    ]
    return said, authors


def test_a_reviewer_who_favours_its_own_is_seen():
    found = own_item_lift(*reviews(0.95, 0.85))
    assert found.lift.value == pytest.approx(0.10)
    assert found.p < 0.05


def test_a_strict_panel_without_favours_is_not():
    assert own_item_lift(*reviews(0.85, 0.85)).p > 0.05


def test_items_that_their_author_did_not_review_say_nothing():
    assert own_item_lift([{"b": True, "c": False}], ["a"]).items == 0


def test_the_matrix_counts_author_by_reviewer():
    said, authors = reviews(0.95, 0.85, 60)
    assert matrix(said, authors)["a", "a"].of == 20
    assert matrix(said, authors)["a", "a"].value > matrix(said, authors)["a", "b"].value
