"""What the review commands do between their options and their last line."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from cli.differing import change_lines
from cli.making import Setting, bench, models_in, single_model, voted
from cli.telling import plain

if TYPE_CHECKING:
    from agents.seats import ReviewTask
    from cli.making import Bench
    from graphs.sitting import Context
    from graphs.workbook import Workbook
    from items.trials import Trial
    from registry.events import Event

Pairs = list[tuple["Context", str]]
RETEST = 0.05  # of items, judged twice by every model


@dataclass(frozen=True)
class Work:
    """What a review is to do: fix rounds, trials, and what becomes of an item still not agreed on."""

    rounds: int = 0
    catch: int = 0
    unsettled: Literal["drop", "keep", "owner"] = "keep"
    plan: bool = False

    @property
    def command(self) -> str:
        """Return what the ledger calls it."""
        return "fix" if self.rounds else "review"


async def reviewed(
    where: Setting, work: Work, budget: float | None, *, quiet: bool
) -> dict[str, Any]:
    """Bring a tier's items before the panel, with trials among them; returns where they then stand."""
    from contextlib import ExitStack
    from random import Random

    from cli.progress import progress
    from graphs import pipeline
    from graphs.sitting import open_work
    from graphs.trials import trial_events

    roster, fixing = where.roster, work.rounds > 0
    models = models_in(roster.reviewers, roster.fixers if fixing else ())
    async with bench(where, f"text2sql {work.command}", models, budget) as b:
        context = panel_context(b, work)
        with ExitStack() as stack:
            pairs: Pairs = [(context, question.id) for question in b.book.questions]
            caught, trials = _trials(stack, b, context, work.catch)
            pairs += [(caught, trial.item.id) for trial in trials]
            pairs = await _in_batches(b, context, pairs)
            pairs = [(c, id) for c, id in pairs if open_work(c, id, fixing=fixing)]
            begun = len(b.book.events)
            Random(roster.id).shuffle(pairs)  # noqa: S311  trials among the items
            with progress(f"{work.command} {where.tier}", len(pairs), quiet=quiet) as step:
                await pipeline.review_items(
                    pairs, where.runs, panel=roster.id, rounds=work.rounds, step=step
                )
            b.book.write(*trial_events(caught.book, trials))
        changes = {} if quiet else change_lines(b.book.events)
        for event in b.book.events[begun:]:
            for line in _change(event, changes.get(event.seq, [])):
                print(line)
        return _standing(where, b.book, context)


def _change(event: "Event", lines: list[str]) -> list[str]:
    """Return what a command shows of a content that a fixer wrote."""
    return (
        [f"{event.item}: {event.kind} by {plain(event.by)}", *(f"    {line}" for line in lines)]
        if lines
        else []
    )


async def _in_batches(b: "Bench", context: "Context", pairs: Pairs) -> Pairs:
    """Return the pairs with seats that judge as many items in a request as were voted."""
    from agents.panel import in_batches
    from graphs import batches, minutes

    size, where = int(voted(b.setting, "review.batch") or 1), b.setting
    if size < 2:
        return pairs
    tasks = [(c, task) for c, id in pairs if (task := await _first_look(c, id))]
    groups = {}
    for seat in context.reviewers:
        waiting = {
            task.item.sha256
            for c, task in tasks
            if any(
                s.number == seat.number for s in minutes.unheard(c.book, c.reviewers, task.item.id)
            )
        }
        own = [replace(task, seat=seat.number) for _, task in tasks]
        name = f"{where.roster.id}/{seat.number}/{seat.by}"
        path = where.runs / "batches" / f"{where.path.stem}.json"
        if not seat.by.startswith("rule/"):
            groups[seat.number] = batches.groups(path, own, waiting, seat=name, size=size)
    seats = in_batches(context.reviewers, groups, b.gateway, b.briefing, b.limits)
    return [(replace(c, reviewers=seats), id) for c, id in pairs]


async def _first_look(context: "Context", id: str) -> "ReviewTask | None":
    """Return the task that an item's first look will be; None where the gate stops it, or it is no first."""
    from agents.seats import ReviewTask
    from graphs.gate import findings, lines

    book = context.book
    item = book.item(id)
    found = await findings(context.gate, item, context.ground, book)
    if book.round(id) > 1 or lines(found, "problem"):
        return None
    return ReviewTask(item, 0, notes=tuple(lines(found, "warning", "note")))


def _trials(
    stack: Any, b: "Bench", context: "Context", count: int
) -> tuple["Context", tuple["Trial", ...]]:
    """Return the review context of the catch trials, and the trials; none when none are asked for."""
    from graphs.trials import open_trials

    if not count:
        return context, ()
    runs, ground = b.setting.runs, b.ground
    book, trials = stack.enter_context(open_trials(runs, b.book, ground, count))
    return replace(context, book=book), trials[:count]


def panel_context(b: "Bench", work: Work) -> "Context":
    """Return the review context of a bench: its panel, its fixers, and what was voted."""
    from agents.panel import fixers, reviewers
    from graphs.sitting import Context

    roster = b.setting.roster
    return Context(
        b.book,
        b.ground,
        reviewers(roster.reviewers, b.gateway, b.briefing, b.limits),
        fixers(roster.fixers, b.gateway, b.briefing, b.limits),
        single_model=single_model(roster.reviewers, b.gateway.cards),
        second_round=bool(voted(b.setting, "review.second_round")),
        retest=RETEST,
        unsettled=work.unsettled,
    )


def _standing(where: Setting, book: "Workbook", context: "Context") -> dict[str, Any]:
    """Return where a tier's items stand after a review."""
    from graphs.minutes import unheard

    kept = book.questions
    approved = [q.id for q in kept if book.panel(q.item).approved]
    broken = [q.id for q in kept if book.broken(q.item)]
    unjudged = [q.id for q in kept if unheard(book, context.reviewers, q.id) and q.id not in broken]
    objected = [q.id for q in kept if q.id not in {*approved, *unjudged, *broken}]
    following = "text2sql llm-fix" if objected or broken else "text2sql llm-decide"
    following += ", or text2sql desk to waive, edit or drop what breaks a rule" if broken else ""
    return {
        "tier": where.tier,
        "file": str(where.path),
        "items": len(kept),
        "approved": len(approved),
        "objected": objected,
        "broken": broken,
        "no_verdict": unjudged,
        "dropped": sorted(id for id in book.ids if book.dropped(id)),
        "next": "the same command again" if unjudged else following,
    }
