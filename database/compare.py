"""Whether two results say the same, whatever the order of their columns (S1-083 to S1-088; FACTS 2).

Rows are multisets (in order only where the question asks for one), the column order is free, the
column counts are equal, all rows count. Finding the right order of the columns is the hard part: a
walk through all of them takes n^n steps. Here rows and columns are coloured instead, a row by the
cells it holds and the colours of their columns, a column by its cells and the colours of their
rows, until nothing changes (colour refinement). Equal results get equal colours, so a difference in
colours decides, and only columns of one colour are ever tried for one another. Colours are hashes:
a collision could only leave more to try, since a match is always confirmed on the exact rows.
Source: Spider's test-suite rule, restated; refinement as in McKay and Piperno 2014 (nauty).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from database.cells import Key, is_text, number_key

if TYPE_CHECKING:
    from database.result import Result

MAX_ROWS = 10_000  # S1-082: what is longer is no answer

Rows = tuple[tuple[Any, ...], ...]
Codes = NDArray[np.int32]
Hashes = NDArray[np.uint64]


def match(reference: "Result", prediction: "Result", *, ordered: bool) -> bool:
    """Tell whether two results are equal under some order of the prediction's columns."""
    if len(reference.columns) != len(prediction.columns):
        return False
    if len(reference.rows) != len(prediction.rows) or len(reference.rows) > MAX_ROWS:
        return False
    if _plainly_equal(reference.rows, prediction.rows):
        return True
    left, right = code_both(reference.rows, prediction.rows)
    return _match_ordered(left, right) if ordered else _match_unordered(left, right)


def _plainly_equal(ours: Rows, theirs: Rows) -> bool:
    """Tell whether rows are equal as they stand: the usual right answer, and no search.

    Python's == is finer than the rule (NaN, 3 decimals), but inside a list it would take 1 for 1.0.
    """
    if ours != theirs:
        return False
    kinds = set(map(type, chain.from_iterable((*ours, *theirs))))
    return kinds.isdisjoint((list, dict, tuple))


@dataclass(frozen=True)
class Coded:
    """One result as whole numbers: equal codes are equal cells, also across two results.

    number:  (columns, rows) codes by the number rule.
    text:    (columns, rows) codes by exact text; meaningful where the column is text.
    is_text: whether each column is text.
    same:    equal numbers for columns that cannot be told apart.
    """

    number: Codes
    text: Codes
    is_text: tuple[bool, ...]
    same: tuple[bytes, ...]


def code_both(left: Rows, right: Rows) -> tuple[Coded, Coded]:
    """Return two results' rows as codes of one code book."""
    ours, theirs = list(zip(*left, strict=True)), list(zip(*right, strict=True))
    text = _Book(exact=True)
    all_text = all(map(is_text, ours)) and all(map(is_text, theirs))
    number = text if all_text else _Book(exact=False)  # no column is read as numbers then
    return _coded(ours, number, text), _coded(theirs, number, text)


def pair(left: Coded, i: int, right: Coded, j: int) -> tuple[Codes, Codes]:
    """Return the codes by which column i of one result and column j of the other compare."""
    if left.is_text[i] and right.is_text[j]:
        return left.text[i], right.text[j]
    return left.number[i], right.number[j]


class _Book(dict[Any, int]):
    """Cell -> code. Python's 1 == 1.0 == True shares an entry, as the number rule has it too."""

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.keys_seen: dict[Key, int] = {}

    def __missing__(self, value: Any) -> int:
        key = value if self.exact else number_key(value)
        code = self[value] = self.keys_seen.setdefault(key, len(self.keys_seen))
        return code

    def codes(self, column: tuple[Any, ...]) -> Codes:
        try:
            return np.fromiter(map(self.__getitem__, column), np.int32, len(column))
        except TypeError:  # lists, structs and maps cannot be looked up
            return self.codes(tuple(_hashable(value) for value in column))


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict | set) else value


def _coded(columns: list[tuple[Any, ...]], number: _Book, text: _Book) -> Coded:
    texts = tuple(is_text(column) for column in columns)
    numbers = np.array([number.codes(column) for column in columns], np.int32)
    exact = numbers.copy()
    for at, column in enumerate(columns):
        if texts[at]:
            exact[at] = text.codes(column)
    same = tuple(
        bytes([texts[at]]) + numbers[at].tobytes() + exact[at].tobytes()
        for at in range(len(columns))
    )
    return Coded(numbers, exact, texts, same)


def _match_ordered(left: Coded, right: Coded) -> bool:
    """Rows in order: the columns themselves must be equal multisets.

    Text columns take their exact twins first, since a text column can also stand for a number
    column but a text column never for another spelling of itself.
    """
    ours, theirs = _by_content(left), _by_content(right)
    return ours.keys() == theirs.keys() and all(
        _enough(ours[content], theirs[content]) for content in ours
    )


def _by_content(side: Coded) -> dict[bytes, Counter[bytes | None]]:
    """Group a result's columns by their number codes: a count of exact texts, None for the others."""
    groups: dict[bytes, Counter[bytes | None]] = {}
    for number, text, is_one in zip(side.number, side.text, side.is_text, strict=True):
        content = text.tobytes() if is_one else None
        groups.setdefault(number.tobytes(), Counter())[content] += 1
    return groups


def _enough(ours: Counter[bytes | None], theirs: Counter[bytes | None]) -> bool:
    """Tell whether columns of one content can be paired off."""
    twins = sum((ours & theirs).values()) - min(ours[None], theirs[None])
    return (
        ours.total() == theirs.total()
        and ours.total() - ours[None] - twins <= theirs[None]
        and theirs.total() - theirs[None] - twins <= ours[None]
    )


@dataclass(frozen=True)
class _Colours:
    """Where the search stands: the colours of both results' rows and columns."""

    left_rows: Hashes
    right_rows: Hashes
    left_columns: Hashes
    right_columns: Hashes


def _match_unordered(left: Coded, right: Coded) -> bool:
    return _Search(left, right).found()


class _Search:
    """The search for an order of columns; holds what never changes while it runs.

    Rows that are equal in every column stand once, with how often they occur.
    """

    def __init__(self, left: Coded, right: Coded) -> None:
        self.left, self.left_times = _distinct_rows(left)
        self.right, self.right_times = _distinct_rows(right)
        size = 1 + max(
            int(side.max()) for side in (left.number, left.text, right.number, right.text)
        )
        numbers = np.random.default_rng(0)  # colours only steer: no result depends on them
        self.hashes = numbers.integers(0, 2**64, (2, size), np.uint64)
        self.left_cells, self.right_cells = self._cells()

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
            exact = np.array([c not in other for c in content], bool)
            cells[exact] = self.hashes[1][side.text[exact]]
        return ours, theirs

    def found(self) -> bool:
        """Walk depth first; each step gives one column of each side a colour of its own."""
        walk = [iter([self._start()])]
        while walk:
            colours = next(walk[-1], None)
            if colours is None:
                walk.pop()
            elif refined := self._refine(colours):
                column = self._undecided(refined)
                if column is None:
                    if self._confirmed(refined):
                        return True
                else:
                    walk.append(self._tries(refined, column, len(walk)))
        return False

    def _start(self) -> _Colours:
        def zeros(count: int) -> Hashes:
            return np.zeros(count, np.uint64)

        rows = (len(self.left_times), len(self.right_times))
        columns = len(self.left.same)
        return _Colours(zeros(rows[0]), zeros(rows[1]), zeros(columns), zeros(columns))

    def _refine(self, colours: _Colours) -> _Colours | None:
        """Colour rows by columns and columns by rows until nothing splits; None: they differ."""
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

    def _tries(self, colours: _Colours, i: int, depth: int) -> Iterator[_Colours]:
        """Yield the colours after column i is held to each column that it could stand for."""
        tried: set[bytes] = set()
        for j in np.flatnonzero(colours.right_columns == colours.left_columns[i]).tolist():
            if self.right.same[j] in tried:
                continue
            tried.add(self.right.same[j])
            ours, theirs = pair(self.left, i, self.right, j)
            yield _Colours(
                _mix(colours.left_rows + self.hashes[0][ours]),
                _mix(colours.right_rows + self.hashes[0][theirs]),
                _marked(colours.left_columns, i, depth),
                _marked(colours.right_columns, j, depth),
            )

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
