"""A question file and its record while a command works on them.

The record is appended at once; the file is rendered from it at most every few seconds and at the end. An
event that stands there already is not written again, so that a node that runs twice after a kill leaves
one trace.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from items.approvals import Approval, approval
from items.model import Item
from items.questions import Question, QuestionFile, save_questions
from items.records import CONTENT, contents, record_of
from items.rendered import render, settings_edits, take_in
from items.settings import Waiver
from registry.events import Event, append, load
from registry.files import locked

RENDER_S = 5.0


class Workbook:
    """One question file being worked on. `events` is the record, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: QuestionFile = take_in(path)
        self.events: list[Event] = load(record_of(path))
        self._of_item: dict[str, list[Event]] = {}
        self._questions: dict[str, Question] = contents(self.events)
        self._items = {id: question.item for id, question in self._questions.items()}
        self._rendered = time.monotonic()
        for event in self.events:
            self._index(event)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Return the present content of every item that was not dropped, by id."""
        kept = [q for q in self._questions.values() if q.status != "dropped"]
        return tuple(sorted(kept, key=lambda question: question.id))

    @property
    def ids(self) -> frozenset[str]:
        """Return every id in use, dropped items included: an id is never reused."""
        return frozenset(self._questions)

    def item(self, id: str) -> Item:
        """Return an item's present content. Raises: KeyError."""
        return self._items[id]

    def others(self, id: str) -> tuple[Item, ...]:
        """Return the present content of every other kept item: what an item must not repeat."""
        return tuple(self._items[q.id] for q in self.questions if q.id != id)

    def dropped(self, id: str) -> bool:
        """Tell whether an item was dropped."""
        return self._questions[id].status == "dropped"

    def of(self, id: str) -> list[Event]:
        """Return an item's events, oldest first."""
        return self._of_item.get(id, [])

    def panel(self, item: Item) -> Approval:
        """Return what the panel says of an item's present content."""
        return approval(self.of(item.id), item)

    def broken(self, item: Item) -> bool:
        """Tell whether the last thing that happened to the present content is a broken rule."""
        return any(
            e.kind == "problem" and e.item_sha256 == item.sha256 for e in self.of(item.id)[-1:]
        )

    def round(self, id: str) -> int:
        """Return an item's review round: one more than its fixes and its owner's second looks."""
        again = [e for e in self.of(id) if e.kind == "owner" and e.body["act"] == "approve"]
        return 1 + len(again) + sum(event.kind == "fix" for event in self.of(id))

    def write(self, *events: Event) -> None:
        """Append events that are not there yet; render the file if that was not done lately."""
        fresh = [event for event in events if not self._stands(event)]
        for event in append(record_of(self.path), fresh):
            self.events.append(event)
            self._index(event)
            self._take(event)
        if time.monotonic() - self._rendered > RENDER_S:
            self.render()

    def waive(self, waiver: Waiver) -> None:
        """Let a rule be broken: into the file's settings, then into the record (take_in's order)."""
        settings = self.file.settings
        if not settings.waiver(waiver.item, waiver.item_sha256, waiver.rule):
            settings = replace(settings, waivers=(*settings.waivers, waiver))
            self.file = replace(self.file, settings=settings)
            save_questions(self.path, self.file)
        self.write(*settings_edits(self.file, self.events, waiver.by))

    def render(self) -> None:
        """Write the question file as the record has it."""
        fresh = render(self.file, self.events)
        if fresh != self.file:
            save_questions(self.path, fresh)
            self.file = fresh
        self._rendered = time.monotonic()

    def _stands(self, event: Event) -> bool:
        """Tell whether the record holds this event already: the same act on the same content."""
        if event.kind == "draft":
            return event.item in self._questions
        if event.kind == "edit":
            return False
        if event.kind == "drop" and event.item in self._questions:
            return self.dropped(event.item)
        past = self.of(event.item) if event.item else self.events
        if event.kind == "problem":  # after anything else was done it is found anew
            past = past[-1:]
        return any(_identity(old) == _identity(event) for old in past)

    def _index(self, event: Event) -> None:
        if event.item is not None:
            self._of_item.setdefault(event.item, []).append(event)

    def _take(self, event: Event) -> None:
        if event.item and (event.kind in CONTENT or event.kind == "drop"):
            found = contents(self.of(event.item))
            self._questions.update(found)
            self._items |= {id: question.item for id, question in found.items()}


@contextmanager
def open_workbook(path: Path) -> Iterator[Workbook]:
    """Yield a question file to work on, alone; it is rendered at the end, also after an error.

    Raises: FormatError (file or record broken), BusyError (another command works on it), OSError.
    """
    with locked(path.with_suffix(".working"), wait_s=1.0):
        book = Workbook(path)
        try:
            yield book
        finally:
            book.render()


_SAYS = (
    "seat",
    "round",
    "repeat",
    "valid",
    "attempt",
    "act",
    "rule",
    "reason",
    "problems",
    "trial_sha256",
)
_DECIDES = ("decision", "ballot", "by", "option", "evidence")


def _identity(event: Event) -> tuple[Any, ...]:
    """Return what makes an event this one and no other: the act, its content, its seat and round.

    A seat that gave no verdict and gives one later has two events, told apart by `valid`.
    """
    said = tuple(event.body.get(name) for name in (*_SAYS, *_DECIDES))
    return (event.kind, event.item, event.item_sha256, event.by, event.call, *said)
