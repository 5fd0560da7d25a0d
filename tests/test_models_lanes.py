"""Both lanes say the same: the contract on which the bulk lane rests (exact pin of litellm)."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from models.bulk import Bulk, Session, carrier
from models.call import Message, Request, extras_text
from models.failures import CallFailed
from models.hosted import Hosted, close_clients, library
from models.roster import Route, load_models
from models.translate import Translator
from registry.canonical import canonical
from tests.server import Fault, Server, Status, completion

REGISTRY = Path(__file__).parent.parent / "registry"
ASK = (Message("system", "CREATE TABLE 사람"), Message("user", "How many?"))
SCHEMA = canonical(
    {
        "type": "object",
        "properties": {"sql": {"type": "string"}},
        "required": ["sql"],
        "additionalProperties": False,
    }
)
REQUEST = Request("a/b", ASK, 64, route="r", schema=SCHEMA, extras=extras_text({"top_k": 1}))
THOUGHT = {"message": {"content": "", "reasoning_content": "Let me"}, "finish_reason": "length"}
TOKENS = {
    "content": [
        {
            "token": "A",
            "logprob": -0.1,
            "bytes": None,
            "top_logprobs": [
                {"token": "A", "logprob": -0.1, "bytes": None},
                {"token": "B", "logprob": -2.4, "bytes": None},
            ],
        }
    ]
}
SHAPES = {
    "a plain answer": completion("SELECT 1"),
    "thinking apart": completion("", message={"content": "x", "reasoning_content": "hm"}),
    "thinking under OpenRouter's name": completion("", message={"content": "x", "reasoning": "hm"}),
    "thinking in the text": completion("<think>hm</think>\nSELECT 1"),
    "thinking that never closed": completion("<think>hm, SELECT", finish_reason="length"),
    "thinking whose opening tag is in the template": completion("hm</think>SELECT 1"),
    "cut off while thinking": completion("", **THOUGHT),
    "cut off by the limit": completion("SELECT", finish_reason="length"),
    "a content filter": completion("", finish_reason="content_filter"),
    "a refusal": completion("", message={"content": None, "refusal": "I cannot"}),
    "a stop reason nobody knows": completion("x", finish_reason="gave_up"),
    "no content": completion("", message={"content": None}),
    "no usage": completion("x", usage=None),
    "cached and reasoning tokens": completion(
        "x",
        usage={
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    ),
    "log-probabilities": completion("A", logprobs=TOKENS),
    "a tool call where text was asked": completion(
        "",
        finish_reason="tool_calls",
        message={
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
            ],
        },
    ),
}
ERRORS = {
    "too many": Status(429, retry_after="7"),
    "a wrong key": Status(401, "no"),
    "a bad request": Status(400, "temperature"),
    "a long prompt": Status(
        400, "maximum context length is 8 tokens", type="invalid_request_error"
    ),
    "an empty account": Status(429, "You exceeded your current quota"),
    "busy": Status(503),
    "gone": Status(404),
    "broken": Status(500),
    "a reset": Fault("reset"),
    "a hang": Fault("hang"),
}
PROVIDERS = (
    "openai/m",
    "hosted_vllm/m",
    "together_ai/openai/gpt-oss-20b",
    "deepseek/deepseek-chat",
)


def both(reply, litellm="openai/m", request=REQUEST):
    """What each lane makes of one reply, without the time it took; and the bodies they sent."""

    async def lane(make):
        async with Server([reply]) as server:
            route = Route(name="r", litellm=litellm, api_base=server.api_base, timeout_s=1.0)
            session = Session()
            try:
                said = replace(await make(route, session)(request), latency_s=0.0)
            except CallFailed as failure:
                said = (failure.kind, failure.status, failure.retry_after_s)
            finally:
                await session.close()
                await close_clients()
            return said, server.bodies[0]

    async def all_of_it():
        return (
            await lane(lambda route, session: Hosted(route)),
            await lane(lambda route, session: Bulk(route, session)),
        )

    (one, sent), (other, sent_too) = asyncio.run(all_of_it())
    return one, other, sent, sent_too


@pytest.mark.parametrize("reply", SHAPES.values(), ids=SHAPES)
def test_both_lanes_read_a_reply_alike(reply):
    one, other, _, _ = both(reply)
    assert one == other


@pytest.mark.parametrize("reply", ERRORS.values(), ids=ERRORS)
def test_both_lanes_name_a_failure_alike(reply):
    one, other, _, _ = both(reply)
    assert one == other


@pytest.mark.parametrize("litellm", PROVIDERS)
def test_both_lanes_send_the_same_body(litellm):
    one, other, sent, sent_too = both(completion("SELECT 1"), litellm)
    assert sent == sent_too
    assert one == other
    assert (sent["temperature"], sent["max_tokens"], sent["top_k"]) == (0.0, 64, 1)


def test_requests_of_one_form_say_each_their_own_words():
    translator = Translator(Route("r", "openai/m", api_base="http://127.0.0.1:1/v1"))
    for words in ("one", "two"):
        request = replace(REQUEST, messages=(ASK[0], Message("user", words)))
        body = json.loads(translator.call(request).body)
        assert body["messages"][1]["content"] == words
        assert body["max_tokens"] == 64
    longer = replace(REQUEST, max_tokens=65)
    assert json.loads(translator.call(longer).body)["max_tokens"] == 65


def test_a_route_that_cannot_be_translated_falls_back_to_litellm():
    route = Route(name="r", litellm="anthropic/claude-opus-5-5", lane="bulk")
    assert isinstance(carrier(route, Session()), Hosted)


def test_another_release_of_litellm_falls_back_too(monkeypatch):
    monkeypatch.delattr(library().OpenAIGPTConfig, "transform_request")
    route = Route(name="r", litellm="openai/m", api_base="http://127.0.0.1:1/v1", lane="bulk")
    assert isinstance(carrier(route, Session()), Hosted)


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(route, id=f"{card.id} by {route.name}")
        for card in load_models(REGISTRY).values()
        for route in card.routes
        if route.lane == "bulk"
    ],
)
def test_every_bulk_route_of_the_registry_can_be_translated(route, monkeypatch):
    monkeypatch.setenv(route.key or "X", "sk-test-0123456789")
    call = Translator(route).call(REQUEST)
    assert call.url.startswith("https://")
    assert call.url.endswith("/chat/completions")
