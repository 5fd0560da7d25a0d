"""One question, one re-ask that names what did not parse, then no reply: data, never an approval."""

import asyncio

import pytest

from agents.ask import Reply, ask
from agents.replies import read_object, record, words
from agents.seats import NoReply
from models.budget import BudgetError
from models.call import Answer, Message, ModelError
from models.scripted import Scripted

SCHEMA = record(reason=words(10))
GOOD = '{"reason": "fine"}'


def asked(*replies):
    model = Scripted({"org/a-1b": list(replies)})
    request = model.request("org/a-1b", [Message("user", "Why?")], max_tokens=10)
    reply = asyncio.run(ask(model, request, lambda text: read_object(text, SCHEMA)))
    return model, reply


def test_a_reply_that_parses_is_asked_once():
    model, reply = asked(GOOD)
    assert isinstance(reply, Reply)
    assert reply.value == {"reason": "fine"}
    assert reply.calls == (model.asked[0].key,)


def test_the_re_ask_names_what_did_not_parse_and_shows_the_reply():
    model, reply = asked("no", GOOD)
    assert isinstance(reply, Reply)
    roles = [message.role for message in model.asked[1].messages]
    assert roles == ["user", "assistant", "user"]
    assert "there is no JSON object in it" in model.asked[1].messages[2].content
    assert len(reply.calls) == 2


def test_two_replies_that_do_not_parse_are_no_reply():
    model, reply = asked("no", "no again", GOOD)
    assert isinstance(reply, NoReply)
    assert "not parsed after one re-ask" in reply.problem
    assert len(model.asked) == 2


def test_a_failed_call_is_no_reply():
    _, reply = asked(ModelError("org/a-1b failed 4 times; last: 503"))
    assert isinstance(reply, NoReply)
    assert reply.problem == "no answer: org/a-1b failed 4 times; last: 503"
    assert reply.calls == ()


def test_an_answer_that_was_cut_off_says_so():
    _, reply = asked(Answer(text="", stop="length"), Answer(text="", stop="length"))
    assert isinstance(reply, NoReply)
    assert "the answer stopped: length" in reply.problem


def test_a_spent_budget_stops_the_work_instead_of_being_no_reply():
    with pytest.raises(BudgetError):
        asked(BudgetError("the budget of 1.00 USD is spent"))
