"""An owner's edit of an item: by options, by a YAML file, or in $EDITOR; a closed terminal loses nothing."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.making import Setting
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import QuestionFile


def edited(where: Setting, id: str, edit: Path | None, named: dict[str, str]) -> dict[str, Any]:
    """Return the item with the fields that options, a YAML file or $EDITOR change.

    The whole file is read as it would be with the change: what would not be read is not written.
    Raises: FormatError, OSError, typer.BadParameter (nothing says what to change).
    """
    from dataclasses import asdict, fields, replace

    from items.questions import load_questions

    file = load_questions(where.path)
    question = file.question(id)
    known = {f.name for f in fields(question.item)} - {"id"}
    source = edit
    if edit is None and not named:
        source = draft_of(where, id)
        _write_by_hand(source, {name: getattr(question, name) for name in sorted(known)})
    changed: Any = named if source is None else _read(source)
    if not isinstance(changed, dict) or set(changed) - known:
        told = f"a mapping of fields to change; known: {', '.join(sorted(known))}"
        raise FormatError(source or where.path, None, told)
    try:
        fresh = file.with_questions([replace(question, **{**changed, **named})])
    except (TypeError, ValueError) as error:
        raise FormatError(source or where.path, None, str(error)) from None
    return asdict(_as_read(fresh, source or where.path).question(id).item)


def draft_of(where: Setting, id: str) -> Path:
    """Return where an edit by hand lies until it stands in the record."""
    return where.runs / "desk" / f"{id}.yaml"


def _read(source: Path) -> Any:
    """Return what a YAML file says. Raises: FormatError, OSError."""
    import yaml

    try:
        return yaml.safe_load(source.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:  # also no UTF-8, and 2020-99-99
        raise FormatError(source, None, f"not YAML: {error}") from None


def _as_read(file: "QuestionFile", source: Path) -> "QuestionFile":
    """Return a question file as the strict reader reads it once it is written. Raises: FormatError."""
    from items.questions import QuestionFile
    from registry.reader import read_text
    from registry.writer import to_yaml

    try:
        return read_text(to_yaml(file), QuestionFile, source)
    except FormatError as error:
        raise FormatError(source, None, error.problem) from None


def _write_by_hand(draft: Path, block: dict[str, Any]) -> None:
    """Open an item's block in $EDITOR; what a closed terminal left half done is opened again."""
    import shlex
    import subprocess
    from os import environ

    import yaml

    editor = environ.get("VISUAL") or environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        raise typer.BadParameter(
            "--act edit needs --question-en, --question-ko, --sql or --edit FILE; at a terminal, $EDITOR"
        )
    if not draft.exists():
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(yaml.safe_dump(block, allow_unicode=True, sort_keys=False, width=1000))
    done = subprocess.run([*shlex.split(editor), str(draft)], check=False)
    if done.returncode:
        raise FormatError(draft, None, f"the editor ended with {done.returncode}; nothing changed")
