"""Several items in one request: each is judged by itself, and a broken reply approves none of them."""

import asyncio
import json
from dataclasses import replace

import pytest

from agents.batch import batched
from agents.opening import Holder
from agents.seats import Briefing, NoReply, ReviewTask, Verdict
from database.engine import open_database
from models.scripted import Scripted
from tests.making import COUNT, DEATHS, OBJECTION, TODAY, WOMEN

ITEMS = (COUNT, WOMEN, DEATHS)
GROUP = tuple(ReviewTask(item, 1) for item in ITEMS)
ANSWERS = [
    {"n": 2, "action": "answer", "sql": WOMEN.reference_sql, "reading": "As written."},
    {"n": 1, "action": "answer", "sql": "SELECT 1", "reading": "As written."},
    {"n": 3, "action": "abstain", "sql": "", "reading": "Nobody's death is recorded."},
]
VERDICTS = [
    {"n": 1, "issues": [OBJECTION], "verdict": "revise"},
    {"n": 2, "issues": [], "verdict": "approve"},
    {"n": 3, "issues": [], "verdict": "approve"},
]


def judged(eunomia, *replies, tasks=GROUP):
    """Put tasks to a seat whose group is the three items; returns what it said, and the model."""
    model = Scripted({"acme/a-1b": [r if isinstance(r, str) else json.dumps(r) for r in replies]})

    async def alone(task):
        return NoReply("asked alone", "acme/a-1b")

    async def run(database):
        briefing = Briefing(database, "CREATE TABLE person (...);", "A note.", TODAY, True)
        ask = batched(alone, Holder("acme/a-1b", model), briefing, [GROUP])
        return await asyncio.gather(*(ask(task) for task in tasks))

    with open_database(eunomia) as database:
        return asyncio.run(run(database)), model


def test_a_group_is_one_conversation_and_each_item_gets_its_own_verdict(eunomia):
    said, model = judged(eunomia, {"answers": ANSWERS}, {"verdicts": VERDICTS})
    assert len(model.asked) == 2
    assert [verdict.verdict for verdict in said] == ["revise", "approve", "approve"]
    assert [verdict.commit.matches for verdict in said] == [False, True, True]
    assert len({verdict.calls for verdict in said}) == 1


def test_no_reference_is_shown_before_all_answers_are_in(eunomia):
    _, model = judged(eunomia, {"answers": ANSWERS}, {"verdicts": VERDICTS})
    shown = "".join(message.content for message in model.asked[0].messages)
    assert all(item.question_ko in shown for item in ITEMS)
    assert "year_of_birth < 1960" not in shown
    assert "year_of_birth < 1960" in model.asked[1].messages[-1].content


@pytest.mark.parametrize(
    "verdicts",
    [
        pytest.param(VERDICTS[:2], id="one missing"),
        pytest.param([*VERDICTS, VERDICTS[1]], id="one twice"),
        pytest.param([{**VERDICTS[0], "n": 4}, *VERDICTS[1:]], id="another number"),
        pytest.param([{**VERDICTS[0], "issues": []}, *VERDICTS[1:]], id="no reason"),
        pytest.param([{**v, "n": True} for v in VERDICTS], id="no number"),
    ],
)
def test_a_reply_that_cannot_be_used_is_no_verdict_on_any_item(eunomia, verdicts):
    said, model = judged(eunomia, {"answers": ANSWERS}, *[{"verdicts": verdicts}] * 2)
    assert all(isinstance(one, NoReply) for one in said)
    assert len(model.asked) == 3


def test_a_mended_item_is_asked_alone(eunomia):
    mended = ReviewTask(replace(COUNT, question_en="How many were born by 1959?"), 1, round=2)
    again = replace(GROUP[1], repeat=1)
    said, model = judged(eunomia, tasks=(mended, again))
    assert [one.problem for one in said] == ["asked alone"] * 2
    assert model.asked == []


def test_the_first_item_asks_for_its_whole_group(eunomia):
    (said,), model = judged(eunomia, {"answers": ANSWERS}, {"verdicts": VERDICTS}, tasks=GROUP[1:2])
    assert isinstance(said, Verdict)
    assert len(model.asked) == 2
