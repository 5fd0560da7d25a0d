"""What a freeze rests on, kept beside it so that it can be verified from registry/ alone (Agreements 4).

registry/evidence/<task>/<sha256>.jsonl.gz   replies, one call a line; the name is the file's own sha256
registry/evidence/<task>/receipt.yaml        what the freeze was, and the heads of the records

A line is canonical JSON: {"answer": {"text": ...}, "key": ..., "request": {...}}; the key is the sha256
of the request's canonical JSON, so a reply cannot be put under another question.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from registry import files
from registry.canonical import canonical, json_lines, sha256_json
from registry.reader import FormatError, read
from registry.writer import to_yaml

KEPT = (
    "text",
    "stop",
    "native_stop",
    "refusal",
    "output_tokens",
    "route",
)  # what a reading rests on
Reply = Mapping[str, Any]  # {"key", "request", "answer"}


class MissingError(FormatError):
    """A file that a pin or a receipt names is not there."""


@dataclass(frozen=True)
class Head:
    """A record at the freeze: its file's stem, how many events it had, the sha256 of the last line."""

    file: str
    events: int
    sha256: str


@dataclass(frozen=True)
class Receipt:
    """A freeze: the spec's own hash, the records, the replies, and the evidence that voters saw.

    replies:  names of the reply files in this folder, each the file's sha256.
    evidence: path under registry/ -> sha256 of the file.
    """

    task: str
    spec_sha256: str
    frozen: date
    by: str
    records: tuple[Head, ...]
    replies: tuple[str, ...] = ()
    evidence: dict[str, str] | None = None


def evidence_folder(registry: Path, task: str) -> Path:
    """Return where a task's replies, receipt and voting evidence lie."""
    return registry / "evidence" / task


def save_replies(folder: Path, replies: Iterable[Reply]) -> str:
    """Write replies in one file and return its name, the sha256 of its bytes. Raises: OSError."""
    by_key = {reply["key"]: canonical(_kept(reply)) + "\n" for reply in replies}
    data = gzip.compress("".join(by_key[key] for key in sorted(by_key)).encode(), mtime=0)
    name = hashlib.sha256(data).hexdigest()
    files.replace(folder / f"{name}.jsonl.gz", data)
    return name


def load_replies(folder: Path, name: str) -> dict[str, Reply]:
    """Return the replies of a file by key.

    Raises: MissingError; FormatError when the file is not what its name says, or holds a line whose
    key is not its request's.
    """
    path = folder / f"{name}.jsonl.gz"
    if not path.exists():
        raise MissingError(path, None, "these replies are named, and the file is not there")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != name:
        raise FormatError(path, None, "the file is not what its name says: a byte changed")
    found: dict[str, Reply] = {}
    for number, line in enumerate(json_lines(gzip.decompress(data).decode()), 1):
        reply = json.loads(line)
        if sha256_json(reply["request"]) != reply["key"]:
            raise FormatError(path, number, "the request is not the one that its key says")
        found[reply["key"]] = reply
    return found


def receipt_path(registry: Path, task: str) -> Path:
    """Return where a task's receipt lies."""
    return evidence_folder(registry, task) / "receipt.yaml"


def save_receipt(registry: Path, receipt: Receipt) -> None:
    """Write a task's receipt. Raises: OSError."""
    files.replace(receipt_path(registry, receipt.task), to_yaml(receipt))


def load_receipt(registry: Path, task: str) -> Receipt | None:
    """Return a task's receipt, or None where there is none. Raises: FormatError."""
    path = receipt_path(registry, task)
    return read(path, Receipt) if path.exists() else None


def _kept(reply: Reply) -> dict[str, Any]:
    answer = reply["answer"]
    kept = {name: answer[name] for name in KEPT if answer.get(name) not in (None, "")}
    kept["text"] = answer["text"]
    return {"key": reply["key"], "request": reply["request"], "answer": kept}
