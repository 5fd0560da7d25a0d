"""The SOP check: is the frozen task fit to rank models? (S1-019 to S1-029; `benchtoward sop`)

Per tier, on its headline metric (RS(0) with abstention, EX without):

    headroom         H of the strong model against the prior is at least 0.05 (S1-027)
    strong > weak    the paired interval of strong minus weak lies above 0. The source names a strong and a
                     weak model and no rule: this one is ours (S1-028)
    format failures  at most 10% of any run's answers hold neither SQL nor ABSTAIN; cut-off answers are
                     model failures and do not count (S1-023, S1-024); baselines are exempt
    API errors       under 10% of any run's instances; 10% or more leaves the check incomplete (S1-025)

Open instances count as wrong (Agreements 7: the lower bound). A run that is missing leaves the check
incomplete. The tier that ranks decides; the other is reported the same way (S1-026).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eval.baselines import CONSTANT_QUERY, PRIOR
from eval.compare import measure_of
from eval.exam import Exam, Measure, Scored
from eval.headroom import LEAST, headroom
from eval.score import Run
from eval.statistics import Figure, difference

Verdict = Literal["pass", "fail", "incomplete"]
MOST_FORMAT_FAILURES = 0.10
MOST_API_ERRORS = 0.10
PRIORS = {"rs": PRIOR, "ex": CONSTANT_QUERY}  # S1-018, where the spec names no other


@dataclass(frozen=True)
class Point:
    """One question of the check, its figure, and the verdict on it."""

    name: str
    verdict: Verdict
    said: str
    figure: Figure | None = None


@dataclass(frozen=True)
class TierCheck:
    """The check of one tier on one metric."""

    tier: str
    metric: str
    decides: bool
    points: tuple[Point, ...]

    @property
    def verdict(self) -> Verdict:
        """Fail beats incomplete, incomplete beats pass."""
        return worst([point.verdict for point in self.points])


@dataclass(frozen=True)
class Sop:
    """The whole check; its verdict is that of the tier that decides."""

    task: str
    strong: str
    weak: str
    tiers: tuple[TierCheck, ...]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the deciding tier."""
        return worst([tier.verdict for tier in self.tiers if tier.decides])


def sop(
    exam: Exam, runs: Sequence[Run], strong: str, weak: str, *, priors: Mapping[str, str] = PRIORS
) -> Sop:
    """Return the SOP check of a task from its runs.

    priors: metric family (`rs`, `ex`) -> baseline.
    """
    have = {run.model: run for run in runs}
    tiers = dict.fromkeys(instance.tier for instance in exam.instances())
    named = {tier: _metric(exam, tier) for tier in tiers}
    deciding = next((tier for tier, metric in named.items() if metric == exam.primary), None)
    checks = [
        TierCheck(
            tier,
            metric,
            tier == deciding,
            tuple(_points(exam, have, tier, metric, strong, weak, priors)),
        )
        for tier, metric in named.items()
    ]
    return Sop(exam.task, strong, weak, tuple(sorted(checks, key=lambda check: not check.decides)))


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the worst of several verdicts; none at all is incomplete."""
    for verdict in ("fail", "incomplete"):
        if verdict in verdicts:
            return verdict
    return "pass" if verdicts else "incomplete"


def _metric(exam: Exam, tier: str) -> str:
    """Return what a tier is headed by: the task's primary metric where it has that, else its first."""
    rows = [exam.assume(instance, right=False) for instance in exam.instances()]
    names = [measure.name for measure in exam.measures(rows) if measure.tier == tier]
    return exam.primary if exam.primary in names else names[0]


def _points(
    exam: Exam,
    have: Mapping[str, Run],
    tier: str,
    metric: str,
    strong: str,
    weak: str,
    priors: Mapping[str, str],
) -> list[Point]:
    prior = priors.get(metric[:2], PRIOR)
    missing = [model for model in (strong, weak, prior) if model not in have]
    points = [Point("runs", "incomplete", f"no run of {', '.join(missing)}")] if missing else []
    of = {m: _lower(exam, have[m], tier, metric) for m in (strong, weak, prior) if m in have}
    if strong in of and prior in of:
        points.append(_headroom(of[strong], of[prior], strong, prior))
    if strong in of and weak in of:
        points.append(_above(of[strong], of[weak]))
    for model in dict.fromkeys((strong, weak)):
        if model in have and not have[model].header.get("baseline"):
            rows = [row for row in have[model].scored if row.instance.tier == tier]
            points += [_format(model, rows), _api(model, rows)]
    return points


def _headroom(strong: Measure, prior: Measure, model: str, baseline: str) -> Point:
    found = headroom(strong, prior)
    if found.value is None:
        return Point("headroom", "incomplete", f"{baseline} leaves nothing open", found)
    verdict: Verdict = "pass" if found.value >= LEAST else "fail"
    return Point(
        "headroom", verdict, f"{model} against {baseline}; at least {LEAST} is asked", found
    )


def _above(strong: Measure, weak: Measure) -> Point:
    found = difference(strong, weak)
    above = found.low is not None and found.low > 0
    return Point(
        "strong above weak",
        "pass" if above else "fail",
        "paired difference; its interval must lie above 0 (our rule)",
        found,
    )


def _format(model: str, rows: Sequence[Scored]) -> Point:
    share = sum(row.outcome == "no_sql" for row in rows) / len(rows)
    verdict: Verdict = "pass" if share <= MOST_FORMAT_FAILURES else "fail"
    return Point(
        "format failures", verdict, f"{model}; at most {MOST_FORMAT_FAILURES:.0%}", Figure(share)
    )


def _api(model: str, rows: Sequence[Scored]) -> Point:
    share = sum(row.open for row in rows) / len(rows)
    verdict: Verdict = "pass" if share < MOST_API_ERRORS else "incomplete"
    return Point("API errors", verdict, f"{model}; under {MOST_API_ERRORS:.0%}", Figure(share))


def _lower(exam: Exam, run: Run, tier: str, metric: str) -> Measure:
    closed = [exam.assume(row.instance, right=False) if row.open else row for row in run.scored]
    return measure_of(exam.measures(closed), tier, metric)
