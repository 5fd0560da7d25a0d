"""The record: what was done to a question file, one event a line, chained to the line before.

registry/records/<file>.jsonl, in canonical JSON:

    {"body":{...},"by":"openai/gpt-6-astra","call":"<ledger key>","item":"hard-001",
     "item_sha256":"...","kind":"verdict","previous":"<sha256 of the line before>","seq":7,
     "when":"2026-11-30T12:00:00Z"}

Kinds: draft, problem, verdict, trial, fix, ballot, decided, waiver, edit, drop, owner, freeze.
`by` is a model id, `rule/<name>@<version>` or a person's name; `call` is the ledger key of the reply
it rests on (null for rules and people). The first line's `previous` is 64 zeros. Events are appended
under the file's lock and are never changed.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from registry.canonical import canonical
from registry.files import locked
from registry.reader import FormatError, not_json

FIRST = "0" * 64


@dataclass(frozen=True)
class Event:
    """One thing that was done: who, when, on which content, resting on which call."""

    kind: str
    by: str
    body: dict[str, Any] = field(default_factory=dict)
    item: str | None = None
    item_sha256: str | None = None
    call: str | None = None
    when: str = ""
    seq: int = 0
    previous: str = FIRST


def record_path(registry: Path, file: str) -> Path:
    """Return where the record of a question file (by its stem) lies."""
    return registry / "records" / f"{file}.jsonl"


def append(path: Path, events: Sequence[Event]) -> list[Event]:
    """Append events to a record; returns them as written, with seq, time and chain.

    Raises: FormatError (the record is broken), BusyError, OSError.
    """
    if not events:
        return []
    with locked(path), path.open("ab+") as out:
        seq, previous = _last(path, out)
        written: list[Event] = []
        for event in events:
            seq += 1
            when = event.when or now()
            written.append(replace(event, seq=seq, previous=previous, when=when))
            previous = _line_sha256(written[-1])
        out.write("".join(_line(event) + "\n" for event in written).encode())
        out.flush()
        os.fsync(out.fileno())
    return written


def load(path: Path) -> list[Event]:
    """Return a record's events in order; a missing file is an empty record.

    A last line that a killed process left half written is not an event and is ignored here (the
    next `append` removes it). Raises: FormatError where the chain does not hold, with file:line.
    """
    if not path.exists():
        return []
    events: list[Event] = []
    previous = FIRST
    whole, _, _ = path.read_bytes().rpartition(b"\n")  # a kill may cut a letter in two: bytes
    for number, data in enumerate(whole.split(b"\n") if whole else [], 1):
        event, line = _parse(path, number, data), data.decode()
        if event.previous != previous or event.seq != number or _line(event) != line:
            raise FormatError(path, number, "the chain is broken: this line or one before changed")
        previous = hashlib.sha256(data).hexdigest()
        events.append(event)
    return events


def head(path: Path) -> str:
    """Return the sha256 of the record's last line: a receipt pins it."""
    events = load(path)
    return _line_sha256(events[-1]) if events else FIRST


def now() -> str:
    """Return the present time, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse(path: Path, number: int | None, line: bytes) -> Event:
    try:
        return Event(**json.loads(line.decode()))
    except json.JSONDecodeError as error:
        raise FormatError(path, number, f"not an event; {not_json(error)[1]}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(path, number, f"not an event: {error}") from None


def _last(path: Path, out: BinaryIO) -> tuple[int, str]:
    """Return seq and sha256 of the last whole line; cut what a kill left half written behind it.

    Only the end of the file is read: appending stays cheap, and `load` checks the whole chain.
    """
    size = out.seek(0, os.SEEK_END)
    tail, step = b"", 1 << 16
    while tail.count(b"\n") < 2 and len(tail) < size:
        step *= 2
        out.seek(max(0, size - step))
        tail = out.read()
    whole = tail[: tail.rfind(b"\n") + 1]
    out.truncate(size - len(tail) + len(whole))
    if not whole:
        return 0, FIRST
    last = whole[:-1].split(b"\n")[-1]
    return _parse(path, None, last).seq, hashlib.sha256(last).hexdigest()


def _line(event: Event) -> str:
    return canonical(asdict(event))


def _line_sha256(event: Event) -> str:
    return hashlib.sha256(_line(event).encode()).hexdigest()
