"""An answer is told as it is: what each recorded shape means."""

import math

import pytest

from models.answers import read_answer
from models.call import Message, Request
from models.failures import CallFailed
from tests.server import completion
from tests.test_models_lanes import SHAPES

REQUEST = Request("a/b", (Message("user", "x"),), 64, route="r")


@pytest.mark.parametrize(
    ("shape", "stop", "text", "reasoning"),
    [
        ("a plain answer", "stop", "SELECT 1", ""),
        ("thinking apart", "stop", "x", "hm"),
        ("thinking under OpenRouter's name", "stop", "x", "hm"),
        ("thinking in the text", "stop", "SELECT 1", "hm"),
        ("thinking that never closed", "length", "", "hm, SELECT"),
        ("thinking whose opening tag is in the template", "stop", "SELECT 1", "hm"),
        ("cut off while thinking", "length", "", "Let me"),
        ("cut off by the limit", "length", "SELECT", ""),
        ("a content filter", "content_filter", "", ""),
        ("a refusal", "refusal", "", ""),
        ("a stop reason nobody knows", "unknown", "x", ""),
        ("no content", "stop", "", ""),
        ("a tool call where text was asked", "tool_calls", "", ""),
    ],
)
def test_a_shape_is_read_as(shape, stop, text, reasoning):
    answer = read_answer(SHAPES[shape], REQUEST)
    assert (answer.stop, answer.text, answer.reasoning) == (stop, text, reasoning)


@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        pytest.param(completion("SELECT", finish_reason="length"), "length", id="it says so"),
        pytest.param(
            completion("SELECT", usage={"prompt_tokens": 9, "completion_tokens": 64}),
            "length",
            id="the whole limit was used",
        ),
        pytest.param(
            completion("", message={"content": " ", "reasoning_content": "Let me"}),
            "length",
            id="it thought and said nothing",
        ),
    ],
)
def test_each_of_the_three_signs_means_cut_off(reply, stop):
    """S1-101, S1-114."""
    assert read_answer(reply, REQUEST).stop == stop


def test_the_providers_own_word_is_kept_beside():
    answer = read_answer(completion("x", finish_reason="gave_up"), REQUEST)
    assert answer.native_stop == "gave_up"


def test_missing_usage_is_unknown_and_not_zero():
    answer = read_answer(completion("x", usage=None), REQUEST)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


def test_zero_and_zero_tokens_are_a_server_that_counts_nothing():
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    assert read_answer(completion("x", usage=usage), REQUEST).output_tokens is None


def test_cached_and_reasoning_tokens_are_apart():
    answer = read_answer(SHAPES["cached and reasoning tokens"], REQUEST)
    assert (answer.input_tokens, answer.cached_tokens) == (10, 8)
    assert (answer.output_tokens, answer.reasoning_tokens) == (5, 3)


def test_a_tokens_entropy_is_over_its_alternatives_in_nats():
    p, q = math.exp(-0.1), math.exp(-2.4)
    p, q = p / (p + q), q / (p + q)
    (entropy,) = read_answer(SHAPES["log-probabilities"], REQUEST).token_entropies
    assert entropy == pytest.approx(-p * math.log(p) - q * math.log(q))


def test_no_choices_are_no_answer():
    with pytest.raises(CallFailed, match="no message"):
        read_answer(completion("") | {"choices": []}, REQUEST)
