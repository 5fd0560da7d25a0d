"""EHRSQL's databases: SQLite files (MIMIC-III, eICU) under the same rules as DuckDB's.

The rules are SQLite's own authorizer, which is asked for every table, column and function that a
statement compiles to: an allow list on the engine's own tree, as `gate.py` is for DuckDB. What it
cannot see (EXPLAIN, a second statement, no statement) is looked at in the text and by the driver; a
function's arguments, which may say `now`, in sqlite_clock.py.

EHRSQL asks about a fixed present: `current_time` in its queries stands for 2105-12-31 23:59:00 (2100 in
the 2024 shared task). `with_current_time` puts it in; the word itself is a clock, and is refused.
"""

import json
import math
import re
import sqlite3
import time
from hashlib import md5
from pathlib import Path
from typing import Any

from database.gate import unreadable
from database.masking import masked
from database.quoting import folded
from database.refusal import Refusal
from database.session import Failed
from database.sqlite_clock import guards, needs_guard
from database.words import words

CURRENT_TIME = "2105-12-31 23:59:00"  # S3-010
STEPS = 10_000  # SQLite's instructions between two looks at the clock, well below a millisecond
LONGEST_VALUE = 64 << 20
FUNCTIONS = words("""
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws
    cos cosh count cume_dist date datetime degrees dense_rank exp first_value floor format glob
    group_concat hex ifnull iif instr json json_array json_array_length json_extract json_group_array
    json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set
    json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2
    lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power printf quote
    radians rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr substring
    sum tan tanh time timediff total trim trunc typeof unhex unicode unixepoch unlikely upper
""")
CLOCKS = frozenset({"current_date", "current_time", "current_timestamp"})
RANDOM = frozenset({"random", "randomblob"})
_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]*")
_NOW = re.compile(r"""(['"])\s*now\s*\1""", re.IGNORECASE)
_TIMELESS = re.compile(
    r"\b(?:(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)|strftime\s*\(\s*'[^']*'\s*\))",
    re.IGNORECASE,
)
_CURRENT_TIME = re.compile(r"\bcurrent_time\b", re.IGNORECASE)
# Where a table is only counted, SQLite asks about WITH names as if they were tables.
_WITH_NAME = re.compile(
    r'"?(\w+)"?\s*(?:\([^()]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(', re.IGNORECASE
)
_LITERAL = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""")


def with_current_time(sql: str, now: str = CURRENT_TIME) -> str:
    """Return EHRSQL's query with its `current_time` replaced by the fixed present, as a literal."""
    parts = _LITERAL.split(sql)
    return "".join(
        part if place % 2 else _CURRENT_TIME.sub(f"'{now}'", part)
        for place, part in enumerate(parts)
    )


class SqliteSession:
    """A read-only SQLite database whose authorizer admits one SELECT over its own tables.

    plain, guarded: two connections to it, with SQLite's own date functions and with guards.
    """

    spent = False

    def __init__(self, path: Path, memory_mb: int) -> None:
        self.sql, self.deadline = "", math.inf
        try:
            self.plain, self.guarded = self._opened(path, memory_mb), self._opened(path, memory_mb)
            found = self.plain.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
            ).fetchall()
        except sqlite3.Error as error:
            raise Failed("error", str(error)) from None
        self.tables = frozenset(folded(name) for (name,) in found)
        for name, guard in guards(self._stop).items():
            self.guarded.create_function(name, -1, guard, deterministic=True)
        self.cursor: sqlite3.Cursor | None = None
        self.refusal: Refusal | None = None
        self.named: frozenset[str] = frozenset()  # the query's own WITH names

    def _opened(self, path: Path, memory_mb: int) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
        )
        for pragma in (
            "query_only = 1",
            "trusted_schema = 0",
            "temp_store = 2",  # in memory: a worker may write no file
            f"hard_heap_limit = {memory_mb << 20}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.create_aggregate("row_sums", -1, RowSums)  # type: ignore[arg-type]
        connection.set_progress_handler(self._late, STEPS)
        return connection

    def _stop(self, place: str) -> None:
        self.refusal = Refusal("reads the clock", place)

    def start(self, sql: str, time_s: float, trusted: bool) -> tuple[list[str], list[str]]:
        self.sql, self.deadline, self.refusal = sql, time.monotonic() + time_s, None
        if not trusted and (refusal := statement_problem(sql)):
            raise Failed("refused", str(refusal))
        self.named = frozenset(folded(name) for name in _WITH_NAME.findall(sql))
        connection = self.guarded if not trusted and needs_guard(sql) else self.plain
        connection.set_authorizer(None if trusted else self._authorize)
        try:
            self.cursor = connection.execute(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._failed(error) from None
        described = self.cursor.description
        if described is None:
            raise Failed("refused", "not one SELECT: 0 statements")
        return [column[0] for column in described], ["" for _ in described]

    def fetch(self, rows: int) -> list[tuple[Any, ...]]:
        assert self.cursor is not None
        try:
            return self.cursor.fetchmany(rows)
        except (sqlite3.Error, OverflowError) as error:
            raise self._failed(error) from None

    def close_query(self) -> None:
        if self.cursor is not None:
            self.cursor.close()
            self.cursor = None

    def _late(self) -> bool:
        return time.monotonic() > self.deadline

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: object, _view: object
    ) -> int:
        """SQLite asks for each thing a statement compiles to; `first` and `second` name it."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            refusal = self._table_problem(folded(first or ""), folded(second or ""))
        elif action == sqlite3.SQLITE_FUNCTION:
            refusal = function_problem(folded(second or ""))
        elif first == "sqlite_master":  # how a table function comes into being
            refusal = Refusal("no table of the database", "a table function")
        else:
            refusal = Refusal("not one SELECT", _ACTIONS.get(action, f"action {action}"))
        self.refusal = self.refusal or refusal
        return sqlite3.SQLITE_DENY if refusal else sqlite3.SQLITE_OK

    def _table_problem(self, table: str, column: str) -> Refusal | None:
        if table not in self.tables and not (column == "" and table in self.named):
            return Refusal("no table of the database", table)
        return Refusal("reads the physical order", "rowid") if column == "rowid" else None

    def _failed(self, error: Exception) -> Failed:
        if self.refusal is not None:
            return Failed("refused", str(self.refusal))
        text = str(error)
        if "interrupted" in text:
            return Failed("time_out", "stopped at the time limit")
        if "out of memory" in text or isinstance(error, MemoryError):
            return Failed("memory", "more memory than a query may have")
        if "one statement at a time" in text:
            return Failed("refused", "not one SELECT: several statements")
        return Failed("error", masked("SQLite", text, self.sql))


_ACTIONS = {
    sqlite3.SQLITE_ATTACH: "an ATTACH statement",
    sqlite3.SQLITE_PRAGMA: "a PRAGMA",
    sqlite3.SQLITE_INSERT: "a write",
    sqlite3.SQLITE_UPDATE: "a write",
    sqlite3.SQLITE_DELETE: "a write",
    sqlite3.SQLITE_TRANSACTION: "a transaction",
}


def statement_problem(sql: str) -> Refusal | None:
    """Return what the text alone shows: no SELECT in front, or the present moment asked for."""
    if refusal := unreadable(sql):
        return refusal
    start = 0
    while found := _COMMENT.match(sql, start):
        start = found.end()
    if not sql[start:].strip("; \t\r\n"):
        return Refusal("not one SELECT", "0 statements")
    word = folded(_WORD.match(sql, start).group())  # type: ignore[union-attr]
    if word not in ("select", "with", "values"):
        return Refusal("not one SELECT", f"it begins with {word!r}")
    if _NOW.search(sql) or _TIMELESS.search(sql):
        return Refusal("reads the clock", "now")
    return None


def function_problem(name: str) -> Refusal | None:
    """Return why a function may not be called."""
    if name in CLOCKS:
        return Refusal("reads the clock", name)
    if name in RANDOM:
        return Refusal("draws at random", name)
    if name not in FUNCTIONS:
        return Refusal("calls a function that is not allowed", name)
    return None


class RowSums:
    """The aggregate behind a table's fingerprint: rows, and the sums of their md5's halves."""

    def __init__(self) -> None:
        self.rows = self.low = self.high = 0

    def step(self, *cells: Any) -> None:
        """Add a row."""
        digest = md5(json.dumps(cells, default=repr).encode(), usedforsecurity=False).digest()
        self.rows += 1
        self.low += int.from_bytes(digest[8:])
        self.high += int.from_bytes(digest[:8])

    def finalize(self) -> str:
        """Return the three numbers as one text: they may be larger than SQLite's integers."""
        return f"{self.rows} {self.low} {self.high}"
