"""What the record says of a question file: its items, who approved what, and the blocks the YAML shows.

The record (registry/events.py) is the truth; the YAML is for people. `write` appends events and renders
them into the YAML; `take_in` turns what a person changed in the YAML into events first. The bodies:

    draft, fix, edit  {"item": {every item field}, ...}: a content; the last one is the item's present
    drop              {"reason": "..."}
    problem           {"problems": ["rule: ..."]}
    verdict           {"seat": 1, "round": 1, "verdict": "approve", "valid": true, "issues": [...], ...}
    ballot            {"decision": "output_limit", "ballot": 1, "seat": 1, "vote": "192", "valid": true,
                       "reason": "...", "shown": [...], "evidence": ["<file> <sha256>"]}
    decided           {"decision": "output_limit", "option": "192", "tally": "2 of 3", "by": "panel",
                       "ballot": 1, "protocol": "request.max_tokens", "evidence": [...]}
    edit (no item)    {"settings": {...}}: the gate's settings changed

A verdict with `"valid": false` is a seat that gave none; one with `"repeat"` above 0 is a retest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from items.model import Item
from items.questions import (
    Ballot,
    Decided,
    Question,
    QuestionFile,
    Review,
    load_questions,
    save_questions,
)
from registry.canonical import canonical
from registry.events import Event, append, load, record_path
from registry.files import locked

CONTENT = ("draft", "fix", "edit")  # kinds whose body may hold an item's new content
SEATS = 3  # S1-043: every kept item was approved by all three


@dataclass(frozen=True)
class Approval:
    """What the panel said of one content; derived, never stored (S4-007).

    verdicts: the last verdict of each seat on this content, by seat number.
    approved: `seats` seats have a last verdict, and each is a valid "approve".
    """

    verdicts: tuple[Event, ...]
    seats: int = SEATS

    @property
    def approved(self) -> bool:
        """Tell whether all seats approve."""
        return len(self.verdicts) == self.seats and all(map(_approves, self.verdicts))

    @property
    def by(self) -> tuple[str, ...]:
        """Return who holds the seats."""
        return tuple(event.by for event in self.verdicts)

    @property
    def preview_only(self) -> bool:
        """Tell whether the panel is good for a preview only: a rule's seat, or one model in two."""
        return len(set(self.by)) < self.seats or any(by.startswith("rule/") for by in self.by)


def record_of(questions: Path) -> Path:
    """Return the record of a question file: records/<stem>.jsonl beside the drafts folder."""
    return record_path(questions.parent.parent, questions.stem)


def approval(events: Iterable[Event], item: Item, seats: int = SEATS) -> Approval:
    """Return what the panel said of an item's present content, and of no other content.

    The last word of each seat counts, also when it is "no verdict"; retests do not count.
    """
    last: dict[int, Event] = {}
    for event in events:
        on_this = event.item == item.id and event.item_sha256 == item.sha256
        if event.kind == "verdict" and on_this and not event.body.get("repeat"):
            last[int(event.body["seat"])] = event
    return Approval(tuple(last[seat] for seat in sorted(last)), seats)


def content_event(kind: str, item: Item, by: str, **body: Any) -> Event:
    """Return a draft, fix or edit event that gives an item its present content."""
    call = body.pop("call", None)
    whole = {"item": asdict(item), **body}
    return Event(kind, by, whole, item=item.id, item_sha256=item.sha256, call=call)


def verdict_event(item: Item, by: str, **body: Any) -> Event:
    """Return a verdict on an item's present content."""
    call = body.pop("call", None)
    return Event("verdict", by, body, item=item.id, item_sha256=item.sha256, call=call)


def contents(events: Iterable[Event]) -> dict[str, Question]:
    """Return what the record holds of each item: present content, author, dropped or not."""
    found: dict[str, Question] = {}
    for event in events:
        if event.kind in CONTENT and "item" in event.body and event.item is not None:
            before = found.get(event.item)
            author = before.author if before else event.body.get("author", event.by)
            found[event.item] = Question.of(Item(**event.body["item"]), author)
        elif event.kind == "drop" and event.item in found:
            found[event.item] = replace(found[event.item], status="dropped")
    return found


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


def decisions(events: Iterable[Event]) -> tuple[Decided, ...]:
    """Return the decisions of a record with their votes, in the order they were decided."""
    ballots: dict[str, list[Ballot]] = {}
    found: dict[str, Decided] = {}
    for event in events:
        body = event.body
        if event.kind == "ballot" and not body.get("repeat"):
            ballots.setdefault(body["decision"], []).append(_ballot(event))
        elif event.kind == "decided":
            found[body["decision"]] = Decided(
                id=body["decision"],
                option=body.get("option"),
                tally=body["tally"],
                by=body["by"],
                protocol=body["protocol"],
                when=event.when[:10],
                reason=body.get("reason", ""),
                evidence=tuple(body.get("evidence", ())),
                votes=tuple(ballots.get(body["decision"], ())),
            )
    return tuple(found.values())


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
    Raises: FormatError, BusyError, OSError.
    """
    with locked(path):
        append(record_of(path), hand_edits(load_questions(path), load(record_of(path)), by))
        return _rendered(path)


def hand_edits(file: QuestionFile, events: Sequence[Event], by: str) -> list[Event]:
    """Return the events that say what a person changed in a file that shows `file.rendered_to`."""
    shown, present = contents(events[: file.rendered_to]), contents(events)
    now = {question.id: question for question in file.questions}
    found: list[Event] = []
    for question in now.values():
        found += _hand_edit(shown.get(question.id), present.get(question.id), question, by)
    for id in sorted(shown.keys() - now.keys()):
        if shown[id].status != "dropped":
            found.append(_drop(shown[id], by, "removed from the file by hand"))
    return found + _settings_edits(file, events, by)


def _settings_edits(file: QuestionFile, events: Sequence[Event], by: str) -> list[Event]:
    """Return an edit of the settings, and a waiver event for each new waiver, by who signed it."""
    now, before = asdict(file.settings), _settings(events)
    if canonical(now) == canonical(before):
        return []
    known = [canonical(waiver) for waiver in before["waivers"]]
    new = [w for w in now["waivers"] if canonical(w) not in known]
    waived = [
        Event("waiver", w["by"], {"rule": w["rule"], "reason": w["reason"]}, item=w["item"])
        for w in new
    ]
    return [Event("edit", by, {"settings": now}), *waived]


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


def _settings(events: Sequence[Event]) -> dict[str, Any]:
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
            what = event.body.get("act", event.kind)
            lines.append(f"{event.when[:10]} {what} by {event.by}" + (f": {why}" if why else ""))
    return tuple(lines)


def _ballot(event: Event) -> Ballot:
    body = event.body
    return Ballot(
        ballot=body["ballot"],
        seat=body["seat"],
        by=event.by,
        vote=body.get("vote") if body.get("valid") else None,
        reason=body.get("reason") or body.get("problem", ""),
        shown=tuple(body.get("shown", ())),
    )


def _approves(event: Event) -> bool:
    """Tell whether a verdict is a valid "approve"; one that names issues contradicts itself."""
    body = event.body
    return body.get("valid") is True and body.get("verdict") == "approve" and not body.get("issues")
