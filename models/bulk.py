"""The bulk lane: litellm translates, one shared aiohttp session carries (FACTS §7: 0.4 ms a call, not 5).

For OpenAI-compatible routes with `lane: bulk` in registry/models.yaml.
"""

import asyncio
import os
import time
from dataclasses import replace

import aiohttp

from models.answers import refused
from models.call import Answer, Model, Request
from models.failures import CallFailed, is_policy, kind_of, retry_after, scrub
from models.hosted import Hosted
from models.roster import Route
from models.translate import Translator, Untranslatable

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class Session:
    """The one aiohttp session of a gateway, opened on first use."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    def get(self) -> aiohttp.ClientSession:
        """Return the session; routes limit their calls themselves."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=any(name in os.environ for name in _PROXIES),
            )
        return self._session

    async def close(self) -> None:
        """Close its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class Bulk:
    """A Model: one route of the bulk lane. Raises CallFailed, scrubbed and without a chain."""

    def __init__(self, route: Route, session: Session, *, api_base: str | None = None) -> None:
        self.route = route
        self._session, self._translator = session, Translator(route, api_base=api_base)

    async def __call__(self, request: Request) -> Answer:
        """Make one attempt at a call."""
        started = time.monotonic()
        answer = await self._ask(request)
        return replace(answer, latency_s=time.monotonic() - started)

    async def _ask(self, request: Request) -> Answer:
        call = self._translator.call(request)
        try:
            async with (
                asyncio.timeout(self.route.timeout_s),
                self._session.get().post(call.url, data=call.body, headers=call.headers) as reply,
            ):
                raw = await reply.read()
        except TimeoutError:
            failure = CallFailed("time_out", f"no reply within {self.route.timeout_s:g} s")
        except (aiohttp.ClientError, ConnectionError) as error:
            unsent = isinstance(error, aiohttp.ClientConnectorError)
            said = scrub(f"{type(error).__name__}: {error}")
            failure = CallFailed("connection", said, unsent=unsent)
        else:
            if reply.status < 400:
                return self._translator.answer(raw, request)
            text = raw.decode(errors="replace")
            if is_policy(reply.status, text):
                return refused(request, scrub(text))
            failure = CallFailed(
                kind_of(reply.status, text),
                scrub(text),
                status=reply.status,
                retry_after_s=retry_after(reply.headers),
            )
        raise failure from None


def carrier(route: Route, session: Session, *, api_base: str | None = None) -> Model:
    """Return who carries a route's calls: the lane it names, or `acompletion` where that fails."""
    if route.lane == "bulk":
        try:
            return Bulk(route, session, api_base=api_base)
        except Untranslatable:
            pass
    return Hosted(route, api_base=api_base)
