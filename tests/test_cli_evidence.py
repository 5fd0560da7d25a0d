"""The evidence file: dated, never written over, with what the runs say; a changed one makes a vote stale."""

import pytest
import yaml
from typer.testing import CliRunner

from cli.evidence import current_evidence, stale, write_evidence
from cli.main import app
from cli.making import setting
from cli.run_figures import best_constant
from database.engine import open_database
from items.questions import Decided
from registry.writer import to_yaml
from tests import small


@pytest.fixture
def where(tmp_path):
    """The small task with a roster and a model."""
    registry, data = small.make(tmp_path)
    routes = [{"name": "here", "litellm": "openai/a", "prices": []}]
    card = {"id": "acme/a-1b", "vendor": "Acme", "open": True, "context": 8192}
    cards = [{**card, "output_limit": 4096, "routes": routes}]
    (registry / "models.yaml").write_text(to_yaml({"models": cards}))
    roles = ("authors", "reviewers", "fixers", "voters")
    seats = {role: [{"rule": "evidence"}] for role in roles}
    rosters = [{"id": "trial", **seats, "exam": ["acme/a-1b"]}]
    (registry / "rosters.yaml").write_text(to_yaml({"rosters": rosters}))
    return setting(registry, tmp_path / "runs", data, small.TASK, "hard", "trial")


def test_it_says_what_the_items_and_the_candidates_are(where):
    figures = current_evidence(where).figures
    assert (figures["answerable"], figures["unanswerable"]) == (3, 1)
    assert figures["instances"] == 12
    room = figures["candidates"]["acme/a-1b"]["room"]
    assert room == 8192 - figures["prompt_tokens"]
    assert "runs" not in figures


def test_it_is_not_written_over_and_not_written_twice(where):
    first = write_evidence(where)
    text = first.read_text()
    assert write_evidence(where) == first
    first.write_text(text.replace("instances: 12", "instances: 13"))
    second = write_evidence(where)
    assert second != first
    assert current_evidence(where).name.endswith(second.name)


def test_a_receipt_beside_it_is_no_evidence(where):
    path = write_evidence(where)
    (path.parent / "receipt.yaml").write_text("task: small\n")
    assert current_evidence(where).name.endswith(path.name)


def test_evidence_that_changed_after_a_vote_makes_it_stale(where):
    path = write_evidence(where)
    shown = (current_evidence(where).reference,)
    vote = Decided("d", "one", "2 of 3", "panel", "review.batch", "2026-11-30", evidence=shown)
    assert not stale(where, vote)
    path.write_text(path.read_text() + "# changed\n")
    assert stale(where, vote)


def test_dry_runs_are_told_with_their_outcomes(where):
    folders = [
        "--registry",
        str(where.registry),
        "--runs",
        str(where.runs),
        "--data",
        str(where.data),
    ]
    for model in ("prior", "oracle"):
        command = ["eval-text2sql", "--model", f"benchtoward/{model}", "--dry-run", *folders]
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    told = yaml.safe_load(write_evidence(where).read_text())["figures"]["runs"]
    assert told["dry: benchtoward/oracle"]["hard"]["rs0"] == [1.0, 1.0, 1.0]
    assert told["dry: benchtoward/prior"]["hard"]["outcomes"] == {"abstained": 8}


def test_the_best_constant_query_is_the_most_common_result(where):
    items = [question.item for question in (*small.HARD, *small.EASY)]
    twice = [*items, items[0].__class__(**{**vars(items[0]), "id": "h9"})]
    with open_database(where.data / "eunomia.duckdb") as database:
        found = best_constant(twice, database)
    assert found == {"items": ["h1", "h9"], "ex": round(2 / 6, 4)}
