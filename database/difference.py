"""What differs between two results that do not match: for people who read a report.

    found = difference(reference, prediction, ordered=False)
    found.reason      '2 of 5 rows are not the reference's'
    found.columns     (1, 0): the prediction's column 1 stands for the reference's first, 0 for its second
    found.pairs[0]    the first rows side by side, with the cells that differ

The columns are set against each other by what they hold, then by their names: a reading aid. Whether
two results match is decided in compare.py alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from database.coded import Coded, Codes, code_both, pair
from database.compare import MAX_ROWS, match

if TYPE_CHECKING:
    from database.result import Result

SHOWN = 20
COMPARED = 1_000  # rows by which columns are set against each other
Row = tuple[Any, ...]


@dataclass(frozen=True)
class RowPair:
    """A row of the reference beside one of the prediction; either may be missing.

    prediction: its cells in the order of the reference's columns; None where it has no such column.
    differs:    for each of the reference's columns, whether the two cells differ.
    """

    reference: Row | None
    prediction: Row | None
    differs: tuple[bool, ...]


@dataclass(frozen=True)
class Difference:
    """Why two results do not match.

    columns: for each of the reference's columns the prediction's that stands for it, or None.
    spare:   the prediction's columns that stand for none.
    missing: how many of the reference's rows the prediction lacks; `extra` the other way round.
    pairs:   the first of those rows side by side.
    """

    reason: str
    columns: tuple[int | None, ...]
    spare: tuple[int, ...]
    missing: int
    extra: int
    pairs: tuple[RowPair, ...]


def difference(
    reference: "Result", prediction: "Result", *, ordered: bool, shown: int = SHOWN
) -> Difference | None:
    """Return what differs, or None when the results match."""
    if match(reference, prediction, ordered=ordered):
        return None
    columns = _columns(reference, prediction)
    spare = tuple(sorted(set(range(len(prediction.columns))) - set(columns)))
    missing, extra = _rows(reference, prediction, columns, ordered)
    reason = _reason(reference, prediction, missing, extra, ordered)
    pairs = _pairs(reference, prediction, columns, missing[:shown], extra[:shown])
    return Difference(reason, columns, spare, len(missing), len(extra), pairs)


def _reason(
    reference: "Result", prediction: "Result", missing: list[int], extra: list[int], ordered: bool
) -> str:
    ours, theirs = len(reference.columns), len(prediction.columns)
    if ours != theirs:
        return f"{_count(theirs, 'column')} where the reference has {ours}"
    ours, theirs = len(reference.rows), len(prediction.rows)
    if ours != theirs:
        return f"{_count(theirs, 'row')} where the reference has {ours}"
    if ours > MAX_ROWS:
        return f"{_count(ours, 'row')}: more than the {MAX_ROWS:,} that are allowed"
    if not ordered or not missing:
        return f"{len(extra)} of {_count(theirs, 'row')} are not the reference's"
    if match(reference, prediction, ordered=False):
        return f"the same rows in another order, from row {missing[0] + 1} on"
    return f"row {missing[0] + 1} is the first of {len(missing)} that differ"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _columns(reference: "Result", prediction: "Result") -> tuple[int | None, ...]:
    """Set columns against each other: the pairs that share most values first, then names, then place."""
    likeness = _likeness(reference.rows[:COMPARED], prediction.rows[:COMPARED])
    ranked = sorted(
        (
            (-likeness.get((i, j), 0), ours != theirs, abs(i - j), i, j)
            for i, ours in enumerate(reference.columns)
            for j, theirs in enumerate(prediction.columns)
        ),
    )
    stands: dict[int, int] = {}
    for *_, i, j in ranked:
        if i not in stands and j not in stands.values():
            stands[i] = j
    return tuple(stands.get(i) for i in range(len(reference.columns)))


def _likeness(left: Sequence[Row], right: Sequence[Row]) -> dict[tuple[int, int], int]:
    """Return how many values each two columns share, counted as often as they occur."""
    if not left or not right:
        return {}
    ours, theirs = code_both(tuple(left), tuple(right))
    return {
        (i, j): sum((Counter(a.tolist()) & Counter(b.tolist())).values())
        for i in range(len(ours.same))
        for j in range(len(theirs.same))
        for a, b in [pair(ours, i, theirs, j)]
    }


def _rows(
    reference: "Result", prediction: "Result", columns: Sequence[int | None], ordered: bool
) -> tuple[list[int], list[int]]:
    """Return the reference's rows that the prediction lacks, and the other way round, by number."""
    if not reference.rows or not prediction.rows:
        return list(range(len(reference.rows))), list(range(len(prediction.rows)))
    ours, theirs = _aligned(*code_both(reference.rows, prediction.rows), columns)
    if ordered:
        both = range(min(len(ours), len(theirs)))
        at = [n for n in both if ours[n] != theirs[n]]
        return at + list(range(len(both), len(ours))), at + list(range(len(both), len(theirs)))
    return _unmatched(ours, theirs), _unmatched(theirs, ours)


def _aligned(
    ours: Coded, theirs: Coded, columns: Sequence[int | None]
) -> tuple[list[bytes], list[bytes]]:
    """Return both results' rows in codes, over the columns that stand for each other."""
    pairs = [pair(ours, i, theirs, j) for i, j in enumerate(columns) if j is not None]
    return _as_bytes([a for a, _ in pairs]), _as_bytes([b for _, b in pairs])


def _as_bytes(columns: Sequence[Codes]) -> list[bytes]:
    return [row.tobytes() for row in np.array(columns).T]


def _unmatched(rows: Sequence[bytes], others: Sequence[bytes]) -> list[int]:
    left = Counter(others)
    found = []
    for number, row in enumerate(rows):
        if left[row]:
            left[row] -= 1
        else:
            found.append(number)
    return found


def _pairs(
    reference: "Result",
    prediction: "Result",
    columns: Sequence[int | None],
    missing: Sequence[int],
    extra: Sequence[int],
) -> tuple[RowPair, ...]:
    """Set missing and extra rows side by side, those that share most cells first."""
    ours = [reference.rows[n] for n in missing]
    theirs = [tuple(None if j is None else prediction.rows[n][j] for j in columns) for n in extra]
    alike = _cells(ours, theirs, columns)
    found: dict[int, int] = {}
    for i, j in sorted(alike, key=lambda at: (sum(alike[at]), abs(at[0] - at[1]), at)):
        if i not in found and j not in found.values():
            found[i] = j
    every = (True,) * len(columns)
    sides = [
        RowPair(
            row, theirs[found[i]] if i in found else None, alike.get((i, found.get(i, -1)), every)
        )
        for i, row in enumerate(ours)
    ]
    alone = [RowPair(None, row, every) for j, row in enumerate(theirs) if j not in found.values()]
    return (*sides, *alone)


def _cells(
    ours: Sequence[Row], theirs: Sequence[Row], columns: Sequence[int | None]
) -> dict[tuple[int, int], tuple[bool, ...]]:
    """Return for each two rows which of their cells differ."""
    if not ours or not theirs:
        return {}
    left, right = code_both(tuple(ours), tuple(theirs))
    coded = [pair(left, n, right, n) for n in range(len(columns))]
    return {
        (i, j): tuple(columns[n] is None or bool(a[i] != b[j]) for n, (a, b) in enumerate(coded))
        for i in range(len(ours))
        for j in range(len(theirs))
    }
