"""How far a panel agrees: raw agreement, Gwet's AC1, Krippendorff's alpha, with intervals over items.

Raw agreement flatters a panel that approves nearly everything, and kappa-like measures punish it: 0.896
raw can be kappa 0.29 and AC1 0.88. So all three are reported, and none is a test of being right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]  # (items, categories): how many seats chose it
RESAMPLES, SEED = 2_000, 0


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% interval; NaN where nothing can be said (no item with two ratings)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Agreement:
    """The three measures over the items that two seats or more have rated."""

    items: int
    raw: Estimate
    ac1: Estimate
    alpha: Estimate


def agreement(
    ratings: Sequence[Sequence[str | None]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Agreement:
    """Return the agreement of seats on items.

    ratings: (items, seats) what each seat said; None where it said nothing.
    Intervals: percentile bootstrap over items.
    Sources: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61 (AC1 for several
    raters); Krippendorff 2011, Computing Krippendorff's alpha-reliability (nominal, missing values).
    """
    counts = _counts(ratings)
    counts = counts[counts.sum(axis=1) >= 1]
    whole = np.ones((1, len(counts)))
    weights = np.vstack([whole, _weights(len(counts), resamples, seed)])
    measures = (_raw, _ac1, _alpha)
    found = [_estimate(measure(counts, weights)) for measure in measures]
    return Agreement(int((counts.sum(axis=1) >= 2).sum()), *found)


def _counts(ratings: Sequence[Sequence[str | None]]) -> Counts:
    said = sorted({rating for row in ratings for rating in row if rating is not None})
    table = [[sum(rating == one for rating in row) for one in said] for row in ratings]
    return np.array(table, dtype=float).reshape(len(ratings), len(said))


def _weights(items: int, resamples: int, seed: int) -> Counts:
    """Return how often each resample holds each item."""
    if items == 0:
        return np.ones((resamples, 0))
    even = np.full(items, 1 / items)
    return np.random.default_rng(seed).multinomial(items, even, resamples).astype(float)


def _raw(counts: Counts, weights: Counts) -> Counts:
    """The share of agreeing pairs of seats, over the items that two or more have rated."""
    paired = counts.sum(axis=1) >= 2
    counts, weights = counts[paired], weights[:, paired]
    seats = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (seats * (seats - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Counts = (weights @ agreeing) / weights.sum(axis=1)
    return found


def _ac1(counts: Counts, weights: Counts) -> Counts:
    """AC1 = (pa - pe) / (1 - pe), pe from how evenly all rated items use the categories."""
    categories = counts.shape[1]
    if categories < 2:
        return _raw(counts, weights)  # one category: pe is 0
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (weights @ (counts / counts.sum(axis=1, keepdims=True))) / weights.sum(
            axis=1, keepdims=True
        )
        chance = (shares * (1 - shares)).sum(axis=1) / (categories - 1)
        found: Counts = (_raw(counts, weights) - chance) / (1 - chance)
    return found


def _alpha(counts: Counts, weights: Counts) -> Counts:
    """Alpha = 1 - observed / expected disagreement; undefined (NaN) where all said one thing."""
    paired = counts.sum(axis=1) >= 2
    counts, weights = counts[paired], weights[:, paired]
    seats = counts.sum(axis=1)
    same = (counts * (counts - 1) / (seats - 1)[:, None]).sum(axis=1)
    used = weights @ counts
    total = used.sum(axis=1)
    expected = total**2 - (used**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Counts = 1 - (total - 1) * (total - weights @ same) / expected
    found[expected == 0] = np.nan
    return found


def _estimate(values: Counts) -> Estimate:
    """Return the first value with the interval of the others; those without a value are left out."""
    drawn = values[1:][np.isfinite(values[1:])]
    low, high = np.percentile(drawn, [2.5, 97.5]) if len(drawn) else (np.nan, np.nan)
    return Estimate(float(values[0]), float(low), float(high))
