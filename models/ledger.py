"""The ledger, runs/ledger.sqlite: every call that was made, every attempt at it, and every answer.

An answer is on disk before anyone sees it, and found again by everything that decided it
(`Request.key`). Several processes may share one ledger: a miss writes a claim before the call, and
whoever finds another's living claim waits for that answer instead of paying for a second one.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from models.call import Answer, Request
from models.ledger_file import Writer, connect
from models.ledger_rows import FIND, KEEP, answer_of, end_attempt, request_of, values_of
from models.processes import may_live, this_process
from registry.canonical import canonical, sha256_text

T = TypeVar("T")
LEASE_S = 120.0  # a claim that its process did not renew for so long is free
RENEW_S = 20.0
INLINE = 1_000  # characters; a longer text of a prompt is kept once, under its sha256
_sha256 = lru_cache(maxsize=32)(sha256_text)


@dataclass(frozen=True)
class Claim:
    """Leave to make a call: nobody else makes it.

    call, attempt: their rows in the ledger; `number` is the attempt's, from 1.
    """

    call: int
    attempt: int
    number: int


class Ledger:
    """An open ledger. One event loop uses it; other processes may use the same file."""

    def __init__(self, path: Path, *, command: str = "") -> None:
        self.path, self.command = path, command
        self._connection = connect(path)
        self._writer = Writer(self._connection, path)
        self._process = this_process()
        self._texts: set[str] = set()  # that are known to be in the file

    @property
    def db(self) -> sqlite3.Connection:
        """Return the connection, to read from."""
        return self._connection

    async def change(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Apply a change in the next group of writes. Raises: LedgerError."""
        return await self._writer.write(change)

    def described(self, db: sqlite3.Connection, request: Request) -> int:
        """Return the row of a call, written if it is new; inside a change."""
        row = db.execute("SELECT id FROM calls WHERE key = ?", (request.key,)).fetchone()
        return row[0] if row else self._describe(db, request, self.command)

    def find(self, key: str) -> Answer | None:
        """Return the answer under a key, if there is one."""
        row = self._connection.execute(FIND, (key,)).fetchone()
        return None if row is None else answer_of(key, row)

    def request(self, key: str) -> Request | None:
        """Return the request under a key, with its prompt, if it was ever made."""
        row = self._connection.execute(
            "SELECT request, role FROM calls WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else request_of(self._filled(json.loads(row[0])), role=row[1])

    def answered(self) -> list[str]:
        """Return the keys that have an answer, oldest first."""
        rows = self._connection.execute(
            "SELECT key FROM answers JOIN calls ON id = call ORDER BY call"
        ).fetchall()
        return [key for (key,) in rows]

    async def claim(self, request: Request) -> Answer | Claim | None:
        """Return the answer, or the leave to ask for it, or None while somebody else asks."""
        done = self._writer.submit(lambda db: self._claim(db, request))
        try:
            return await done
        except asyncio.CancelledError:
            found = done.result() if done.done() and not done.cancelled() else None
            if isinstance(found, Claim):  # committed, and nobody is left to make the call
                self.abandon(found)
            raise

    async def again(self, claim: Claim) -> Claim:
        """Write that another attempt starts."""
        return await self._writer.write(lambda db: self._begin(db, claim.call, claim.number + 1))

    async def failed(
        self, claim: Claim, outcome: str, status: int | None, message: str, wait_s: float | None
    ) -> None:
        """Write how an attempt failed, and how long is waited before the next.

        wait_s: None when there is no next; the claim is released.
        """

        def change(db: sqlite3.Connection) -> None:
            end_attempt(db, claim.attempt, outcome, status, message, wait_s)
            if wait_s is None:
                self._release(db, claim)

        await self._writer.write(change)

    async def keep(self, claim: Claim, answer: Answer) -> None:
        """Write an answer, end its attempt and release its claim: one commit."""

        def change(db: sqlite3.Connection) -> None:
            db.execute(KEEP, values_of(claim.call, answer))
            end_attempt(db, claim.attempt, "answer", None, "", None)
            self._release(db, claim)

        await self._writer.write(change)

    def add(self, request: Request, answer: Answer, *, command: str) -> None:
        """Write a call that was made elsewhere with its answer; one that is here stays as it is."""

        def change(db: sqlite3.Connection) -> None:
            if db.execute("SELECT 1 FROM calls WHERE key = ?", (request.key,)).fetchone() is None:
                call = self._describe(db, request, command)
                db.execute(KEEP, values_of(call, replace(answer, key=request.key)))

        self._writer.now(change)

    def abandon(self, claim: Claim) -> None:
        """Release a claim at once, for a cancelled task may not wait; an open attempt was cancelled."""

        def change(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE attempts SET ended_at = ?, outcome = 'cancelled' "
                "WHERE id = ? AND outcome IS NULL",
                (time.time(), claim.attempt),
            )
            self._release(db, claim)

        self._writer.now(change)

    async def renew(self) -> None:
        """Keep this process's claims alive until cancelled."""
        while True:
            await asyncio.sleep(RENEW_S)
            await self._writer.write(
                lambda db: db.execute(
                    "UPDATE claims SET until = ? WHERE process = ?",
                    (time.time() + LEASE_S, self._process),
                )
            )

    def close(self) -> None:
        """Write what waits, release what is claimed, and close the file."""
        self._writer.now(
            lambda db: db.execute("DELETE FROM claims WHERE process = ?", (self._process,))
        )
        self._connection.close()

    def _claim(self, db: sqlite3.Connection, request: Request) -> Answer | Claim | None:
        row = db.execute("SELECT id FROM calls WHERE key = ?", (request.key,)).fetchone()
        if row is None:
            call = self._describe(db, request, self.command)
        elif (answer := self.find(request.key)) is not None:
            return answer
        else:
            (call,) = row
            held = db.execute("SELECT process, until FROM claims WHERE call = ?", row).fetchone()
            if held and held[1] > time.time() and may_live(held[0]):
                return None
        db.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
            (call, self._process, time.time() + LEASE_S),
        )
        return self._begin(db, call, 1)

    def _begin(self, db: sqlite3.Connection, call: int, number: int) -> Claim:
        row = db.execute(
            "INSERT INTO attempts (call, number, process, started_at) VALUES (?, ?, ?, ?)",
            (call, number, self._process, time.time()),
        ).lastrowid
        assert row is not None
        return Claim(call, row, number)

    def _release(self, db: sqlite3.Connection, claim: Claim) -> None:
        db.execute("DELETE FROM claims WHERE call = ? AND process = ?", (claim.call, self._process))

    def _describe(self, db: sqlite3.Connection, request: Request, command: str) -> int:
        decides = request.decides
        for message in decides["messages"]:
            if len(message["content"]) > INLINE:
                message["content"] = {"sha256": self._text(db, message["content"])}
        row = db.execute(
            "INSERT INTO calls (key, model, route, role, command, draw, created_at, request) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request.key,
                request.model,
                request.route,
                request.role,
                command,
                request.draw,
                time.time(),
                canonical(decides),
            ),
        ).lastrowid
        assert row is not None
        return row

    def _text(self, db: sqlite3.Connection, body: str) -> str:
        sha256 = _sha256(body)
        if sha256 not in self._texts:  # prompts share their long beginning: it is written once
            db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (sha256, body))
            self._texts.add(sha256)
        return sha256

    def _filled(self, decides: dict[str, Any]) -> dict[str, Any]:
        for message in decides["messages"]:
            if isinstance(message["content"], dict):
                (message["content"],) = self._connection.execute(
                    "SELECT body FROM texts WHERE sha256 = ?", (message["content"]["sha256"],)
                ).fetchone()
        return decides
