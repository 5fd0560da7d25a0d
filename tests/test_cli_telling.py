"""Texts of models and data cannot move a terminal's cursor, whichever command shows them."""

import pytest

from cli.explaining import finding_line
from cli.ledger import _show_call
from cli.telling import plain, plain_lines, sentence
from cli.votes import _votes
from items.checks import Finding
from items.questions import Ballot, Decided

ESCAPE = "\x1b[2J\x1b]0;owned\x07"
HIDDEN = "‮​"


@pytest.mark.parametrize("code", [ESCAPE, HIDDEN, "\r", "\x9b31m"])
def test_a_control_code_is_a_question_mark(code):
    assert plain(f"a{code}b").isprintable()
    assert plain_lines(f"a{code}b\nc").count("\n") == 1


def test_a_finding_shows_no_control_code():
    shown = finding_line("hard-001", Finding("ties", "problem", f"a {ESCAPE}", f"row 1\n{ESCAPE}"))
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 3


def test_a_call_shows_no_control_code(capsys):
    answer = {"reasoning": ESCAPE, "text": f"SELECT 1{ESCAPE}"}
    messages = [{"role": "user", "content": f"how many?{ESCAPE}\nplease"}]
    call = {"key": "k", "role": "exam", "request": {"messages": messages}, "attempts": []}
    _show_call({**call, "answer": answer})
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "SELECT 1?[2J" in shown


def test_a_voter_shows_no_control_code():
    vote = Ballot(1, 1, "acme/a-1b", "a", f"so{ESCAPE}")
    decided = Decided("limit", "a", "1 of 3", "panel", "max_tokens", "now", votes=(vote,))
    assert "\x1b" not in "".join(_votes(decided))


def test_an_error_of_the_system_has_no_number():
    assert sentence(PermissionError(13, "Permission denied", "runs")) == "runs: permission denied"
