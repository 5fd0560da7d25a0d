"""litellm as a translator only: our request into a provider's HTTP call, its reply into our Answer.

These names of litellm can be imported but are not documented. So the release is pinned exactly, a
contract test compares every answer with `acompletion`'s, and a route that cannot be translated (a
sample of it raises) falls back to `acompletion`.
"""

import json
from dataclasses import dataclass
from typing import Any

from models.answers import read_answer
from models.call import Answer, Message, Request
from models.failures import CallFailed
from models.hosted import Hosted, library, messages
from models.roster import Route

_EMPTY = Request("", (Message("system", "s"), Message("user", "u")), 1)
_OWN_BASE = {"openai": "https://api.openai.com/v1"}
_REPLY = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "x"}}]}


class Untranslatable(Exception):
    """litellm does not translate this route in the way that is known here."""


@dataclass(frozen=True)
class Call:
    """An HTTP call: POST `body` to `url`."""

    url: str
    headers: dict[str, str]
    body: bytes


class Translator:
    """One OpenAI-compatible route, through litellm's own configuration of its provider.

    Raises: Untranslatable where litellm has none, or not with these names.
    """

    def __init__(self, route: Route, *, api_base: str | None = None) -> None:
        self._hosted = Hosted(route, api_base=api_base)
        self._forms: dict[Any, tuple[str, dict[str, str], dict[str, Any]] | None] = {}
        litellm = library()
        try:
            self._name, provider, _, found = litellm.get_llm_provider(
                route.litellm, api_base=self._hosted.api_base
            )
            self._base = found or self._hosted.api_base or _OWN_BASE.get(provider)
            self._config = litellm.utils.ProviderConfigManager.get_provider_chat_config(
                model=self._name, provider=litellm.types.utils.LlmProviders(provider)
            )
            if not self._base or not isinstance(self._config, litellm.OpenAIGPTConfig):
                raise Untranslatable(f"{route.litellm} is not OpenAI-compatible in litellm")
            # litellm has nothing of its own to translate back: `read_answer` reads the same shape raw
            plain = litellm.OpenAIGPTConfig.transform_response
            self._plain = type(self._config).transform_response is plain
            self.call(_EMPTY)
            self.answer(json.dumps(_REPLY).encode(), _EMPTY)
        except Untranslatable:
            raise
        except Exception as error:  # whatever another release may do
            raise Untranslatable(f"{route.litellm}: {type(error).__name__}") from None

    def call(self, request: Request) -> Call:
        """Return the HTTP call of a request.

        Requests that differ only in what is said share one translation, where litellm passes the words
        through as they are.
        """
        roles = tuple(message.role for message in request.messages)
        limits = (request.max_tokens, request.temperature, request.logprobs)
        form = (roles, limits, request.schema, request.extras)
        if form not in self._forms:
            url, headers, body = self._translated_call(request)
            said = body.pop("messages")
            self._forms[form] = (url, headers, body) if said == messages(request) else None
        known = self._forms[form]
        url, headers, body = known or self._translated_call(request)
        words = {"messages": messages(request)} if known else {}
        return Call(url, headers, json.dumps(body | words, ensure_ascii=False).encode())

    def _translated_call(self, request: Request) -> tuple[str, dict[str, str], dict[str, Any]]:
        """Return url, headers and body as litellm makes them."""
        given = self._hosted.arguments(request)
        said, key, extras = given["messages"], given["api_key"], given.get("extra_body", {})
        asked = {name: value for name, value in given.items() if name not in _OURS}
        options = self._config.map_openai_params(asked, {}, self._name, False)
        body = self._config.transform_request(self._name, said, options, {}, {})
        url = self._config.get_complete_url(self._base, key, self._name, options, {})
        headers = self._config.validate_environment(
            {}, self._name, said, options, {}, api_key=key, api_base=self._base
        )
        return url, headers, body | extras

    def place(self, path: str) -> tuple[str, dict[str, str]]:
        """Return the url of another call at the same provider, and the header with the key."""
        key = self._hosted.arguments(_EMPTY)["api_key"]
        return f"{str(self._base).rstrip('/')}/{path}", {"Authorization": f"Bearer {key}"}

    def answer(self, raw: bytes, request: Request) -> Answer:
        """Return the answer in a reply with status 200. Raises: CallFailed (malformed)."""
        try:
            reply = json.loads(raw) if self._plain else self._translated(raw)
        except Exception as error:  # litellm's own classes share no base
            failure = CallFailed("malformed", f"not a chat completion: {type(error).__name__}")
        else:
            return read_answer(reply, request)
        raise failure

    def _translated(self, raw: bytes) -> Any:
        import httpx

        return self._config.transform_response(
            self._name, httpx.Response(200, content=raw), library().ModelResponse(), _Quiet(),
            {}, [], {}, {}, None,
        )  # fmt: skip


# What `acompletion` is told and a request's body does not hold.
_OURS = {"model", "messages", "api_key", "api_base", "max_retries", "timeout", "extra_body"}


class _Quiet:
    """litellm's logger, which hears nothing."""

    def post_call(self, **_: Any) -> None:
        return None
