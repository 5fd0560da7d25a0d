"""What a database contains, as hashes: one a table, and one over all.

A table's hash does not depend on the order of its rows: every row is written as a JSON array of its
cells as text (NULL stays null), the md5 of that text is a 128-bit number, and the numbers are summed,
so that repeated rows count. The sums, the row count and the columns' names and types go into a sha256.
md5 is no defence here and need not be: whoever can choose the rows can as well change the pin.

The result is kept beside the file (`.<name>.fingerprint.json`) with the file's size, inode, mtime and
ctime in nanoseconds. Every write moves the ctime, and no call can set it back, so a kept fingerprint
is used only while nothing has touched the file; a copied or restored file is read again.
"""

# ruff: noqa: S608 (names come from the catalogue and are quoted)

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from database.build import name
from database.stamp import stamp
from registry.canonical import sha256_json
from registry.files import replace

if TYPE_CHECKING:
    from database.engine import Database

VERSION = 1


@dataclass(frozen=True)
class Fingerprint:
    """The hash of a database's content, and each table's (rows, hash)."""

    sha256: str
    tables: dict[str, tuple[int, str]]

    def difference(self, other: "Fingerprint") -> list[str]:
        """Return what differs from another one, by name of table; empty when nothing does."""
        names = sorted(self.tables.keys() | other.tables.keys())
        return [
            f"table {table}: {_told(self.tables.get(table))}, pinned {_told(other.tables.get(table))}"
            for table in names
            if self.tables.get(table) != other.tables.get(table)
        ]


def fingerprint(database: "Database") -> Fingerprint:
    """Return a database's fingerprint, from beside the file or computed. Raises: QueryError."""
    kept = database.path.with_name(f".{database.path.name}.fingerprint.json")
    now = {**stamp(database.path), "version": VERSION}
    if (found := _load(kept, now)) is not None:
        return found
    tables = {table: _table(database, table) for table in sorted(database.tables)}
    computed = Fingerprint(sha256_json(tables), tables)
    if {**stamp(database.path), "version": VERSION} == now:
        _keep(kept, now, computed)
    return computed


def _table(database: "Database", table: str) -> tuple[int, str]:
    """Return a table's row count and hash."""
    from database.schema import columns_of

    columns = columns_of(database, table)
    rows, low, high = _sums(database, table, columns)
    return rows, sha256_json([list(columns.items()), rows, str(low), str(high)])


def _sums(database: "Database", table: str, columns: dict[str, str]) -> tuple[int, ...]:
    """Return the row count and the sums of both halves of the rows' md5, computed by the engine."""
    if database.engine == "sqlite":
        cells = ", ".join(map(name, columns))
        text = database.read(f"SELECT row_sums({cells}) FROM {name(table)}").rows[0][0]
        return tuple(map(int, (text or "0 0 0").split()))
    cells = ", ".join(f"CAST({name(column)} AS VARCHAR)" for column in columns)
    lines = f"SELECT CAST(json_array({cells}) AS VARCHAR) AS line FROM {name(table)}"
    sums = "coalesce(sum(md5_number_lower(line)), 0), coalesce(sum(md5_number_upper(line)), 0)"
    return tuple(map(int, database.read(f"SELECT count(*), {sums} FROM ({lines})").rows[0]))


def _load(kept: Path, now: dict[str, int]) -> Fingerprint | None:
    try:
        found: dict[str, Any] = json.loads(kept.read_text())
        if found["stamp"] != now:
            return None
        tables = {table: (int(rows), str(sha)) for table, (rows, sha) in found["tables"].items()}
        return Fingerprint(str(found["sha256"]), tables)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # whatever lies there is not ours: compute


def _keep(kept: Path, now: dict[str, int], computed: Fingerprint) -> None:
    with contextlib.suppress(OSError):  # a read-only folder: computed again next time
        replace(kept, json.dumps({"stamp": now, **asdict(computed)}))


def _told(entry: tuple[int, str] | None) -> str:
    return "missing" if entry is None else f"{entry[0]:,} rows {entry[1][:12]}"
