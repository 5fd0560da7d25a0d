"""The desk at a real terminal: an edit in $EDITOR, and a terminal that closes in the middle of it."""

import os
import pty
import select
import signal
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from cli.editing import edited
from items.questions import load_questions
from registry.reader import FormatError
from tests.making import COUNT, file_of

EDIT = """
import sys
from pathlib import Path
from cli.editing import edited
from types import SimpleNamespace
where = SimpleNamespace(path=Path(sys.argv[1]), runs=Path(sys.argv[2]))
print("EDITED", edited(where, sys.argv[3], None, {})["question_en"])
"""


def editor(folder, script: str) -> str:
    """A program that edits: a shell script with the file as $1."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def at_terminal(folder, script: str, until: str) -> tuple[int, int, str]:
    """Begin an edit at a terminal of its own; returns process, terminal and text when it says `until`."""
    path = file_of(folder)
    command = [sys.executable, "-c", EDIT, str(path), str(folder / "runs"), COUNT.id]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["EDITOR"] = editor(folder, script)
        os.execv(command[0], command)
    said, end = "", time.monotonic() + 30
    while until not in said and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            with suppress(OSError):
                said += os.read(terminal, 4096).decode()
    return pid, terminal, said


def test_the_desk_opens_the_items_block_in_the_editor(tmp_path):
    pid, terminal, said = at_terminal(
        tmp_path, "sed -i 's/^question_en:.*/question_en: How many people?/' \"$1\"", "people?\r"
    )
    os.waitpid(pid, 0)
    os.close(terminal)
    assert "EDITED How many people?" in said
    (left,) = (tmp_path / "runs").rglob("*.yaml")  # until the edit stands in the record
    assert "How many people?" in left.read_text()


def test_a_terminal_that_closes_in_the_middle_of_an_edit_loses_nothing(tmp_path):
    script = "echo 'question_en: Half done' > \"$1\"; echo READY; sleep 60"
    pid, terminal, _ = at_terminal(tmp_path, script, "READY")
    before = load_questions(file_of(tmp_path))
    os.close(terminal)  # the terminal goes away: SIGHUP
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (-signal.SIGHUP, 1)
    assert load_questions(file_of(tmp_path)) == before
    (left,) = (tmp_path / "runs").rglob("*.yaml")
    assert "Half done" in left.read_text()


def test_an_edit_by_options_changes_the_fields_that_were_named(tmp_path):
    where = SimpleNamespace(path=file_of(tmp_path), runs=tmp_path / "runs")
    changed = edited(where, COUNT.id, None, {"question_en": "How many people?"})
    assert changed["question_en"] == "How many people?"
    assert changed["question_ko"] == COUNT.question_ko


def test_an_edit_without_terminal_or_field_says_what_it_needs(tmp_path, monkeypatch):
    where = SimpleNamespace(path=file_of(tmp_path), runs=tmp_path / "runs")
    (tmp_path / "new.yaml").write_text("query: SELECT 1\n")
    with pytest.raises(FormatError, match="a mapping of fields to change; known: answerable"):
        edited(where, COUNT.id, tmp_path / "new.yaml", {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("category: banana", "category 'banana' is none of the hard tier's"),
        ("difficulty: impossible", "difficulty"),
        ("order_matters: maybe", "order_matters"),
        ("question_en: 5", "question_en"),
        ("question_en: 2020-01-01", "question_en"),
        ("question_en: 2020-99-99", "not YAML"),
        ("answerable: false", "an unanswerable one none"),
        (b"question_en: \xff", "not YAML"),
    ],
)
def test_an_edit_that_could_not_be_read_again_is_refused_whole(tmp_path, text, told):
    where = SimpleNamespace(path=file_of(tmp_path), runs=tmp_path / "runs")
    new, before = tmp_path / "new.yaml", where.path.read_bytes()
    new.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError, match=told) as refused:
        edited(where, COUNT.id, new, {})
    assert refused.value.path == new
    assert where.path.read_bytes() == before
