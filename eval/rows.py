"""Run files: what a model answered, one row an (instance, turn), on disk as it comes.

    runs/exam/<slug>@<version>/<model slug>/run.json       the model, the pins, when
    runs/exam/<slug>@<version>/<model slug>/answers.jsonl  one row a line, appended; the last one counts
    runs/exam/<slug>@<version>/<model slug>/scored.jsonl   what became of each instance (score.py)
    runs/dry/<slug>@<version>/...                          the same for a dry run (S1-133)
    runs/diagnostic/<slug>@<version>-<limit>/...           with another output limit (S1-116)

A row is found again by the key of its request: a row of another prompt, limit or route is not this
run's, stays in the file as a diagnosis for `--why`, and is asked again.
"""

import dataclasses
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, Literal

from models.call import Answer, Request
from registry.canonical import canonical
from registry.events import now
from registry.files import locked, replace
from registry.reader import FormatError, not_json

LONGEST = 200  # bytes of a folder's name; file systems end at 255
Label = Literal["exam", "dry", "diagnostic"]


@dataclass(frozen=True)
class Row:
    """One turn of one instance.

    key:        the ledger key of the request; "" for a prediction that was made elsewhere.
    asked:      what decided the answer, the messages as the sha256 of their parts.
    answer:     None where the route failed (`error` says how) or the prediction was given.
    prediction: a prediction from a file, as the exam reads it: {"kind": ..., "text": ...}.
    source:     asked, `earlier:<run folder>` (--reuse) or `file:<name>` (--predictions).
    """

    instance: str
    turn: int
    key: str
    asked: dict[str, Any] = field(default_factory=dict)
    answer: Answer | None = None
    prediction: dict[str, Any] | None = None
    error: str = ""
    source: str = "asked"
    when: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """Return what the row answers."""
        return (self.instance, self.turn)


@dataclass(frozen=True)
class RunFolder:
    """One run: one model on one task."""

    path: Path

    def header(self) -> dict[str, Any]:
        """Return run.json. Raises: FormatError, OSError (no such run)."""
        path = self.path / "run.json"
        try:
            value = json.loads(path.read_bytes())
        except RecursionError:
            raise FormatError(path, None, "nested too deeply; delete the folder") from None
        except ValueError as error:
            line, problem = not_json(error)
            raise FormatError(path, line, f"{problem}; delete the folder") from None
        return dict(value)

    def write_header(self, header: dict[str, Any]) -> None:
        """Replace run.json."""
        replace(self.path / "run.json", json.dumps(header, ensure_ascii=False, indent=1) + "\n")

    def rows(self) -> dict[tuple[str, int, str], Row]:
        """Return the last row for each (instance, turn, key); a half-written last line is none."""
        return {(row.instance, row.turn, row.key): row for row in read_rows(self.answers)}

    @property
    def answers(self) -> Path:
        """Return where the rows lie."""
        return self.path / "answers.jsonl"


class Writer:
    """Appends rows to an answers file; what it wrote survives the death of the process."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def append(self, row: Row) -> None:
        """Write one row as a line of its own."""
        self._out.write((canonical(_plain(row)) + "\n").encode())
        self._out.flush()


@contextmanager
def writing(folder: RunFolder) -> Iterator[Writer]:
    """Hold a run for writing. Raises: BusyError while another process holds it, OSError."""
    with locked(folder.answers, wait_s=1.0), folder.answers.open("ab+") as out:
        _drop_half_line(out)
        yield Writer(out)
        os.fsync(out.fileno())


def run_folder(runs: Path, label: Label, task: str, model: str) -> RunFolder:
    """Return the folder of a model's run on a task. Raises: FormatError (a name that is no folder's)."""
    if model in ("", ".", "..") or "\0" in model:
        raise FormatError(runs / label / task, None, f"{model!r} cannot name a run")
    if len(slug(model).encode()) > LONGEST:
        problem = f"a model's name has at most {LONGEST} bytes; this one has {len(model.encode())}"
        raise FormatError(runs / label / task, None, problem)
    return RunFolder(runs / label / task / slug(model))


def run_folders(runs: Path, label: Label, task: str) -> list[RunFolder]:
    """Return every run on a task that has a header, by name."""
    found = sorted((runs / label / task).glob("*/run.json"))
    return [RunFolder(path.parent) for path in found]


def slug(model: str) -> str:
    """Return a model id as a folder name: `openai/gpt-oss-20b` is `openai--gpt-oss-20b`."""
    return model.replace("/", "--")


def read_rows(path: Path) -> list[Row]:
    """Return the rows of an answers file in order; none when there is no file.

    Raises: FormatError with file:line for a line that is no row (a half last line is ignored).
    """
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")  # a kill may cut a letter in two: bytes
    lines = whole.split(b"\n") if whole else []
    return [_row(path, number, line) for number, line in enumerate(lines, 1)]


def asked_of(request: Request, parts: dict[str, str]) -> dict[str, Any]:
    """Return what decides a request's answer, short: the messages as the sha256 of their parts."""
    decides = dict(request.decides)
    del decides["messages"]
    return {**decides, "parts": parts}


def stamped(row: Row) -> Row:
    """Return the row with the present time."""
    return dataclasses.replace(row, when=now())


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        value = json.loads(line.decode())
        answer = value.pop("answer")
        return Row(**value, answer=answer and _answer(answer))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FormatError(path, number, f"not a row of a run: {error}") from None


def _answer(value: dict[str, Any]) -> Answer:
    entropies = value.get("token_entropies")
    return Answer(**{**value, "token_entropies": None if entropies is None else tuple(entropies)})


def _plain(row: Row) -> dict[str, Any]:
    value = dict(vars(row))  # asdict copies deeply, which costs more than the writing
    if row.answer:  # defaults are left out; the thinking text is the ledger's
        said = vars(row.answer).items()
        kept = {k: v for k, v in said if v != _DEFAULTS[k] and k != "reasoning"}
        value["answer"] = {"text": row.answer.text, **kept}
    return value


_DEFAULTS = {f.name: f.default for f in fields(Answer)}


def _drop_half_line(out: BinaryIO) -> None:
    out.seek(0)
    out.truncate(out.read().rfind(b"\n") + 1)  # what a kill left half written
    out.seek(0, os.SEEK_END)
