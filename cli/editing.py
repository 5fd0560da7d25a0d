"""An owner's edit of an item: by options, by a YAML file, or in $EDITOR; a closed terminal loses nothing."""

import sys
from pathlib import Path
from typing import Any

import typer

from cli.making import Setting
from registry.reader import FormatError


def edited(where: Setting, id: str, edit: Path | None, named: dict[str, str]) -> dict[str, Any]:
    """Return the item with the fields that options, a YAML file or $EDITOR change.

    Raises: FormatError, OSError, typer.BadParameter (nothing says what to change).
    """
    from dataclasses import asdict, fields, replace

    import yaml

    from items.questions import load_questions

    question = load_questions(where.path).question(id)
    known = {f.name for f in fields(question.item)} - {"id"}
    draft = where.runs / "desk" / f"{id}.yaml"
    by_hand = edit is None and not named
    if by_hand:
        _write_by_hand(draft, {name: getattr(question, name) for name in sorted(known)})
    source = draft if by_hand else edit
    changed: Any = named
    if source is not None:
        try:
            changed = yaml.safe_load(source.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise FormatError(source, None, f"not YAML: {error}") from None
    if not isinstance(changed, dict) or set(changed) - known:
        told = f"a mapping of fields to change; known: {', '.join(sorted(known))}"
        raise FormatError(source or where.path, None, told)
    try:
        item = asdict(replace(question, **{**changed, **named}).item)
    except (TypeError, ValueError) as error:
        raise FormatError(source or where.path, None, str(error)) from None
    if by_hand:
        draft.unlink()
    return item


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
