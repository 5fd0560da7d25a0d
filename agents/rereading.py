"""Reading a recorded reply again: does it say what the record claims? Used by `benchtoward verify`.

It reads less strictly than the seat did (a reply that the seat refused has no valid event to defend) and
knows both forms of a review: one item's verdict, and the verdicts of a group, numbered as its first
request numbers the questions.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from items.model import Item
from registry.events import Event

_THINK = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(r"^## Question (\d+)$", re.MULTILINE)


def reread(event: Event, replies: Sequence[Mapping[str, Any]], item: Item | None) -> str | None:
    """Return how a verdict or a ballot differs from its last reply, or None when it follows from it.

    replies: the conversation's, oldest first: {"request": {...}, "answer": {"text": ...}}.
    """
    if event.body.get("valid") is not True:
        return None  # no verdict is claimed
    value = _object(replies[-1]["answer"]["text"])
    if value is None:
        return "its reply holds no JSON object"
    if event.kind == "ballot":
        said, claimed = value.get("option"), event.body["vote"]
    else:
        judged = _judged(value, replies[-1], item)
        said, claimed = judged.get("verdict"), event.body["verdict"]
        if said == "approve" and judged.get("issues"):
            return "its reply approves and objects at once"
    return None if said == claimed else f"the record says {claimed!r}, its reply {said!r}"


def _judged(
    value: Mapping[str, Any], reply: Mapping[str, Any], item: Item | None
) -> Mapping[str, Any]:
    """Return what a reply says of one item: the object itself, or the entry with the item's number."""
    if "verdicts" not in value or item is None:
        return value
    number = _number(reply["request"]["messages"], item)
    found = [one for one in value["verdicts"] if isinstance(one, dict) and one.get("n") == number]
    return found[0] if len(found) == 1 else {}


def _number(messages: Sequence[Mapping[str, str]], item: Item) -> int | None:
    """Return the number under which a group's request asks an item's questions."""
    for message in messages:
        marks = list(_NUMBERED.finditer(message["content"]))
        ends = [mark.start() for mark in marks[1:]] + [len(message["content"])]
        for mark, end in zip(marks, ends, strict=True):
            part = message["content"][mark.end() : end].replace("‹", "<")
            if item.question_ko in part and item.question_en in part:
                return int(mark[1])
    return None


def _object(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object in a reply: in its last fence, else from its first brace on."""
    text = _THINK.sub("", text)
    for candidate in (*reversed(_FENCE.findall(text)), text):
        start = candidate.find("{")
        if start >= 0:
            try:
                value = json.JSONDecoder().raw_decode(candidate[start:])[0]
            except (ValueError, RecursionError):
                continue
            return value if isinstance(value, dict) else None
    return None
