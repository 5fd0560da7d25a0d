"""The ledger, runs/ledger.sqlite: every call that was made, every attempt at it, and every answer.

An answer is on disk before anyone sees it, and found again by everything that decided it
(`Request.key`). Several processes may share one ledger: a miss writes a claim before the call, and
whoever finds another's living claim waits for that answer instead of paying for a second one.
"""

import asyncio
import json
import os
import socket
import sqlite3
import time
from dataclasses import dataclass, fields
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from models.call import Answer, Message, Request
from models.ledger_file import Writer, connect
from registry.canonical import canonical, sha256_text

LEASE_S = 120.0  # a claim that its process did not renew for so long is free
RENEW_S = 20.0
_PLAIN = tuple(f.name for f in fields(Answer) if f.name not in ("key", "token_entropies"))
_SERIAL = count()


@dataclass(frozen=True)
class Claim:
    """Leave to make a call: nobody else makes it. `attempt` is the row of its first attempt."""

    key: str
    attempt: int


class Ledger:
    """An open ledger. One event loop uses it; other processes may use the same file."""

    def __init__(self, path: Path, *, command: str = "") -> None:
        self.path, self.command = path, command
        self._connection = connect(path)
        self._writer = Writer(self._connection, path)
        self._process = f"{_host()}:{os.getpid()}:{_started(os.getpid())}:{next(_SERIAL)}"
        self._texts: set[str] = set()  # that are known to be in the file

    def find(self, key: str) -> Answer | None:
        """Return the answer under a key, if there is one."""
        row = self._connection.execute(
            f"SELECT {', '.join(_PLAIN)}, token_entropies FROM answers WHERE key = ?",  # noqa: S608
            (key,),
        ).fetchone()
        if row is None:
            return None
        entropies = None if row[-1] is None else tuple(json.loads(row[-1]))
        return Answer(
            **dict(zip(_PLAIN, row[:-1], strict=True)), token_entropies=entropies, key=key
        )

    def request(self, key: str) -> Request | None:
        """Return the request under a key, with its prompt, if it was ever made."""
        row = self._connection.execute(
            "SELECT request, role FROM calls WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else request_of(self._filled(json.loads(row[0])), role=row[1])

    def answered(self) -> list[str]:
        """Return the keys that have an answer, oldest first."""
        rows = self._connection.execute("SELECT key FROM answers ORDER BY rowid").fetchall()
        return [key for (key,) in rows]

    async def claim(self, request: Request) -> Answer | Claim | None:
        """Return the answer, or the leave to ask for it, or None while somebody else asks."""
        done = self._writer.submit(lambda db: self._claim(db, request))
        try:
            return await done
        except asyncio.CancelledError:
            found = done.result() if done.done() and not done.cancelled() else None
            if isinstance(found, Claim):  # committed, and nobody is left to make the call
                self.abandon(found.key, found.attempt)
            raise

    async def attempt(self, key: str, number: int) -> int:
        """Write that another attempt starts; returns its row."""
        return await self._writer.write(lambda db: self._begin(db, key, number))

    async def failed(
        self, attempt: int, outcome: str, status: int | None, message: str, wait_s: float | None
    ) -> None:
        """Write how an attempt failed, and how long is waited before the next (None: no next)."""
        await self._writer.write(lambda db: _end(db, attempt, outcome, status, message, wait_s))

    async def keep(self, attempt: int, answer: Answer) -> None:
        """Write an answer, end its attempt and release its claim: one commit."""
        await self._writer.write(lambda db: self._keep(db, attempt, answer))

    async def give_up(self, key: str) -> None:
        """Release a claim without an answer."""
        await self._writer.write(lambda db: self._release(db, key))

    def abandon(self, key: str, attempt: int) -> None:
        """Release a claim whose call was cancelled: at once, for a cancelled task may not wait."""

        def change(db: sqlite3.Connection) -> None:
            _end(db, attempt, "cancelled", None, "", None)
            self._release(db, key)

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
        self._writer.flush()
        self._writer.now(
            lambda db: db.execute("DELETE FROM claims WHERE process = ?", (self._process,))
        )
        self._connection.close()

    def _claim(self, db: sqlite3.Connection, request: Request) -> Answer | Claim | None:
        if (answer := self.find(request.key)) is not None:
            return answer
        held = db.execute(
            "SELECT process, until FROM claims WHERE key = ?", (request.key,)
        ).fetchone()
        if held and held[1] > time.time() and _may_live(held[0]):
            return None
        db.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
            (request.key, self._process, time.time() + LEASE_S),
        )
        self._describe(db, request)
        return Claim(request.key, self._begin(db, request.key, 1))

    def _begin(self, db: sqlite3.Connection, key: str, number: int) -> int:
        row = db.execute(
            "INSERT INTO attempts (key, number, process, started_at) VALUES (?, ?, ?, ?)",
            (key, number, self._process, time.time()),
        ).lastrowid
        assert row is not None
        return row

    def _keep(self, db: sqlite3.Connection, attempt: int, answer: Answer) -> None:
        entropies = answer.token_entropies
        plain = [getattr(answer, name) for name in _PLAIN]
        marks = ", ".join("?" * (len(_PLAIN) + 3))
        db.execute(
            f"INSERT OR IGNORE INTO answers (key, answered_at, {', '.join(_PLAIN)}, token_entropies) "  # noqa: S608
            f"VALUES ({marks})",
            (answer.key, time.time(), *plain, None if entropies is None else json.dumps(entropies)),
        )
        _end(db, attempt, "answer", None, "", None)
        self._release(db, answer.key)

    def _release(self, db: sqlite3.Connection, key: str) -> None:
        db.execute("DELETE FROM claims WHERE key = ? AND process = ?", (key, self._process))

    def _describe(self, db: sqlite3.Connection, request: Request) -> None:
        decides = request.decides
        for message in decides["messages"]:
            message["content"] = self._text(db, message["content"])
        db.execute(
            "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request.key,
                request.model,
                request.route,
                request.role,
                self.command,
                request.draw,
                time.time(),
                canonical(decides),
            ),
        )

    def _text(self, db: sqlite3.Connection, body: str) -> str:
        sha256 = sha256_text(body)
        if sha256 not in self._texts:  # prompts share their long beginning: it is written once
            db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (sha256, body))
            self._texts.add(sha256)
        return sha256

    def _filled(self, decides: dict[str, Any]) -> dict[str, Any]:
        for message in decides["messages"]:
            (message["content"],) = self._connection.execute(
                "SELECT body FROM texts WHERE sha256 = ?", (message["content"],)
            ).fetchone()
        return decides


def request_of(decides: dict[str, Any], *, role: str = "") -> Request:
    """Return the request whose `decides` this is."""
    schema, extras = decides["schema"], decides["extras"]
    return Request(
        model=decides["model"],
        messages=tuple(Message(**message) for message in decides["messages"]),
        max_tokens=decides["max_tokens"],
        route=decides["route"],
        revision=decides["revision"],
        temperature=decides["temperature"],
        schema=None if schema is None else canonical(schema),
        logprobs=decides["logprobs"],
        extras=canonical(extras),
        draw=decides["draw"],
        role=role,
    )


def _end(
    db: sqlite3.Connection,
    attempt: int,
    outcome: str,
    status: int | None,
    message: str,
    wait_s: float | None,
) -> None:
    db.execute(
        "UPDATE attempts SET ended_at = ?, outcome = ?, status = ?, message = ?, wait_s = ? "
        "WHERE id = ?",
        (time.time(), outcome, status, message, wait_s, attempt),
    )


@cache
def _host() -> str:
    """Name this machine and its process numbering: a container counts its own processes."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> int | None:
    try:
        return int(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _may_live(process: str) -> bool:
    """Tell whether the process that wrote a claim may still be there; elsewhere nobody knows."""
    host, pid, started, _ = process.split(":")
    return host != _host() or _started(int(pid)) == int(started)
