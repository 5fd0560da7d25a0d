"""Votes hold: strictly more than half of the seats, or the owner; a failed call is no vote."""

import asyncio
import re
from dataclasses import replace

import pytest

from agents.panel import voters
from agents.seats import Briefing, Option
from database.engine import open_database
from graphs import decision, pipeline
from graphs.workbook import open_workbook
from items import decisions
from items.questions import load_questions
from items.records import record_of
from models.call import ModelError
from models.roster import Seat
from models.scripted import Scripted
from registry.events import load
from tests.making import PANEL, TODAY, file_of, words

OPTIONS = tuple(decisions.Option(name, f"Limit {name}", name) for name in ("low", "mid", "high"))
LIMIT = decisions.Decision("output_limit", "Which limit?", "task", "request.max_tokens", OPTIONS)
EVIDENCE = decision.Evidence("evidence/e.yaml", "cut off at low: 40 %", "a" * 64, {"cut": 0.4})


def votes(option, reason="The figure says so."):
    """A voter's reply."""
    return words({"reason": reason, "option": option})


def decided(folder, eunomia, scripts, *, panel=PANEL, answers=None, evidence=EVIDENCE):
    """Put the decision to the voters; returns the file's decisions, what waits, and the model."""
    path = folder / "registry" / "drafts" / "demo-hard-v0.yaml"
    if not path.exists():
        file_of(folder, ())
    model = Scripted(scripts)
    with open_database(eunomia) as database, open_workbook(path) as book:
        briefing = Briefing(database, "", "", TODAY, True)
        seats = voters(tuple(Seat(model=id) for id in panel), model, briefing, {})
        context = decision.Context(book, seats, {LIMIT.id: LIMIT}, evidence)
        run = pipeline.decide(context, folder / "runs", [LIMIT.id], lambda _: None, answers=answers)
        waiting = asyncio.run(run)
    return load_questions(path).decisions, waiting, model


def test_two_of_three_decide_and_the_dissent_is_kept(tmp_path, eunomia):
    scripts = {
        PANEL[0]: [votes("low")],
        PANEL[1]: [votes("high", "Cut off at 40 %.")],
        PANEL[2]: [votes("low")],
    }
    found, waiting, _ = decided(tmp_path, eunomia, scripts)
    assert (found[0].option, found[0].tally, found[0].by) == ("low", "2 of 3", "panel")
    assert [vote.reason for vote in found[0].votes if vote.vote == "high"] == ["Cut off at 40 %."]
    assert waiting == []


def test_a_split_is_voted_again_with_the_reasons_and_without_names(tmp_path, eunomia):
    first = ("low", "mid", "high")
    scripts = {
        id: [votes(option, f"Because of {option}."), votes("mid")]
        for id, option in zip(PANEL, first, strict=True)
    }
    found, _, model = decided(tmp_path, eunomia, scripts)
    assert (found[0].option, found[0].tally) == ("mid", "3 of 3")
    second = model.asked[-1].messages[0].content
    assert "Because of low." in second
    assert not any(name in second for name in PANEL)


def test_two_ballots_without_majority_wait_for_the_owner(tmp_path, eunomia):
    scripts = {
        id: [votes(option)] * 2 for id, option in zip(PANEL, ("low", "mid", "high"), strict=True)
    }
    found, waiting, _ = decided(tmp_path, eunomia, scripts)
    assert (found, waiting) == ((), ["output_limit"])
    answer = {"output_limit": {"option": "high", "by": "Kim", "reason": "It is easier to undo."}}
    found, waiting, model = decided(tmp_path, eunomia, {}, answers=answer)
    assert (found[0].option, found[0].tally, found[0].by) == ("high", "1 of 3", "owner")
    assert found[0].reason == "It is easier to undo."
    assert (waiting, model.asked) == ([], [])


@pytest.mark.parametrize(
    "silence",
    [
        pytest.param(ModelError("503"), id="a failed call"),
        pytest.param("low, of course", id="garbage"),
        pytest.param(votes("lowest"), id="an option that is not there"),
        pytest.param(votes("low", " "), id="no reason"),
    ],
)
def test_no_vote_never_lowers_the_bar(tmp_path, eunomia, silence):
    scripts = {
        PANEL[0]: lambda request: votes("low"),
        PANEL[1]: lambda request: silence,
        PANEL[2]: lambda request: silence,
    }
    found, waiting, _ = decided(tmp_path, eunomia, scripts)
    assert (found, waiting) == ((), ["output_limit"])


def test_two_votes_of_two_seats_with_a_third_silent_are_a_majority(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, lambda request: votes("low"))
    scripts[PANEL[2]] = lambda request: ModelError("503")
    found, _, _ = decided(tmp_path, eunomia, scripts)
    assert (found[0].option, found[0].tally) == ("low", "2 of 3")


def test_each_seat_sees_an_order_of_its_own_and_it_is_recorded(tmp_path, eunomia):
    decided(tmp_path, eunomia, dict.fromkeys(PANEL, lambda request: votes("low")))
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    shown = [event.body["shown"] for event in load(record_of(path)) if event.kind == "ballot"]
    assert all(sorted(order) == ["high", "low", "mid"] for order in shown)
    orders = {
        decision.shuffled(tuple(Option(o.id, "") for o in OPTIONS), "x", seat) for seat in range(20)
    }
    assert len(orders) == 6


def test_one_model_in_three_seats_votes_three_times(tmp_path, eunomia):
    panel = (PANEL[0],) * 3
    _, _, model = decided(tmp_path, eunomia, {PANEL[0]: lambda request: votes("low")}, panel=panel)
    assert len({request.key for request in model.asked}) == 3


def test_new_evidence_is_a_new_vote(tmp_path, eunomia):
    decided(tmp_path, eunomia, dict.fromkeys(PANEL, lambda request: votes("low")))
    later = replace(EVIDENCE, text="cut off at low: 90 %", sha256="b" * 64)
    scripts = dict.fromkeys(PANEL, lambda request: votes("high"))
    found, _, _ = decided(tmp_path, eunomia, scripts, evidence=later)
    assert found[0].option == "high"


def test_seats_that_could_not_answer_are_asked_again_before_the_owner(tmp_path, eunomia):
    silent = dict.fromkeys(PANEL, lambda request: ModelError("503"))
    _, waiting, _ = decided(tmp_path, eunomia, silent)
    assert waiting == ["output_limit"]
    found, waiting, _ = decided(
        tmp_path, eunomia, dict.fromkeys(PANEL, lambda request: votes("low"))
    )
    assert (found[0].option, waiting) == ("low", [])


def test_repeats_in_other_orders_tell_how_often_a_vote_changes(tmp_path, eunomia):
    path = file_of(tmp_path, ())
    picks_first = lambda request: votes(  # noqa: E731
        re.search(r"^- (\w+):", request.messages[0].content, re.MULTILINE)[1]
    )
    model = Scripted({PANEL[0]: picks_first, PANEL[1]: lambda request: votes("low")})
    with open_database(eunomia) as database, open_workbook(path) as book:
        briefing = Briefing(database, "", "", TODAY, True)
        held = voters(tuple(Seat(model=id) for id in PANEL[:2]), model, briefing, {})
        context = decision.Context(book, held, {LIMIT.id: LIMIT}, EVIDENCE)
        runs = tmp_path / "runs"
        asyncio.run(pipeline.decide(context, runs, [LIMIT.id], lambda _: None))
        found = asyncio.run(pipeline.repeat_ballots(context, [LIMIT.id], 9, lambda _: None))
    assert found[0].changed > 0
    assert found[1].changed == 0
    assert load_questions(path).decisions == ()  # one vote each: a repeat is no vote
