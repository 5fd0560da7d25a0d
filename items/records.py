"""What the record says of a question file: its items, its decisions; and the events that say it.

The record (registry/events.py) is the truth, the YAML is for people (rendered.py); who approved what is
derived in approvals.py. The bodies:

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

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from items.model import Item
from items.questions import Ballot, Decided, Question
from registry.events import Event, record_path

CONTENT = ("draft", "fix", "edit")  # kinds whose body may hold an item's new content


def record_of(questions: Path) -> Path:
    """Return the record of a question file: records/<stem>.jsonl beside the drafts folder."""
    return record_path(questions.parent.parent, questions.stem)


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
            if before and before.status == "dropped" and event.kind == "fix":
                continue  # only a person takes a drop back
            author = before.author if before else event.body.get("author", event.by)
            found[event.item] = Question.of(Item(**event.body["item"]), author)
        elif event.kind == "drop" and event.item in found:
            found[event.item] = replace(found[event.item], status="dropped")
    return found


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
