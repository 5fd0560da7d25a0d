"""The order of columns under which two results hold the same rows, if there is one.

A walk through all orders takes n^n steps. Here rows and columns are coloured, a row by the cells it
holds and the colours of their columns, a column by its cells and the colours of their rows, until
nothing splits (colour refinement). Equal results get equal colours, so that a difference in colours
decides, and only columns of one colour are ever tried for one another: one is held fast, the colours
are refined again, and so on. Columns that a symmetry of the prediction maps onto one that failed are
not tried. Colours are hashes: a collision could only leave more to try, since a match is always
confirmed on the exact rows.
Source: McKay and Piperno 2014 (individualisation, refinement and pruning by automorphisms, as in nauty).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from database.coded import Coded, Codes, pair

Hashes = NDArray[np.uint64]
EFFORT = 10  # refinements a column that may be spent on finding one symmetry


@dataclass(frozen=True)
class _Colours:
    """Where the search stands: the colours of both results' rows and columns."""

    left_rows: Hashes
    right_rows: Hashes
    left_columns: Hashes
    right_columns: Hashes


def match_unordered(left: Coded, right: Coded) -> bool:
    """Tell whether the rows are equal multisets under some order of the right columns."""
    return _Search(left, right).found()


class _Search:
    """The search for an order of columns; holds what never changes while it runs.

    Rows that are equal in every column stand once, with how often they occur.
    exact: text columns stand for text columns only (a symmetry of one result).
    """

    def __init__(self, left: Coded, right: Coded, *, exact: bool = False) -> None:
        self.exact = exact
        self.left, self.left_times = _distinct_rows(left)
        self.right, self.right_times = _distinct_rows(right)
        size = 1 + max(
            int(side.max()) for side in (left.number, left.text, right.number, right.text)
        )
        numbers = np.random.default_rng(0)  # colours only steer: no result depends on them
        self.hashes = numbers.integers(0, 2**64, (2, size), np.uint64)
        self.left_cells, self.right_cells = self._cells()
        self.refined = 0
        self.mirror: _Search | None = None

    def _cells(self) -> tuple[Hashes, Hashes]:
        """Hash every cell: as exact text where all columns of that content are text, on both sides."""
        ours, theirs = (self.hashes[0][side.number] for side in (self.left, self.right))
        contents = [
            (_mix(cells) * times).sum(axis=1).tolist()
            for cells, times in ((ours, self.left_times), (theirs, self.right_times))
        ]
        flags = [*self.left.is_text, *self.right.is_text]
        other = {c for c, flag in zip(contents[0] + contents[1], flags, strict=True) if not flag}
        for cells, side, content in (
            (ours, self.left, contents[0]),
            (theirs, self.right, contents[1]),
        ):
            as_text = [
                is_one if self.exact else c not in other
                for is_one, c in zip(side.is_text, content, strict=True)
            ]
            exact = np.array(as_text, bool)
            cells[exact] = self.hashes[1][side.text[exact]]
        return ours, theirs

    def found(self, start: _Colours | None = None, effort: int | None = None) -> bool:
        """Walk depth first; each step gives one column of each side a colour of its own.

        effort: refinements after which to give up; such a search looks for no symmetries itself.
        """
        self.refined = 0
        first = self._refine(start or self._start())
        walk = [iter([first] if first else [])]
        while walk and (effort is None or self.refined < effort):
            colours = next(walk[-1], None)
            if colours is None:
                walk.pop()
                continue
            column = self._undecided(colours)
            if column is not None:
                walk.append(self._tries(colours, column, len(walk), prune=effort is None))
            elif self._confirmed(colours):
                return True
        return False

    def _start(self) -> _Colours:
        def zeros(count: int) -> Hashes:
            return np.zeros(count, np.uint64)

        columns = len(self.left.same)
        rows = (len(self.left_times), len(self.right_times))
        return _Colours(zeros(rows[0]), zeros(rows[1]), zeros(columns), zeros(columns))

    def _refine(self, colours: _Colours) -> _Colours | None:
        """Colour rows by columns and columns by rows until nothing splits; None: they differ."""
        self.refined += 1
        seen = 0
        while True:
            ours = _round(self.left_cells, self.left_times, colours.left_rows, colours.left_columns)
            theirs = _round(
                self.right_cells, self.right_times, colours.right_rows, colours.right_columns
            )
            if not np.array_equal(np.sort(ours[1]), np.sort(theirs[1])):
                return None
            if not _same_rows(ours[0], self.left_times, theirs[0], self.right_times):
                return None
            colours = _Colours(ours[0], theirs[0], ours[1], theirs[1])
            kinds = len(np.unique(ours[0])) + len(np.unique(ours[1]))
            if kinds == seen:
                return colours
            seen = kinds

    def _undecided(self, colours: _Colours) -> int | None:
        """Return a column that could stand for several that differ, of the rarest such colour."""
        ours, theirs = _classes(colours.left_columns), _classes(colours.right_columns)
        open_classes = [
            columns
            for colour, columns in ours.items()
            if len({self.left.same[i] for i in columns}) > 1
            or len({self.right.same[j] for j in theirs[colour]}) > 1
        ]
        return min(open_classes, key=len)[0] if open_classes else None

    def _tries(self, colours: _Colours, i: int, depth: int, *, prune: bool) -> Iterator[_Colours]:
        """Yield the colours after column i is held to each column that it could stand for.

        A second one is asked for only when the first has failed.
        """
        failed: dict[bytes, int] = {}
        for j in np.flatnonzero(colours.right_columns == colours.left_columns[i]).tolist():
            if self.right.same[j] in failed:
                continue
            held = self._refine(self._held(colours, i, j, depth))
            if held and not (prune and any(self._alike(colours, k, j) for k in failed.values())):
                yield held
                failed[self.right.same[j]] = j

    def _held(self, colours: _Colours, i: int, j: int, depth: int) -> _Colours:
        ours, theirs = pair(self.left, i, self.right, j)
        return _Colours(
            _mix(colours.left_rows + self.hashes[0][ours]),
            _mix(colours.right_rows + self.hashes[0][theirs]),
            _marked(colours.left_columns, i, depth),
            _marked(colours.right_columns, j, depth),
        )

    def _alike(self, colours: _Colours, k: int, j: int) -> bool:
        """Tell whether a symmetry of the prediction maps column k to j and keeps what is held."""
        if self.mirror is None:
            self.mirror = _Search(self.right, self.right, exact=True)
        texts = np.array(self.right.is_text, np.uint64)
        rows, columns = colours.right_rows, _mix(colours.right_columns + texts)
        start = self.mirror._held(_Colours(rows, rows, columns, columns), k, j, 0)
        return self.mirror.found(start, EFFORT * len(columns))

    def _confirmed(self, colours: _Colours) -> bool:
        """Compare the exact rows under the order of columns that the colours give."""
        order = zip(
            np.argsort(colours.left_columns, kind="stable").tolist(),
            np.argsort(colours.right_columns, kind="stable").tolist(),
            strict=True,
        )
        pairs = [pair(self.left, i, self.right, j) for i, j in order]
        ours = _row_counts([codes for codes, _ in pairs], self.left_times)
        theirs = _row_counts([codes for _, codes in pairs], self.right_times)
        return ours == theirs


def _distinct_rows(side: Coded) -> tuple[Coded, Hashes]:
    """Return a result with equal rows once, and how often each occurs."""
    counts = _row_counts([*side.number, *side.text], None)
    width = len(side.same)
    rows = np.frombuffer(b"".join(counts), np.int32).reshape(len(counts), 2 * width).T
    times = np.fromiter(counts.values(), np.uint64, len(counts))
    return Coded(rows[:width].copy(), rows[width:].copy(), side.is_text, side.same), times


def _row_counts(columns: list[Codes], times: Hashes | None) -> Counter[bytes]:
    """Count the rows of some columns; each row as bytes."""
    block = np.ascontiguousarray(np.array(columns, np.int32).T)
    size = block.shape[1] * block.itemsize
    data = block.tobytes()
    rows = [data[at : at + size] for at in range(0, len(data), size)]
    if times is None:
        return Counter(rows)
    counts: Counter[bytes] = Counter()
    for row, count in zip(rows, times.tolist(), strict=True):
        counts[row] += count
    return counts


def _round(cells: Hashes, times: Hashes, rows: Hashes, columns: Hashes) -> tuple[Hashes, Hashes]:
    """Colour the rows by the columns, then the columns by the rows."""
    rows = _mix(rows + _mix(cells + columns[:, None]).sum(axis=0))
    columns = _mix(columns + (_mix(cells ^ rows) * times).sum(axis=1))
    return rows, columns


def _same_rows(ours: Hashes, our_times: Hashes, theirs: Hashes, their_times: Hashes) -> bool:
    """Tell whether both sides have the same colours of rows, equally often."""
    left, right = np.argsort(ours), np.argsort(theirs)
    same_colours = np.array_equal(ours[left], theirs[right])
    if same_colours and np.array_equal(our_times[left], their_times[right]):
        return True
    return _colour_counts(ours, our_times) == _colour_counts(theirs, their_times)


def _colour_counts(colours: Hashes, times: Hashes) -> Counter[int]:
    counts: Counter[int] = Counter()
    for colour, count in zip(colours.tolist(), times.tolist(), strict=True):
        counts[colour] += count
    return counts


def _classes(colours: Hashes) -> dict[int, list[int]]:
    classes: dict[int, list[int]] = {}
    for column, colour in enumerate(colours.tolist()):
        classes.setdefault(colour, []).append(column)
    return classes


def _marked(colours: Hashes, column: int, depth: int) -> Hashes:
    marked = colours.copy()
    marked[column] = depth  # no other column has it: the others are hashes
    return marked


def _mix(values: Hashes) -> Hashes:
    """Scramble 64-bit numbers (the finaliser of splitmix64, Steele, Lea and Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
