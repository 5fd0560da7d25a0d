"""Seats from a roster: a model is asked through the gateway, a rule is called in a thread."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from agents.author import author
from agents.batch import Group, batched
from agents.fixer import fixer
from agents.opening import MAX_TOKENS, Holder, Line
from agents.reviewer import reviewer
from agents.rules import AUTHORS, FIXERS, REVIEWERS, VOTERS
from agents.seats import Ask, Author, Briefing, Fixer, NoReply, Reviewer, Rule, Seat, Voter
from agents.voter import voter
from models import roster
from registry.reader import FormatError

Limits = Mapping[str, int]  # output tokens by model id, where a model's own limit is lower
Task = TypeVar("Task")
Reply = TypeVar("Reply")


def authors(
    seats: Sequence[roster.Seat], line: Line, briefing: Briefing, limits: Limits
) -> tuple[Author, ...]:
    """Return the authors of a roster. Raises: FormatError (a rule that does not exist)."""
    return _seats(seats, lambda holder: author(holder, briefing), AUTHORS, line, briefing, limits)


def reviewers(
    seats: Sequence[roster.Seat], line: Line, briefing: Briefing, limits: Limits
) -> tuple[Reviewer, ...]:
    """Return the reviewers of a roster. Raises: FormatError."""
    return _seats(
        seats, lambda holder: reviewer(holder, briefing), REVIEWERS, line, briefing, limits
    )


def in_batches(
    held: Sequence[Reviewer],
    groups: Mapping[int, Sequence[Group]],
    line: Line,
    briefing: Briefing,
    limits: Limits,
) -> tuple[Reviewer, ...]:
    """Return the reviewers with their groups, by seat number: a group is judged in one request."""
    return tuple(
        replace(
            seat,
            ask=batched(seat.ask, _holder(seat.by, line, limits), briefing, groups[seat.number]),
        )
        if groups.get(seat.number)
        else seat
        for seat in held
    )


def fixers(
    seats: Sequence[roster.Seat], line: Line, briefing: Briefing, limits: Limits
) -> tuple[Fixer, ...]:
    """Return the fixers of a roster. Raises: FormatError."""
    return _seats(seats, lambda holder: fixer(holder, briefing), FIXERS, line, briefing, limits)


def voters(
    seats: Sequence[roster.Seat], line: Line, briefing: Briefing, limits: Limits
) -> tuple[Voter, ...]:
    """Return the voters of a roster. Raises: FormatError."""
    return _seats(seats, voter, VOTERS, line, briefing, limits)


def _seats(
    seats: Sequence[roster.Seat],
    of_model: Callable[[Holder], Ask[Task, Reply]],
    of_rule: Mapping[str, Rule[Task, Reply]],
    line: Line,
    briefing: Briefing,
    limits: Limits,
) -> tuple[Seat[Task, Reply], ...]:
    made = []
    for number, seat in enumerate(seats, 1):
        if seat.model:
            asked = of_model(_holder(seat.model, line, limits))
        else:
            asked = _in_thread(_rule(of_rule, seat.rule or ""), briefing)
        made.append(Seat(number, seat.name, asked))
    return tuple(made)


def _holder(model: str, line: Line, limits: Limits) -> Holder:
    return Holder(model, line, limits.get(model, MAX_TOKENS))


def _rule(known: Mapping[str, Rule[Task, Reply]], name: str) -> Rule[Task, Reply]:
    if name not in known:
        raise FormatError(
            "rosters.yaml", None, f"no rule {name!r} for this seat; {', '.join(known)}"
        )
    return known[name]


def _in_thread(rule: Rule[Task, Reply], briefing: Briefing) -> Ask[Task, Reply]:
    async def asked(task: Task) -> Reply | NoReply:
        return await asyncio.to_thread(rule, task, briefing)

    return asked
