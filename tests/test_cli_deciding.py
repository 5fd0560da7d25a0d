"""`llm-decide`: a vote holds until it is voted anew; one JSON document, frozen or not."""

import json

import pytest
from typer.testing import CliRunner

from cli.main import app
from items.questions import load_questions
from items.records import record_of
from registry.events import load
from registry.reader import FormatError
from tests.test_cli_text2sql import arguments, frozen, site, told

__all__ = ["site"]


@pytest.fixture
def voted(site):
    """A tier of four items that went all the way before the freeze."""
    folder, server = site
    for command in ("hard-generate --count 4", "hard-review", "llm-fix", "llm-decide"):
        told(command, folder)
    return folder, server


def draft(folder):
    return folder / "registry" / "drafts" / "small-text2sql-hard-v0.yaml"


def ballots(folder) -> int:
    return sum(event.kind == "ballot" for event in load(record_of(draft(folder))))


def test_a_vote_that_stands_is_not_asked_again_and_says_how_it_would_be(voted):
    folder, server = voted
    before = len(server.bodies)
    assert "1 decisions stand; --again votes anew" in told("llm-decide", folder)
    assert "1 decisions stand" in told("llm-decide --again", folder), "the evidence is the same"
    assert len(server.bodies) == before


def test_votes_are_cast_anew_on_evidence_that_is_not_theirs(voted):
    folder, _ = voted
    before = ballots(folder)
    told("hard-generate --count 5", folder)  # another item: the figures are others
    told("hard-review", folder)
    assert "decisions stand" in told("llm-decide", folder)
    told("llm-decide --again", folder)
    assert ballots(folder) > before
    (decided,) = load_questions(draft(folder)).decisions
    assert "-2-evidence.yaml" in decided.evidence[0]


def test_an_owners_word_on_what_is_decided_is_refused(voted):
    folder, _ = voted
    line = arguments("llm-decide --owner review_batch=ten --by Kim", folder)
    with pytest.raises(FormatError, match=r"review_batch is decided: one .* --again votes anew"):
        CliRunner().invoke(app, [*line, "--reason", "so"], catch_exceptions=False)


def test_programs_get_one_document_before_and_after_the_freeze(voted):
    folder, _ = voted
    assert len(json.loads(CliRunner().invoke(app, arguments("llm-fix --json", folder)).stdout)) == 1
    line = arguments("llm-decide --freeze --yes --by Kim --json", folder)
    for _ in range(2):
        state = json.loads(CliRunner().invoke(app, line, catch_exceptions=False).stdout)
        assert state["frozen"]
        assert len(state["decisions"]) == 2
    assert frozen(folder)


def test_a_frozen_task_without_its_record_is_not_thawed(voted):
    folder, _ = voted
    told("llm-decide --freeze --yes --by Kim", folder)
    record_of(draft(folder)).unlink()
    done = CliRunner().invoke(app, ["text2sql", "thaw", "--registry", str(folder / "registry")])
    assert "the record is gone" in str(done.exception)
    assert not list((folder / "registry" / "tasks").glob("*@1.yaml"))
