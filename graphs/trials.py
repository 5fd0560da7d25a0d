"""Catch trials among the items of a review: the same panel, the same graph, a file of their own.

    runs/trials/drafts/<file>-trials.yaml      what the panel is shown, and its verdicts
    runs/trials/<file>.json                    which error is seeded where

The panel cannot tell them from items; the question file never holds them. What each seat said of each
goes into the question file's record as a `trial` event with the verdict's body and, beside it:

    {"of": "hard-004", "error": "comparator", "change": "n >= 5 became n > 5", "trial_sha256": "..."}
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from graphs.gate import Gate
from graphs.workbook import Workbook, open_workbook
from items.checks import Ground
from items.checks import check as check_item
from items.model import Item
from items.questions import Question, QuestionFile, save_questions
from items.trials import Trial, seeded
from registry.events import Event
from registry.files import replace


@contextmanager
def open_trials(
    runs: Path, book: Workbook, ground: Ground, count: int, *, gate: Gate = check_item
) -> Iterator[tuple[Workbook, tuple[Trial, ...]]]:
    """Yield a workbook of trials made from the book's items, and the trials; made once, then kept.

    Trials whose base was edited or dropped since stay: what they measure is the reviewer.
    """
    path = runs / "trials" / "drafts" / f"{book.path.stem}-trials.yaml"
    known = runs / "trials" / f"{book.path.stem}.json"
    trials = _load(known)
    if len(trials) < count:
        items = [question.item for question in book.questions]
        trials = seeded(items, ground, count, gate=gate)
        replace(
            known, json.dumps([asdict(trial) for trial in trials], ensure_ascii=False, indent=1)
        )
        questions = tuple(Question.of(trial.item, "trial") for trial in trials)
        file = QuestionFile(
            book.file.task,
            book.file.tier,
            book.file.today,
            book.file.settings,
            questions=questions,
        )
        save_questions(path, file)
    with open_workbook(path) as trial_book:
        yield trial_book, trials


def trial_events(book: Workbook, trials: Sequence[Trial]) -> list[Event]:
    """Return what the seats said of trials, as events of the question file's record."""
    events = []
    for trial in trials:
        said = {"of": trial.of, "error": trial.error, "change": trial.change}
        for event in book.of(trial.item.id):
            if event.kind == "verdict" and event.item_sha256 == trial.item.sha256:
                body = {**event.body, **said, "trial_sha256": trial.item.sha256}
                events.append(Event("trial", event.by, body, call=event.call))
    return events


def _load(path: Path) -> tuple[Trial, ...]:
    if not path.exists():
        return ()
    found = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Trial(**{**trial, "item": Item(**trial["item"])}) for trial in found)
