"""What a fix or an edit changed, as a diff: both questions, the SQL line by line, and every other field."""

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from cli.telling import plain

if TYPE_CHECKING:
    from registry.events import Event

TEXTS = ("question_ko", "question_en", "reference_sql")


def change_lines(events: Iterable["Event"]) -> dict[int, list[str]]:
    """Return, for each fix or edit that gave an item new content, its diff: event number -> lines."""
    from items.records import CONTENT

    found: dict[int, list[str]] = {}
    before: dict[str, dict[str, object]] = {}
    for event in events:
        if event.kind in CONTENT and "item" in event.body and event.item is not None:
            if event.item in before:
                found[event.seq] = difference(before[event.item], event.body["item"])
            before[event.item] = event.body["item"]
    return found


def difference(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """Return what changed from one content of an item to the next; no lines where nothing did."""
    lines: list[str] = []
    for name, now in after.items():
        was = before.get(name)
        if was == now:
            continue
        lines += _of_text(name, was, now) if name in TEXTS else [f"{name}: {was!r} -> {now!r}"]
    return lines


def _of_text(name: str, was: object, now: object) -> list[str]:
    # The first two lines name files; by place, not by look: a removed SQL comment reads `---` too.
    told = list(unified_diff(_lines(was), _lines(now), n=1, lineterm=""))[2:]
    return [f"{name}:", *(line for line in told if not line.startswith("@@"))]


def _lines(text: object) -> Sequence[str]:
    """Return a text's lines, fit for a terminal; none for a text that is not there."""
    return [plain(line) for line in str(text).splitlines()] if text is not None else []
