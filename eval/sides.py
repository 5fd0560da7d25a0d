"""An answer beside its reference: both results, cut short, and where they differ. Never in a score."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from database.difference import Difference, difference
from database.engine import Database
from database.result import Result
from eval.exam import Scored
from eval.outcomes import limited
from items.model import Item

SHOWN = 20  # rows of a result that are kept
LONGEST = 200  # characters of a cell


@dataclass(frozen=True)
class Cut:
    """A result with its first rows only; `total` is how many there were."""

    result: Result
    total: int


@dataclass(frozen=True)
class Sides:
    """One answer beside its reference.

    reference:  None for an unanswerable question.
    prediction: the rows of a wrong result; None for every other outcome (a right one has the
                reference's rows, a failed one has none, and its reason stands in the score).
    difference: None where the question is unanswerable.
    """

    reference: Cut | None
    prediction: Cut | None = None
    difference: Difference | None = None


async def sides(
    database: Database, asked: Sequence[tuple[Item, Scored]], *, shown: int = SHOWN
) -> list[Sides]:
    """Return each answer beside its reference; an equal query runs once, and only where rows are shown.

    A query that fails now, though it did not when it was scored, is shown without rows.
    """
    references = await _results(database, [item.reference_sql for item, _ in asked])
    wrong = [(i, str(r.facts["sql"])) for i, r in asked if r.outcome == "wrong_result"]
    found: dict[tuple[str, str | None, bool], Sides] = {}

    async def compare(sql: str, items: Sequence[Item]) -> None:
        result = await database.arun(sql)
        if not isinstance(result, Result):
            return
        for item in items:
            reference = references.get(item.reference_sql or "")
            ordered = item.order_matters
            found[(sql, item.reference_sql, ordered)] = Sides(
                cut(reference, shown) if reference else None,
                cut(result, shown),
                difference(reference, result, ordered=ordered, shown=shown) if reference else None,
            )

    await limited(
        [compare(sql, [i for i, s in wrong if s == sql]) for sql in {s for _, s in wrong}]
    )
    return [_found(found, references, item, row, shown) for item, row in asked]


async def _results(database: Database, queries: Sequence[str | None]) -> dict[str, Result]:
    found: dict[str, Result] = {}

    async def run(sql: str) -> None:
        result = await database.arun(sql)
        if isinstance(result, Result):
            found[sql] = result

    await limited([run(sql) for sql in dict.fromkeys(queries) if sql])
    return found


def _found(
    found: dict[tuple[str, str | None, bool], Sides],
    references: dict[str, Result],
    item: Item,
    row: Scored,
    shown: int,
) -> Sides:
    key = (str(row.facts.get("sql")), item.reference_sql, item.order_matters)
    if row.outcome == "wrong_result" and key in found:
        return found[key]
    reference = references.get(item.reference_sql or "")
    return Sides(cut(reference, shown) if reference else None)


def cut(result: Result, shown: int) -> Cut:
    """Return a result's first rows."""
    return Cut(replace(result, rows=result.rows[:shown]), len(result.rows))


def cell(value: Any) -> str:
    """Return a database value as the page shows it: NULL named, long texts cut."""
    text = "NULL" if value is None else plain(str(value))
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def plain(text: str) -> str:
    """Return a text with control and direction characters shown as U+XXXX."""
    return "".join(
        f"⟨U+{ord(c):04X}⟩" if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t" else c
        for c in text
    )
