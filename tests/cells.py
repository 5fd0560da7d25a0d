"""Cells of the shared cases as Python values; their encoding is told in each file's `about`."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from database.result import Result

CASES = Path(__file__).parent / "cases"
KINDS = {
    "$float": float,
    "$decimal": Decimal,
    "$date": date.fromisoformat,
    "$datetime": datetime.fromisoformat,
    "$time": time.fromisoformat,
    "$timedelta_us": lambda us: timedelta(microseconds=us),
    "$uuid": UUID,
    "$bytes_hex": bytes.fromhex,
    "$list": lambda cells: [cell(one) for one in cells],
    "$dict": lambda pairs: {key: cell(value) for key, value in pairs},
}


def cell(value: Any) -> Any:
    """Decode one cell: plain JSON, or a one-key object that names its type."""
    if isinstance(value, dict) and next(iter(value), "").startswith("$"):
        ((kind, content),) = value.items()
        return KINDS[kind](content)
    return value


def result(rows: Any, columns: int | None = None) -> Result:
    """Return rows as a Result with columns named c0, c1, ..."""
    count = len(rows[0]) if columns is None else columns
    names = tuple(f"c{n}" for n in range(count))
    return Result(names, ("",) * count, tuple(tuple(cell(c) for c in row) for row in rows))


def cases(name: str) -> Any:
    """Return one file of tests/cases."""
    return json.loads((CASES / name).read_text(encoding="utf-8"))
