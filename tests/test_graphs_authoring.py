"""Authors fill a plan: what breaks a rule goes back with the problem, what passes enters the file."""

import asyncio

import pytest

from agents.panel import authors
from agents.seats import Briefing
from database.engine import open_database
from graphs import authoring, pipeline
from graphs.plan import plan
from graphs.workbook import open_workbook
from items.checks import Ground
from items.questions import CATEGORIES, load_questions
from items.records import record_of
from models.call import ModelError
from models.roster import Seat
from models.scripted import Scripted
from registry.events import load
from tests.making import COUNT, PANEL, TODAY, file_of, gate, submits, words

BROKEN = COUNT.__class__(
    **{**COUNT.__dict__, "reference_sql": "SELECT count(*) FROM person WHERE 1 = 2"}
)


def drafted(item) -> str:
    """An author's reply: the item, submitted."""
    return submits(item).replace('"reason": "The limit is plain now."', '"check": "Limits."')


def generated(folder, eunomia, script, *, count=1):
    """Fill a plan; returns the file, the record and the model with what it was asked."""
    path = folder / "registry" / "drafts" / "demo-hard-v0.yaml"
    if not path.exists():
        file_of(folder, ())
    model = Scripted(dict.fromkeys(PANEL, script))
    with open_database(eunomia) as database, open_workbook(path) as book:
        briefing = Briefing(database, "CREATE TABLE person (...);", "A note.", TODAY, True)
        seats = authors(tuple(Seat(model=id) for id in PANEL), model, briefing, {})
        ground, slots = Ground(database, TODAY), plan("hard", count, 3)
        context = authoring.Context(book, ground, seats, slots, gate=gate)
        asyncio.run(pipeline.write_items(context, folder / "runs", lambda _: None))
    return load_questions(path), load(record_of(path)), model


def test_a_draft_that_passes_the_rules_enters_the_file_with_its_author(tmp_path, eunomia):
    file, events, _ = generated(tmp_path, eunomia, [drafted(COUNT)])
    assert [q.author for q in file.questions] == [PANEL[0]]
    assert file.questions[0].question_en == COUNT.question_en
    assert [event.kind for event in events] == ["draft"]
    assert events[0].call


def test_the_place_decides_id_category_difficulty_and_scope(tmp_path, eunomia):
    file, _, _ = generated(tmp_path, eunomia, [drafted(COUNT)])
    question, slot = file.questions[0], plan("hard", 1, 3)["hard-001"]
    assert (question.id, question.category) == ("hard-001", slot.category)
    assert (question.difficulty, question.scope) == (slot.difficulty, slot.scope)


def test_a_draft_that_breaks_a_rule_goes_back_with_the_problem(tmp_path, eunomia):
    file, events, model = generated(tmp_path, eunomia, [drafted(BROKEN), drafted(COUNT)])
    assert "returns_rows" in model.asked[1].messages[1].content
    assert BROKEN.reference_sql in model.asked[1].messages[1].content
    assert [event.kind for event in events] == ["problem", "draft"]
    assert len(file.questions) == 1


def test_a_place_stays_empty_when_no_attempt_is_left(tmp_path, eunomia):
    file, events, model = generated(tmp_path, eunomia, lambda request: drafted(BROKEN))
    assert file.questions == ()
    assert [event.kind for event in events] == ["problem"] * 3
    assert len(model.asked) == 3


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("SELECT 1", id="garbage"),
        pytest.param(
            words({"action": "submit", "sql": None, "item": None, "check": None}), id="none"
        ),
        pytest.param(ModelError("503"), id="a failed call"),
    ],
)
def test_an_author_without_a_usable_reply_writes_nothing(tmp_path, eunomia, reply):
    file, events, _ = generated(tmp_path, eunomia, lambda request: reply)
    assert file.questions == ()
    assert events[0].body["problems"][0].startswith("author: ")


def test_an_author_may_look_at_the_data_and_the_looks_are_kept(tmp_path, eunomia):
    probe = words(
        {"action": "probe", "sql": "SELECT count(*) FROM person", "item": None, "check": None}
    )
    _, events, model = generated(tmp_path, eunomia, [probe, drafted(COUNT)])
    assert "2694" in model.asked[1].messages[-1].content
    assert events[0].body["probes"][0]["sql"] == "SELECT count(*) FROM person"


def test_generating_again_asks_only_for_empty_places(tmp_path, eunomia):
    generated(tmp_path, eunomia, [drafted(COUNT)])
    file, _, model = generated(tmp_path, eunomia, lambda request: "no", count=2)
    assert len(file.questions) == 1
    assert {request.role for request in model.asked} == {"author"}
    assert len(model.asked) == 2  # the second place, asked and re-asked


def test_every_author_sees_the_same_system_message(tmp_path, eunomia):
    _, _, model = generated(tmp_path, eunomia, lambda request: "no", count=9)
    assert len({request.messages[0] for request in model.asked}) == 1
    assert {request.model for request in model.asked} == set(PANEL)


@pytest.mark.parametrize("tier", ["hard", "easy"])
def test_a_plan_gives_every_author_every_category(tier):
    slots = plan(tier, 90, 3).values()
    assert {(slot.category, slot.seat) for slot in slots} == {
        (category, seat) for category in CATEGORIES[tier] for seat in (1, 2, 3)
    }


def test_a_longer_plan_keeps_its_first_places():
    from dataclasses import replace

    short, long = plan("hard", 10, 3), plan("hard", 40, 3)
    assert all(replace(long[id], count=10) == slot for id, slot in short.items())
