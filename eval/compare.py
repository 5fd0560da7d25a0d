"""Two runs side by side: which instances flipped, where, and whether the difference can be defended.

The unit is the question: its languages move together, in the interval (the paired bootstrap of
Agreements 8) and in the sign-flip test. McNemar's test, which takes every instance for independent, is
shown beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.exam import Exam, Measure, Scored
from eval.score import Run
from eval.statistics import Figure, difference, holm, mcnemar, sign_flip, tie_groups

CERTAIN = 0.05  # family-wise, after Holm


@dataclass(frozen=True)
class Pair:
    """One metric of two runs: a minus b.

    sign_flip, mcnemar: exact two-sided p values; `adjusted` is the first after Holm over the table.
    """

    a: str
    b: str
    tier: str
    metric: str
    difference: Figure
    sign_flip: float
    mcnemar: float
    adjusted: float = 1.0

    @property
    def told_apart(self) -> bool:
        """Tell whether the data can tell the two apart."""
        return self.adjusted <= CERTAIN


@dataclass(frozen=True)
class Flip:
    """An instance whose score is not the same in two runs."""

    instance: str
    labels: dict[str, str]
    a: Scored
    b: Scored


def pair(exam: Exam, a: Run, b: Run, tier: str, metric: str) -> Pair:
    """Return one metric of two complete runs compared. Raises: KeyError for a metric there is not."""
    ours, theirs = (measure_of(exam.measures(run.scored), tier, metric) for run in (a, b))
    gaps = [x - y for x, y in zip(ours.numerators, theirs.numerators, strict=True)]
    only_a, only_b = _one_sided(exam, a, b, tier)
    return Pair(
        a.model,
        b.model,
        tier,
        metric,
        difference(ours, theirs),
        sign_flip(gaps),
        mcnemar(only_a, only_b),
    )


def pairs(exam: Exam, runs: Sequence[Run], tier: str, metric: str) -> list[Pair]:
    """Return every pair of complete runs compared, the p values adjusted by Holm over all of them."""
    found = [pair(exam, a, b, tier, metric) for a, b in combinations(runs, 2)]
    adjusted = holm([one.sign_flip for one in found])
    return [Pair(**{**vars(one), "adjusted": p}) for one, p in zip(found, adjusted, strict=True)]


def groups(ranked: Sequence[str], compared: Iterable[Pair]) -> tuple[tuple[str, ...], ...]:
    """Return ranked models in groups that the data cannot tell apart from their first."""
    differ = frozenset(frozenset((one.a, one.b)) for one in compared if one.told_apart)
    return tie_groups(ranked, differ)


def flips(a: Run, b: Run) -> list[Flip]:
    """Return the instances that are good in one run and not in the other, in task order."""
    return [
        Flip(one.instance.id, dict(one.instance.labels), one, other)
        for one, other in zip(a.scored, b.scored, strict=True)
        if not one.open and not other.open and good(one) != good(other)
    ]


def good(row: Scored) -> bool:
    """Tell whether an instance was right, or rightly abstained on."""
    return row.outcome == "right" or (
        row.outcome == "abstained" and row.instance.labels.get("answerable") == "no"
    )


def measure_of(measures: Iterable[Measure], tier: str, metric: str) -> Measure:
    """Return a measure by tier and name. Raises: KeyError that lists what there is."""
    found = {(measure.tier, measure.name): measure for measure in measures}
    if (tier, metric) not in found:
        raise KeyError(
            f"no metric {metric!r} on {tier}: {', '.join('/'.join(key) for key in found)}"
        )
    return found[(tier, metric)]


def primary_tier(exam: Exam, measures: Iterable[Measure]) -> str:
    """Return the tier that ranks: the first with the primary metric."""
    return next(measure.tier for measure in measures if measure.name == exam.primary)


def _one_sided(exam: Exam, a: Run, b: Run, tier: str) -> tuple[int, int]:
    of_tier = [flip for flip in flips(a, b) if flip.a.instance.tier == tier]
    only_a = sum(good(flip.a) for flip in of_tier)
    return only_a, len(of_tier) - only_a
