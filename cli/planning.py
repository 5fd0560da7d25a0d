"""`--plan`: what a making command would ask and what that can cost, before anything is spent."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.listening import Listening
    from agents.seats import Seat
    from cli.making import Bench, Setting
    from models.call import Request

PROBING = 3  # probes a conversation may have (agents/probing.py)
USUAL = {"author": 2, "reviewer": 2, "fixer": 2, "voter": 1}  # one probe and the item; two passes
MOST = {"author": 3 * 2 * (PROBING + 1), "reviewer": 2 * (PROBING + 2), "voter": 2 * 2}


@dataclass(frozen=True)
class Planned:
    """A model's share of a command: conversations, and what their requests can cost.

    known:  conversations whose first request is answered in the ledger already.
    usual:  requests as it mostly goes; `most`: with every probe, re-ask and attempt used.
    most_usd: what `most` costs if every answer is as long as it may be; None: the price is not known.
    low_usd:  what the first prompts alone cost.
    expected_usd, expected_s: what `usual` takes if answers are like this model's in this role so far;
              None while the ledger has none.
    """

    model: str
    conversations: int
    known: int
    prompt_tokens: int
    usual: int
    most: int
    most_usd: float | None
    low_usd: float | None = None
    expected_usd: float | None = None
    expected_s: float | None = None


async def planned(
    b: "Bench",
    role: str,
    seats: Callable[["Listening"], Sequence["Seat[Any, Any]"]],
    tasks: Iterable[Any],
) -> list[Planned]:
    """Return what a role's seats would ask for tasks, a line a model.

    seats: makes the seats on a line; each task has the number of the seat it is for.
    """
    from agents.listening import Listening

    line = Listening(b.gateway.cards)
    held = seats(line)
    for task in tasks:
        seat = held[(task.seat - 1) % len(held)]
        if not seat.by.startswith("rule/"):
            await seat.ask(task)
    models = dict.fromkeys(request.model for request in line.heard)
    return [_of_model(b, role, [r for r in line.heard if r.model == model]) for model in models]


def _of_model(b: "Bench", role: str, requests: "list[Request]") -> Planned:
    from models.prices import worst_usd

    model, most = requests[0].model, MOST[role]
    price = b.gateway.cards[model].route.price(date.today())
    worst = [worst_usd(price, request) for request in requests]
    known = sum(b.gateway.ledger.find(request.key) is not None for request in requests)
    tokens = sum(len(m.content.encode()) for r in requests for m in r.messages) // 4
    total = None if None in worst else sum(cost or 0.0 for cost in worst) * most
    n = len(requests)
    plan = Planned(model, n, known, tokens, n * USUAL[role], n * most, total)
    return _expected(b, role, plan)


def _expected(b: "Bench", role: str, plan: Planned) -> Planned:
    """Add what the price table and the ledger's past answers say of it."""
    from models.call import Answer
    from models.prices import cost_usd
    from models.spending import past

    route = b.gateway.cards[plan.model].route
    price, known = route.price(date.today()), past(b.gateway.ledger.db, plan.model, role)

    def cost(prompts: float, written: float) -> float | None:
        return cost_usd(
            price, Answer("", input_tokens=round(prompts), output_tokens=round(written))
        )

    plan = replace(plan, low_usd=cost(plan.prompt_tokens, 0))
    if known is None:
        return plan
    times = plan.usual / max(1, plan.conversations)
    return replace(
        plan,
        expected_usd=cost(plan.prompt_tokens * times, plan.usual * known.output_tokens),
        expected_s=plan.usual * known.latency_s / route.concurrency,
    )


def lines(found: Sequence[Planned]) -> list[str]:
    """Return a plan as lines: a model each, then the sum."""
    told = [
        f"{p.model}: {p.conversations} conversations ({p.known} begun before), {p.usual} requests, "
        f"{p.most} at most; first prompts about {p.prompt_tokens:,} tokens; "
        f"at least {_usd(p.low_usd)}, {_likely(p)}, at most {_usd(p.most_usd)}"
        for p in found
    ]
    costs = [p.most_usd for p in found]
    total = None if None in costs else sum(cost or 0.0 for cost in costs)
    return [*told, f"in all at most {_usd(total)}; nothing was asked"]


def _likely(plan: Planned) -> str:
    if plan.expected_s is None:
        return "usually unknown (no past answers)"
    return f"usually {_usd(plan.expected_usd)} in {plan.expected_s / 60:.0f} min"


def _usd(cost: float | None) -> str:
    return "an unknown price" if cost is None else f"${cost:.2f}"


async def plan_authors(where: "Setting", count: int) -> list[Planned]:
    """Return what the authors would be asked: one conversation a place that is empty."""
    from agents.panel import authors
    from cli.making import bench
    from graphs.plan import plan

    seats = where.roster.authors
    async with bench(where, "plan", (), None) as b:
        slots = plan(where.tier, count, len(seats)).values()
        empty = [slot for slot in slots if slot.id not in b.book.ids]
        return await planned(
            b, "author", lambda line: authors(seats, line, b.briefing, b.limits), empty
        )


async def plan_reviewers(where: "Setting", catch: int) -> list[Planned]:
    """Return what the panel would be asked: one conversation a seat and item not yet judged."""
    from agents.panel import reviewers
    from agents.seats import ReviewTask
    from cli.making import bench
    from graphs.minutes import unheard

    seats = where.roster.reviewers
    async with bench(where, "plan", (), None) as b:
        held = reviewers(seats, b.gateway, b.briefing, b.limits)
        tasks = [
            ReviewTask(question.item, seat.number)
            for question in b.book.questions
            for seat in unheard(b.book, held, question.id)
        ]
        tasks += [
            replace(task, item=replace(task.item, id=f"trial-{n}"))
            for n, task in enumerate(tasks[: catch * len(seats)])
        ]
        return await planned(
            b, "reviewer", lambda line: reviewers(seats, line, b.briefing, b.limits), tasks
        )


def say_plan(found: list[Planned], *, json: bool) -> None:
    """Print a plan."""
    from registry.canonical import canonical

    for line in [canonical([asdict(p) for p in found])] if json else lines(found):
        print(line)
