"""One open database inside a worker: the hardened DuckDB session, and what every engine offers.

An engine is a class with `tables`, `start`, `fetch` and `close_query`; `Failed` is how it says no.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from database.gate import Parser, statement
from database.masking import masked
from database.quoting import folded
from database.refusal import Refusal
from database.result import Reason
from database.tree import Known

if TYPE_CHECKING:
    import duckdb

TIME_S = 30
# FACTS §1: each as SET GLOBAL, in this order; the lock comes last. `max_execution_time` stays free
# because every query brings its own limit (the gate refuses SET).
SETTINGS = (
    "TimeZone = 'UTC'",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_persistent_secrets = false",
    "allow_community_extensions = false",
    "python_enable_replacements = false",
    "max_expression_depth = 500",
    "threads = 1",
    "max_memory = '{memory_mb}MB'",
    f"max_execution_time = {TIME_S * 1000}",
    "max_temp_directory_size = '0MB'",
    "temp_directory = ''",
    "allowed_configs = ['max_execution_time']",
    "enable_external_access = false",
    "disabled_filesystems = 'LocalFileSystem'",
    "lock_configuration = true",
)
_CATALOGUE = """
    SELECT current_database(), table_name FROM duckdb_tables() WHERE schema_name = 'main'
    UNION SELECT current_database(), view_name FROM duckdb_views() WHERE NOT internal
"""
_NO_PYTHON_VALUE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    ImportError,
)


class Failed(Exception):
    """A query, or the opening, that ends without rows; becomes a Failure on the other side."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason, self.message = reason, message
        super().__init__(message)


class Session(Protocol):
    """What a worker needs of an engine.

    spent: the engine has broken down on a query and would fail every later one.
    """

    tables: frozenset[str]
    spent: bool

    def start(self, sql: str, time_s: float, trusted: bool) -> tuple[list[str], list[str]]:
        """Check and start a query; return the columns' names and types. Raises: Failed."""
        ...

    def fetch(self, rows: int) -> list[tuple[Any, ...]]:
        """Return the next rows, at most so many; none at the end. Raises: Failed."""
        ...

    def close_query(self) -> None:
        """Forget the query and whatever it may have left."""
        ...


def open_session(setup: dict[str, Any]) -> Session:
    """Open the database that a worker serves, by its engine. Raises: Failed."""
    if setup["engine"] == "sqlite":
        from database.ehrsql import SqliteSession

        return SqliteSession(Path(setup["path"]), setup["memory_mb"])
    return DuckSession(Path(setup["path"]), setup["memory_mb"], setup["settings"])


class DuckSession:
    """A read-only, locked-down DuckDB. Each query has a connection of its own (a cursor), so that
    nothing a query leaves in its connection is there for the next one."""

    def __init__(self, path: Path, memory_mb: int, settings: Sequence[str] = ()) -> None:
        import duckdb

        self.duckdb, self.spent = duckdb, False
        try:
            self.connection = duckdb.connect(str(path), read_only=True)
            found = self.connection.execute(_CATALOGUE).fetchall()
            self.tables = frozenset(name.lower() for _, name in found)
            names = frozenset(folded(name) for _, name in found)
            self.known = Known(names, folded(found[0][0]) if found else "")
            self.parser = Parser(self.connection)
            for setting in (*settings, *SETTINGS):
                self.connection.execute(f"SET GLOBAL {setting.format(memory_mb=memory_mb)}")
        except duckdb.Error as error:
            raise Failed("error", str(error)) from None
        self.query: duckdb.DuckDBPyConnection | None = None
        self.sql, self.trusted = "", False

    def start(self, sql: str, time_s: float, trusted: bool) -> tuple[list[str], list[str]]:
        self.query = self.connection.cursor()
        try:
            if time_s != TIME_S:
                self.query.execute(f"SET max_execution_time = {max(1, round(time_s * 1000))}")
            if trusted:
                self.query.execute(sql)
            else:
                admitted = statement(self.parser, sql, self.known)
                if isinstance(admitted, Refusal):
                    raise Failed("refused", str(admitted))
                self.query.execute(admitted)
        except self.duckdb.Error as error:
            raise self.failed(error, sql, trusted) from None
        self.sql, self.trusted = sql, trusted
        described = self.query.description or []
        return [column[0] for column in described], [str(column[1]) for column in described]

    def fetch(self, rows: int) -> list[tuple[Any, ...]]:
        assert self.query is not None
        try:
            return self.query.fetchmany(rows)
        except self.duckdb.Error as error:
            raise self.failed(error, self.sql, self.trusted) from None
        except _NO_PYTHON_VALUE as error:  # a date in the year 290,000 has none
            raise Failed("error", f"Conversion: no Python value ({type(error).__name__})") from None

    def close_query(self) -> None:
        if self.query is not None:
            self.query.close()
            self.query = None

    def failed(self, error: "duckdb.Error", sql: str, trusted: bool) -> Failed:
        """Sort an engine's error: time, memory, or the query's own fault."""
        kind = type(error).__name__.removesuffix("Exception")
        # Either makes DuckDB refuse the whole database from then on: not the next query's fault.
        self.spent = isinstance(error, self.duckdb.FatalException | self.duckdb.InternalException)
        if isinstance(error, self.duckdb.InterruptException):
            return Failed("time_out", "stopped at the time limit")
        if isinstance(error, self.duckdb.OutOfMemoryException):
            return Failed("memory", f"{kind}: more memory than a query may have")
        return Failed("error", str(error) if trusted else masked(kind, str(error), sql))
