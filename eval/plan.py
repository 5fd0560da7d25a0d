"""What a sitting would ask and what it can cost, before anything is spent (`eval-text2sql --plan`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean

from eval.candidates import Candidate, tokens
from eval.exam import Exam, Instance
from eval.rows import RunFolder
from eval.run import addressed
from models.call import Answer, Request
from models.ledger import Ledger
from models.prices import cost_usd, worst_usd
from models.roster import load_models


@dataclass(frozen=True)
class Plan:
    """The first turn of every instance: how many are to be asked, and what that costs.

    known:        answered already, in this run or in the ledger.
    low_usd:      prompts alone. `expected_usd` takes the mean length of this model's answers so far;
                  None while it has none. `high_usd` is what a budget reserves: every byte of a prompt a
                  token, every answer as long as it may be. None: the price is not known.
    expected_s:   by this model's latency so far and the route's calls at once; None while unknown.
    """

    model: str
    calls: int
    known: int
    input_tokens: int
    most_output_tokens: int
    low_usd: float | None
    expected_usd: float | None
    high_usd: float | None
    expected_s: float | None


def plan(
    exam: Exam,
    who: Candidate,
    registry: Path,
    runs: Path,
    folder: RunFolder,
    instances: Sequence[Instance],
    past: Sequence[RunFolder],
) -> Plan:
    """Return the plan of a model's sitting. `past` runs tell how long its answers are."""
    requests = [r for i in instances if (r := exam.next_request(i, ()))]
    address = addressed(who.address)
    requests = [address(request) for request in requests]
    todo = _unanswered(requests, folder, runs)
    before = [a for run in (folder, *past) for a in _answers(run, who.id)]
    lengths = [a.output_tokens for a in before if a.output_tokens is not None]
    times = [a.latency_s for a in before if a.latency_s]
    mean = round(fmean(lengths)) if lengths else None
    route = None if who.baseline else load_models(registry)[who.id].route
    price = route.price(date.today()) if route else None
    sizes = [tokens(request) for request in todo]
    return Plan(
        who.id,
        len(todo),
        len(requests) - len(todo),
        sum(sizes),
        exam.max_tokens * len(todo),
        _sum([cost_usd(price, _made(size, 0)) for size in sizes]),
        None if mean is None else _sum([cost_usd(price, _made(size, mean)) for size in sizes]),
        _sum([worst_usd(price, request) for request in todo]),
        len(todo) * fmean(times) / route.concurrency if times and route else None,
    )


def _unanswered(requests: Sequence[Request], folder: RunFolder, runs: Path) -> list[Request]:
    have = {row.key for row in folder.rows().values() if row.answer}
    path = runs / "ledger.sqlite"
    if not path.exists():
        return [request for request in requests if request.key not in have]
    ledger = Ledger(path)
    try:
        return [r for r in requests if r.key not in have and ledger.find(r.key) is None]
    finally:
        ledger.close()


def _answers(run: RunFolder, model: str) -> list[Answer]:
    rows = run.rows().values()
    return [row.answer for row in rows if row.answer and row.asked.get("model") == model]


def _made(input_tokens: int, output_tokens: int) -> Answer:
    return Answer("", input_tokens=input_tokens, output_tokens=output_tokens)


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
