"""What the commands run: every piece of work through its graph, side by side, to its end or its interrupt.

write_items    authoring.py, a place of the plan a thread
review_items   review.py, an item a thread
decide         decision.py, a decision a thread
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agents.seats import Vote, Voter
from graphs import authoring, decision, freezing, review
from graphs.checkpoints import NotWaitingError, drive, open_checkpoints, waiting
from graphs.pool import WIDTH, each
from graphs.sitting import Context, State
from graphs.workbook import Workbook
from registry.reader import FormatError

Step = Callable[[str], None]
AUTHORS = 8  # places written at once: each author sees what was there when it began


async def write_items(context: authoring.Context, runs: Path, step: Step) -> None:
    """Fill the places of the plan that the file has no item for."""
    places = [id for id in context.slots if id not in context.book.ids]
    async with open_checkpoints(runs) as saver:
        graph = authoring.build(saver)

        async def write(id: str) -> None:
            start: authoring.State = {"slot_id": id}
            await drive(graph, f"author/{context.book.path.stem}/{id}", start, context)
            step(id)

        await each(places, write, width=AUTHORS)


async def review_items(
    work: Iterable[tuple[Context, str]],
    runs: Path,
    *,
    panel: str,
    rounds: int,
    step: Step,
    answers: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    """Bring items before the panel; `rounds` above 0 also mends what it objects to, so many times.

    work:  each item's id with the context of its file: trials come with a context of their own.
    panel: what names the panel in a thread: another roster's work is another thread.
    answers: the owner's word on items that wait at the desk (graphs.review.owner), by id.
    """
    async with open_checkpoints(runs) as saver:
        graph = review.build(saver)

        async def judge(piece: tuple[Context, str]) -> None:
            context, id = piece
            book, kind = context.book, "fix" if rounds else "review"
            start: State = {"item_id": id, "last_round": book.round(id) - 1 + rounds}
            thread, word = f"{kind}/{book.path.stem}/{id}/{panel}", (answers or {}).get(id)
            stale = partial(_overtaken, book, answered=word is not None)
            try:
                await drive(graph, thread, start, context, answer=word, stale=stale)
            except NotWaitingError:
                told = f"{id} was changed since it was shown; the command run again shows it anew"
                raise FormatError(book.path, None, told) from None
            step(id)

        await each(work, judge)


async def at_desk(runs: Path, stem: str) -> list[dict[str, Any]]:
    """Return what waits for the owner of a question file: items, then decisions, then the freeze.

    Each is what its interrupt shows; beside an item or a freeze, `panel` is the roster whose thread
    waits, and beside an item `command` is the one whose thread that is: review or fix.
    """
    async with open_checkpoints(runs) as saver:
        graph = review.build(saver)
        items = {
            **await waiting(graph, saver, f"review/{stem}/"),
            **await waiting(graph, saver, f"fix/{stem}/"),
        }
        decisions = await waiting(decision.build(saver), saver, f"decide/{stem}/")
        freezes = await waiting(freezing.build(saver), saver, f"freeze/{stem}/")
    return [*_with_panel(items), *decisions.values(), *_with_panel(freezes)]


def _with_panel(threads: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**shown, "panel": thread.split("/")[-1], "command": thread.split("/")[0]}
        for thread, shown in threads.items()
    ]


async def decide(
    context: decision.Context,
    runs: Path,
    ids: Iterable[str],
    step: Step,
    *,
    answers: Mapping[str, dict[str, str]] | None = None,
) -> list[str]:
    """Put decisions to the voters; returns those that wait for the owner.

    answers: the owner's word on those that wait: decision -> {"option", "by", "reason"}.
    """
    undecided: list[str] = []
    async with open_checkpoints(runs) as saver:
        graph = decision.build(saver)

        async def ask(id: str) -> None:
            evidence = context.evidence
            thread = f"decide/{context.book.path.stem}/{id}/{evidence.sha256[:12]}"
            start: decision.State = {"decision": id, "evidence": evidence.reference}
            answer = (answers or {}).get(id)
            # A seat that could not answer is asked again before the owner is.
            silent = answer is None and _silent(context, id)
            state = await drive(graph, thread, start, context, stale=lambda _state, _waits: silent)
            if "__interrupt__" in state and answer is not None:
                state = await drive(graph, thread, start, context, answer=answer)
            if "__interrupt__" in state:
                undecided.append(id)
            step(id)

        await each(ids, ask, width=WIDTH)
    return sorted(undecided)


@dataclass(frozen=True)
class Stability:
    """How often a seat's vote changed when it was asked again with the options in another order."""

    decision: str
    seat: int
    by: str
    first: str | None
    again: tuple[str | None, ...]

    @property
    def changed(self) -> int:
        """Return how many of the valid repeats differ from the first vote."""
        return sum(vote not in (None, self.first) for vote in self.again)


async def repeat_ballots(
    context: decision.Context, ids: Sequence[str], repeats: int, step: Step
) -> list[Stability]:
    """Ask the first ballots again in other orders; repeats count for nothing and are recorded."""
    wanted = [
        (id, voter, n) for id in ids for voter in context.voters for n in range(1, repeats + 1)
    ]
    said: dict[tuple[str, int, int], str | None] = {}

    async def ask(one: tuple[str, Voter, int]) -> None:
        id, voter, repeat = one
        task = decision.ballot_task(context, id, voter.number, 1, repeat)
        reply = await voter.ask(task)
        context.book.write(decision.ballot_event(context, task, reply))
        said[id, voter.number, repeat] = reply.option if isinstance(reply, Vote) else None
        step(f"{id}, seat {voter.number}")

    await each(wanted, ask)
    return [
        Stability(
            id,
            voter.number,
            voter.by,
            _first_vote(context, id, voter.number),
            tuple(said[id, voter.number, n] for n in range(1, repeats + 1)),
        )
        for id in ids
        for voter in context.voters
    ]


def _first_vote(context: decision.Context, id: str, seat: int) -> str | None:
    voted = decision.ballots(context.book, id, context.evidence.reference, 1)
    return next((e.body["vote"] for e in voted if e.body["seat"] == seat and e.body["valid"]), None)


def _silent(context: decision.Context, id: str) -> bool:
    """Tell whether a seat gave no valid vote on a ballot that was held."""
    evidence = context.evidence.reference
    held = [decision.ballots(context.book, id, evidence, n + 1) for n in range(decision.BALLOTS)]
    return any(not event.body["valid"] for ballot in held for event in ballot)


def _overtaken(book: Workbook, state: Mapping[str, Any], waits: bool, *, answered: bool) -> bool:
    """Tell whether a thread's item was changed by someone else than its own fixer since.

    waits: the thread waits for the owner, so that nobody's change is its own. A rule that stopped it may
    be waived or set otherwise since: unless the owner answers now, the gate looks again.
    """
    judged = state.get("item_sha256")
    if judged is None:
        return False
    id = state["item_id"]
    if waits:
        changed = book.item(id).sha256 != judged
        return changed or (not answered and (bool(state["problems"]) or book.dropped(id)))
    if book.item(id).sha256 == judged:
        return False
    last = [event for event in book.of(id) if event.kind in ("edit", "fix")][-1:]
    return not (last and last[0].kind == "fix" and last[0].body["of"] == judged)
