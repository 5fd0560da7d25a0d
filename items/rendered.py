"""A question file and its record, side by side: the YAML shows the record, a hand edit goes into it.

`write` appends events and renders them into the YAML; `take_in` turns what a person changed in the YAML
into events first, so that nothing a person types is lost and nothing they delete is forgotten.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from items.model import Item
from items.questions import Question, QuestionFile, Review, load_questions, save_questions
from items.records import content_event, contents, decisions, record_of
from registry.canonical import canonical
from registry.events import Event, append, load
from registry.files import locked
from registry.reader import FormatError


class LostRecordError(Exception):
    """A record that ends before the event that its question file shows."""

    def __init__(self, shown: int, have: int) -> None:
        self.shown, self.have = shown, have


def render(file: QuestionFile, events: Sequence[Event]) -> QuestionFile:
    """Return the file as the record has it: present contents, reviews, history, decisions."""
    of_item: dict[str, list[Event]] = {}
    for event in events:
        if event.item is not None:
            of_item.setdefault(event.item, []).append(event)
    entries = [
        replace(question, reviews=_reviews(of_item[id]), history=_history(of_item[id]))
        for id, question in contents(events).items()
    ]
    file = file.with_questions(entries)
    last = events[-1].seq if events else 0
    return replace(file, decisions=decisions(events), rendered_to=last)


def write(path: Path, events: Sequence[Event]) -> QuestionFile:
    """Append events to a question file's record and render the file anew.

    Raises: FormatError (file or record broken), BusyError, OSError.
    """
    with locked(path):
        append(record_of(path), events)
        return _rendered(path)


def take_in(path: Path, by: str = "hand") -> QuestionFile:
    """Make events of what a person changed in the file since it was rendered, and return it rendered.

    An entry unknown to the record becomes a draft by its `author`; a changed one an edit, which voids
    its approvals; a removed one is dropped and stays (S1-045); `status` and settings likewise.
    Raises: FormatError (also: the record ends before what the file shows), BusyError, OSError.
    """
    with locked(path):
        try:
            edits = hand_edits(load_questions(path), load(record_of(path)), by)
        except LostRecordError as lost:
            told = f"it ends at event {lost.have}, {path} shows event {lost.shown}: restore it"
            raise FormatError(record_of(path), None, told) from None
        append(record_of(path), edits)
        return _rendered(path)


def hand_edits(file: QuestionFile, events: Sequence[Event], by: str) -> list[Event]:
    """Return the events that say what a person changed in a file that shows `file.rendered_to`.

    Raises: LostRecordError (the record ends before what the file shows).
    """
    if file.rendered_to > len(events):
        raise LostRecordError(file.rendered_to, len(events))
    shown, present = contents(events[: file.rendered_to]), contents(events)
    now = {question.id: question for question in file.questions}
    found: list[Event] = []
    for question in now.values():
        found += _hand_edit(shown.get(question.id), present.get(question.id), question, by)
    for id in sorted(shown.keys() - now.keys()):
        if shown[id].status != "dropped":
            found.append(_drop(shown[id], by, "removed from the file by hand"))
    return found + settings_edits(file, events, by)


def settings_edits(file: QuestionFile, events: Sequence[Event], by: str) -> list[Event]:
    """Return an edit of the settings, and a waiver event for each new waiver, by who signed it."""
    now, before = asdict(file.settings), settings_of(events)
    if canonical(now) == canonical(before):
        return []
    known = [canonical(waiver) for waiver in before["waivers"]]
    new = [w for w in now["waivers"] if canonical(w) not in known]
    waived = [
        Event("waiver", w["by"], {"rule": w["rule"], "reason": w["reason"]}, *_content(w))
        for w in new
    ]
    return [Event("edit", by, {"settings": now}), *waived]


def _content(waiver: dict[str, Any]) -> tuple[str, str | None]:
    """Return the item and the content that a waiver was given for; None for any content of it."""
    return waiver["item"], waiver["item_sha256"] or None


def _hand_edit(
    shown: Question | None, present: Question | None, now: Question, by: str
) -> list[Event]:
    """Return what a person did to one entry: `shown` is what the file showed, `present` the record's.

    Only the fields that the person changed change: the record may be ahead of the file.
    """
    shown = shown or present
    if shown is None or present is None:
        found = [content_event("draft", now.item, now.author, author=now.author)]
    elif shown.item != now.item or (shown.status, now.status) == ("dropped", "draft"):
        names = [f.name for f in fields(Item) if getattr(shown, f.name) != getattr(now, f.name)]
        item = replace(present.item, **{name: getattr(now, name) for name in names})
        found = [content_event("edit", item, by, fields=names or ["status"])]
    else:
        found = []
    if now.status == "dropped" and (shown is None or shown.status != "dropped" or found):
        found.append(_drop(now, by, "dropped in the file by hand"))
    return found


def _drop(question: Question, by: str, reason: str) -> Event:
    item = question.item
    return Event("drop", by, {"reason": reason}, item=item.id, item_sha256=item.sha256)


def settings_of(events: Sequence[Event]) -> dict[str, Any]:
    """Return the settings that the record holds last; without any, the defaults."""
    for event in reversed(events):
        if event.kind == "edit" and "settings" in event.body:
            return dict(event.body["settings"])
    return {"thresholds": {}, "severities": {}, "waivers": ()}


def _rendered(path: Path) -> QuestionFile:
    file = load_questions(path)
    fresh = render(file, load(record_of(path)))
    if fresh != file:
        save_questions(path, fresh)
    return fresh


def _reviews(events: Iterable[Event]) -> tuple[Review, ...]:
    return tuple(
        Review(
            round=event.body.get("round", 1),
            seat=event.body["seat"],
            by=event.by,
            verdict=event.body["verdict"] if event.body.get("valid") else "none",
            issues=tuple(f"{i['kind']}: {i['sentence']}" for i in event.body.get("issues", ())),
        )
        for event in events
        if event.kind == "verdict" and not event.body.get("repeat")
    )


def _history(events: Iterable[Event]) -> tuple[str, ...]:
    lines = []
    for event in events:
        if event.kind not in ("verdict", "ballot"):
            why = event.body.get("reason") or "; ".join(event.body.get("problems", ()))
            rule = f" of {event.body['rule']}" if "rule" in event.body else ""
            what = event.body.get("act", event.kind) + rule
            lines.append(f"{event.when[:10]} {what} by {event.by}" + (f": {why}" if why else ""))
    return tuple(lines)
