"""Replay: answers from a ledger only. A miss names the nearest request there and what differs."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from models.call import ModelError, Request
from models.export import imported
from models.ledger import Ledger
from registry.reader import FormatError

_SHOWN = 60  # characters of a differing text on each side


class Replay:
    """What a miss says. `name` is what the user gave to replay."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self.ledger, self.name = ledger, name

    def missing(self, request: Request) -> ModelError:
        """Return the error for a request without an answer here."""
        wanted = request.decides
        kept = [(key, self.ledger.request(key)) for key in self.ledger.answered()]
        known = [(key, found.decides) for key, found in kept if found]
        if not known:
            return ModelError(f"{self.name} holds no answer at all")
        key, nearest = max(known, key=lambda one: _likeness(wanted, one[1]))
        return ModelError(
            f"{self.name} has no answer to this request ({request.key[:12]}…); the nearest is "
            f"{key[:12]}…, which differs in {'; '.join(differences(wanted, nearest))}"
        )


@contextmanager
def replayed(replay: Path | None, runs: Path) -> Iterator[Path]:
    """Give the path of the ledger to use: the run's own, or what is replayed (an export is unpacked).

    Raises: FormatError (nothing there, or no ledger), OSError.
    """
    if replay is None:
        yield runs / "ledger.sqlite"
        return
    if not replay.exists():
        raise FormatError(replay, None, "nothing here to replay; give a ledger or a JSONL export")
    if replay.suffix == ".sqlite":
        yield replay
        return
    with TemporaryDirectory() as folder:
        yield imported(replay, Path(folder) / "ledger.sqlite")


def differences(wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return what differs between two `Request.decides`, a line a part."""
    lines = [
        f"{name}: {wanted[name]!r}, there {found[name]!r}"
        for name in wanted
        if name not in ("messages", "schema") and wanted[name] != found[name]
    ]
    if wanted["schema"] != found["schema"]:
        lines.append("schema")
    here, there = wanted["messages"], found["messages"]
    if len(here) != len(there):
        lines.append(f"{len(here)} messages, there {len(there)}")
    for number, (one, other) in enumerate(zip(here, there, strict=False), 1):
        if one != other:
            lines.append(f"message {number} ({one['role']}) {_first(one, other)}")
    return lines


def _first(one: dict[str, str], other: dict[str, str]) -> str:
    """Show where two texts part."""
    a, b = one["content"], other["content"]
    pairs = zip(a, b, strict=False)
    at = next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
    return f"from character {at}: {a[at : at + _SHOWN]!r}, there {b[at : at + _SHOWN]!r}"


def _likeness(wanted: dict[str, Any], found: dict[str, Any]) -> tuple[float, float]:
    """Rank first by the parts that agree, then by the last message, where the question stands."""
    same = sum(wanted[name] == found[name] for name in wanted)
    a, b = wanted["messages"][-1]["content"], found["messages"][-1]["content"]
    return same, SequenceMatcher(None, a[-2000:], b[-2000:]).quick_ratio()
