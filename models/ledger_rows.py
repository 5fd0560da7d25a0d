"""Rows of the ledger as values: an answer, a request, and the end of an attempt."""

import json
import sqlite3
import time
from dataclasses import fields
from typing import Any

from models.call import Answer, Message, Request
from registry.canonical import canonical

PLAIN = tuple(f.name for f in fields(Answer) if f.name not in ("key", "token_entropies"))
FIND = (
    f"SELECT {', '.join('a.' + name for name in PLAIN)}, token_entropies "  # noqa: S608
    "FROM calls JOIN answers a ON a.call = id WHERE key = ?"
)
KEEP = (
    f"INSERT OR IGNORE INTO answers (call, answered_at, {', '.join(PLAIN)}, token_entropies) "  # noqa: S608
    f"VALUES ({', '.join('?' * (len(PLAIN) + 3))})"
)


def answer_of(key: str, row: tuple[Any, ...]) -> Answer:
    """Return the answer in a row that FIND found under a key."""
    entropies = None if row[-1] is None else tuple(json.loads(row[-1]))
    return Answer(**dict(zip(PLAIN, row[:-1], strict=True)), token_entropies=entropies, key=key)


def values_of(call: int, answer: Answer) -> tuple[Any, ...]:
    """Return what KEEP writes for the answer to a call."""
    entropies = answer.token_entropies
    plain = (getattr(answer, name) for name in PLAIN)
    return (call, time.time(), *plain, None if entropies is None else json.dumps(entropies))


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


def end_attempt(
    db: sqlite3.Connection,
    attempt: int,
    outcome: str,
    status: int | None,
    message: str,
    wait_s: float | None,
) -> None:
    """Write how an attempt ended, inside a change."""
    db.execute(
        "UPDATE attempts SET ended_at = ?, outcome = ?, status = ?, message = ?, wait_s = ? "
        "WHERE id = ?",
        (time.time(), outcome, status, message, wait_s, attempt),
    )
