"""The makers of the source's roster: what is sent to each, and what its own reply shapes mean."""

import asyncio
import json
from pathlib import Path

import pytest

from models.call import Message
from models.failures import CallFailed
from models.hosted import Hosted, close_clients
from models.requests import build_request
from models.roster import load_models
from tests.server import Server, Status, completion

CARDS = load_models(Path(__file__).parent.parent / "registry")
OPUS, GEMINI, GPT = "anthropic/claude-opus-5.5", "google/gemini-4-argon", "openai/gpt-6-astra"
SYSTEM = "CREATE TABLE person (person_id BIGINT);"
SCHEMA = {
    "type": "object",
    "properties": {"sql": {"anyOf": [{"type": "string", "maxLength": 100}, {"type": "null"}]}},
    "required": ["sql"],
    "additionalProperties": False,
}


def anthropic(*content, stop="end_turn"):
    """A reply of the Messages API."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 80,
            "output_tokens": 5,
        },
    }


def gemini(*parts, stop="STOP"):
    """A reply of generateContent."""
    content = {"role": "model", "parts": list(parts)}
    return {
        "candidates": [{"content": content, "finishReason": stop, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 90,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 102,
            "cachedContentTokenCount": 80,
        },
    }


def asked(model, reply, monkeypatch):
    """Ask one model's route of a server that gives this reply; returns the answer and the body sent."""
    card = CARDS[model]
    monkeypatch.setenv(card.route.key, "a-key-of-this-test")

    async def all_of_it():
        async with Server([reply]) as server:
            there = server.api_base.removesuffix("/v1") if model == GEMINI else server.api_base
            words = (Message("system", SYSTEM), Message("user", "How many?"))
            request = build_request(card, words, max_tokens=1_000, schema=SCHEMA)
            try:
                answer = await Hosted(card.route, api_base=there)(request)
            finally:
                await close_clients()
            return answer, server.bodies[0], server.headers[0]

    return asyncio.run(all_of_it())


TEXT = {"type": "text", "text": "x"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("model", "reply", "stop", "text", "reasoning"),
    [
        pytest.param(OPUS, anthropic(TEXT), "stop", "x", "", id="opus answers"),
        pytest.param(OPUS, anthropic(THOUGHT, TEXT), "stop", "x", "hm", id="opus thinks"),
        pytest.param(OPUS, anthropic(TEXT, stop="max_tokens"), "length", "x", "", id="opus, cut off"),
        pytest.param(OPUS, anthropic(stop="refusal"), "content_filter", "", "", id="opus refuses"),
        pytest.param(GEMINI, gemini({"text": "x"}), "stop", "x", "", id="gemini answers"),
        pytest.param(
            GEMINI, gemini({"text": "hm", "thought": True}, {"text": "x"}), "stop", "x", "hm",
            id="gemini thinks",
        ),
        pytest.param(GEMINI, gemini(stop="MAX_TOKENS"), "length", "", "", id="gemini, cut off"),
        pytest.param(GEMINI, gemini(stop="SAFETY"), "content_filter", "", "", id="gemini filters"),
        pytest.param(
            GEMINI,
            {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
             "usageMetadata": {"promptTokenCount": 90, "totalTokenCount": 90}},
            "content_filter", "", "", id="gemini blocks the prompt",
        ),
        pytest.param(GPT, completion("x"), "stop", "x", "", id="gpt answers"),
    ],
)  # fmt: skip
def test_a_makers_own_shape_is_read_as(model, reply, stop, text, reasoning, monkeypatch):
    answer, _, _ = asked(model, reply, monkeypatch)
    assert (answer.stop, answer.text, answer.reasoning) == (stop, text, reasoning)


def test_cached_written_and_thinking_tokens_are_counted(monkeypatch):
    answer, _, _ = asked(OPUS, anthropic(TEXT), monkeypatch)
    assert (answer.input_tokens, answer.cached_tokens, answer.written_tokens) == (93, 80, 3)
    answer, _, _ = asked(GEMINI, gemini({"text": "x"}), monkeypatch)
    assert (answer.input_tokens, answer.cached_tokens) == (90, 80)
    assert (answer.output_tokens, answer.reasoning_tokens) == (12, 7)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Status(529, type="overloaded_error"), "server"),
        (Status(401, "invalid x-api-key", type="authentication_error"), "authentication"),
        (Status(400, "prompt is too long: 300000 tokens > 200000 maximum"), "context_length"),
        (Status(429, retry_after="3", type="rate_limit_error"), "rate_limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_makers_own_error_is_named(fault, kind, monkeypatch):
    with pytest.raises(CallFailed) as caught:
        asked(OPUS, fault, monkeypatch)
    assert caught.value.kind == kind


def test_the_shared_beginning_is_marked_where_the_route_caches_only_what_is_marked(monkeypatch):
    _, body, _ = asked(OPUS, anthropic(TEXT), monkeypatch)
    assert body["system"] == [
        {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
    ]


@pytest.mark.parametrize("model", [OPUS, GPT])
def test_a_temperature_that_a_maker_refuses_is_not_sent(model, monkeypatch):
    _, body, _ = asked(model, anthropic(TEXT) if model == OPUS else completion("x"), monkeypatch)
    assert "temperature" not in body


def test_the_schema_reaches_every_maker_in_its_own_form(monkeypatch):
    _, body, _ = asked(OPUS, anthropic(TEXT), monkeypatch)
    assert body["output_format"]["schema"]["required"] == ["sql"]
    _, body, _ = asked(GEMINI, gemini({"text": "x"}), monkeypatch)
    assert body["generationConfig"]["response_json_schema"]["required"] == ["sql"]
    _, body, _ = asked(GPT, completion("x"), monkeypatch)
    assert body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("model", [OPUS, GEMINI, GPT])
def test_the_key_goes_into_a_header_and_nowhere_else(model, monkeypatch):
    reply = {OPUS: anthropic(TEXT), GEMINI: gemini({"text": "x"}), GPT: completion("x")}[model]
    _, body, headers = asked(model, reply, monkeypatch)
    assert "a-key-of-this-test" not in json.dumps(body)
    assert any("a-key-of-this-test" in value for value in headers.values())
