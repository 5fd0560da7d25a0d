"""Abstaining by uncertainty, EHRSQL's way, for models that return log-probabilities (S3-015, S3-016).

A query is answered where the highest entropy of its tokens is at most a threshold, and abstained on
above it. The threshold is fitted on the entropies of one tier and applied to another:

    two_means    the boundary of the best split in two: midway between the two clusters. Exact: sorted
                 values have one best split by the sum of squares. (Upstream's k-means starts once and
                 misses it on 87 of 400 lists.)
    percentile   a given share of the queries is answered. It presumes that the share of unanswerable
                 questions is known, which models must not be told (S3-016).

Entropies are natural-log, over the whole vocabulary upstream. A route returns the k likeliest tokens
only, and those *bound* the entropy: `entropy_bounds`. The entropies of this project (`Answer`) are over
the k alone, renormalised: a lower bound, since the k likeliest, renormalised, majorise the whole. It
never exceeds log k and is tight where they hold nearly all probability; a query that it abstains on would
be abstained on by the entropy itself at the same threshold. A small model asked for 5 alternatives came
near log 5 in every reply: ask for as many as the route gives.
Source: EHRSQL abstain_with_entropy.py and its notebook; Malinin and Gales 2021 (entropy of a token).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np

Method = Literal["two_means", "percentile"]
BOUND = "lower"  # what top-k log-probabilities say of an entropy, as models/answers.py takes them
PERCENTILE = 67.0  # of the source's notebook: 33% of its validation questions are unanswerable


class NoThreshold(Exception):
    """A list of entropies has no threshold: it says why. There is no silent fall-back."""


@dataclass(frozen=True)
class Threshold:
    """A fitted threshold and what it rests on.

    fitted_on: how many queries; `answered` is the share of them that it answers.
    """

    value: float
    method: Method
    fitted_on: int
    answered: float
    bound: str = BOUND


def fit(
    entropies: Sequence[float], method: Method = "two_means", *, percentile: float = PERCENTILE
) -> Threshold:
    """Return the threshold of a list of maximum entropies, one a query. Raises: NoThreshold."""
    value = two_means(entropies) if method == "two_means" else at_percentile(entropies, percentile)
    answered = sum(entropy <= value for entropy in entropies) / len(entropies)
    return Threshold(value, method, len(entropies), answered)


def answers(token_entropies: Sequence[float], threshold: float | None) -> bool:
    """Tell whether a query is answered: its highest entropy is at most the threshold.

    None is no threshold (upstream's -1): everything is answered. Raises: NoThreshold for a query
    without entropies (upstream raises too) or with one that is not a number.
    """
    return threshold is None or highest(token_entropies) <= threshold


def highest(token_entropies: Sequence[float]) -> float:
    """Return the highest entropy of a query's tokens. Raises: NoThreshold without any, or for NaN."""
    if not token_entropies:
        raise NoThreshold(
            "a reply without token entropies: did the route return log-probabilities?"
        )
    if any(entropy != entropy for entropy in token_entropies):
        raise NoThreshold("a token entropy is not a number")  # max() would depend on its place
    return max(token_entropies)


def two_means(entropies: Sequence[float]) -> float:
    """Return the boundary of the best split in two clusters, exactly.

    Raises: NoThreshold for fewer than two different values, a tie of two splits, NaN and infinity.
    """
    values = sorted(_finite(entropies))
    if len(set(values)) < 2:
        raise NoThreshold("all entropies are equal, or there are none: no two clusters")
    sums = list(accumulate((Fraction(v) for v in values), initial=Fraction(0)))
    gains = {
        n: sums[n] ** 2 / n + (sums[-1] - sums[n]) ** 2 / (len(values) - n)
        for n, (low, high) in enumerate(pairwise(values), 1)
        if low < high
    }  # the higher, the smaller the squares within: their total is the same for every split
    best = max(gains.values())
    at = [n for n, gain in gains.items() if gain == best]
    boundaries = [(values[n - 1] + values[n]) / 2 for n in at]
    if len(at) > 1:
        raise NoThreshold(f"{len(at)} splits are equally good, at {boundaries}")
    return boundaries[0]


def at_percentile(entropies: Sequence[float], percentile: float) -> float:
    """Return a percentile of the entropies (linear). Raises: NoThreshold."""
    values = _finite(entropies)
    if not values:
        raise NoThreshold("no entropies")
    if not 0 <= percentile <= 100:
        raise NoThreshold(f"percentile {percentile}; from 0 to 100 is right")
    return float(np.percentile(values, percentile))


def entropy_bounds(logprobs: Sequence[float], vocabulary: int | None = None) -> tuple[float, float]:
    """Return the least and the greatest entropy (nats) of a token, from its likeliest alternatives.

    logprobs:   natural logs of the k greatest probabilities.
    vocabulary: how many tokens there are; without it the greatest is not known (infinity).

    Least: what is left is held by as few tokens as can be, none likelier than the k-th. Greatest: it is
    spread evenly over all other tokens.
    """
    known = sorted((exp(value) for value in logprobs), reverse=True)
    left = max(0.0, 1.0 - sum(known))
    seen = sum(map(_surprise, known))
    if not known or left < 1e-12:
        return (seen, seen if known else inf)
    full, rest = divmod(left, known[-1]) if known[-1] else (0.0, left)
    least = seen + full * _surprise(known[-1]) + _surprise(rest)
    if vocabulary is None or vocabulary <= len(known):
        return (least, inf)
    return (least, max(least, seen + left * log((vocabulary - len(known)) / left)))


def _surprise(probability: float) -> float:
    return -probability * log(probability) if probability > 0 else 0.0


def _finite(entropies: Sequence[float]) -> list[float]:
    if not all(isfinite(entropy) for entropy in entropies):
        raise NoThreshold("an entropy is not a number, or infinite")
    return list(entropies)
