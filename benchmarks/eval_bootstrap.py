"""The bootstrap of all metrics of 6 models, as one matrix product a tier, against a plain loop.

    python benchmarks/eval_bootstrap.py

510 instances (101 hard questions, 18 of them unanswerable, and 154 easy ones, in two languages). Aim:
intervals of every metric and every part of every breakdown in under 0.3 s.
"""

import random
import statistics
import time

import numpy as np

from eval.exam import Instance, Measure, Scored
from eval.metrics import breakdowns, measures
from eval.statistics import difference, figures, resample_counts

TIERS = {"hard": True, "easy": False}
OUTCOMES = ("right", "right", "right", "wrong_result", "sql_error", "abstained", "no_sql")
CATEGORIES = ("clinical_terms", "cohort_definition", "data_quality", "relative_time", "scores")


def run(seed: int) -> list[Scored]:
    chance = random.Random(seed)
    rows = []
    for tier, questions, unanswerable in (("hard", 101, 18), ("easy", 154, 0)):
        for n in range(questions):
            answerable = n >= unanswerable
            outcome = chance.choice(OUTCOMES)
            for language in ("ko", "en"):
                again = outcome if chance.random() < 0.8 else chance.choice(OUTCOMES)
                labels = {
                    "answerable": "yes" if answerable else "no",
                    "language": language,
                    "category": CATEGORIES[n % 5],
                    "difficulty": ("medium", "hard")[n % 2],
                    "scope": ("patient", "group", "none")[n % 3],
                    "author": f"author-{n % 3}",
                }
                instance = Instance(f"{tier}/q{n}-{language}", f"q{n:03}", tier, labels=labels)
                wrong = not answerable and again == "right"
                rows.append(Scored(instance, "wrong_result" if wrong else again))
    return rows


def looped(measure: Measure) -> tuple[float, float]:
    """One metric by drawing, adding and dividing."""
    chance = np.random.default_rng(0)
    size = len(measure.numerators)
    ratios = []
    for drawn in chance.integers(0, size, (2000, size)):
        bottom = sum(measure.denominators[q] for q in drawn)
        if bottom:
            ratios.append(sum(measure.numerators[q] for q in drawn) / bottom)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    runs = [run(seed) for seed in range(6)]
    found = [(*measures(rows, TIERS), *breakdowns(rows, TIERS)) for rows in runs]
    number = sum(map(len, found))
    times = []
    for _ in range(7):
        resample_counts.cache_clear()  # the draws are part of the work
        start = time.perf_counter()
        intervals = figures(found)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    one = looped(found[0][0])
    loop = time.perf_counter() - start
    figure = intervals[0][(found[0][0].tier, found[0][0].name)]
    assert (figure.low, figure.high) == one
    ours = statistics.median(times)
    print(f"{number} metrics of 6 models: {ours:.3f} s (median of 7)")
    whole = loop * number
    print(f"one by a loop: {loop:.3f} s, all of them {whole:.0f} s: {whole / ours:,.0f} x")
    start = time.perf_counter()
    for n, a in enumerate(found):
        for b in found[:n]:
            difference(a[0], b[0])
    print(f"15 paired differences: {time.perf_counter() - start:.3f} s")


if __name__ == "__main__":
    main()
