"""Comparing two results: against a plain restatement of the n^n column search, and at full size.

    python benchmarks/eval_compare.py

1. The ratio to the restatement at 4, 6 and 8 columns (20 rows; it walks all n^n assignments of columns).
2. Seconds at 10 and 40 columns x 10,000 rows by kind of column. Aims: 0.5 s and 2 s.
3. Seconds on look-alike columns: designs whose columns cannot be told apart one, two or three at a time.
"""

import itertools
import random
import string
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from database.cells import number_key
from database.result import Result, results_match

Rows = list[list[Any]]
CHANCE = random.Random(0)
KINDS: dict[str, Callable[[], Any]] = {
    "integers": lambda: CHANCE.randrange(10**6),
    "decimals": lambda: CHANCE.random() * 1000,
    "texts": lambda: "".join(CHANCE.choices(string.ascii_letters, k=8)),
    "codes": lambda: f"{CHANCE.randrange(10**5) / 100:.2f}",
    "flags": lambda: CHANCE.randrange(2),
}


def result(rows: Rows) -> Result:
    names = tuple(map(str, range(len(rows[0]))))
    return Result(names, ("",) * len(names), tuple(map(tuple, rows)))


def scrambled(rows: Rows) -> Rows:
    order = CHANCE.sample(range(len(rows[0])), len(rows[0]))
    return [[row[j] for j in order] for row in CHANCE.sample(rows, len(rows))]


def seconds(rule: Callable[[Result, Result], bool], left: Result, right: Result) -> float:
    start = time.perf_counter()
    rule(left, right)
    return time.perf_counter() - start


def free(left: Result, right: Result) -> bool:
    return results_match(left, right, ordered=False)


def ordered(left: Result, right: Result) -> bool:
    return results_match(left, right, ordered=True)


def walked(left: Result, right: Result) -> bool:
    """The rule as the search is written upstream: every assignment of columns, then the multisets."""
    ours = Counter(tuple(map(number_key, row)) for row in left.rows)
    theirs = [tuple(map(number_key, row)) for row in right.rows]
    columns = range(len(left.columns))
    for order in itertools.product(columns, repeat=len(columns)):
        if len(set(order)) == len(columns):
            moved = Counter(tuple(row[j] for j in order) for row in theirs)
            if moved == ours:
                return True
    return False


def against_the_walk() -> None:
    print("ratio to the n^n walk (20 rows of flags, the rows torn: no order fits)")
    for width in (4, 6, 8):
        rows = [[CHANCE.randrange(2) for _ in range(width)] for _ in range(20)]
        left, right = result(rows), result([CHANCE.sample(row, width) for row in rows])
        assert free(left, right) == walked(left, right)
        ours = min(seconds(free, left, right) for _ in range(20))
        theirs = seconds(walked, left, right)
        print(
            f"  {width} columns: {ours * 1000:8.2f} ms  walk {theirs:8.3f} s  {theirs / ours:12,.0f} x"
        )


def at_full_size() -> None:
    print("seconds at 10,000 rows: equal but scrambled; one cell swapped; in order")
    for width, kind in itertools.product((10, 40), (*KINDS, "mixed")):
        kinds = list(KINDS) if kind == "mixed" else [kind]
        rows = [[KINDS[kinds[j % len(kinds)]]() for j in range(width)] for _ in range(10_000)]
        left, moved = result(rows), scrambled(rows)
        equal = seconds(free, left, result(moved))
        torn = [list(row) for row in moved]
        torn[0][0], torn[1][0] = torn[1][0], torn[0][0]
        unequal = seconds(free, left, result(torn))
        turned = [row[1:] + row[:1] for row in rows]
        order = seconds(ordered, left, result(turned))
        print(f"  {width:2} columns of {kind:9} {equal:6.3f} {unequal:6.3f} {order:6.3f}")


def hadamard(order: int) -> Rows:
    rows = [[1]]
    while len(rows) < order:
        rows = [r + r for r in rows] + [r + [-c for c in r] for r in rows]
    return rows


def paley(prime: int) -> Rows:
    """Paley's Hadamard matrix of order prime + 1 (prime 3 modulo 4): not Sylvester's."""
    squares = {n * n % prime for n in range(1, prime)}
    core = [
        [-1 if i == j else 1 if (j - i) % prime in squares else -1 for j in range(prime)]
        for i in range(prime)
    ]
    return [[1] * (prime + 1), *([1, *row] for row in core)]


def plane(order: int) -> Rows:
    """The lines of the projective plane of a prime order, by their points."""
    points = [
        p for p in itertools.product(range(order), repeat=3) if next((c for c in p if c), 0) == 1
    ]
    return [
        [int(sum(a * b for a, b in zip(line, point, strict=True)) % order == 0) for point in points]
        for line in points
    ]


def rings(*lengths: int) -> Rows:
    """The edges of rings: a row an edge, a column a place."""
    rows, first = [], 0
    for length in lengths:
        for at in range(length):
            ends = {first + at, first + (at + 1) % length}
            rows.append([int(place in ends) for place in range(sum(lengths))])
        first += length
    return rows


def look_alikes() -> None:
    print("seconds on look-alike columns")
    one_hot = [[int(n % 40 == j) for j in range(40)] for n in range(10_000)]
    sixteen = [[1] * 16, *([1, *row[1:]] for row in hadamard(16)[1:])]
    designs = {
        "Hadamard 16 against itself": (hadamard(16), scrambled(hadamard(16))),
        "Hadamard 32 against itself": (hadamard(32), scrambled(hadamard(32))),
        "Hadamard 32 of Sylvester against Paley": (hadamard(32), scrambled(paley(31))),
        "projective plane of order 5 (31 columns)": (plane(5), scrambled(plane(5))),
        "6 triangles, 3 hexagons against 4 and 4": (
            rings(*[3] * 6, *[6] * 3),
            scrambled(rings(*[3] * 4, *[6] * 4)),
        ),
        "one-hot, 40 columns x 10,000 rows": (one_hot, scrambled(one_hot)),
        "Hadamard 16 with a row in again": (sixteen, scrambled(sixteen)),
    }
    for name, (left, right) in designs.items():
        ours, theirs = result(left), result(right)
        took = seconds(free, ours, theirs)
        print(f"  {name:42} {took:7.3f}  {free(ours, theirs)}")


if __name__ == "__main__":
    against_the_walk()
    at_full_size()
    look_alikes()
