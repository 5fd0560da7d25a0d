"""A review's sittings: what a checkpoint keeps of an item's way, who is asked next, and for what.

All of it is derived from the record (minutes.py); graphs/review.py says who does what after whom.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from agents.seats import Fixer, FixTask, Reviewer
from graphs import minutes
from graphs.gate import Gate
from graphs.workbook import Workbook
from items.checks import Ground
from items.checks import check as check_item
from items.model import Item


class State(TypedDict, total=False):
    """What a checkpoint keeps of one item's way."""

    item_id: str
    item_sha256: str
    round: int
    last_round: int
    problems: list[str]
    notes: list[str]
    said: Annotated[list[str], operator.add]
    mended: Literal["new", "dropped", "none"]
    act: str


class Sitting(TypedDict):
    """What one seat is sent. `repeat` 1 asks the same content again (test-retest)."""

    item_id: str
    item_sha256: str
    round: int
    seat: int
    repeat: int
    notes: list[str]


@dataclass(frozen=True)
class Context:
    """What the nodes use and never change.

    second_round: after a fix, reviewers see what was said before, without names (decision second_round).
    retest:       the share of items that every model judges twice.
    unsettled:    what becomes of an item that no round is left for: dropped with its reasons, kept as
                  a draft, or put on the owner's desk. One that breaks a rule waits there also if kept.
    """

    book: Workbook
    ground: Ground
    reviewers: tuple[Reviewer, ...]
    fixers: tuple[Fixer, ...] = ()
    single_model: bool = False
    second_round: bool = False
    unsettled: Literal["drop", "keep", "owner"] = "keep"
    retest: float = 0.0
    gate: Gate = check_item


def open_work(context: Context, item_id: str, *, fixing: bool) -> bool:
    """Tell whether an item has anything left to do: a seat unheard, or an objection to mend."""
    panel = context.book.panel(context.book.item(item_id))
    open_seats = unheard(context, item_id) or untested(context, item_id)
    return bool(open_seats) or (fixing and not panel.approved)


def fix_task(
    context: Context, item: Item, round: int, problems: Sequence[str]
) -> tuple[Fixer, FixTask]:
    """Return the fixer of a round and what it is asked: they take turns, from a place the id gives."""
    book, start = context.book, sum(item.id.encode())
    fixer = context.fixers[(start + round) % len(context.fixers)]
    task = FixTask(
        item,
        minutes.objections(book.panel(item).verdicts),
        tuple(problems),
        minutes.history(book.of(item.id), item),
        round,
        fixer.number,
    )
    return fixer, task


def unheard(context: Context, item_id: str) -> list[Reviewer]:
    return minutes.unheard(context.book, context.reviewers, item_id)


def untested(context: Context, item_id: str) -> list[Reviewer]:
    return minutes.untested(context.book, context.reviewers, item_id, context.retest)


def sitting(state: State, seat: int, repeat: int) -> Sitting:
    return Sitting(
        item_id=state["item_id"],
        item_sha256=state["item_sha256"],
        round=state["round"],
        seat=seat,
        repeat=repeat,
        notes=state["notes"],
    )


def round_left(state: State) -> bool:
    return state["round"] <= state["last_round"]
