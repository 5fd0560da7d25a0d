"""Scoring a run: from rows to outcomes, on disk with all that a score names (Agreements 7 and 9).

`scored.jsonl` begins with a header line (task, pins, sha256 of the rows it rests on and of the lines that
follow) and has one line an instance. It is derived: when the rows, the items, the protocol, the database or
the lines themselves are others than its header says, it is stale and is made again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.exam import Exam, Instance, Prediction, Scored
from eval.rows import Row, RunFolder
from eval.run import Address, addressed
from models.call import Answer
from registry.canonical import canonical, json_lines, sha256_text
from registry.files import replace
from registry.reader import FormatError


@dataclass(frozen=True)
class Run:
    """A scored run: its header and one outcome for every instance of the task, in task order."""

    model: str
    header: Mapping[str, Any]
    scored: tuple[Scored, ...]

    @property
    def open(self) -> int:
        """Return how many instances have no score."""
        return sum(row.open for row in self.scored)


@dataclass(frozen=True)
class Sheet:
    """The current rows of a run, instance by instance: what is scored.

    predictions: of the turns that are answered; `through` tells that no turn is missing.
    """

    instance: Instance
    predictions: tuple[Prediction, ...]
    rows: tuple[Row, ...]
    through: bool
    error: str = ""


def sheets(exam: Exam, folder: RunFolder) -> list[Sheet]:
    """Return what a run has for each instance of the task, by the present requests' keys.

    The route and its parameters are the run's own (run.json), not what models.yaml says today.
    """
    rows, address = folder.rows(), addressed(folder.header()["address"])
    return [_sheet(exam, instance, rows, address) for instance in exam.instances()]


async def score(exam: Exam, *folders: RunFolder, write: bool = True) -> list[Run]:
    """Score runs of one task and write each one's scored.jsonl.

    Equal queries run once and references once, for all of them. Raises: FormatError, QueryError,
    OSError.
    """
    given = [(folder, sheets(exam, folder)) for folder in folders]
    through = [sheet for _, of_run in given for sheet in of_run if sheet.through]
    outcomes = await exam.outcomes([(sheet.instance, sheet.predictions) for sheet in through])
    found = {id(sheet): outcome for sheet, outcome in zip(through, outcomes, strict=True)}
    done = []
    for folder, of_run in given:
        scored = tuple(found.get(id(sheet)) or _open(sheet) for sheet in of_run)
        done.append(_finish(exam, folder, scored, rows_sha256(of_run), write=write))
    return done


def load_run(exam: Exam, folder: RunFolder) -> Run | None:
    """Return a run as it was scored, or None when it was not or its score is stale."""
    header = _header(folder)
    if header is None or header["pins"] != json.loads(canonical(dict(exam.pins))):
        return None
    if header["rows_sha256"] != rows_sha256(sheets(exam, folder)):
        return None
    run = kept_score(exam, folder)
    return run if run and header.get("scored_sha256") == _scored_sha256(run.scored) else None


def _header(folder: RunFolder) -> dict[str, Any] | None:
    path = folder.path / "scored.jsonl"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as lines:
        try:
            return dict(json.loads(next(lines)))
        except (ValueError, TypeError, StopIteration, RecursionError) as error:
            raise FormatError(path, 1, f"not a scored run: {error}; delete it") from None


def refuse_other_protocol(exam: Exam, folder: RunFolder) -> None:
    """Raise FormatError when a run's kept score is of another protocol or engine."""
    old = (_header(folder) or {}).get("pins", exam.pins)
    for name in ("protocol", "duckdb"):
        if old.get(name) != exam.pins.get(name):
            raise FormatError(
                folder.path / "scored.jsonl",
                1,
                f"scored under {name} {old.get(name)}, this is {exam.pins.get(name)}: `benchtoward rescore "
                "--diff` shows what moves, `--write` takes it over",
            )


async def load_or_score(exam: Exam, folders: Sequence[RunFolder]) -> list[Run]:
    """Return the runs in the order given; what has no score, or a stale one, is scored first.

    Raises: FormatError for a score of another protocol or engine: `rescore` alone leads from one to
    the other (Agreements 9).
    """
    have = {folder.path: load_run(exam, folder) for folder in folders}
    stale = [folder for folder in folders if have[folder.path] is None]
    for folder in stale:
        refuse_other_protocol(exam, folder)
    done = dict(zip((f.path for f in stale), await score(exam, *stale), strict=True))
    return [have[folder.path] or done[folder.path] for folder in folders]


def kept_score(exam: Exam, folder: RunFolder) -> Run | None:
    """Return a run's score as it lies on disk, whatever it names; None when there is none."""
    path = folder.path / "scored.jsonl"
    if not path.exists():
        return None
    known = {instance.id: instance for instance in exam.instances()}
    try:
        header, *lines = json_lines(path.read_text(encoding="utf-8"))
        head = json.loads(header)
        return Run(head["model"], head, tuple(_scored(known, line) for line in lines))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(path, None, f"not a scored run: {error}; score it again") from None


def rows_sha256(of_run: Sequence[Sheet]) -> str:
    """Return the sha256 of the replies that a score rests on, in task order."""
    rested = [
        [row.instance, row.turn, row.key, row.answer and row.answer.text, row.prediction]
        for sheet in of_run
        for row in sheet.rows
    ]
    ends = [
        [a.stop, a.output_tokens, a.refusal] if (a := row.answer) else [row.error]
        for sheet in of_run
        for row in sheet.rows
    ]
    return sha256_text(canonical([rested, ends]))


def _sheet(
    exam: Exam, instance: Instance, rows: Mapping[tuple[str, int, str], Row], address: Address
) -> Sheet:
    answers: list[Answer] = []
    used: list[Row] = []
    if given := rows.get((instance.id, 0, "")):
        return Sheet(instance, (Prediction(**(given.prediction or {})),), (given,), True)
    while request := exam.next_request(instance, answers):
        row = rows.get((instance.id, len(answers), address(request).key))
        if row is None or row.answer is None:
            return Sheet(
                instance, (), (*used, row) if row else tuple(used), False, row.error if row else ""
            )
        used.append(row)
        answers.append(row.answer)
    read = tuple(exam.parse(instance, turn, answer) for turn, answer in enumerate(answers))
    return Sheet(instance, read, tuple(used), True)


def _open(sheet: Sheet) -> Scored:
    outcome = "api_error" if sheet.error else "not_asked"
    return Scored(sheet.instance, outcome, sheet.error)


def _finish(
    exam: Exam, folder: RunFolder, scored: tuple[Scored, ...], rested: str, *, write: bool
) -> Run:
    sums = {"rows_sha256": rested, "scored_sha256": _scored_sha256(scored)}
    header = {**folder.header(), "pins": dict(exam.pins), **sums}
    lines = [canonical(header), *(canonical(_plain(row)) for row in scored)]
    if write:
        replace(folder.path / "scored.jsonl", "\n".join(lines) + "\n")
    return Run(header["model"], header, scored)


def _scored_sha256(scored: Sequence[Scored]) -> str:
    return sha256_text("\n".join(canonical(_plain(row)) for row in scored))


def _plain(row: Scored) -> dict[str, Any]:
    return {
        "instance": row.instance.id,
        "outcome": row.outcome,
        "reason": row.reason,
        "facts": dict(row.facts),
    }


def _scored(known: Mapping[str, Instance], line: str) -> Scored:
    value = json.loads(line)
    return Scored(known[value["instance"]], value["outcome"], value["reason"], value["facts"])
