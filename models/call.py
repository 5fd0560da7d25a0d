"""Asking a model: a frozen request in, a frozen answer out.

Everything that answers is a `Model`: a litellm route, the gateway, a prior, a script in a test.
Wrappers take a Model and are one. Equal requests share a ledger row; the key covers all that decides
an answer (DESIGN, Agreements 1).
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from registry.canonical import canonical, sha256_json

KEY_VERSION = 1

Stop = Literal["stop", "length", "content_filter", "refusal", "tool_calls", "unknown"]


class ModelError(Exception):
    """A model gave no answer: the route failed, the key is missing, the budget is spent."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """All that decides an answer.

    model:       registry id, `org/name-with-size` (S1-131), not a litellm route.
    route:       the route's name in registry/models.yaml.
    revision:    the model's revision there, or "".
    max_tokens:  the output limit, thinking included.
    schema:      a JSON schema as canonical JSON text, or None for free text.
    extras:      the route's request fields as canonical JSON text (`{"top_k":1}`).
    draw:        0, or the seat, repeat or attempt number that makes this a call of its own.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    route: str = ""
    revision: str = ""
    temperature: float = 0.0
    schema: str | None = None
    logprobs: int | None = None
    extras: str = "{}"
    draw: int = 0
    role: str = field(
        default="", compare=False
    )  # author, reviewer, ...: for the ledger's sums only

    @property
    def decides(self) -> dict[str, Any]:
        """Return what the key covers, as a JSON-like mapping."""
        return {
            "key_version": KEY_VERSION,
            "model": self.model,
            "revision": self.revision,
            "route": self.route,
            "messages": [{"role": m.role, "content": m.content} for m in self.messages],
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "schema": self.schema and json.loads(self.schema),
            "logprobs": self.logprobs,
            "extras": json.loads(self.extras),
            "draw": self.draw,
        }

    @cached_property
    def key(self) -> str:
        """Return the ledger key: sha256 of the canonical JSON of `decides`."""
        return sha256_json(self.decides)


def extras_text(extras: dict[str, Any] | None) -> str:
    """Return a route's request fields in the form that `Request.extras` holds."""
    return canonical(extras or {})


@dataclass(frozen=True)
class Answer:
    """What a model said, told as it is.

    stop:             why it stopped, normalised; `native_stop` is the provider's own word.
    reasoning:        thinking text, apart from `text`; kept in the ledger.
    tokens:           None where the route did not say; `written_tokens` went into the prompt cache.
    cost_usd:         by the price table; None is unknown, never 0. `reported_cost_usd`: the route's.
    token_entropies:  natural-log entropy a generated token, where log-probabilities were asked.
    key:              the ledger key of the request it answers.
    """

    text: str
    stop: Stop = "stop"
    native_stop: str = ""
    refusal: str = ""
    reasoning: str = ""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    reported_cost_usd: float | None = None
    latency_s: float = 0.0
    route: str = ""
    token_entropies: tuple[float, ...] | None = None
    key: str = ""


class Model(Protocol):
    """Anything that answers a request. Raises ModelError when there is no answer."""

    async def __call__(self, request: Request) -> Answer: ...
