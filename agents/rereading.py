"""Reading a recorded reply again: does it say what the record claims? Used by `benchtoward verify`.

It reads less strictly than the seat did (a reply that the seat refused has no valid event to defend) and
knows both forms of a review: one item's verdict, and the verdicts of a group, numbered as its first
request numbers the questions.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.shown import Messages, number_of, other_item, other_motion
from items.frozen import Motion
from items.model import Item
from registry.events import Event

_THINK = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


def reread(
    event: Event, replies: Sequence[Mapping[str, Any]], subject: Item | Motion
) -> str | None:
    """Return how a verdict or a ballot differs from its last reply, or None when it follows from it.

    replies: the conversation's, oldest first: {"request": {...}, "answer": {"text": ...}}.
    subject: what the event is about; a reply that was given about anything else does not count.
    """
    if event.body.get("valid") is not True:
        return None  # no verdict is claimed
    messages = replies[-1]["request"]["messages"]
    if isinstance(subject, Item):
        other = other_item(messages, subject)
    else:
        other = other_motion(messages, subject, event.body.get("shown"))
    return other or _unsaid(event, replies[-1], subject)


def _unsaid(event: Event, reply: Mapping[str, Any], subject: Item | Motion) -> str | None:
    value = _object(reply["answer"]["text"])
    if value is None:
        return "its reply holds no JSON object"
    if not isinstance(subject, Item):
        said, claimed = value.get("option"), event.body["vote"]
    else:
        judged = _judged(value, reply["request"]["messages"], subject)
        said, claimed = judged.get("verdict"), event.body["verdict"]
        if said == "approve" and judged.get("issues"):
            return "its reply approves and objects at once"
    return None if said == claimed else f"the record says {claimed!r}, its reply {said!r}"


def _judged(value: Mapping[str, Any], messages: Messages, item: Item) -> Mapping[str, Any]:
    """Return what a reply says of one item: the object itself, or the entry with the item's number."""
    number = number_of(messages, item)
    if not number:
        return value
    entries = value.get("verdicts")
    found = [
        one
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, dict) and one.get("n") == number
    ]
    return found[0] if len(found) == 1 else {}


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
