"""What the ledger adds up to: cost, tokens, latency and errors, by model, role, command and day."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from models.ledger_file import connect
from registry.reader import FormatError

Part = Literal["model", "role", "command", "day"]
PARTS: tuple[Part, ...] = get_args(Part)
_COLUMNS = {
    "model": "calls.model",
    "role": "calls.role",
    "command": "calls.command",
    "day": "date(calls.created_at, 'unixepoch')",
    "outcome": "attempts.outcome",
}
_ASKED = "calls LEFT JOIN answers ON answers.call = calls.id"
_TRIED = "attempts JOIN calls ON calls.id = attempts.call"
_TOTALS = ", ".join(
    f"total({name})"
    for name in ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd")
)
_COUNTS = "count(call), sum(call IS NULL), sum(call IS NOT NULL AND cost_usd IS NULL)"


@dataclass
class Sum:
    """One line: the calls that share `parts`.

    unknown_cost: answers whose cost is not known; they are not in `cost_usd`.
    reported_usd: what the routes say themselves, where they do.
    latency_s:    median and 95th percentile of the answers that were asked for.
    errors:       failed attempts by kind.
    """

    parts: dict[str, str]
    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    unknown_cost: int = 0
    reported_usd: float | None = None
    latency_s: tuple[float, float] | None = None
    errors: dict[str, int] = field(default_factory=dict)
    open_calls: int = 0


def sums(path: Path, by: Sequence[Part] = ("model", "role")) -> list[Sum]:
    """Return what each group of calls cost, largest cost first.

    Raises: FormatError (no ledger there), LedgerError.
    """
    with reading(path) as db:
        found = {tuple(row[: len(by)]): _sum(by, row) for row in db.execute(_sums_sql(by))}
        for *group, outcome, count in db.execute(_sql([*by, "outcome"], "count(*)", _TRIED)):
            if outcome != "answer":
                found[tuple(group)].errors[outcome or "unfinished"] = count
        for group, latencies in _latencies(db, by).items():
            found[group].latency_s = (_quantile(latencies, 0.5), _quantile(latencies, 0.95))
    return sorted(found.values(), key=lambda one: (-one.cost_usd, tuple(one.parts.values())))


def _sums_sql(by: Sequence[str]) -> str:
    return _sql(by, f"{_COUNTS}, {_TOTALS}, sum(reported_cost_usd)", _ASKED)


def _sum(by: Sequence[str], row: tuple[Any, ...]) -> Sum:
    group, rest = row[: len(by)], row[len(by) :]
    answers, waiting, unknown, told, cached, written, thought, cost, reported = rest
    return Sum(
        dict(zip(by, group, strict=True)),
        answers=answers,
        input_tokens=int(told),
        cached_tokens=int(cached),
        output_tokens=int(written),
        reasoning_tokens=int(thought),
        cost_usd=cost,
        unknown_cost=unknown,
        reported_usd=reported,
        open_calls=waiting,
    )


@dataclass(frozen=True)
class Past:
    """What a model's answers in a role were like so far, on average."""

    answers: int
    output_tokens: float
    latency_s: float


def past(db: sqlite3.Connection, model: str, role: str) -> Past | None:
    """Return what the ledger knows of a model in a role; None where it has no counted answer."""
    count, written, latency = db.execute(
        "SELECT count(*), avg(output_tokens), avg(latency_s) FROM answers "
        "JOIN calls ON calls.id = call WHERE model = ? AND role = ? AND output_tokens IS NOT NULL",
        (model, role),
    ).fetchone()
    return Past(count, written, latency) if count else None


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold a ledger open that is there. Raises: FormatError, LedgerError."""
    if not path.exists():
        raise FormatError(
            path, None, "no ledger here; the first call of a command makes it (--runs)"
        )
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()


def attempts(db: sqlite3.Connection, key: str) -> list[dict[str, Any]]:
    """Return the attempts at one call, in order."""
    names = "number", "process", "started_at", "ended_at", "outcome", "status", "wait_s", "message"
    rows = db.execute(
        f"SELECT {', '.join('attempts.' + name for name in names)} FROM attempts "  # noqa: S608
        "JOIN calls ON calls.id = call WHERE key = ? ORDER BY attempts.id",
        (key,),
    ).fetchall()
    return [dict(zip(names, row, strict=True)) for row in rows]


def keys_beginning(db: sqlite3.Connection, start: str) -> list[str]:
    """Return the keys that begin with these hex digits."""
    return [
        key
        for (key,) in db.execute(
            "SELECT key FROM calls WHERE key >= ? AND key < ? LIMIT 20", (start, start + "g")
        )
    ]


def _latencies(db: sqlite3.Connection, by: Sequence[str]) -> dict[tuple[str, ...], list[float]]:
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    names = ", ".join(_COLUMNS[name] for name in by)
    rows = db.execute(f"SELECT {names}, latency_s FROM {_ASKED} WHERE call IS NOT NULL")  # noqa: S608
    for *group, latency in rows:
        groups[tuple(group)].append(latency)
    return groups


def _sql(by: Sequence[str], what: str, source: str) -> str:
    """Sum `what` over groups; every word of it is written in this module."""
    names = ", ".join(_COLUMNS[name] for name in by)
    return f"SELECT {names}, {what} FROM {source} GROUP BY {names}"  # noqa: S608


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
