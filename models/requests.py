"""Requests: from a model's card, and the small texts in them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from models.call import Message, ModelError, Request, extras_text
from models.roster import ModelCard
from registry.canonical import canonical


def build_request(
    card: ModelCard,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    schema: Mapping[str, Any] | str | None = None,
    temperature: float = 0.0,
    draw: int = 0,
    role: str = "",
    logprobs: int | None = None,
    thinking: bool = True,
) -> Request:
    """Return a request on the card's route, with the route's own fields.

    schema:   a JSON schema, as a mapping or as JSON text.
    logprobs: how many alternatives a token; left out where the route gives none.
    thinking: false sends the route's `thinking_off` fields (S2-028); what they do is another matter
              (S2-018).
    Raises: ModelError when the card's output limit is below `max_tokens` (S1-113).
    """
    if max_tokens > card.output_limit:
        raise ModelError(
            f"{card.id} writes at most {card.output_limit:,} tokens (registry/models.yaml), and "
            f"{max_tokens:,} are asked for: it is not run (S1-113)"
        )
    route = card.route
    return Request(
        model=card.id,
        messages=tuple(messages),
        max_tokens=max_tokens,
        route=route.name,
        revision=card.revision,
        temperature=temperature,
        schema=schema_text(schema),
        logprobs=logprobs if route.logprobs else None,
        extras=extras_text({**route.request, **({} if thinking else route.thinking_off)}),
        draw=draw,
        role=role,
    )


def schema_text(schema: Mapping[str, Any] | str | None) -> str | None:
    """Return a JSON schema as `Request.schema` holds it: canonical text."""
    if schema is None:
        return None
    return canonical(json.loads(schema) if isinstance(schema, str) else dict(schema))
