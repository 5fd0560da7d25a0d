"""Answers told as they are: what a provider's reply says, with each quirk handled here.

The shape read is the one litellm translates every provider to (OpenAI's chat completion), as objects
or as plain JSON.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models.call import Answer, Request, Stop
from models.failures import CallFailed

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
    answer = _counted(reply, Answer(text=text, reasoning=reasoning, route=request.route))
    finish = str(_get(choices[0], "finish_reason") or "")
    native = str(_native(choices[0]) or finish)
    answer = replace(
        answer,
        key=request.key,
        native_stop=native,
        refusal=str(_get(message, "refusal") or ""),
        token_entropies=_entropies(choices[0]),
    )
    named = _named(finish, native)
    return replace(answer, stop=_stop(answer, named, bool(_get(message, "tool_calls")), request))


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


def _stop(answer: Answer, named: Stop, called_tools: bool, request: Request) -> Stop:
    if answer.refusal and not answer.text:
        return "refusal"
    if named in ("content_filter", "refusal"):
        return named
    if called_tools and not answer.text:
        return "tool_calls"
    used_all = (answer.output_tokens or 0) >= request.max_tokens
    if named == "length" or used_all or (answer.reasoning and not answer.text.strip()):
        return "length"
    return "stop" if named == "tool_calls" else named


def _native(choice: Any) -> Any:
    beside = _get(choice, "provider_specific_fields")
    return _get(choice, "native_finish_reason") or _get(beside, "native_finish_reason")


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts, as some servers send them
        return "".join(str(_get(part, "text") or "") for part in content)
    return str(content or "")


def _reasoning(message: Any) -> str:
    return str(_get(message, "reasoning_content") or _get(message, "reasoning") or "")


def _apart(text: str, reasoning: str) -> tuple[str, str]:
    """Move thinking that stands in the text: `<think>…</think>` first, also unclosed or unopened."""
    body = text.lstrip()
    if body.startswith("<think>"):
        thought, closed, rest = body[len("<think>") :].partition("</think>")
        return (rest.lstrip() if closed else "", _joined(reasoning, thought))
    thought, closed, rest = body.partition("</think>")
    if closed and "<think>" not in thought:  # the template wrote the opening tag (S2-018)
        return rest.lstrip(), _joined(reasoning, thought)
    return text, reasoning


def _joined(*parts: str) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())


def _counted(reply: Any, answer: Answer) -> Answer:
    usage = _get(reply, "usage")
    prompt, output = _get(usage, "prompt_tokens"), _get(usage, "completion_tokens")
    if not prompt:  # no prompt is empty: a server that sends no usage arrives as 0 and 0
        return answer
    cached = _get(_get(usage, "prompt_tokens_details"), "cached_tokens")
    thought = _get(_get(usage, "completion_tokens_details"), "reasoning_tokens")
    return replace(
        answer,
        input_tokens=int(prompt),
        output_tokens=int(output or 0),
        cached_tokens=None if cached is None else int(cached),
        reasoning_tokens=None if thought is None else int(thought),
        reported_cost_usd=_get(usage, "cost"),
    )


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
