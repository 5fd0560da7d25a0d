"""Who takes the exam: a model of the registry, a baseline, or a file of predictions made elsewhere.

What can be known before the first call is checked before the first call: whether the registry knows the
model, whether its output limit reaches the task's (S1-113), whether prompt and answer fit its context.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from eval.exam import Exam
from models.call import Model, ModelError, Request
from models.gateway import open_gateway
from models.requests import build_request
from models.roster import card_of, load_models


@dataclass(frozen=True)
class Candidate:
    """Who answers, and what fills in its requests (see eval.run.Asking.address)."""

    id: str
    address: Mapping[str, Any]
    baseline: bool = False


def candidate(exam: Exam, registry: Path, model: str, *, logprobs: int | None = None) -> Candidate:
    """Return who is meant by a model id, once it is known to be able to take the exam.

    Raises: ModelError (unknown, output limit or context too small), FormatError, OSError.
    """
    if model in exam.baselines():
        return Candidate(model, {"model": model}, baseline=True)
    if model.startswith("benchtoward/"):
        raise ModelError(
            f"unknown baseline {model!r}; {exam.kind} has {', '.join(exam.baselines())}"
        )
    card = card_of(load_models(registry), model)
    built = build_request(card, (), max_tokens=exam.max_tokens, logprobs=logprobs, role="exam")
    longest = longest_prompt(exam)
    if longest + exam.max_tokens > card.context:
        raise ModelError(
            f"{model} takes {card.context:,} tokens in all (registry/models.yaml); the longest prompt has "
            f"about {longest:,} and the answer may have {exam.max_tokens:,}: it is not run"
        )
    return Candidate(model, {name: getattr(built, name) for name in ADDRESS})


ADDRESS = tuple(
    f.name for f in fields(Request) if f.name not in ("messages", "max_tokens", "temperature")
)


@asynccontextmanager
async def answering(
    exam: Exam, who: Candidate, registry: Path, runs: Path, **gateway: Any
) -> AsyncIterator[Model]:
    """Hold what answers for a candidate: the baseline, or the gateway (see open_gateway's options)."""
    if who.baseline:
        yield exam.baselines()[who.id]
        return
    async with open_gateway(registry, runs, models=(who.id,), **gateway) as opened:
        yield opened


def longest_prompt(exam: Exam) -> int:
    """Return about how many tokens the longest first request has."""
    requests = [exam.next_request(instance, ()) for instance in exam.instances()]
    return max((tokens(request) for request in requests if request), default=0)


def tokens(request: Request) -> int:
    """Return about how many tokens a request has: 2.4 ASCII characters a token, 2 tokens each other one.

    An estimate on the safe side, as a remote model's tokenizer is not here: SmolLM2 needs a token for 2.45
    characters of Eunomia's schema text, most others fewer tokens.
    """
    text = "".join(message.content for message in request.messages)
    ascii_only = len(text.encode("ascii", "ignore"))
    return round(ascii_only / 2.4 + 2 * (len(text) - ascii_only))
