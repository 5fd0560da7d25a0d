"""What nested values weigh: how many lists, structs and maps a piece of a result has, and how deep.

Encoded, an empty list takes two bytes; as a Python value it takes sixty-four. What crosses to us is
counted as it will be there, and a value nested too deep for Python to walk through never comes.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

EACH_BYTES = 64
DEEPEST = 200  # levels; Python's own limit is about 500 for what encodes and compares values
_NESTED = re.compile(r"\[|STRUCT|MAP|UNION|VARIANT")


class TooDeepError(Exception):
    """A value nested deeper than `DEEPEST` levels."""


def nested(types: Iterable[str]) -> bool:
    """Tell whether a result of such types can hold values within values."""
    return any(_NESTED.search(kind) for kind in types)


def weight(rows: Sequence[tuple[Any, ...]]) -> int:
    """Return the bytes that the lists, structs and maps of rows take by themselves.

    Raises: TooDeepError.
    """
    count, level = 0, _containers(rows)
    for _ in range(DEEPEST):
        if not level:
            return count * EACH_BYTES
        count += len(level)
        level = _containers(level)
    raise TooDeepError


def _containers(outer: Iterable[Any]) -> list[Any]:
    inner = (chain(one.keys(), one.values()) if isinstance(one, dict) else one for one in outer)
    return [one for one in chain.from_iterable(inner) if isinstance(one, (list, tuple, dict))]
