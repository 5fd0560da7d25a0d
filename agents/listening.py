"""A line that answers nothing: it notes what seats would ask first, so that it can be counted and priced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.call import Answer, Message, ModelError, Request
from models.requests import build_request
from models.roster import ModelCard, card_of


@dataclass
class Listening:
    """A `Line` over models' cards, with no key and no call; `heard` are the first requests."""

    cards: Mapping[str, ModelCard]
    heard: list[Request] = field(default_factory=list)

    def request(
        self, model: str, messages: Sequence[Message], /, *, max_tokens: int, **more: Any
    ) -> Request:
        """Return the request as the gateway makes it. Raises: ModelError (unknown model)."""
        card = card_of(dict(self.cards), model)
        return build_request(card, messages, max_tokens=max_tokens, **more)

    async def __call__(self, request: Request) -> Answer:
        """Note the request. Raises: ModelError, always."""
        self.heard.append(request)
        raise ModelError("only planned")
