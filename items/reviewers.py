"""How good reviewers are: what they catch, what remains after them, and whether they favour their own.

sensitivity   share of catch trials (items with a seeded error) that were objected to
specificity   share of good items that were approved
errors        Rogan-Gladen: the share of items with an error, corrected for both
unseen        Chao: a lower bound of the errors that nobody flagged, from who flagged what
own-item lift how much more often a reviewer approves an item that it wrote than the others do

All are estimates about the kinds of error that were seeded: what nobody thought of is in none of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from items.agreement import RESAMPLES, SEED, Estimate

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rate:
    """A share with its exact 95% interval (Clopper and Pearson 1934)."""

    hits: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the share; NaN when there is nothing to count."""
        return self.hits / self.of if self.of else float("nan")


def rate(hits: int, of: int) -> Rate:
    """Return a share with its interval: 29 of 29 has a lower end of 0.88, two-sided."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, of - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, of - hits)) if hits < of else 1.0
    return Rate(hits, of, low, high)


def rogan_gladen(
    flagged: Sequence[bool],
    caught: Sequence[bool],
    cleared: Sequence[bool],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """Return the share of items that hold an error, from the share that was flagged.

    flagged: one an item: somebody objected.  caught: one a catch trial.  cleared: one a known good item.
    Interval: bootstrap over items, trials and good items, in its Bayesian form (Rubin 1981: a redrawn
    share is a Beta draw) with one success and one failure more: 20 of 20 caught makes nobody perfect.
    NaN where sensitivity + specificity is 1 or less: such a panel tells nothing.
    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107.
    """
    draw = np.random.default_rng(seed)
    counted = [(int(sum(some)), len(some)) for some in (flagged, caught, cleared)]
    shares = [hits / of if of else float("nan") for hits, of in counted]
    drawn = [
        draw.beta(hits + 1.0, of - hits + 1.0, resamples) if of else np.full(resamples, np.nan)
        for hits, of in counted
    ]
    values = _corrected(*(np.array(one) for one in drawn))
    values = values[np.isfinite(values)]
    low, high = np.percentile(values, [2.5, 97.5]) if len(values) else (np.nan, np.nan)
    return Estimate(float(_corrected(*(np.array([s]) for s in shares))[0]), float(low), float(high))


def _corrected(
    flagged: NDArray[np.float64], caught: NDArray[np.float64], cleared: NDArray[np.float64]
) -> NDArray[np.float64]:
    power = caught + cleared - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((flagged + cleared - 1) / power, 0, 1)
    share[~(power > 0)] = np.nan
    return share


def remaining(errors: float, sensitivity: float, flagged: float) -> float:
    """Return the share of errors among the items that nobody flagged (Bayes); NaN if all were flagged."""
    return errors * (1 - sensitivity) / (1 - flagged) if flagged < 1 else float("nan")


def chao(flags: Sequence[Sequence[bool]]) -> float:
    """Return a lower bound of how many errors there are, from which reviewers flagged which.

    flags: (errors seen, reviewers) who flagged it; only true errors, or the bound is none.
    Bias-corrected, for t occasions: S + (t-1)/t * f1 (f1 - 1) / (2 (f2 + 1)). Errors that are hard for
    everybody are seen by nobody and counted by nobody: the bound is then far too low (see docs).
    Source: Chao 1987, Biometrics 43; Chao 1989, Biometrics 45 (bias-corrected form).
    """
    if not len(flags):
        return 0.0
    seen = np.array(flags, dtype=bool)
    times = seen.sum(axis=1)
    occasions = seen.shape[1]
    once, twice = int((times == 1).sum()), int((times == 2).sum())
    found = int((times > 0).sum())
    return float(found + (occasions - 1) / occasions * once * (once - 1) / (2 * (twice + 1)))


@dataclass(frozen=True)
class Lift:
    """A reviewer's (or all reviewers') own-item lift, in shares of approval.

    p: one-sided (the question is whether they favour their own), from exchanging within each item which
       of its reviewers is its author.
    """

    items: int
    lift: Estimate
    p: float


def own_item_lift(
    approvals: Sequence[Mapping[str, bool]],
    authors: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Lift:
    """Return how much more often authors approve their own items than the others approve those items.

    approvals: one an item: reviewer -> approved. authors: who wrote it; an item whose author did not
    review it, or alone did, says nothing. Paired by item: an item's own quality cancels out.
    The test is exact: every exchange of authorship within the items counts (the conditional form of the
    Cochran-Mantel-Haenszel test, a stratum an item).
    """
    paired = [
        (said[author], [ok for who, ok in said.items() if who != author])
        for said, author in zip(approvals, authors, strict=True)
        if author in said and len(said) > 1
    ]
    if not paired:
        return Lift(0, Estimate(float("nan"), float("nan"), float("nan")), 1.0)
    gaps = np.array([float(own) - float(np.mean(others)) for own, others in paired])
    places = np.random.default_rng(seed).integers(0, len(gaps), (resamples, len(gaps)))
    low, high = np.percentile(gaps[places].mean(axis=1), [2.5, 97.5])
    return Lift(len(gaps), Estimate(float(gaps.mean()), float(low), float(high)), _exact(paired))


def _exact(paired: Sequence[tuple[bool, Sequence[bool]]]) -> float:
    """Return the chance of a sum of gaps at least as large when any reviewer of an item was its author.

    Gaps are multiples of 1/(others): on one lattice their sum's distribution is a chain of convolutions.
    """
    unit = int(np.lcm.reduce([len(others) for _, others in paired]))
    chances, lowest, observed = np.array([1.0]), 0, 0
    for own, others in paired:
        seats, approving = len(others) + 1, int(own) + sum(others)
        step = unit // len(others)
        low, high = -approving * step, (seats - approving) * step  # the author objects, approves
        one = np.zeros(high - low + 1)
        one[0], one[-1] = 1 - approving / seats, approving / seats
        if approving in (0, seats):
            low, one = 0, np.array([1.0])
        chances = np.convolve(chances, one)
        lowest += low
        observed += (high if own else low) if approving not in (0, seats) else 0
    return min(1.0, float(chances[observed - lowest :].sum()))


def matrix(
    approvals: Sequence[Mapping[str, bool]], authors: Sequence[str]
) -> dict[tuple[str, str], Rate]:
    """Return how often each reviewer approves each author's items: (author, reviewer) -> rate."""
    counts: dict[tuple[str, str], list[int]] = {}
    for said, author in zip(approvals, authors, strict=True):
        for who, ok in said.items():
            hits = counts.setdefault((author, who), [0, 0])
            hits[0] += ok
            hits[1] += 1
    return {pair: rate(hits, of) for pair, (hits, of) in sorted(counts.items())}
