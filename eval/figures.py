"""Measures with intervals: every metric of every run on the same resamples (Agreements 8, S1-105)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.exam import Measure

RESAMPLES = 2_000
SEED = 0
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


def figures(runs: Sequence[Sequence[Measure]]) -> list[dict[tuple[str, str], Figure]]:
    """Return each run's figures by (tier, measure name); all of them rest on the same resamples.

    Raises: ValueError when two measures of a tier have not the same number of clusters.
    """
    found: list[dict[tuple[str, str], Figure]] = [{} for _ in runs]
    tiers = dict.fromkeys(measure.tier for run in runs for measure in run)
    for tier in tiers:
        places = [(n, m) for n, run in enumerate(runs) for m in run if m.tier == tier]
        for (n, measure), figure in zip(places, _of_tier([m for _, m in places]), strict=True):
            found[n][(tier, measure.name)] = figure
    return found


def resample_counts(clusters: int) -> Array:
    """Return how often each cluster is in each resample: (RESAMPLES, clusters).

    The index matrix is default_rng(0).integers(0, Q, (2000, Q)), the same for every model and metric
    of a tier (S1-106, S1-108).
    """
    index = np.random.default_rng(SEED).integers(0, clusters, (RESAMPLES, clusters))
    counts = np.zeros((RESAMPLES, clusters))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], index), 1.0)
    return counts


def _of_tier(measures: Sequence[Measure]) -> list[Figure]:
    over = np.array([measure.numerators for measure in measures]).T
    under = np.array([measure.denominators for measure in measures]).T
    counts = resample_counts(over.shape[0])
    tops, bottoms = counts @ over, counts @ under
    sums = zip(over.sum(axis=0), under.sum(axis=0), tops.T, bottoms.T, strict=True)
    return [_figure(*of_measure) for of_measure in sums]


def _figure(top: float, bottom: float, tops: Array, bottoms: Array) -> Figure:
    if not bottom:
        return Figure(None)
    kept = bottoms > 0
    low, high = np.percentile(tops[kept] / bottoms[kept], [2.5, 97.5])
    return Figure(float(top / bottom), float(low), float(high), int((~kept).sum()))
