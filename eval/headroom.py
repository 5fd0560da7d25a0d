"""Headroom: how much of what a guess leaves open is still open for a strong model (S1-014, S1-029).

    H = (1 - strong) / (1 - prior)

The prior is what a baseline that sees no input scores on the same metric: the constant query on EX, the
abstaining prior on RS(0) (S1-018). Below 0.05 a task is saturated (S1-027). The source's hard EX has
H = 0.404 with prior 0 and 0.409 with 2/166, both from strong = 99/166.
"""

import numpy as np

from eval.exam import Measure
from eval.statistics import Figure, interval, resampled

LEAST = 0.05


def headroom(strong: Measure, prior: Measure) -> Figure:
    """Return H with its interval, strong and prior on the same resamples (Agreements 8).

    None where the prior is 1: nothing was left open. Raises: ValueError for two different metrics.
    """
    if (strong.name, strong.tier) != (prior.name, prior.tier):
        raise ValueError(f"{strong.name} and {prior.name} are not one metric")
    ours, guess = resampled([strong, prior])
    if ours.value is None or guess.value is None or guess.value == 1:
        return Figure(None)
    left = 1 - guess.ratios
    with np.errstate(invalid="ignore", divide="ignore"):
        resamples = np.where(left > 0, (1 - ours.ratios) / left, np.nan)
    return interval((1 - ours.value) / (1 - guess.value), resamples)
