"""The SOP check: each figure, and a verdict that is pass, fail or incomplete."""

import pytest

from eval.exam import Scored
from eval.score import Run
from eval.sop import sop, worst
from tests.test_eval_compare import EXAM, run

PRIORS = {"bo": "prior"}


def check(*runs: Run):
    return sop(EXAM, runs, "strong", "weak", priors=PRIORS)


def point(found, name):
    return [(p.verdict, p.said) for p in found.tiers[0].points if p.name == name]


def renamed(model: str, of: Run, outcome: str, share: float) -> Run:
    """The run with the last part of its instances at another outcome."""
    cut = round(len(of.scored) * (1 - share))
    rows = [row if n < cut else Scored(row.instance, outcome) for n, row in enumerate(of.scored)]
    return Run(model, {}, tuple(rows))


def test_a_task_with_headroom_and_a_clear_order_passes():
    found = check(run("strong", 30), run("weak", 12), run("prior", 0))
    assert found.verdict == "pass"
    (headroom,) = [p.figure for p in found.tiers[0].points if p.name == "headroom"]
    assert headroom.value == pytest.approx(0.25)
    assert headroom.low < 0.25 < headroom.high


def test_a_saturated_task_fails():
    """H = (1 - 39/40) / 1 = 0.025 is below 0.05."""
    found = check(run("strong", 39), run("weak", 12), run("prior", 0))
    assert point(found, "headroom")[0][0] == "fail"
    assert found.verdict == "fail"


def test_a_strong_model_that_cannot_be_told_from_the_weak_one_fails():
    found = check(run("strong", 20), run("weak", 19), run("prior", 0))
    assert point(found, "strong above weak")[0][0] == "fail"


def test_more_than_a_tenth_of_format_failures_fails_and_cut_off_answers_do_not():
    fine = run("strong", 30)
    for outcome, verdict in (("no_sql", "fail"), ("cut_off", "pass")):
        found = check(fine, renamed("weak", run("weak", 12), outcome, 0.2), run("prior", 0))
        assert point(found, "format failures")[1][0] == verdict


def test_a_tenth_of_open_instances_leaves_the_check_incomplete():
    found = check(
        run("strong", 30), renamed("weak", run("weak", 12), "api_error", 0.1), run("prior", 0)
    )
    assert found.verdict == "incomplete"


def test_open_instances_count_as_wrong():
    """The SOP check uses the lower bound: 5% open leaves the strong run at 36 of 40."""
    found = check(
        renamed("strong", run("strong", 38), "api_error", 0.05), run("weak", 12), run("prior", 0)
    )
    (headroom,) = [p.figure for p in found.tiers[0].points if p.name == "headroom"]
    assert headroom.value == pytest.approx(2 / 40)


def test_a_missing_run_leaves_the_check_incomplete():
    found = check(run("strong", 30), run("weak", 12))
    assert point(found, "runs") == [("incomplete", "no run of prior")]
    assert found.verdict == "incomplete"


def test_fail_beats_incomplete():
    assert worst(["pass", "incomplete", "fail"]) == "fail"
    assert worst(["pass", "incomplete"]) == "incomplete"
    assert worst([]) == "incomplete"
