"""Answers told as they are: what a provider's reply says, with each quirk handled here.

The shape read is the one litellm translates every provider to (OpenAI's chat completion), as objects
or as plain JSON.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from models.call import Answer, Request, Stop
from models.failures import CallFailed

_HALF = re.compile("[\ud800-\udfff]")
_STOPS: dict[str, Stop] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


def read_answer(reply: Any, request: Request) -> Answer:
    """Return the answer in a chat completion.

    Thinking goes to `reasoning`, wherever the route put it; `stop` is `length` when any sign says that
    the answer was cut off: the stop reason, the whole limit used, or thinking without a text.
    Raises: CallFailed (malformed) when there is no choice in it.
    """
    choices = _get(reply, "choices")
    message = _get(choices[0], "message") if choices else None
    if message is None:
        raise CallFailed("malformed", "the reply holds no message")
    text, reasoning = _apart(_text(_get(message, "content")), _reasoning(message))
    finish = str(_get(choices[0], "finish_reason") or "")
    native = str(_native(choices[0]) or finish)
    refusal = _whole(str(_get(message, "refusal") or ""))
    usage = _usage(_get(reply, "usage"))
    stop = _named(finish, native)
    if not text and (refusal or _get(message, "tool_calls")):
        stop = "refusal" if refusal else "tool_calls"
    return Answer(
        text=text,
        stop=_cut_off(stop, text, reasoning, usage.get("output_tokens", 0), request),
        native_stop=native,
        refusal=refusal,
        reasoning=reasoning,
        route=request.route,
        token_entropies=_entropies(choices[0]),
        key=request.key,
        **usage,
    )


def refused(request: Request, said: str) -> Answer:
    """Return the answer that a provider's content policy gave instead of the model."""
    return Answer(
        text="",
        stop="content_filter",
        native_stop="error",
        refusal=said,
        route=request.route,
        key=request.key,
    )


def _named(finish: str, native: str) -> Stop:
    """Normalise a stop reason: litellm turns an unknown one into `stop` and keeps it beside."""
    word = native if finish == "stop" else finish
    return _STOPS.get(word.lower(), "unknown")


def _cut_off(stop: Stop, text: str, reasoning: str, written: int, request: Request) -> Stop:
    """Return `length` where any sign says that the answer was cut off."""
    if stop in ("content_filter", "refusal") or (stop == "tool_calls" and not text):
        return stop
    if stop == "length" or written >= request.max_tokens or (reasoning and not text.strip()):
        return "length"
    return "stop" if stop == "tool_calls" else stop


def _native(choice: Any) -> Any:
    beside = _get(choice, "provider_specific_fields")
    return _get(choice, "native_finish_reason") or _get(beside, "native_finish_reason")


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts, as some servers send them
        return _whole("".join(str(_get(part, "text") or "") for part in content))
    return _whole(str(content or ""))


def _whole(text: str) -> str:
    """Return a text that UTF-8 can hold: JSON lets half a character (a lone surrogate) through."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def _reasoning(message: Any) -> str:
    return _whole(str(_get(message, "reasoning_content") or _get(message, "reasoning") or ""))


def _apart(text: str, reasoning: str) -> tuple[str, str]:
    """Move thinking that stands in the text: `<think>…</think>` first, also unclosed or unopened."""
    body = text.lstrip()
    if body.startswith("<think>"):
        thought, closed, rest = body[len("<think>") :].partition("</think>")
        return (rest.lstrip() if closed else "", _joined(reasoning, thought))
    thought, closed, rest = body.partition("</think>")
    if closed and "<think>" not in thought:  # the template wrote the opening tag (S2-018)
        return rest.lstrip(), _joined(reasoning, thought)
    return body if reasoning else text, reasoning


def _joined(*parts: str) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())


def _usage(usage: Any) -> dict[str, Any]:
    """Return the token counts; none where the server counted nothing (it arrives as 0 and 0)."""
    prompt = _get(usage, "prompt_tokens")
    if not prompt:  # no prompt is empty
        return {}
    return {
        "input_tokens": int(prompt),
        "output_tokens": int(_get(usage, "completion_tokens") or 0),
        "cached_tokens": _get(_get(usage, "prompt_tokens_details"), "cached_tokens"),
        "written_tokens": _get(usage, "cache_creation_input_tokens"),
        "reasoning_tokens": _get(_get(usage, "completion_tokens_details"), "reasoning_tokens"),
        "reported_cost_usd": _get(usage, "cost"),
    }


def _entropies(choice: Any) -> tuple[float, ...] | None:
    """Entropy of each token over the alternatives given, in nats, renormalised over them."""
    tokens = _get(_get(choice, "logprobs"), "content")
    if not tokens:
        return None
    return tuple(_entropy(_get(token, "top_logprobs") or [token]) for token in tokens)


def _entropy(alternatives: Any) -> float:
    weights = [math.exp(_get(one, "logprob")) for one in alternatives]
    total = sum(weights)
    shares = [weight / total for weight in weights if weight > 0]
    return -sum(share * math.log(share) for share in shares) + 0.0


def _get(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)
