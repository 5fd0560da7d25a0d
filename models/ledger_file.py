"""The ledger's file: its tables, how old ones are brought up to date, and writes in groups.

Writes that are asked for in one turn of the event loop are committed together, and whoever waits for
one goes on only after the commit. WAL with synchronous=NORMAL: what was committed survives SIGKILL of
every process. A power loss or a kernel crash can cost the last commits since a checkpoint (some
seconds of calls, which are then paid again), never the file.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from registry.canonical import canonical

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], Any]

BUSY_MS = 30_000

_VERSION_1 = """
    CREATE TABLE texts (sha256 TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE calls (
        key TEXT PRIMARY KEY,
        model TEXT NOT NULL, route TEXT NOT NULL, role TEXT NOT NULL, command TEXT NOT NULL,
        draw INTEGER NOT NULL, created_at REAL NOT NULL,
        request TEXT NOT NULL            -- Request.decides, each content replaced by its text's sha256
    );
    CREATE TABLE answers (
        key TEXT PRIMARY KEY,
        answered_at REAL NOT NULL, route TEXT NOT NULL,
        text TEXT NOT NULL, reasoning TEXT NOT NULL,
        stop TEXT NOT NULL, native_stop TEXT NOT NULL, refusal TEXT NOT NULL,
        input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER,
        cost_usd REAL, reported_cost_usd REAL, latency_s REAL NOT NULL, token_entropies TEXT
    );
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, process TEXT NOT NULL,
        started_at REAL NOT NULL, ended_at REAL, outcome TEXT, status INTEGER, wait_s REAL,
        message TEXT
    );
    CREATE INDEX attempts_of_key ON attempts (key);
    CREATE TABLE claims (key TEXT PRIMARY KEY, process TEXT NOT NULL, until REAL NOT NULL);
"""
# One random index (calls.key) instead of four: everything else goes by the call's number.
_VERSION_2 = """
    ALTER TABLE calls RENAME TO old_calls;
    ALTER TABLE answers RENAME TO old_answers;
    ALTER TABLE attempts RENAME TO old_attempts;
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
        model TEXT NOT NULL, route TEXT NOT NULL, role TEXT NOT NULL, command TEXT NOT NULL,
        draw INTEGER NOT NULL, created_at REAL NOT NULL,
        request TEXT NOT NULL            -- Request.decides; a long content is {"sha256": of its text}
    );
    CREATE TABLE answers (
        call INTEGER PRIMARY KEY,
        answered_at REAL NOT NULL, route TEXT NOT NULL,
        text TEXT NOT NULL, reasoning TEXT NOT NULL,
        stop TEXT NOT NULL, native_stop TEXT NOT NULL, refusal TEXT NOT NULL,
        input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER,
        cost_usd REAL, reported_cost_usd REAL, latency_s REAL NOT NULL, token_entropies TEXT
    );
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY, call INTEGER NOT NULL, number INTEGER NOT NULL, process TEXT NOT NULL,
        started_at REAL NOT NULL, ended_at REAL, outcome TEXT, status INTEGER, wait_s REAL,
        message TEXT
    );
    INSERT INTO calls SELECT rowid, * FROM old_calls ORDER BY rowid;
    INSERT INTO answers SELECT c.id, a.answered_at, a.route, a.text, a.reasoning, a.stop, a.native_stop,
        a.refusal, a.input_tokens, a.cached_tokens, a.output_tokens, a.reasoning_tokens, a.cost_usd,
        a.reported_cost_usd, a.latency_s, a.token_entropies
        FROM old_answers a JOIN calls c ON c.key = a.key ORDER BY a.rowid;
    INSERT INTO attempts SELECT t.id, c.id, t.number, t.process, t.started_at, t.ended_at, t.outcome,
        t.status, t.wait_s, t.message FROM old_attempts t JOIN calls c ON c.key = t.key ORDER BY t.id;
    DROP TABLE old_calls;
    DROP TABLE old_answers;
    DROP TABLE old_attempts;
    DROP TABLE claims;
    CREATE INDEX attempts_of_call ON attempts (call);
    CREATE TABLE claims (call INTEGER PRIMARY KEY, process TEXT NOT NULL, until REAL NOT NULL);
"""
# A provider's batch: `name` is ours and goes along with it; provider_id is NULL until it is known there.
_BATCHES = """
    CREATE TABLE batches (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, provider_id TEXT,
        model TEXT NOT NULL, route TEXT NOT NULL, status TEXT NOT NULL,
        sent_at REAL NOT NULL, ended_at REAL, message TEXT NOT NULL
    );
    CREATE TABLE batch_calls (call INTEGER NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (call, batch))
        WITHOUT ROWID;
"""


class LedgerError(OSError):
    """The ledger cannot be opened or written."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger, make it or bring it up to date.

    Raises: LedgerError (no ledger, newer than this program, disk full), OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={BUSY_MS}"):
            connection.execute(f"PRAGMA {pragma}")
        _migrate(connection, path)
    except sqlite3.Error as error:
        raise LedgerError(
            f"{path}: {error}; is it a ledger, and is there room on the disk?"
        ) from None
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")  # two processes that open an old file: one brings it up
    version = _version(connection)
    if version > len(MIGRATIONS):
        connection.execute("ROLLBACK")
        connection.close()
        raise LedgerError(
            f"{path} is a ledger of version {version}; this program knows up to {len(MIGRATIONS)}: "
            "use a newer benchtoward"
        )
    for migration in MIGRATIONS[version:]:
        migration(connection)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _to_1(db: sqlite3.Connection) -> None:
    _script(db, _VERSION_1)


def _to_2(db: sqlite3.Connection) -> None:
    _script(db, _VERSION_2)
    for row, text in db.execute("SELECT id, request FROM calls").fetchall():
        request = json.loads(text)
        for message in request["messages"]:
            message["content"] = {"sha256": message["content"]}
        db.execute("UPDATE calls SET request = ? WHERE id = ?", (canonical(request), row))


def _to_3(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE answers ADD COLUMN written_tokens INTEGER")


def _to_4(db: sqlite3.Connection) -> None:
    _script(db, _BATCHES)


def _script(db: sqlite3.Connection, script: str) -> None:
    """Run a script inside the open transaction (`executescript` would commit it)."""
    for statement in filter(None, map(str.strip, script.split(";\n"))):
        db.execute(statement)


# MIGRATIONS[n] brings a file of version n to n + 1; user_version is the file's. A released one never
# changes: add another.
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_to_1, _to_2, _to_3, _to_4)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


# A commit costs as much as five changes; a model's answer takes a hundred times as long.
GROUP_S = 0.002


class Writer:
    """Commits what a moment (GROUP_S) wants written, in one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._waiting: list[tuple[Write, asyncio.Future[Any]]] = []

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Apply a change in the next group; returns after the commit. Raises: LedgerError.

        A caller that is cancelled meanwhile does not take its change back.
        """
        return await asyncio.shield(self.submit(change))

    def submit(self, change: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Put a change into the next group; cancelling the future before takes it out again."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.append((change, done))
        if len(self._waiting) == 1:
            loop.call_later(GROUP_S, self.flush)
        return done

    def now(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Apply a change at once: where a cancelled task may not wait. Raises: LedgerError."""
        self.flush()
        (result,) = self._commit([change])
        return cast(T, result)

    def flush(self) -> None:
        """Commit what waits and wake those who wait for it."""
        group = [(change, done) for change, done in self._waiting if not done.cancelled()]
        self._waiting = []
        if not group:
            return
        try:
            results = self._commit([change for change, _ in group])
        except Exception as error:  # goes to whoever asked for the change, whatever it is
            self._apart(group, error)
            return
        for (_, done), result in zip(group, results, strict=True):
            if not done.done():
                done.set_result(result)

    def _apart(self, group: list[tuple[Write, asyncio.Future[Any]]], error: Exception) -> None:
        """Give the error to its change: the others of a group are committed one by one."""
        if len(group) == 1:
            if not group[0][1].done():
                group[0][1].set_exception(error)
            return
        for one in group:
            self._waiting = [one]
            self.flush()

    def _commit(self, changes: list[Write]) -> list[Any]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [change(self._connection) for change in changes]
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.Error):
                raise
            raise LedgerError(
                f"{self._path}: {error}; nothing of this was kept: is the disk full, or is another "
                "process holding the ledger?"
            ) from None
        return results
