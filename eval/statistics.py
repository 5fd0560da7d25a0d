"""Intervals and comparisons: every metric of every run of a tier on the same resamples (Agreements 8).

A metric is a ratio of two sums over clusters (`Measure`): a question's two languages are one cluster and
move together (S1-105, S1-107). One matrix of how often each cluster stands in each resample, times the
sums of all metrics and models, is the whole bootstrap; a paired difference is a difference of columns.
Sums are whole numbers, so that no order of adding can change a digit.
Sources: Cameron, Gelbach and Miller 2008 (pairs cluster bootstrap); Holm 1979; McNemar 1947.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.exam import Measure

RESAMPLES = 2_000
SEED = 0  # numpy.random.default_rng(SEED), clusters in order of their ids (S1-108)
PERCENTILES = (2.5, 97.5)
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A metric's value with its 95% interval; all None where its denominator is 0.

    dropped: resamples without a denominator; they are left out of the interval.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    dropped: int = 0


class Sums(NamedTuple):
    """A measure's numerator and denominator in every resample, and in the tier itself."""

    tops: Array
    bottoms: Array
    top: float
    bottom: float

    @property
    def value(self) -> float | None:
        """Return the metric on the tier itself."""
        return self.top / self.bottom if self.bottom else None

    @property
    def ratios(self) -> Array:
        """Return the metric in every resample, NaN where it has no denominator."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.bottoms > 0, self.tops / self.bottoms, np.nan)


@cache
def resample_counts(clusters: int) -> Array:
    """Return how often each cluster is in each resample: (RESAMPLES, clusters)."""
    index = np.random.default_rng(SEED).integers(0, clusters, (RESAMPLES, clusters))
    places = index + clusters * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(places.ravel(), minlength=RESAMPLES * clusters)
    return counts.reshape(RESAMPLES, clusters).astype(np.float64)


def resampled(measures: Sequence[Measure]) -> list[Sums]:
    """Return the sums of measures of one tier in every resample: one matrix product.

    Raises: ValueError when they have not the same number of clusters.
    """
    if not measures:
        return []
    if len({len(measure.numerators) for measure in measures}) > 1:
        raise ValueError("measures of one tier have the same clusters")
    over = np.array([measure.numerators for measure in measures], np.float64).T
    under = np.array([measure.denominators for measure in measures], np.float64).T
    counts = resample_counts(over.shape[0])
    tops, bottoms = counts @ over, counts @ under
    sums = zip(tops.T, bottoms.T, over.sum(axis=0), under.sum(axis=0), strict=True)
    return [Sums(t, b, float(top), float(bottom)) for t, b, top, bottom in sums]


def figures(runs: Sequence[Sequence[Measure]]) -> list[dict[tuple[str, str], Figure]]:
    """Return each run's figures by (tier, measure name); all of them rest on the same resamples.

    Raises: ValueError when two measures of a tier have not the same number of clusters.
    """
    found: list[dict[tuple[str, str], Figure]] = [{} for _ in runs]
    for tier in dict.fromkeys(measure.tier for run in runs for measure in run):
        places = [(n, m) for n, run in enumerate(runs) for m in run if m.tier == tier]
        given = _intervals(resampled([measure for _, measure in places]))
        for (n, measure), figure in zip(places, given, strict=True):
            found[n][(tier, measure.name)] = figure
    return found


def difference(a: Measure, b: Measure) -> Figure:
    """Return a metric of one run minus the same metric of another, on the same resamples (S1-106).

    Raises: ValueError when they are not the same metric of the same tier.
    """
    if (a.name, a.tier) != (b.name, b.tier):
        raise ValueError(f"{a.tier} {a.name} and {b.tier} {b.name} are not one metric")
    ours, theirs = resampled([a, b])
    if ours.value is None or theirs.value is None:
        return Figure(None)
    return interval(ours.value - theirs.value, ours.ratios - theirs.ratios)


def interval(value: float | None, resamples: Array) -> Figure:
    """Return a value with the 95% percentile interval (linear) of its resamples; NaN ones dropped."""
    if value is None:
        return Figure(None)
    kept = resamples[~np.isnan(resamples)]
    if not len(kept):
        return Figure(value, dropped=len(resamples))
    low, high = np.percentile(kept, PERCENTILES)
    return Figure(value, float(low), float(high), len(resamples) - len(kept))


def _intervals(sums: Sequence[Sums]) -> list[Figure]:
    """Return the intervals of many measures: those that lose no resample all at once."""
    ratios = np.array([one.ratios for one in sums])
    whole = ~np.isnan(ratios).any(axis=1)
    bounds = np.full((2, len(sums)), np.nan)
    if whole.any():
        bounds[:, whole] = np.percentile(ratios[whole], PERCENTILES, axis=1)
    return [
        Figure(one.value, float(low), float(high)) if all_kept else interval(one.value, ratios[n])
        for n, (one, all_kept, low, high) in enumerate(zip(sums, whole, *bounds, strict=True))
    ]


# Tests of a pair of runs


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p of McNemar's test: instances right in only one of two runs.

    It takes the two languages of a question for independent: `sign_flip` does not.
    """
    if not only_a + only_b:
        return 1.0
    from scipy.stats import binomtest  # 0.3 s to import

    return float(binomtest(min(only_a, only_b), only_a + only_b, 0.5).pvalue)


def sign_flip(differences: Iterable[float]) -> float:
    """Return the exact two-sided p of no difference, with the cluster as the unit.

    differences: whole numbers, one a cluster: the sum of one run minus the other's. If the runs do not
    differ, every sign is as likely as its opposite; the distribution of the sum is convolved exactly,
    in whole numbers. With one instance a cluster this is McNemar's test.
    """
    kept = [round(d) for d in differences if d]
    ways: dict[int, int] = {0: 1}
    for size in map(abs, kept):
        nearer: dict[int, int] = {}
        for total, count in ways.items():
            nearer[total + size] = nearer.get(total + size, 0) + count
            nearer[total - size] = nearer.get(total - size, 0) + count
        ways = nearer
    as_far = sum(count for total, count in ways.items() if abs(total) >= abs(sum(kept)))
    return float(Fraction(as_far, 2 ** len(kept)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values of a family of tests adjusted by Holm's step-down procedure."""
    order = sorted(range(len(p_values)), key=lambda n: p_values[n])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, n in enumerate(order):
        highest = max(highest, min(1.0, p_values[n] * (len(p_values) - step)))
        adjusted[n] = highest
    return adjusted


def tie_groups(
    ranked: Sequence[str], differ: frozenset[frozenset[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return ranked names in groups that the data cannot tell apart from their first.

    ranked: best first. differ: the pairs that were told apart. A group ends at the first name that
    differs from its leader: being tied is not transitive, so a group says nothing about its neighbours.
    """
    groups: list[list[str]] = []
    for name in ranked:
        if groups and frozenset((groups[-1][0], name)) not in differ:
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


# What a tier can show

CERTAINTY, POWER = 0.95, 0.80


def smallest_difference(standard_error: float, *, power: float = POWER) -> float:
    """Return the smallest true difference that a two-sided test at 5% finds with this power.

    standard_error: of the difference, e.g. the standard deviation of its resamples.
    """
    normal = NormalDist()
    return (normal.inv_cdf((1 + CERTAINTY) / 2) + normal.inv_cdf(power)) * standard_error
