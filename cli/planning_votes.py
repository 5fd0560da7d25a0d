"""`llm-decide --plan`: the ballots that stand open, by seat: one at least, two at most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.planning import Chance, Planned, planned

if TYPE_CHECKING:
    from agents.seats import BallotTask
    from cli.making import Bench
    from graphs.decision import Context

REASON = 1_500  # characters that a reason may have (agents/voter.py)
UNKNOWN = 0.5  # the chance of a second ballot while nothing was decided


async def plan_voters(
    b: "Bench", context: "Context", open_: Sequence[str], stability: int
) -> list[Planned]:
    """Return what the voters would be asked, a line a seat.

    open_:     the decisions to put to them.
    stability: how often the first ballot of every decision of the command is asked again.
    """
    from agents.panel import voters
    from graphs.decision import ballot_task

    decided = [event.body for event in b.book.events if event.kind == "decided"]
    twice = sum(body["by"] == "owner" or body["ballot"] > 1 for body in decided)
    again = twice / len(decided) if decided else UNKNOWN
    known = f"{twice} of {len(decided)}" if decided else "nothing decided yet, half of them assumed"
    tasks = [one for id in open_ for one in _ballots(context, id, again)]
    tasks += [
        (ballot_task(context, id, seat.number, 1, n), Chance())
        for id in context.decisions
        for seat in context.voters
        for n in range(1, stability + 1)
    ]
    return await planned(
        b,
        "voter",
        lambda line: voters(b.setting.roster.voters, line, b.briefing, b.limits),
        tasks,
        f"decisions that took a second ballot so far: {known}",
    )


def _ballots(
    context: "Context", decision: str, again: float
) -> "Iterator[tuple[BallotTask, Chance]]":
    """Yield each seat's ballots on a decision, with how likely it comes to them."""
    from graphs.decision import BALLOTS, ballot_task

    held = _held(context, decision)
    for n in range(held, BALLOTS):
        chance = Chance() if n == held else Chance(0, again, 1)
        for seat in context.voters:
            task = ballot_task(context, decision, seat.number, n + 1)
            if n > held:  # the reasons are not written yet: the longest that there may be
                task = replace(task, reasons=("x" * REASON,) * len(context.voters))
            yield task, chance


def _held(context: "Context", decision: str) -> int:
    """Return how many ballots need no call any more; all of them after a majority."""
    from graphs.decision import BALLOTS, ballots, majority

    seats = len(context.voters)
    for n in range(BALLOTS):
        voted = ballots(context.book, decision, context.evidence.reference, n + 1)
        if len(voted) < seats or not all(event.body["valid"] for event in voted):
            return n
        if majority(voted, seats) is not None:
            return BALLOTS
    return BALLOTS
