"""Predictions that were made elsewhere: one JSON object, instance id to SQL, or null to abstain.

    {"hard/hard-001-ko": "SELECT count(*) FROM person", "hard/hard-001-en": null}

`null` and the text "null" abstain (S1-079: the shared task's null prediction). "nan" is refused by name:
EHRSQL's README says "nan", its files say "null", and a silent guess would be a score (S3-018). A missing
or an unknown id is refused (S3-019) unless `partial`; then missing ones count as missing queries (-c),
unknown ones as nothing, and both are counted.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from eval.exam import Exam, Instance
from eval.rows import Row, RunFolder, stamped, writing
from registry.reader import FormatError, not_json


@dataclass(frozen=True)
class Predictions:
    """A predictions file as read: SQL (None abstains) by instance id, and what does not fit."""

    path: Path
    sha256: str
    given: Mapping[str, str | None]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def load_predictions(
    path: Path, instances: Sequence[Instance], *, partial: bool = False
) -> Predictions:
    """Return a predictions file's content for these instances.

    Raises: FormatError (no JSON object, a repeated id, a value that is neither text nor null, "nan",
    ids that are missing or unknown without `partial`), OSError.
    """
    raw = path.read_bytes()
    given = _object(path, raw)
    for id, value in given.items():
        _refuse_odd(path, id, value)
    known = [instance.id for instance in instances]
    missing = tuple(id for id in known if id not in given)
    unknown = tuple(id for id in given if id not in set(known))
    if (missing or unknown) and not partial:
        raise FormatError(path, None, _misfit(missing, unknown, len(known)))
    values = {id: _sql(given[id]) for id in known if id in given}
    return Predictions(path, hashlib.sha256(raw).hexdigest(), values, missing, unknown)


def file_predictions(exam: Exam, folder: RunFolder, predictions: Predictions) -> None:
    """Write a run's rows from a predictions file; they replace those of an earlier file.

    Raises: FormatError when the run holds answers of a model, BusyError, OSError.
    """
    if any(row.key for row in folder.rows().values()):
        raise FormatError(
            folder.answers,
            None,
            "this run holds a model's answers; give the predictions another --model",
        )
    with writing(folder) as writer:
        for instance in exam.instances():
            value = predictions.given.get(instance.id)
            read = exam.given(instance, value, missing=instance.id not in predictions.given)
            row = Row(
                instance.id, 0, "", prediction=vars(read), source=f"file:{predictions.path.name}"
            )
            writer.append(stamped(row))


def _object(path: Path, raw: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for id, value in pairs:
            if id in found:
                raise FormatError(path, None, f"{id!r} stands twice; every id stands once")
            found[id] = value
        return found

    try:
        value = json.loads(raw, object_pairs_hook=once)
    except ValueError as error:
        raise FormatError(path, *not_json(error)) from None
    except RecursionError:
        raise FormatError(path, None, "not JSON that can be read: nested too deeply") from None
    if not isinstance(value, dict):
        raise FormatError(path, None, "expected one JSON object, instance id to SQL or null")
    return value


def _refuse_odd(path: Path, id: str, value: Any) -> None:
    if (isinstance(value, str) and value.strip().lower() == "nan") or value != value:
        _refuse(path, id, '"nan" is no prediction; write null to abstain')
    if value is not None and not isinstance(value, str):
        _refuse(path, id, f"{value!s:.60} is neither SQL nor null")
    if value is not None and _broken(value):
        _refuse(path, id, "the text holds half a character (a lone surrogate)")


def _broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _refuse(path: Path, id: str, problem: str) -> NoReturn:
    raise FormatError(path, None, f"{id}: {problem}")


def _sql(value: str | None) -> str | None:
    return None if value is None or value.strip().lower() == "null" else value


def _misfit(missing: Sequence[str], unknown: Sequence[str], total: int) -> str:
    said = []
    if missing:
        said.append(f"{len(missing)} of {total} instances are missing ({', '.join(missing[:3])} …)")
    if unknown:
        said.append(f"{len(unknown)} ids are unknown ({', '.join(map(repr, unknown[:3]))} …)")
    return "; ".join(said) + "; --partial scores what is there and counts the rest"
