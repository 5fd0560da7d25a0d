"""Prompts: Markdown files beside this one, filled in strictly, known by their sha256.

    render("review/verdict", question_en=..., ...)     a missing or an unused name is an error
    sha256("review/verdict")                           of the file, before it is filled in
    quoted("question", text)                           a stranger's text, so that it stays data

A prompt has no logic; a choice is made in Python by naming another file. Exam prompts are pinned by
their sha256, so a new wording is a new file.
"""

import hashlib
import re
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
_MARK = re.compile(r"<(?=\s*/?\s*[a-z_]+\s*>)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def text(name: str) -> str:
    """Return a prompt file as it is. Raises: KeyError, naming what exists."""
    path = FOLDER / f"{name}.md"
    if not path.is_file():
        raise KeyError(f"no prompt {name!r}; known: {', '.join(names())}")
    return path.read_text(encoding="utf-8")


def render(name: str, **fields: str) -> str:
    """Return a prompt with its `$names` filled in.

    Raises: KeyError for an unknown prompt, a name without a value, or a value without a name.
    """
    template = Template(text(name))
    wanted = set(template.get_identifiers())
    if not template.is_valid():
        raise KeyError(f"prompt {name!r} has a stray $; write $$")
    if missing := wanted - set(fields):
        raise KeyError(f"prompt {name!r} lacks a value for {', '.join(sorted(missing))}")
    if unused := set(fields) - wanted:
        raise KeyError(f"prompt {name!r} has no place for {', '.join(sorted(unused))}")
    return template.substitute(fields)


def sha256(*names: str) -> str:
    """Return the sha256 of a prompt file, or of several in the order given."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(text(name).encode())
    return digest.hexdigest()


def quoted(tag: str, words: str) -> str:
    """Return a stranger's text between `<tag>` lines, unable to open or close any mark or to hide.

    Control, zero-width and direction-changing characters become `?`: what a model reads is what a
    person would see.
    """
    shown = _CONTROL.sub("?", words)
    shown = _MARK.sub("‹", shown)
    return f"<{tag}>\n{shown}\n</{tag}>"


def names() -> list[str]:
    """Return the names of all prompts, sorted."""
    return sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.md"))
