"""Answers from a script: for tests of everything that asks a model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from models.call import Answer, Message, ModelError, Request
from models.requests import schema_text

Reply = str | Answer | Exception
Script = Sequence[Reply] | Callable[[Request], Reply | Awaitable[Reply]]


class Scripted:
    """A Model that says what a script says: `Scripted({"a": [APPROVE], "b": [REVISE, APPROVE]})`.

    A script is a list of replies, given one after the other, or a function of the request. A reply
    is a text, a whole Answer or an exception to raise. `asked` holds every request in order.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self._scripts = dict(scripts)
        self._next = dict.fromkeys(scripts, 0)
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Answer:
        """Return the script's next reply. Raises: ModelError when it has none left."""
        self.asked.append(request)
        reply = await self._reply(request)
        if isinstance(reply, Exception):
            raise reply
        answer = Answer(text=reply) if isinstance(reply, str) else reply
        return replace(answer, key=request.key, route=request.route)

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | str | None = None,
        temperature: float = 0.0,
        draw: int = 0,
        role: str = "",
        logprobs: int | None = None,
    ) -> Request:
        """Return a request as the gateway would make it, on the route `scripted`."""
        return Request(
            model=model,
            messages=tuple(messages),
            max_tokens=max_tokens,
            route="scripted",
            temperature=temperature,
            schema=schema_text(schema),
            logprobs=logprobs,
            draw=draw,
            role=role,
        )

    async def _reply(self, request: Request) -> Reply:
        script = self._scripts.get(request.model)
        if script is None:
            raise ModelError(
                f"no script for {request.model!r}; there are {', '.join(self._scripts)}"
            )
        if callable(script):
            reply = script(request)
            return await reply if isinstance(reply, Awaitable) else reply
        number = self._next[request.model]
        self._next[request.model] += 1
        if number >= len(script):
            raise ModelError(f"the script of {request.model!r} ended after {len(script)} replies")
        return script[number]
