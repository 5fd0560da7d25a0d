"""Calls through litellm: any provider's route. Nothing else in BenchToward knows litellm.

It is imported inside a function: that takes seconds. Before, it is told to stay offline (it would
fetch a price map) and to leave a stray `.env` alone; its own retries, logs and costs are off.
"""

import asyncio
import gc
import json
import logging
import os
import re
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from models.answers import read_answer, refused
from models.call import Answer, Request
from models.failures import CallFailed, is_policy, kind_of, retry_after, scrub
from models.keys import key_of
from models.roster import Route

OFFLINE = {
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}
# Providers that take our own fields in the body; the others know theirs by name.
_OPENAI_LIKE = ("openai/", "hosted_vllm/", "together_ai/", "openrouter/", "deepseek/", "deepinfra/")
_UNSENT = {"ConnectError", "ClientConnectorError", "ConnectionRefusedError"}
_CONNECTION = {"APIConnectionError", "OSError", "TransportError", "ClientError"}
_PREFIX = re.compile(r"^(litellm\.\w+: )?(\w+Error: )?(\w+Exception - )?")
NO_KEY = "none-needed"  # litellm wants a key also where the server does not


class Hosted:
    """A Model: one route of litellm. Raises CallFailed, scrubbed and without a chain."""

    def __init__(self, route: Route, *, api_base: str | None = None) -> None:
        self.route, self.api_base = route, api_base or route.api_base

    async def __call__(self, request: Request) -> Answer:
        """Make one attempt at a call."""
        started = time.monotonic()
        answer = await self._ask(request)
        return replace(answer, latency_s=time.monotonic() - started)

    async def _ask(self, request: Request) -> Answer:
        litellm = library()
        try:
            # litellm has no total time-out: a reply that trickles would go on (FACTS §7)
            async with asyncio.timeout(self.route.timeout_s):
                reply = await litellm.acompletion(**self.arguments(request))
        except TimeoutError:
            failure = CallFailed("time_out", f"no reply within {self.route.timeout_s:g} s")
        except Exception as error:  # litellm's own classes share no base
            if _refused(error):
                return refused(request, scrub(str(error)))
            failure = _failure(error)
        else:
            return read_answer(reply, request)
        raise failure from None

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return what litellm is called with."""
        arguments: dict[str, Any] = {
            "model": self.route.litellm,
            "messages": messages(request, marked=self.route.cache == "marks"),
            "max_tokens": request.max_tokens,
            "api_key": key_of(self.route.key) if self.route.key else NO_KEY,
            "max_retries": 0,
            "timeout": self.route.timeout_s,
        }
        if "temperature" not in self.route.omits:
            arguments["temperature"] = request.temperature
        if self.api_base:
            arguments["api_base"] = self.api_base
        if request.schema and self.route.schema:
            arguments["response_format"] = response_format(json.loads(request.schema))
        if request.logprobs:
            arguments |= {"logprobs": True, "top_logprobs": request.logprobs}
        extras: dict[str, Any] = json.loads(request.extras)
        if self.route.litellm.startswith(_OPENAI_LIKE):
            return arguments | ({"extra_body": extras} if extras else {})
        return arguments | extras


def messages(request: Request, *, marked: bool = False) -> list[dict[str, Any]]:
    """Return a request's messages as chat completions take them.

    marked: end the part that a prompt cache should keep after the system message, which all requests
            of a tier share to the byte.
    """
    plain: list[dict[str, Any]] = [
        {"role": message.role, "content": message.content} for message in request.messages
    ]
    if marked and plain and plain[0]["role"] == "system":
        part = {"type": "text", "text": plain[0]["content"], "cache_control": {"type": "ephemeral"}}
        plain[0] = {"role": "system", "content": [part]}
    return plain


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema as chat completions ask for it."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema, "strict": True},
    }


@cache
def library() -> Any:
    """Import litellm: once, offline, and without the collector walking its 200 MB again and again."""
    os.environ.update(OFFLINE)
    _hush()
    gc.disable()
    try:
        import litellm
    finally:
        gc.freeze()
        gc.enable()
    litellm.suppress_debug_info = True
    litellm.num_retries = None
    litellm.success_callback = litellm.failure_callback = litellm.callbacks = []
    _hush()  # its import sets levels of its own
    warnings.filterwarnings("ignore", module=r"pydantic|litellm")
    return litellm


def _hush() -> None:
    """Silence the libraries' logs: at DEBUG they carry prompts."""
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


async def close_clients() -> None:
    """Close the connections that litellm keeps; one that is used again opens new ones."""
    if not library.cache_info().currsize:
        return
    litellm = library()
    with suppress(
        Exception
    ):  # names that are not documented; at worst a socket stays until the end
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()


def _refused(error: Exception) -> bool:
    policy = "ContentPolicyViolationError" in {kind.__name__ for kind in type(error).__mro__}
    return policy or is_policy(getattr(error, "status_code", None), str(error))


def _failure(error: Exception) -> CallFailed:
    """Return litellm's error as ours: kind, status, Retry-After and a scrubbed text."""
    status, text = getattr(error, "status_code", None), str(error)
    status = status if isinstance(status, int) else None
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None)
    chain = _chain(error)
    kind = kind_of(status, text)
    if "ContextWindowExceededError" in chain:
        kind = "context_length"
    elif status == 500 and "APIConnectionError" in chain:
        kind, status = "connection", None  # litellm calls these 500, too
    elif status is None and not chain & _CONNECTION:
        kind = "malformed"  # something in litellm that it has no error for
    elif "JSONDecodeError" in chain or "invalid response from LLM endpoint" in text:
        kind, status = "malformed", None
    return CallFailed(
        kind,
        scrub(_PREFIX.sub("", text)),
        status=status,
        retry_after_s=retry_after(headers),
        unsent=bool(chain & _UNSENT),
    )


def _chain(error: BaseException | None) -> set[str]:
    """Return the names of an error's classes and of those it came from."""
    names: set[str] = set()
    while error is not None:
        names |= {kind.__name__ for kind in type(error).__mro__}
        error = error.__cause__ or error.__context__
    return names
