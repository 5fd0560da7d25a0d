"""Two results as whole numbers of one code book: equal codes are equal cells, by the rule of cells.py."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from database.cells import Key, is_text, number_key

Rows = tuple[tuple[Any, ...], ...]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Coded:
    """One result as codes.

    number:  (columns, rows) codes by the number rule.
    text:    (columns, rows) codes by exact text where the column is text, else as `number`.
    is_text: whether each column is text.
    same:    one value a column: equal where columns cannot be told apart.
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
        if self.exact:
            code = self[value] = len(self)
        else:
            code = self[value] = self.keys_seen.setdefault(number_key(value), len(self.keys_seen))
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
