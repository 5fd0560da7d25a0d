"""Authors fill a plan: what breaks a rule goes back with the problem, what passes enters the file."""

import asyncio
from dataclasses import replace

import pytest

from agents.panel import authors
from agents.seats import Briefing
from database.engine import open_database
from graphs import authoring, pipeline
from graphs.plan import plan
from graphs.workbook import open_workbook
from items.checks import Finding, Ground, found_alone
from items.questions import CATEGORIES, load_questions
from items.records import record_of
from items.settings import Settings
from models.call import ModelError
from models.roster import Seat
from models.scripted import Scripted
from registry.events import load
from tests.making import COUNT, PANEL, TODAY, file_of, gate, submits, words

BROKEN = replace(COUNT, reference_sql="SELECT count(*) FROM person WHERE 1 = 2")


VISITS = replace(
    COUNT,
    question_ko="2010년 1월 1일부터 2018년 12월 31일까지 시작된 입원은 모두 몇 건인가요?",
    question_en="How many inpatient visits started from 2010-01-01 to 2018-12-31?",
    reference_sql="SELECT count(*) AS visits FROM visit_occurrence WHERE visit_concept_id = 9201 AND "
    "visit_start_date >= DATE '2010-01-01' AND visit_start_date <= DATE '2018-12-31'",
)
UNPINNED = replace(VISITS, question_en="How many inpatient visits between 2010 and 2018?")


def hides(item, ground):
    """A gate that finds no problem but VISITS-like drafts hide more than a strict tier allows."""
    strict = replace(ground, settings=Settings(thresholds={"mutation_score": 0.99}))
    return [f for f in found_alone(item, strict) if f.rule == "hidden_mistakes"]


def drafted(item) -> str:
    """An author's reply: the item, submitted."""
    return submits(item).replace('"reason": "The limit is plain now."', '"check": "Limits."')


def generated(folder, eunomia, script, *, count=1, gate=gate):
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


def refused(item, ground):
    """A gate with a problem for everything, beside what the database hides."""
    return [Finding("returns_rows", "problem", "no"), *hides(item, ground)]


def test_what_goes_back_names_the_hidden_mistakes_and_the_rows_that_show_them(tmp_path, eunomia):
    _, _, model = generated(tmp_path, eunomia, lambda _: drafted(VISITS), gate=refused)
    first, second = (request.messages[1].content for request in model.asked[:2])
    assert "<hidden>" not in first
    shown = second.partition("<hidden>")[2].partition("</hidden>")[0].strip().splitlines()
    assert 1 <= len(shown) <= 5
    limit = "visit_start_date >= CAST('2010-01-01' AS DATE) became"
    assert any(limit in line and "visit_start_date 2010-01-01" in line for line in shown)


def test_a_draft_below_the_tiers_mutation_score_goes_back_once(tmp_path, eunomia):
    script = [drafted(UNPINNED), drafted(VISITS)]
    file, events, model = generated(tmp_path, eunomia, script, gate=hides)
    assert len(model.asked) == 2
    assert "hidden_mistakes: " in model.asked[1].messages[1].content
    assert "<hidden>" in model.asked[1].messages[1].content
    assert [event.kind for event in events] == ["problem", "draft"]
    assert file.questions[0].question_en == VISITS.question_en


@pytest.mark.parametrize(
    ("rest", "asked"),
    [
        pytest.param([ModelError("503")], 2, id="no second reply"),
        pytest.param([drafted(BROKEN), drafted(BROKEN)], 3, id="no sound one after it"),
    ],
)
def test_a_draft_that_only_hides_mistakes_is_kept_when_nothing_better_comes(
    tmp_path, eunomia, rest, asked
):
    def both(item, ground):
        return [*gate(item, ground), *hides(item, ground)]

    script = [drafted(UNPINNED), *rest]
    file, _, model = generated(tmp_path, eunomia, script, gate=both)
    assert len(model.asked) == asked
    assert [q.question_en for q in file.questions] == [UNPINNED.question_en]


def test_a_draft_that_hides_little_is_kept_at_once(tmp_path, eunomia):
    _, events, model = generated(tmp_path, eunomia, [drafted(VISITS)])
    assert [event.kind for event in events] == ["draft"]
    assert len(model.asked) == 1


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
    short, long = plan("hard", 10, 3), plan("hard", 40, 3)
    assert all(replace(long[id], count=10) == slot for id, slot in short.items())
