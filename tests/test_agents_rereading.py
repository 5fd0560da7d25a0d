"""A recorded reply is read again: what the record claims must stand in it."""

import json

import pytest

from agents.rereading import reread
from items.records import verdict_event
from registry.events import Event
from tests.test_items_questions import ITEM

ISSUE = {"kind": "boundary", "sentence": "open", "evidence": ""}
ASKED = f"{ITEM.question_ko}\n{ITEM.question_en}"
FIRST = f"## Question 1\n\n<question_ko>\n다른 질문\n</question_ko>\n\n## Question 2\n\n{ASKED}"


def event(verdict="approve"):
    return verdict_event(ITEM, "m", seat=1, round=1, verdict=verdict, valid=True, issues=[])


def reply(text, asked="?"):
    return {"request": {"messages": [{"role": "user", "content": asked}]}, "answer": {"text": text}}


def group(*verdicts):
    entries = [{"n": n, "issues": [], "verdict": said} for n, said in enumerate(verdicts, 1)]
    return reply(json.dumps({"verdicts": entries}), FIRST)


@pytest.mark.parametrize(
    "said",
    [
        reply('{"issues": [], "verdict": "approve"}'),
        reply(
            '<think>{"verdict": "reject"}</think>```json\n{"issues": [], "verdict": "approve"}\n```'
        ),
        reply('Here: {"verdict": "approve", "issues": []} thanks'),
        group("reject", "approve"),
    ],
)
def test_a_verdict_that_its_reply_gives_follows(said):
    assert reread(event(), [reply("first pass"), said], ITEM) is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (reply('{"issues": [], "verdict": "reject"}'), "'reject'"),
        (reply(json.dumps({"issues": [ISSUE], "verdict": "approve"})), "approves and objects"),
        (reply("I approve."), "no JSON object"),
        (reply("[1]{"), "no JSON object"),
        (group("approve", "revise"), "'revise'"),
        (group("approve"), "None"),
        (
            reply(
                '{"verdicts": [{"n": 2, "verdict": "approve", "issues": []}]}',
                "## Question 2\n\nelse",
            ),
            "None",
        ),
    ],
)
def test_one_that_it_does_not_give_is_named(said, problem):
    assert problem in reread(event(), [said], ITEM)


def test_no_verdict_needs_no_reply():
    silent = verdict_event(ITEM, "m", seat=1, round=1, verdict=None, valid=False)
    assert reread(silent, [reply("garbage")], ITEM) is None


def test_a_ballot_is_its_replys_option():
    ballot = Event("ballot", "m", {"decision": "d", "valid": True, "vote": "a"})
    assert reread(ballot, [reply('{"reason": "so", "option": "a"}')], None) is None
    assert "'b'" in reread(ballot, [reply('{"reason": "so", "option": "b"}')], None)
