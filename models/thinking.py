"""Does a route's `thinking_off` do anything? Measured, not assumed (S2-018: one reasoned all the same)."""

import asyncio
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from models.call import Answer, Message, ModelError

if TYPE_CHECKING:
    from models.gateway import Gateway

# Short questions that a thinking model thinks about.
QUESTIONS = (
    "A ward has 17 beds and 9 patients; 4 leave and 6 come. How many beds are free? Only the number.",
    "Which is later, 2019-07-03 or 87 days after 2019-04-06? Only the date.",
    "A patient takes 3 tablets a day from a pack of 50. On which day is it empty? Only the number.",
)
MAX_TOKENS = 2_048


@dataclass(frozen=True)
class Side:
    """What replies held: the share with any thinking, and the mean of tokens written."""

    thought: float
    reasoning_chars: float
    output_tokens: float


@dataclass(frozen=True)
class Thinking:
    """A route as it serves the model, and with its `thinking_off` fields."""

    model: str
    route: str
    plain: Side
    off: Side

    @property
    def finding(self) -> str:
        """Return what was found, in a sentence."""
        if self.off.thought == 0.0:
            plain = (
                "and thinks without them" if self.plain.thought else "but neither does it without"
            )
            return f"thinking_off works: no reply has thinking with the fields, {plain}"
        return (
            f"thinking_off does not work: {self.off.thought:.0%} of the replies have thinking with the "
            f"fields, {self.plain.thought:.0%} without"
        )


async def measure(gateway: "Gateway", model: str) -> Thinking:
    """Ask a few questions both ways. Raises: ModelError (no such fields, or a call failed)."""
    gateway.require(model)
    route = gateway.cards[model].route
    if not route.thinking_off:
        raise ModelError(
            f"the route {route.name!r} of {model} has no `thinking_off` in models.yaml"
        )
    plain, off = await asyncio.gather(_side(gateway, model, True), _side(gateway, model, False))
    return Thinking(model, route.name, plain, off)


async def _side(gateway: "Gateway", model: str, thinking: bool) -> Side:
    limit = min(MAX_TOKENS, gateway.cards[model].output_limit)
    asked = [
        gateway.request(
            model, [Message("user", words)], max_tokens=limit, role="thinking", thinking=thinking
        )
        for words in QUESTIONS
    ]
    answers = await asyncio.gather(*(gateway(request) for request in asked))
    return Side(
        fmean(_thought(answer) for answer in answers),
        fmean(len(answer.reasoning) for answer in answers),
        fmean(answer.output_tokens or 0 for answer in answers),
    )


def _thought(answer: Answer) -> bool:
    return bool(answer.reasoning) or bool(answer.reasoning_tokens)
