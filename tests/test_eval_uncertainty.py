"""Thresholds on entropies: the exact split, the percentile, the rule, and what top-k bounds."""

from math import inf, isinf, isnan, log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.uncertainty import (
    NoThreshold,
    answers,
    at_percentile,
    entropy_bounds,
    fit,
    highest,
    two_means,
)
from tests.cells import cases, cell

THRESHOLDS = cases("thresholds.json")


def floats(values):
    return [float(cell(value)) for value in values]


@pytest.mark.parametrize("case", THRESHOLDS["kmeans"], ids=lambda case: case["id"])
def test_the_split_is_exact(case):
    entropies = floats(case["entropies"])
    if case["exact"] is None:
        with pytest.raises(NoThreshold):
            two_means(entropies)
        return
    assert two_means(entropies) == pytest.approx(case["exact"], rel=1e-12)
    if case["agree"]:
        threshold = two_means(entropies)
        assert threshold == pytest.approx(case["upstream"]["threshold"], rel=1e-12)
        if case["answered"] is not None:  # not written out for long lists
            assert [answers([e], threshold) for e in entropies] == case["answered"]


@pytest.mark.parametrize("case", THRESHOLDS["percentile"], ids=lambda case: case["id"])
def test_the_percentile_is_linear(case):
    entropies = floats(case["entropies"])
    for at, (q, upstream) in enumerate(zip(case["q"], case["upstream"], strict=True)):
        value = upstream if isinstance(upstream, dict) and "error" in upstream else cell(upstream)
        if isinstance(value, dict) or isnan(value) or any(isnan(e) or isinf(e) for e in entropies):
            with pytest.raises(NoThreshold):
                at_percentile(entropies, q)
            continue
        threshold = at_percentile(entropies, q)
        assert threshold == pytest.approx(value, rel=1e-12)
        if "answered_counts" in case:
            assert sum(answers([e], threshold) for e in entropies) == case["answered_counts"][at]


@pytest.mark.parametrize("case", THRESHOLDS["rule"], ids=lambda case: case["id"])
def test_a_query_is_answered_at_the_threshold_and_not_above(case):
    threshold = None if case["threshold"] == -1 else case["threshold"]
    for given_, said in zip(case["token_entropies"], case["upstream"], strict=True):
        entropies = floats(given_)
        if said.startswith("error") or (threshold is not None and any(map(isnan, entropies))):
            with pytest.raises(NoThreshold):  # upstream lets the place of a NaN decide
                answers(entropies, threshold)
        else:
            assert answers(entropies, threshold) is (said == "answered")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=12))
def test_no_split_has_smaller_squares(values):
    def squares(part):
        return float(np.var(part)) * len(part) if part else 0.0

    ordered = sorted(map(float, values))
    splits = {
        (ordered[n - 1] + ordered[n]) / 2: squares(ordered[:n]) + squares(ordered[n:])
        for n in range(1, len(ordered))
        if ordered[n - 1] < ordered[n]
    }
    try:
        assert splits[two_means(values)] == pytest.approx(min(splits.values()), abs=1e-9)
    except NoThreshold:
        least = [s for s in splits.values() if s <= min(splits.values()) + 1e-9]
        assert len(least) != 1


def test_a_threshold_says_what_it_rests_on():
    found = fit([0.1, 0.1, 0.9])
    assert (found.value, found.method, found.fitted_on) == (0.5, "two_means", 3)
    assert found.answered == pytest.approx(2 / 3)
    assert found.bound == "lower"
    assert fit([0.0, 1.0, 2.0, 3.0], "percentile", percentile=50).value == 1.5


def test_nothing_is_answered_by_a_list_without_entropies():
    with pytest.raises(NoThreshold, match="log-probabilities"):
        highest([])


@pytest.mark.parametrize("values", [[], [nan, 1.0], [inf, 1.0], [0.5, 0.5, 0.5]])
def test_no_boundary_is_told_and_not_made_up(values):
    with pytest.raises(NoThreshold):
        two_means(values)


def entropy(probabilities):
    return -sum(p * log(p) for p in probabilities if p > 0)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(1, 8))
def test_the_entropy_lies_between_its_bounds(weights, k):
    probabilities = sorted((w / sum(weights) for w in weights), reverse=True)
    top = [log(p) for p in probabilities[:k]]
    least, greatest = entropy_bounds(top, vocabulary=len(probabilities))
    assert least - 1e-9 <= entropy(probabilities) <= greatest + 1e-9
    shares = [p / sum(probabilities[:k]) for p in probabilities[:k]]
    assert entropy(shares) <= least + 1e-9  # as models/answers.py takes it: also a lower bound


def test_the_whole_distribution_is_no_bound_but_the_entropy():
    least, greatest = entropy_bounds([log(0.5), log(0.5)], vocabulary=50_000)
    assert least == greatest == pytest.approx(log(2))


def test_without_a_vocabulary_there_is_no_greatest():
    assert entropy_bounds([log(0.9)])[1] == inf
