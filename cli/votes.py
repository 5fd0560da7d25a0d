"""How votes are told: what won, by how many seats, every reason, and how often a seat changes its vote."""

from typing import TYPE_CHECKING

from cli.making import Setting
from cli.telling import plain

if TYPE_CHECKING:
    from graphs.decision import Context
    from items.questions import Decided


def say_decisions(where: Setting, asked: list[str], *, json: bool) -> None:
    """Print how the decisions asked now stand: what won, by how many of the seats, and every reason."""
    from dataclasses import asdict

    from items.questions import load_questions
    from registry.canonical import canonical

    found = load_questions(where.path).decisions
    if json:
        print(canonical([asdict(decided) for decided in found]))
        return
    for decided in found:
        if decided.id in asked:
            print(f"{decided.id}: {decided.option} ({decided.tally}, by {decided.by})")
            for line in _votes(decided):
                print(f"  {line}")


def _votes(decided: "Decided") -> list[str]:
    """Return the votes of a decision, equal ones in one line."""
    seats: dict[tuple[int, str, str], list[str]] = {}
    for vote in sorted(decided.votes, key=lambda vote: (vote.ballot, vote.seat)):
        key = (vote.ballot, vote.vote or "no vote", vote.reason)
        seats.setdefault(key, []).append(str(vote.seat))
    return [
        f"ballot {ballot}, seat {' and '.join(who)}: {plain(vote)}: {plain(reason)}"
        for (ballot, vote, reason), who in seats.items()
    ]


async def repeat_votes(context: "Context", ids: list[str], repeats: int, *, quiet: bool) -> None:
    """Ask the first ballots again and print how often each seat's vote changed."""
    from cli.progress import progress
    from graphs.pipeline import repeat_ballots

    total = len(ids) * len(context.voters) * repeats
    with progress("asking again", total, quiet=quiet) as step:
        found = await repeat_ballots(context, ids, repeats, step)
    for one in found:
        votes = sum(vote is not None for vote in one.again)
        told = f"{one.changed} of {votes} repeats differ from {one.first}"
        print(f"{one.decision}, seat {one.seat} ({one.by}): {told}")
