"""A recorded reply is read again: what the record claims must stand in it."""

import json

import pytest

from agents.rereading import reread
from items.frozen import Motion
from items.records import verdict_event
from registry.events import Event
from tests.frozen import FIGURES, OTHER, ballot_about, review_of
from tests.test_items_questions import ITEM

ISSUE = {"kind": "boundary", "sentence": "open", "evidence": ""}
MOTION = Motion("Which score?", {"rs0": "RS(0)", "ex": "EX"}, "figures: {}\n")


def event(verdict="approve"):
    return verdict_event(ITEM, "m", seat=1, round=1, verdict=verdict, valid=True, issues=[])


def reply(text, messages=None):
    return {"request": {"messages": messages or review_of(ITEM)}, "answer": {"text": text}}


def together(*items):
    """The conversation of a group: the questions of all, then the cases of all."""
    asked, cases = [], []
    for number, item in enumerate(items, 1):
        _, questions, _, case = review_of(item)
        words = questions["content"].removeprefix("# The question\n\n")
        asked.append(f"## Question {number}\n\n{words}")
        cases.append(f"# Item {number}\n\n{case['content']}")
    return [{"role": "user", "content": "\n\n".join(parts)} for parts in (asked, cases)]


def group(*verdicts, items=(OTHER, ITEM)):
    entries = [{"n": n, "issues": [], "verdict": said} for n, said in enumerate(verdicts, 1)]
    return reply(json.dumps({"verdicts": entries}), together(*items))


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
        (reply('{"verdict": "approve", "issues": []}', together(OTHER, ITEM)), "None"),
        (group("approve", "approve", items=(OTHER, OTHER)), "about another question"),
    ],
)
def test_one_that_it_does_not_give_is_named(said, problem):
    assert problem in reread(event(), [said], ITEM)


def test_no_verdict_needs_no_reply():
    silent = verdict_event(ITEM, "m", seat=1, round=1, verdict=None, valid=False)
    assert reread(silent, [reply("garbage")], ITEM) is None


def test_a_ballot_is_its_replys_option():
    ballot = Event("ballot", "m", {"decision": "d", "valid": True, "vote": "rs0"})
    said = [
        reply(f'{{"reason": "so", "option": "{id}"}}', ballot_about(FIGURES))
        for id in ("rs0", "ex")
    ]
    assert reread(ballot, said[:1], MOTION) is None
    assert "'ex'" in reread(ballot, said[1:], MOTION)


def test_a_ballot_shows_the_options_in_the_order_of_the_record():
    body = {"decision": "d", "valid": True, "vote": "rs0", "shown": ["ex", "rs0"]}
    said = [reply('{"reason": "so", "option": "rs0"}', ballot_about(FIGURES))]
    assert "other options" in reread(Event("ballot", "m", body), said, MOTION)
