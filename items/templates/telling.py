"""How well a reference's result tells it from its near misses: the choice between values of a template.

The gate (items/mutants.py) judges items with many more mutants and a database built for each; here a
handful of text changes is enough to prefer the year whose first day had a case over one whose had none.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from database.engine import Database
from database.result import Result

_DATE = re.compile(r"DATE '(\d{4}-\d\d-\d\d)'")
_LIMIT = re.compile(r"(?<=[<>=+]) (\d{1,3})\b")
_SWAPS = ((" >= ", " > "), (" <= ", " < "), (" < ", " <= "), (" > ", " >= "))
_GUARD = re.compile(r"\n\s*AND \S+ IS NOT NULL")


def told_apart(sql: str, database: Database) -> float:
    """Return the share of near misses whose result differs; 1 where there is none to make."""
    right = database.run(sql) if sql else None
    if right is None:
        return 1.0
    if not isinstance(right, Result):
        return 0.0
    misses = [database.run(other) for other in near_misses(sql)]
    told = [not isinstance(miss, Result) or miss.rows != right.rows for miss in misses]
    return sum(told) / len(told) if told else 1.0


def near_misses(sql: str) -> Iterator[str]:
    """Yield the query with one thing changed: a date, a limit, a comparison, a DISTINCT, a guard."""
    for match in _DATE.finditer(sql):
        for days in (-1, 1):
            day = date.fromisoformat(match[1]) + timedelta(days=days)
            yield _with(sql, match.span(1), day.isoformat())
    for match in _LIMIT.finditer(sql):
        for step in (-1, 1):
            yield _with(sql, match.span(1), str(int(match[1]) + step))
    for old, new in _SWAPS:
        for match in re.finditer(re.escape(old), sql):
            yield _with(sql, match.span(), new)
    for match in re.finditer("DISTINCT ", sql):
        yield _with(sql, match.span(), "")
    for match in _GUARD.finditer(sql):
        yield _with(sql, match.span(), "")


def _with(sql: str, span: tuple[int, int], text: str) -> str:
    return sql[: span[0]] + text + sql[span[1] :]
