"""Making a database file, from statements of our own only; nothing a model wrote comes here.

    build(Path("data/copy.duckdb"), ["CREATE TABLE t AS FROM source.t"], source=Path("data/a.duckdb"))

The source is attached read-only under the name `source`. The file appears whole or not at all.
It is a SQLite file when its name ends in `.sqlite`, else a DuckDB file.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from database.quoting import literal, name
from registry.files import locked

__all__ = ["QueryError", "build", "literal", "name"]


class QueryError(Exception):
    """A database that cannot be opened or built, or SQL of our own that does not run."""


DAMAGED = ("Could not read enough bytes", "checksum", "orrupt", "malformed", "not a database")


def damage_of(path: Path | str, message: str) -> QueryError:
    """Return what is wrong with a database that cannot be read: damage is said in one sentence."""
    if any(word in message for word in DAMAGED):
        return QueryError(
            f"{path}: the file is damaged or cut short; delete it and `fetch` it again"
        )
    return QueryError(f"{path}: {message}")


def build(
    path: Path, statements: Iterable[str], *, source: Path | None = None, once: bool = False
) -> Path:
    """Write a DuckDB file; returns its path. An older file of that name is replaced.

    Statements run in order on one thread, so that the same statements give the same rows in the
    same order. once: a file that is there, also by another process meanwhile, is left as it is.
    Raises: QueryError (names the statement), OSError, BusyError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path, wait_s=600):
        if once and path.exists():
            return path
        for left in path.parent.glob(f".{path.name}-*.building"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            dir=path.parent, prefix=f".{path.name}-", suffix=".building"
        ) as folder:
            beside = (Path(folder) / "new").with_suffix(path.suffix)
            try:
                run_all(beside, statements, source)
            except QueryError as error:
                raise QueryError(f"{path}: {error}") from None
            beside.replace(path)
    return path


def run_all(path: Path, statements: Iterable[str], source: Path | None) -> None:
    """Run statements on a fresh file. Raises: QueryError."""
    if path.suffix == ".sqlite":
        _run_all_sqlite(path, statements, source)
        return
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute("SET threads = 1")
        connection.execute("SET TimeZone = 'UTC'")
        statement = ""
        try:
            if source is not None:
                statement = f"ATTACH {literal(source)} AS source (READ_ONLY)"
                connection.execute(statement)
            for statement in statements:
                connection.execute(statement)
        except duckdb.Error as error:
            raise QueryError(f"{error}\n  in: {statement[:200]}") from None


def _run_all_sqlite(path: Path, statements: Iterable[str], source: Path | None) -> None:
    with closing(sqlite3.connect(path.as_uri(), uri=True, isolation_level=None)) as connection:
        try:
            if source is not None:
                connection.execute("ATTACH ? AS source", (f"{source.resolve().as_uri()}?mode=ro",))
            for statement in statements:
                connection.execute(statement)
        except sqlite3.Error as error:
            raise QueryError(str(error)) from None
