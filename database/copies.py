"""Does a query depend on how the rows lie on disk? Run it on copies that lie differently.

    order_dependence(database, "SELECT person_id FROM person LIMIT 5")
    -> "copy reversed: only there (2694,), (2693,), …; only here (1,), (2,), …"

The copies hold the same rows in reverse order and shuffled. They are made once a fingerprint, in the
folder `copies` beside the database, and kept. Each is asked twice, as the engine plans it and with
another plan for ORDER BY … LIMIT: a tie that LIMIT cuts falls the same way now and then. Of 284 such
ties on Eunomia the reversed copy shows 243, both copies 265, both with both plans 282.

Two results are the same when they hold the same rows equally often (in the same order, where the
question asks for one), floats compared at 9 digits: another order of summing moves the last digits of
a sum of doubles, and the comparison of answers rounds to 3 decimals anyway.
"""

# ruff: noqa: S608 (names come from the catalogue and are quoted)

import math
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from database.build import QueryError, build, name
from database.result import Failure, Result

if TYPE_CHECKING:
    from database.engine import Database

DIGITS = 9
SHOWN = 3
ORDERS = {"reversed": "rowid DESC", "shuffled": "(rowid * 2654435761) % 4294967296, rowid"}
# Groups of a small range of numbers would come in the order of the numbers, wherever their rows lie.
PLANS = {
    "": ("perfect_ht_threshold = 0",),
    ", sorted whole": ("perfect_ht_threshold = 0", "disabled_optimizers = 'top_n'"),
}
_CUT = re.compile(r"\b(?:limit|fetch)\b", re.IGNORECASE)
OURS = (
    "lost",
    "time_out",
    "memory",
)  # the machine's failures: they say nothing of the order of rows
Row = tuple[Any, ...]


class Unanswered(QueryError):
    """A copy gave no answer for a reason that the query's rows did not cause; ask again later."""


def order_dependence(database: "Database", sql: str, *, ordered: bool = False) -> str | None:
    """Return how a query's result depends on the order of rows on disk; None when it does not.

    ordered: the question asks for an order, so rows in another order are a difference too.
    A query that fails on the database itself is not judged here.
    Raises: Unanswered (a copy's worker was lost, its time or memory short), QueryError (no copies).
    """
    here = database.run(sql)
    if isinstance(here, Failure):
        if here.reason == "lost":
            raise Unanswered(f"lost: {here.message}")
        return None
    copies = database.copies if _CUT.search(sql) else _as_planned(database.copies)
    with ThreadPoolExecutor(len(copies)) as threads:
        ran = threads.map(lambda copy: copy.run(sql), copies.values())
    for kind, there in zip(copies, ran, strict=True):
        if isinstance(there, Failure):
            failed = f"copy {kind}: {there.reason}: {there.message}"
            if there.reason in OURS:
                raise Unanswered(failed)
            return failed
        if told := difference(here, there, ordered=ordered):
            return f"copy {kind}: {told}"
    return None


def _as_planned(copies: "dict[str, Database]") -> "dict[str, Database]":
    """The copies without those whose other plan is for LIMIT only."""
    return {kind: copy for kind, copy in copies.items() if kind in ORDERS}


def make_copies(path: Path, fingerprint: str, tables: frozenset[str]) -> dict[str, Path]:
    """Make the copies that are not there yet; return their paths by the order of their rows.

    Each keeps the file's name, which a query may say (`eunomia.main.person`). Raises: QueryError, OSError.
    """
    folder = path.parent / "copies"
    return {
        kind: build(
            folder / f"{fingerprint[:16]}-{kind}" / path.name,
            _statements(tables, order),
            source=path,
            once=True,
        )
        for kind, order in ORDERS.items()
    }


def _statements(tables: frozenset[str], order: str) -> Iterator[str]:
    for table in sorted(tables):
        yield f"CREATE TABLE {name(table)} AS SELECT * FROM source.{name(table)} ORDER BY {order}"


def difference(here: Result, there: Result, *, ordered: bool) -> str | None:
    """Return the rows in which two results differ, or None."""
    if ordered:
        return _first_place(here.rows, there.rows)
    ours, theirs = _counted(here.rows), _counted(there.rows)
    only_here = _rest(ours - theirs)
    only_there = _rest(theirs - ours)
    if len(only_here) == len(only_there) and all(map(_close, only_here, only_there)):
        return None
    return f"only there {_shown(only_there)}; only here {_shown(only_here)}"


def _first_place(here: tuple[Row, ...], there: tuple[Row, ...]) -> str | None:
    for place, (ours, theirs) in enumerate(zip(here, there, strict=False), 1):
        if not _close(ours, theirs):
            return f"row {place} is {theirs!r} there, {ours!r} here"
    if len(here) != len(there):
        return f"{len(there):,} rows there, {len(here):,} here"
    return None


def _counted(rows: tuple[Row, ...]) -> Counter[Any]:
    """Rows by what is comparable of them, floats at 9 digits."""
    return Counter(tuple(map(_key, row)) for row in rows)


def _key(cell: Any) -> Any:
    if isinstance(cell, float):
        return ("float", f"{cell + 0.0:.{DIGITS}g}")
    if isinstance(cell, list | tuple):
        return ("list", tuple(map(_key, cell)))
    if isinstance(cell, dict):
        return ("dict", tuple((_key(key), _key(value)) for key, value in cell.items()))
    return (type(cell).__name__, cell)


def _rest(counted: Counter[Any]) -> list[Any]:
    """The rows left over, in an order in which nearly equal ones stand at the same place."""
    return sorted(counted.elements(), key=repr)


def _close(ours: Any, theirs: Any) -> bool:
    """Equal, or equal but for the last digits of floats (two sides of a rounding edge)."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        if ours[:1] == theirs[:1] == ("float",):
            return _close(float(ours[1]), float(theirs[1]))
        return len(ours) == len(theirs) and all(map(_close, ours, theirs))
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_close, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        same = math.isclose(ours, theirs, rel_tol=10.0**-DIGITS * 5, abs_tol=10.0**-DIGITS)
        return same or (math.isnan(ours) and math.isnan(theirs))
    return bool(ours == theirs)


def _shown(rows: list[Any]) -> str:
    texts = ["(" + ", ".join(_plain(cell) for cell in row) + ")" for row in rows[:SHOWN]]
    return ", ".join(texts + ["…"] * (len(rows) > SHOWN)) or "nothing"


def _plain(key: Any) -> str:
    kind, value = key
    if kind == "list":
        return ("[" + ", ".join(map(_plain, value)))[:60] + "]"
    return str(value) if kind in ("int", "float", "Decimal", "date") else repr(value)[:60]
