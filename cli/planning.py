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
# Requests of a conversation as it mostly goes: one probe and the item; two passes; a vote.
USUAL = {"author": 2, "reviewer": 2, "fixer": 2, "voter": 1}
# And with every probe, re-ask and attempt used.
MOST = {
    "author": 3 * 2 * (PROBING + 1),
    "reviewer": 2 * (PROBING + 2),
    "fixer": 2 * (PROBING + 1),
    "voter": 2,
}


@dataclass(frozen=True)
class Chance:
    """How often a conversation is held: at least, mostly, at most. By default it is sure."""

    least: int = 1
    usual: float = 1.0
    most: int = 1


@dataclass(frozen=True)
class Planned:
    """A seat's share of a command: conversations, and what their requests can cost.

    seat:  role and number, e.g. `reviewer 2`.
    conversations: as it mostly goes, rounded.
    known:  sure conversations whose first request is answered in the ledger already: it is free.
    prompt_tokens: of the first prompts of `conversations`.
    least:  requests that are asked whatever is replied.
    usual:  requests as it mostly goes; `most`: with every probe, re-ask, attempt and round used.
    most_usd: what `most` costs if every answer is as long as it may be; None: the price is not known.
    low_usd:  what the prompts of `least` alone cost.
    expected_usd, expected_s: what `usual` takes if answers are like this model's in this role so far;
              None while the ledger has none.
    basis:    what `usual` rests on beside the ledger, for people.
    missing_key: the variable of the route's key, where it is not set.
    """

    seat: str
    model: str
    conversations: int
    known: int
    prompt_tokens: int
    least: int
    usual: int
    most: int
    most_usd: float | None
    low_usd: float | None = None
    expected_usd: float | None = None
    expected_s: float | None = None
    basis: str = ""
    missing_key: str | None = None


@dataclass(frozen=True)
class Foreseen:
    """The first request of a conversation that may be held, and how often it is."""

    request: "Request"
    chance: Chance = Chance()


async def planned(
    b: "Bench",
    role: str,
    seats: Callable[["Listening"], Sequence["Seat[Any, Any]"]],
    tasks: Iterable[tuple[Any, Chance]],
    basis: str = "",
) -> list[Planned]:
    """Return what a role's seats would ask for tasks, a line a seat; a rule's seat asks nothing.

    seats: makes the seats on a line; each task has the number of the seat it is for.
    """
    from agents.listening import Listening

    line = Listening(b.gateway.cards)
    held = seats(line)
    found: dict[int, list[Foreseen]] = {}
    for task, chance in tasks:
        seat = held[(task.seat - 1) % len(held)]
        if not seat.by.startswith("rule/"):
            await seat.ask(task)
            found.setdefault(seat.number, []).append(Foreseen(line.heard[-1], chance))
    return [_of_seat(b, role, n, found[n], basis) for n in sorted(found)]


def _of_seat(b: "Bench", role: str, seat: int, held: Sequence[Foreseen], basis: str) -> Planned:
    from models.prices import worst_usd

    model = held[0].request.model
    price = b.gateway.cards[model].route.price(date.today())
    worst = [worst_usd(price, f.request) for f in held for _ in range(f.chance.most)]
    sure = [f for f in held if f.chance.least]
    new = [f for f in sure if b.gateway.ledger.find(f.request.key) is None]
    usual = sum(f.chance.usual for f in held)
    plan = Planned(
        f"{role} {seat}",
        model,
        conversations=round(usual),
        known=len(sure) - len(new),
        prompt_tokens=round(sum(_tokens(f.request) * f.chance.usual for f in held)),
        least=sum(f.chance.least for f in new),
        usual=round(usual * USUAL[role]),
        most=len(worst) * MOST[role],
        most_usd=None if None in worst else sum(cost or 0.0 for cost in worst) * MOST[role],
        basis=basis,
        missing_key=b.gateway.cards[model].route.missing_key(),
    )
    return _expected(b, role, plan, sum(_tokens(f.request) * f.chance.least for f in new))


def _tokens(request: "Request") -> int:
    """Return about how many tokens a prompt has."""
    return sum(len(message.content.encode()) for message in request.messages) // 4


def _expected(b: "Bench", role: str, plan: Planned, least_tokens: int) -> Planned:
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

    plan = replace(plan, low_usd=cost(least_tokens, 0))
    if known is None:
        return plan
    return replace(
        plan,
        expected_usd=cost(plan.prompt_tokens * USUAL[role], plan.usual * known.output_tokens),
        expected_s=plan.usual * known.latency_s / route.concurrency,
    )


def lines(found: Sequence[Planned]) -> list[str]:
    """Return a plan as lines: a seat each, what it rests on, then the sum."""
    told = [
        f"{p.seat}, {p.model}: {p.conversations} conversations ({p.known} begun before), "
        f"{p.usual} requests, {p.least} at least, {p.most} at most; "
        f"first prompts about {p.prompt_tokens:,} tokens; "
        f"at least {_usd(p.low_usd)}, {_likely(p)}, at most {_usd(p.most_usd)}"
        for p in found
    ]
    told += dict.fromkeys(p.basis for p in found if p.basis)
    told += dict.fromkeys(f"not set: {p.missing_key}" for p in found if p.missing_key)
    return [*told, f"in all {_sum(found)}; nothing was asked"]


def _sum(found: Sequence[Planned]) -> str:
    least, usual = _total(p.low_usd for p in found), _total(p.expected_usd for p in found)
    most = f"at most {_usd(_total(p.most_usd for p in found))}"
    likely = "unknown (no past answers)" if usual is None and least is not None else _usd(usual)
    return f"at least {_usd(least)}, usually {likely}, {most}"


def _total(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum(cost or 0.0 for cost in known)


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
            b,
            "author",
            lambda line: authors(seats, line, b.briefing, b.limits),
            [(slot, Chance()) for slot in empty],
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
            b,
            "reviewer",
            lambda line: reviewers(seats, line, b.briefing, b.limits),
            [(task, Chance()) for task in tasks],
        )


def say_plan(found: Sequence[Planned], *, json: bool) -> None:
    """Print a plan."""
    from registry.canonical import canonical

    for line in [canonical([asdict(p) for p in found])] if json else lines(found):
        print(line)
