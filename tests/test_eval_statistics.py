"""Intervals and comparisons are exact where they can be, and agree with a plain restatement."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from eval import statistics
from eval.exam import Measure
from eval.headroom import headroom
from eval.statistics import (
    Figure,
    difference,
    figures,
    holm,
    mcnemar,
    resample_counts,
    sign_flip,
    smallest_difference,
    tie_groups,
)


def measure(tops, bottoms=None, name="ex", tier="hard"):
    bottoms = [2.0] * len(tops) if bottoms is None else bottoms
    return Measure(name, tier, tuple(map(float, tops)), tuple(map(float, bottoms)))


def figure(one):
    return figures([[one]])[0][(one.tier, one.name)]


def looped(tops, bottoms):
    """The bootstrap said plainly: draw questions, add, divide."""
    chance = np.random.default_rng(0)
    index = chance.integers(0, len(tops), (2000, len(tops)))
    ratios, dropped = [], 0
    for drawn in index:
        top, bottom = sum(tops[q] for q in drawn), sum(bottoms[q] for q in drawn)
        if bottom:
            ratios.append(top / bottom)
        else:
            dropped += 1
    return np.percentile(ratios, [2.5, 97.5]).tolist(), dropped


TOPS = [2, 1, 0, 2, 2, 1, 0, 0, 2, 1, 1]


def test_the_matrix_product_is_the_loop():
    (low, high), dropped = looped(TOPS, [2] * len(TOPS))
    assert figure(measure(TOPS)) == Figure(sum(TOPS) / 22, low, high, dropped)


def test_a_resample_without_a_denominator_is_dropped_and_counted():
    tops, bottoms = [1, 0, 0, 0], [1, 1, 0, 0]
    (low, high), dropped = looped(tops, bottoms)
    assert dropped > 50
    assert figure(measure(tops, bottoms)) == Figure(0.5, low, high, dropped)


def test_a_metric_without_a_denominator_has_no_value():
    assert figure(measure([0, 0], [0, 0])) == Figure(None)


def test_the_resamples_are_those_of_numpys_default_generator():
    """S1-108: one index matrix a tier."""
    index = np.random.default_rng(0).integers(0, 7, (2000, 7))
    counts = np.array([[list(row).count(q) for q in range(7)] for row in index])
    assert np.array_equal(resample_counts(7), counts)


def test_a_small_case_agrees_with_every_resample_there_is():
    """4 questions have 256 resamples: the interval of 2,000 draws lies where that of all 256 does."""
    tops = [2, 1, 0, 2]
    exact = sorted(sum(r) / 8 for r in itertools.product(tops, repeat=4))
    counts = resample_counts(4)
    drawn = counts @ np.array(tops) / 8
    for value in sorted(set(exact)):  # the whole distribution, within 4 standard errors of a share
        share = sum(e <= value for e in exact) / 256
        seen = float((drawn <= value + 1e-12).mean())
        assert abs(seen - share) < 4 * (share * (1 - share) / 2000) ** 0.5 + 1e-12
    low, high = np.percentile(exact, [2.5, 97.5])
    found = figure(measure(tops))
    assert abs(found.low - low) <= 1 / 8
    assert abs(found.high - high) <= 1 / 8


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_two_languages_move_together(tops, chance):
    """S1-107: splitting a question's two instances into clusters of their own gives another interval."""
    one = figure(measure(tops))
    assert one.value == sum(tops) / (2 * len(tops))
    assert one.low <= one.value + 1e-12
    assert one.high >= one.value - 1e-12


def test_languages_that_agree_carry_no_information_of_their_own():
    answered = [1, 0, 1, 1, 0, 1, 0, 0, 1, 1]
    together = figure(measure([2 * a for a in answered]))
    alone = figure(measure(answered, [1] * 10))
    assert (together.low, together.high) == (alone.low, alone.high)


def test_a_difference_rests_on_the_same_resamples():
    a, b = measure(TOPS), measure([0, *TOPS[1:]])
    ours = resample_counts(11) @ (np.array(a.numerators) - np.array(b.numerators)) / 22
    low, high = np.percentile(ours, [2.5, 97.5])
    found = difference(a, b)
    assert found.value == pytest.approx(2 / 22)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_a_run_does_not_differ_from_itself():
    assert difference(measure(TOPS), measure(TOPS)) == Figure(0.0, 0.0, 0.0, 0)


def test_two_metrics_cannot_be_subtracted():
    with pytest.raises(ValueError, match="not one metric"):
        difference(measure(TOPS), measure(TOPS, name="rs0"))


def test_measures_of_one_tier_have_the_same_clusters():
    with pytest.raises(ValueError, match="same clusters"):
        figures([[measure(TOPS)], [measure(TOPS[1:])]])


@pytest.mark.parametrize(("a", "b"), [(0, 0), (5, 0), (3, 9), (40, 62), (7, 7)])
def test_mcnemar_is_the_exact_binomial_test(a, b):
    expected = binomtest(a, a + b).pvalue if a + b else 1.0
    assert mcnemar(a, b) == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (5, 0), (3, 9), (40, 62), (7, 7)])
def test_flipping_signs_of_single_instances_is_mcnemar(a, b):
    assert sign_flip([1] * a + [-1] * b + [0] * 30) == pytest.approx(mcnemar(a, b))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=9))
def test_flipping_signs_is_the_share_of_all_sign_patterns(differences):
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    share = Fraction(sum(s >= abs(sum(differences)) for s in sums), len(sums))
    assert sign_flip(differences) == pytest.approx(float(share))


def test_holm_multiplies_by_the_tests_left_and_never_falls():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_tie_group_ends_at_the_first_that_differs_from_its_leader():
    differ = frozenset({frozenset("ac"), frozenset("ad"), frozenset("bd")})
    assert tie_groups("abcd", differ) == (("a", "b"), ("c", "d"))
    assert tie_groups("", frozenset()) == ()


def planned_error(questions, share, *, languages=2, between=None):
    """The standard error to expect of a share of right instances, before any run.

    Two languages of a question correlate by 0.8; between: how two models do, for their difference.
    """
    variance = share * (1 - share) * (1 + (languages - 1) * 0.8) / (questions * languages)
    return (variance if between is None else 2 * variance * (1 - between)) ** 0.5


def test_what_the_sources_tiers_can_tell_apart():
    """S1-109: half-widths of about 0.10, 0.09 and 0.07, and a smallest paired difference of about 0.13."""
    half = [1.96 * planned_error(q, share) for q, share in ((83, 0.6), (101, 0.6), (154, 0.5))]
    assert half == pytest.approx([0.10, 0.09, 0.075], abs=0.006)
    assert 1.96 * planned_error(166, 0.6, languages=1) == pytest.approx(0.074, abs=0.001)
    smallest = smallest_difference(planned_error(83, 0.6, between=0.6))
    assert smallest == pytest.approx(0.13, abs=0.005)


def of_pairs(right, questions=83):
    """A measure with so many right instances of two a question, as pairs first."""
    both, one = divmod(right, 2)
    return measure([2] * both + [1] * one + [0] * (questions - both - one))


def test_headroom_of_the_source():
    """S1-014: 0.404 with prior 0, 0.409 with 2/166; the interval of S1-109."""
    strong = of_pairs(99)
    alone = headroom(strong, of_pairs(0))
    assert alone.value == pytest.approx(0.40361, abs=1e-5)
    assert (alone.low, alone.high) == pytest.approx((0.31, 0.51), abs=0.015)
    assert headroom(strong, of_pairs(2)).value == pytest.approx(0.40854, abs=1e-5)


def test_headroom_of_rs0_uses_the_abstaining_prior():
    """S1-029: H = (1 - RS(0)) / (1 - 36/202), on the same resamples."""
    tops = [2.0] * 60 + [0.0] * 23 + [2.0] * 10 + [0.0] * 8
    strong = measure(tops, name="rs0")
    prior = measure([0.0] * 83 + [2.0] * 18, name="rs0")
    found = headroom(strong, prior)
    assert found.value == pytest.approx((1 - 140 / 202) / (1 - 36 / 202))
    counts = resample_counts(101)
    ours = (202 - counts @ np.array(tops)) / (202 - counts @ np.array(prior.numerators))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(ours, [2.5, 97.5])))


def test_no_headroom_is_told_where_the_prior_is_perfect():
    assert headroom(of_pairs(99), of_pairs(166)) == Figure(None)


def test_the_seed_and_the_number_of_resamples_are_the_sources():
    assert (statistics.RESAMPLES, statistics.SEED) == (2000, 0)
