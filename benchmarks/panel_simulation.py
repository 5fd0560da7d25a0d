"""Panels of known quality: do our figures about a panel say what is true?

    .venv/bin/python -m benchmarks.panel_simulation        # about two minutes

1. Rogan-Gladen: over 1,000 panels with 40 catch trials, 40 good items and 120 items, the 95% interval of
   the share of errors holds the truth in at least 93% of them.
2. Chao: over 1,000 panels with equal items the lower bound against the true number of errors, and the
   same with unequal items (a third of the errors nearly invisible), where it stays far below.
3. Own-item lift: 100 items, 3 reviewers who are also the authors, base approval 0.85: a planted lift of 10
   points is found (p < 0.05) with power >= 0.8, an absent one in <= 5%; the power by base rate.
"""

import numpy as np

from items.reviewers import chao, own_item_lift, rogan_gladen

PANELS = 1_000
REVIEWERS = ("a", "b", "c")


def coverage(draw: np.random.Generator, trials: int, good: int, items: int) -> tuple[float, float]:
    """Return the share of panels whose interval holds the true share of errors, and its mean width."""
    held, widths = 0, []
    for panel in range(PANELS):
        sensitivity, specificity = draw.uniform(0.6, 0.98), draw.uniform(0.7, 0.98)
        errors = draw.uniform(0.05, 0.4)
        wrong = draw.random(items) < errors
        flagged = np.where(
            wrong, draw.random(items) < sensitivity, draw.random(items) >= specificity
        )
        found = rogan_gladen(
            flagged.tolist(),
            (draw.random(trials) < sensitivity).tolist(),
            (draw.random(good) < specificity).tolist(),
            seed=panel,
        )
        held += found.low <= errors <= found.high
        widths.append(found.high - found.low)
    return held / PANELS, float(np.mean(widths))


def bound(draw: np.random.Generator, chances: np.ndarray) -> tuple[float, float]:
    """Return Chao's bound over the true number of errors: mean, and share of panels not above it."""
    ratios = []
    for _ in range(PANELS):
        flags = draw.random((len(chances), len(REVIEWERS))) < chances[:, None]
        ratios.append(chao(flags[flags.any(axis=1)].tolist()) / len(chances))
    return float(np.mean(ratios)), float(np.mean(np.array(ratios) <= 1))


def power(draw: np.random.Generator, base: float, lift: float, items: int = 100) -> float:
    """Return how often a lift of that many shares is called (p < 0.05), pooled over the reviewers."""
    called = 0
    for _ in range(PANELS):
        authors = [REVIEWERS[item % 3] for item in range(items)]
        approvals = [
            {
                who: bool(draw.random() < min(1.0, base + lift * (who == author)))
                for who in REVIEWERS
            }
            for author in authors
        ]
        called += own_item_lift(approvals, authors, resamples=1).p < 0.05
    return called / PANELS


def main() -> None:
    draw = np.random.default_rng(0)
    for trials, good, items in ((20, 20, 20), (40, 40, 120), (40, 40, 300)):
        held, width = coverage(draw, trials, good, items)
        print(
            f"Rogan-Gladen, {trials} trials, {good} good items, {items} items: the interval holds the"
            f" truth in {held:.1%} of {PANELS} panels (aim >= 93%), mean width {width:.2f}"
        )
    equal = np.full(60, 0.6)
    unequal = np.where(np.arange(60) < 20, 0.05, 0.8)
    for name, chances in (("equal items", equal), ("a third nearly invisible", unequal)):
        mean, below = bound(draw, chances)
        print(f"Chao, {name}: bound / truth {mean:.2f}, at or below the truth in {below:.1%}")
    print("own-item lift, 100 items, 3 reviewers: share of panels with p < 0.05")
    for base in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9):
        absent, present = power(draw, base, 0.0), power(draw, base, 0.1)
        print(f"  base approval {base:.2f}: absent {absent:.1%}, 10 points {present:.1%}")


if __name__ == "__main__":
    main()
