"""An answer beside its reference: both results, cut short, and where they differ. Never in a score."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from database.difference import Difference, difference
from database.engine import Database
from database.result import Failure, Result
from eval.exam import Scored
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
    """One query beside one reference.

    reference:  None for an unanswerable question.
    difference: None where the results match, or one of them is missing.
    """

    reference: Cut | None
    prediction: Cut | Failure | None
    difference: Difference | None = None


async def sides(
    database: Database, asked: Sequence[tuple[Item, Scored]], *, shown: int = SHOWN
) -> list[Sides]:
    """Return each answer beside its reference; an equal pair of queries runs once.

    Raises: nothing for what a query does; a reference that fails is shown as missing.
    """
    found: dict[tuple[str | None, str | None, bool], Sides] = {}
    for item, row in asked:
        key = (item.reference_sql, row.facts.get("sql"), item.order_matters)
        if key not in found:
            found[key] = await _sides(database, *key, shown)
    return [found[(i.reference_sql, r.facts.get("sql"), i.order_matters)] for i, r in asked]


async def _sides(
    database: Database, reference: str | None, sql: str | None, ordered: bool, shown: int
) -> Sides:
    ours = await database.arun(reference) if reference else None
    theirs = await database.arun(sql) if sql else None
    both = isinstance(ours, Result) and isinstance(theirs, Result)
    return Sides(
        cut(ours, shown) if isinstance(ours, Result) else None,
        cut(theirs, shown) if isinstance(theirs, Result) else theirs,
        difference(ours, theirs, ordered=ordered, shown=shown) if both else None,  # type: ignore[arg-type]
    )


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
