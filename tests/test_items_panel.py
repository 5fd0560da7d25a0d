"""What a record says of its panel."""

from dataclasses import replace

import pytest

from cli.panel import _lines, _plain
from items.panel import panel
from items.records import content_event, verdict_event
from registry.canonical import canonical
from registry.events import Event
from tests.test_items_questions import ITEM

NAMES = ("a/m-1b", "b/m-2b", "c/m-3b")
ITEMS = [replace(ITEM, id=f"hard-{n:03}", question_en=f"How many? {n}") for n in range(1, 13)]


def said(item, seat, verdict="approve", **body):
    body = {"seat": seat, "round": 1, "verdict": verdict, "valid": True, "issues": []} | body
    return verdict_event(item, NAMES[seat - 1], **body)


def trial(number, seat, verdict, error="date"):
    body = {
        "seat": seat,
        "verdict": verdict,
        "valid": True,
        "error": error,
        "trial_sha256": str(number),
    }
    return Event("trial", NAMES[seat - 1], body)


@pytest.fixture
def events():
    """12 items by three authors; seat 2 objects to the first two; the first is fixed, the second answered."""
    drafts = [content_event("draft", item, NAMES[n % 3]) for n, item in enumerate(ITEMS)]
    verdicts = [
        said(item, seat, "revise" if seat == 2 and n < 2 else "approve")
        for n, item in enumerate(ITEMS)
        for seat in (1, 2, 3)
    ]
    fixed = replace(ITEMS[0], question_en="How many patients? 1")
    after = [content_event("fix", fixed, NAMES[0], reason="clearer")]
    after += [said(fixed, seat, round=2) for seat in (1, 2, 3)]
    after += [said(ITEMS[1], 2, round=2)]
    retests = [said(ITEMS[2], 1, repeat=1), said(ITEMS[3], 1, "revise", repeat=1)]
    trials = [
        trial(n, seat, "reject" if seat == 2 or n < 3 else "approve")
        for n in range(4)
        for seat in (1, 2, 3)
    ]
    return [*drafts, *verdicts, *after, *retests, *trials]


def test_first_looks_are_counted_and_later_rounds_are_not(events):
    found = panel(events)
    assert (found.items, found.agreement.items) == (12, 12)
    assert found.agreement.raw.value == pytest.approx((10 * 3 + 2 * 1) / 36)


def test_trials_give_the_sensitivity_of_each_reviewer_and_of_the_panel(events):
    found = panel(events)
    assert [(one.sensitivity.hits, one.sensitivity.of) for one in found.reviewers] == [
        (3, 4),
        (4, 4),
        (3, 4),
    ]
    assert (found.sensitivity.hits, found.sensitivity.of) == (4, 4)
    assert found.reviewers[0].by_error["date"].of == 4


def test_an_objection_that_was_answered_without_a_change_was_a_false_alarm(events):
    found = panel(events)
    assert [(one.specificity.hits, one.specificity.of) for one in found.reviewers] == [
        (11, 11),
        (10, 11),
        (11, 11),
    ]


def test_a_retest_is_compared_with_the_first_word(events):
    assert (panel(events).reviewers[0].retest.hits, panel(events).reviewers[0].retest.of) == (1, 2)


def test_an_item_that_was_fixed_is_an_error_that_was_seen(events):
    found = panel(events)
    assert found.seen == 1
    assert found.at_least == 1
    assert 0 <= found.errors.value <= 0.3


def test_one_model_in_two_seats_counts_as_two_seats():
    events = [replace(said(ITEM, seat), by="a/m-1b") for seat in (1, 2, 3)]
    names = [one.name for one in panel(events).reviewers]
    assert names == ["a/m-1b", "a/m-1b (seat 2)", "a/m-1b (seat 3)"]


def test_invalid_verdicts_say_nothing():
    found = panel([said(ITEM, 1), said(ITEM, 2, valid=False)])
    assert [one.name for one in found.reviewers] == [NAMES[0]]


def test_figures_are_shown_to_people_and_to_programs(events):
    found = panel(events)
    assert "caught 3 of 4" in "\n".join(_lines(found))
    assert canonical(_plain(found)).startswith('{"agreement":')
    assert "not measured" in "\n".join(_lines(panel([said(ITEM, 1)])))
    assert canonical(_plain(panel([said(ITEM, 1)])))
