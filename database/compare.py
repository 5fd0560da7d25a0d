"""Whether two results say the same, whatever the order of their columns (S1-083 to S1-088; FACTS 2).

Rows are multisets (in order only where the question asks for one), the column order is free, the
column counts are equal, all rows count. What a cell counts as is told in cells.py; the order of the
columns is found in column_search.py.
Source: Spider's test-suite rule (test-suite-sql-eval, exec_eval.py), restated without its code.
"""

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from database.coded import Coded, Rows, code_both
from database.column_search import match_unordered

if TYPE_CHECKING:
    from database.result import Result

MAX_ROWS = 10_000  # S1-082: what is longer is no answer


def match(reference: "Result", prediction: "Result", *, ordered: bool) -> bool:
    """Tell whether two results are equal under some order of the prediction's columns."""
    if len(reference.columns) != len(prediction.columns):
        return False
    if len(reference.rows) != len(prediction.rows) or len(reference.rows) > MAX_ROWS:
        return False
    if _plainly_equal(reference.rows, prediction.rows):
        return True
    left, right = code_both(reference.rows, prediction.rows)
    return _match_ordered(left, right) if ordered else match_unordered(left, right)


def _plainly_equal(ours: Rows, theirs: Rows) -> bool:
    """Tell whether rows are equal as they stand: the usual right answer, and no search.

    Python's == is finer than the rule (NaN, 3 decimals), but inside a list it would take 1 for 1.0.
    """
    if ours != theirs:
        return False
    kinds = set(map(type, chain.from_iterable((*ours, *theirs))))
    return kinds.isdisjoint((list, dict, tuple))


def _match_ordered(left: Coded, right: Coded) -> bool:
    """Rows in order: the columns themselves must be equal multisets.

    Text columns take their exact twins first, since a text column can also stand for a number
    column but never for another spelling of itself.
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
