"""`llm-fix --plan`: the fixes that stand open, and the reviews that each new version would bring.

Which items are fixed in a later round, nobody knows before: at most all of them are, and mostly as many
as the file's own record lets expect. A version that is not written yet is read like the present one, and
items are counted as judged one by one, also where batches were voted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.planning import Chance, Planned, planned

if TYPE_CHECKING:
    from agents.seats import FixTask, ReviewTask
    from cli.making import Bench, Setting
    from graphs.sitting import Context
    from items.model import Item

UNKNOWN = 0.5  # the chance of what has never happened in this file


@dataclass(frozen=True)
class Judged:
    """How many contents of a file the panel or the rules have judged, and how many were approved."""

    approved: int
    judged: int

    @property
    def objected(self) -> float:
        """Return the share that was objected to."""
        return 1 - self.approved / self.judged if self.judged else UNKNOWN

    def __str__(self) -> str:
        if not self.judged:
            return "none judged yet, half assumed"
        return f"{self.approved} of {self.judged}"


async def plan_fixers(where: "Setting", rounds: int) -> list[Planned]:
    """Return what fixers and reviewers would be asked in so many rounds, a line a seat."""
    from agents.panel import fixers, reviewers
    from cli.making import bench
    from cli.reviewing import Work, panel_context

    roster = where.roster
    async with bench(where, "plan", (), None) as b:
        context = panel_context(b, Work(rounds=rounds))
        first, mended = judged(context, "draft", "edit"), judged(context, "fix")
        basis = f"approved by this panel so far: first versions {first}, mended ones {mended}"
        fixes: list[tuple[FixTask, Chance]] = []
        reviews: list[tuple[ReviewTask, Chance]] = []
        for item in await _open(b, context):
            now, problems, chance = await _next(context, item, first)
            reviews += [(task, Chance()) for task in now]
            for fix, often in _fixes(context, item, problems, rounds, chance, mended):
                fixes.append((fix, often))
                reviews += _reviews(context, item, fix.round + 1, often)
        return [
            *await planned(
                b,
                "fixer",
                lambda line: fixers(roster.fixers, line, b.briefing, b.limits),
                fixes,
                basis,
            ),
            *await planned(
                b,
                "reviewer",
                lambda line: reviewers(roster.reviewers, line, b.briefing, b.limits),
                reviews,
                basis,
            ),
        ]


def judged(context: "Context", *kinds: str) -> Judged:
    """Return what became of the contents that events of these kinds gave the items of a file.

    Only what these reviewers judged counts, and of broken rules only those of these fixers' versions:
    what another roster's panel thought says nothing of this one.
    """
    from items.approvals import holder
    from items.model import Item

    book, found = context.book, []
    panel = {(seat.number, seat.by) for seat in context.reviewers}
    fixers = {seat.by for seat in context.fixers}
    for event in book.events:
        if event.kind not in kinds or event.item is None or "item" not in event.body:
            continue
        said = book.panel(Item(**event.body["item"]))
        valid = {(e.body["seat"], holder(e.by)) for e in said.verdicts if e.body["valid"]}
        broken = holder(event.by) in fixers and any(
            e.kind == "problem" and e.by == "rule/check" and e.item_sha256 == event.item_sha256
            for e in book.of(event.item)
        )
        if valid == panel or broken:
            found.append(said.approved)
    return Judged(sum(found), len(found))


async def _open(b: "Bench", context: "Context") -> "list[Item]":
    """Return the items that have anything left to do and do not wait at the owner's desk."""
    from graphs.pipeline import at_desk
    from graphs.sitting import open_work

    where = b.setting
    desk = {
        waits["item"]
        for waits in await at_desk(where.runs, where.path.stem)
        if waits.get("command") == "fix" and waits["panel"] == where.roster.id
    }
    return [
        question.item
        for question in b.book.questions
        if question.id not in desk and open_work(context, question.id, fixing=True)
    ]


async def _next(
    context: "Context", item: "Item", first: Judged
) -> "tuple[list[ReviewTask], list[str], Chance]":
    """Return an item's reviews that are due, the rules it breaks, and how likely its first fix is."""
    from agents.seats import ReviewTask
    from graphs import minutes
    from graphs.gate import findings, lines

    book = context.book
    found = await findings(context.gate, item, context.ground, book)
    if problems := lines(found, "problem"):
        return [], problems, Chance()
    round = book.round(item.id)
    unheard = minutes.unheard(book, context.reviewers, item.id)
    again = minutes.untested(book, context.reviewers, item.id, context.retest)
    due = [ReviewTask(item, seat.number, round) for seat in unheard]
    due += [ReviewTask(item, seat.number, round, repeat=1) for seat in again]
    if unheard:
        return due, [], Chance(0, first.objected, 1)
    return due, [], Chance(0, 0.0, 0) if book.panel(item).approved else Chance()


def _fixes(
    context: "Context",
    item: "Item",
    problems: list[str],
    rounds: int,
    chance: Chance,
    mended: Judged,
) -> "Iterator[tuple[FixTask, Chance]]":
    """Yield an item's fix of each round, with how likely it comes to that."""
    from graphs.sitting import fix_task

    begun = context.book.round(item.id)
    for n in range(rounds if chance.most else 0):
        _, task = fix_task(context, item, begun + n, problems)
        usual = chance.usual * mended.objected**n
        yield task, Chance(0 if n else chance.least, usual, chance.most)


def _reviews(
    context: "Context", item: "Item", round: int, fixed: Chance
) -> "list[tuple[Any, Chance]]":
    """Return the reviews of a new version: a fixer may drop the item instead, so that none is sure."""
    from agents.seats import ReviewTask

    # Some versions are judged twice (test-retest); which ones, their content decides.
    often = Chance(0, fixed.usual * (1 + context.retest), 2 * fixed.most)
    return [(ReviewTask(item, seat.number, round), often) for seat in context.reviewers]
