"""A script answers like any other model."""

import asyncio

import pytest

from models.call import Answer, Message, ModelError
from models.scripted import Scripted

ASK = (Message("user", "x"),)


def say(model, name, times=1):
    async def all_of_it():
        request = model.request(name, ASK, max_tokens=9)
        return [await model(request) for _ in range(times)]

    return asyncio.run(all_of_it())


def test_replies_come_one_after_the_other_and_carry_the_request_key():
    model = Scripted({"a": ["one", "two"]})
    answers = say(model, "a", 2)
    assert [answer.text for answer in answers] == ["one", "two"]
    assert answers[0].key == model.asked[0].key


def test_a_script_that_ended_gives_no_answer():
    with pytest.raises(ModelError, match="ended after 1 replies"):
        say(Scripted({"a": ["one"]}), "a", 2)


def test_a_model_without_a_script_names_those_with_one():
    with pytest.raises(ModelError, match="no script for 'b'; there are a"):
        say(Scripted({"a": []}), "b")


def test_a_script_can_be_a_function_of_the_request():
    model = Scripted({"a": lambda request: request.messages[0].content * 2})
    assert say(model, "a")[0].text == "xx"


def test_a_script_can_give_a_whole_answer_or_an_error():
    model = Scripted({"a": [Answer(text="", stop="length"), ModelError("down")]})
    assert say(model, "a")[0].stop == "length"
    with pytest.raises(ModelError, match="down"):
        say(model, "a")
