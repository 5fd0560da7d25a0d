"""`--plan` of the making commands says what would be asked, seat by seat, and asks nothing."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cli.main import app
from items.records import record_of
from items.rendered import write
from registry.events import load
from tests import line
from tests.server import Server, in_background


@pytest.fixture
def site(tmp_path, eunomia):
    """A folder with a registry, the database and a server of scripted models."""
    line._written.clear()
    (tmp_path / "data").symlink_to(eunomia.parent)
    with in_background(Server(line.script)) as server:
        line.registry(tmp_path, server.api_base)
        yield tmp_path, server


def told(command: str, folder) -> str:
    """Run a command in this process and return what it printed."""
    where = [f"--{name}={folder / name}" for name in ("registry", "runs", "data")]
    words = ["text2sql", *command.split(), "--roster", "trial", *where]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def plan(command: str, folder) -> dict[str, dict]:
    """The plan of a command by seat."""
    return {seat["seat"]: seat for seat in json.loads(told(f"{command} --plan --json", folder))}


def reviewed(site):
    """Four items before the panel, and one of them objected to; and what was asked for that."""
    folder, server = site
    told("hard-generate --count 4", folder)
    told("hard-review", folder)
    return folder, len(server.bodies)


def test_a_fix_plan_has_the_fix_that_is_due_and_three_reviews_a_round(site):
    folder, before = reviewed(site)
    found = plan("llm-fix --rounds 1", folder)
    fixers = [name for name in found if "fixer" in name]
    assert len(fixers) == 1
    assert "first versions 3 of 4" in found[fixers[0]]["basis"]
    fixer = found[fixers[0]]
    assert (fixer["conversations"], fixer["least"], fixer["usual"], fixer["most"]) == (1, 1, 2, 8)
    assert sorted(set(found) - set(fixers)) == [f"hard reviewer {n}" for n in (1, 2, 3)]
    for n in (1, 2, 3):
        seat = found[f"hard reviewer {n}"]
        # A fixer may drop the item; a new version may be one that every model judges twice.
        assert (seat["least"], seat["usual"], seat["most"]) == (0, 2, 2 * 10)
    assert len(site[1].bodies) == before


def test_a_later_round_is_only_as_likely_as_the_record_lets_expect(site):
    folder, _ = reviewed(site)
    found = plan("llm-fix --rounds 3", folder)
    fixers = [seat for name, seat in found.items() if "fixer" in name]
    assert sum(seat["most"] for seat in fixers) == 3 * 8
    assert sum(seat["least"] for seat in fixers) == 1
    seat = found["hard reviewer 1"]
    assert (seat["usual"], seat["most"]) == (round(2 * 1.05 * (1 + 0.5 + 0.25)), 3 * 2 * 10)
    assert "mended ones none judged yet, half assumed" in seat["basis"]


def test_a_fix_plan_counts_the_prompt_that_the_fixer_is_then_sent(site):
    folder, before = reviewed(site)
    said = plan("llm-fix --rounds 1", folder)
    told("llm-fix --rounds 1", folder)
    bodies = site[1].bodies[before:]
    fix = next(body for body in bodies if '"reading"' not in json.dumps(body["response_format"]))
    sent = sum(len(message["content"].encode()) for message in fix["messages"]) // 4
    (tokens,) = [seat["prompt_tokens"] for name, seat in said.items() if "fixer" in name]
    assert tokens == sent
    assert plan("llm-fix", folder) == {}


def test_a_file_that_was_never_judged_is_planned_with_its_first_reviews(site):
    folder, server = site
    told("hard-generate --count 4", folder)
    before = len(server.bodies)
    found = plan("llm-fix --rounds 1", folder)
    assert "first versions none judged yet, half assumed" in found["hard reviewer 1"]["basis"]
    assert found["hard reviewer 1"]["least"] >= 4  # and what every model judges twice
    fixers = [seat for name, seat in found.items() if "fixer" in name]
    assert {seat["least"] for seat in fixers} == {0}
    assert sum(seat["most"] for seat in fixers) == 4 * 8
    assert len(server.bodies) == before


def test_what_another_panel_thought_says_nothing_of_this_one(site):
    folder, _ = reviewed(site)
    rosters = folder / "registry" / "rosters.yaml"
    text = rosters.read_text()
    swapped = text.replace(line.MODELS[0], "x").replace(line.MODELS[1], line.MODELS[0])
    rosters.write_text(swapped.replace("x\n", f"{line.MODELS[1]}\n"))
    seat = plan("llm-fix", folder)["hard reviewer 1"]
    assert "first versions none judged yet" in seat["basis"]
    assert seat["least"] >= 4


def test_a_fix_plan_writes_nothing_into_the_record(site):
    folder, _ = reviewed(site)
    record = record_of(folder / "registry" / "drafts" / "small-text2sql-hard-v0.yaml")
    before = record.read_bytes()
    said = told("llm-fix --plan", folder)
    assert said.endswith("nothing was asked\n")
    assert record.read_bytes() == before


def test_a_vote_plan_has_one_ballot_a_seat_at_least_and_two_at_most(site):
    folder, before = reviewed(site)
    found = plan("llm-decide --freeze", folder)
    assert list(found) == ["voter 1", "voter 2", "voter 3"]
    for seat in found.values():  # two decisions; a second ballot is as likely as not
        assert (seat["least"], seat["usual"], seat["most"]) == (2, 3, 2 * 2 * 2)
    assert len(site[1].bodies) == before
    assert not (folder / "registry" / "evidence").exists()


def test_a_vote_plan_has_the_repeats_and_nothing_that_is_decided(site):
    folder, _ = reviewed(site)
    told("llm-decide", folder)
    assert plan("llm-decide", folder) == {}
    found = plan("llm-decide --freeze --stability 2", folder)
    assert found["voter 1"]["least"] == 1 + 2 * 2
    assert "took a second ballot so far: 0 of 1" in found["voter 1"]["basis"]


def test_a_first_ballot_without_a_majority_leaves_the_second_one_to_ask(site):
    folder, _ = reviewed(site)
    told("llm-decide", folder)
    draft = folder / "registry" / "drafts" / "small-text2sql-hard-v0.yaml"
    events = [event for event in load(record_of(draft)) if event.kind != "decided"]
    split = [
        replace(event, body={**event.body, "vote": f"other {event.body['seat']}"})
        if event.kind == "ballot"
        else event
        for event in events
    ]
    record_of(draft).unlink()
    assert write(draft, split).questions
    seat = plan("llm-decide", folder)["voter 1"]
    assert (seat["least"], seat["usual"], seat["most"]) == (1, 1, 2)
