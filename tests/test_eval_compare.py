"""Two runs side by side: what flipped, and whether the difference can be defended."""

import pytest

from eval.compare import flips, groups, pair, pairs
from eval.exam import Scored
from eval.leaderboard import board
from eval.score import Run
from tests.toy import Toy


class Long(Toy):
    """Forty questions, so that a difference can be told."""

    def instances(self):
        first = super().instances()[0]
        return tuple(
            type(first)(f"toy/q{n:02}-{lang}", f"q{n:02}", "toy", labels={"language": lang})
            for n in range(40)
            for lang in ("en", "ko")
        )


EXAM = Long()


def run(model: str, right: int) -> Run:
    """A run that has the first `right` questions right in both languages."""
    rows = [Scored(i, "right" if int(i.cluster[1:]) < right else "wrong") for i in EXAM.instances()]
    return Run(model, {}, tuple(rows))


def test_a_flip_is_an_instance_that_is_right_in_one_run_only():
    found = flips(run("a", 12), run("b", 10))
    assert [flip.instance for flip in found] == [
        "toy/q10-en",
        "toy/q10-ko",
        "toy/q11-en",
        "toy/q11-ko",
    ]
    assert {flip.a.outcome for flip in found} == {"right"}


def test_a_difference_rests_on_the_same_resamples_and_counts_questions_once():
    found = pair(EXAM, run("a", 16), run("b", 10), "toy", "both_right")
    assert found.difference.value == pytest.approx(6 / 40)
    assert found.difference.low > 0
    assert found.sign_flip == 2 / 2**6  # six questions, not twelve instances
    assert found.mcnemar == 2 / 2**12


def test_p_values_are_adjusted_over_the_table():
    found = pairs(EXAM, [run("a", 16), run("b", 10), run("c", 9)], "toy", "both_right")
    assert [(p.a, p.b, p.adjusted) for p in found] == [
        ("a", "b", 2 * 2 / 2**6),
        ("a", "c", 3 * 2 / 2**7),
        ("b", "c", 1.0),
    ]
    assert [p.told_apart for p in found] == [False, True, False]


def test_models_that_cannot_be_told_apart_stand_in_one_group():
    runs = [run("a", 30), run("b", 10), run("c", 9)]
    compared = pairs(EXAM, runs, "toy", "both_right")
    assert groups(["a", "b", "c"], compared) == (("a",), ("b", "c"))
    shown = board(EXAM, runs)
    assert shown.groups == (("a",), ("b", "c"))
    assert 0.1 < shown.smallest < 0.5


def test_a_run_compared_with_itself_differs_nowhere():
    found = pair(EXAM, run("a", 10), run("a", 10), "toy", "both_right")
    assert (found.difference.value, found.difference.low, found.difference.high) == (0.0, 0.0, 0.0)
    assert (found.sign_flip, found.mcnemar) == (1.0, 1.0)


def test_an_unknown_metric_is_told_what_there_is():
    with pytest.raises(KeyError, match="toy/both_right"):
        pair(EXAM, run("a", 1), run("b", 2), "toy", "rs0")
