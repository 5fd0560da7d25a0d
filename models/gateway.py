"""The gateway: the one door to every model. A call is paid once, limited, retried, within budget.

    look up in the ledger -> claim -> reserve the most it can cost -> wait for the route's turn
        -> ask, and again while it may be -> keep the answer, settle the cost, release the claim

A route that is down (a wrong key, an empty account, nobody listening) fails its calls at once with
RouteDown; calls on other routes go on. BudgetError is not one call's trouble: let it reach the command.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from models.batches import under_way
from models.budget import Budget, Receipt
from models.bulk import Session, carrier
from models.call import Answer, Message, Model, ModelError, Request
from models.embedded import Embedded
from models.failures import OF_THE_ROUTE, CallFailed
from models.hosted import close_clients
from models.ledger import Claim, Ledger
from models.limits import Limit
from models.prices import cost_usd, prompt_bytes, worst_usd
from models.replay import Replay, replayed
from models.requests import build_request
from models.retries import Retries
from models.roster import ModelCard, Route, card_of, load_models

_POLL_S = (0.02, 0.5)  # how often another's claim is looked at: at first, at most
_DOWN_AFTER = 3  # calls in a row that failed for good, without one that went well


class RouteDown(ModelError):
    """The route gives no answers at present: its open calls were not made."""


@dataclass
class _Lane:
    """A route in use: who carries its calls, its limit, and how it fares."""

    card: ModelCard
    route: Route
    carrier: Model
    limit: Limit
    down: str = ""
    lost: int = field(default=0)  # calls in a row that failed for good


class Gateway:
    """A Model that asks each request's own route. Made by `open_gateway`."""

    def __init__(
        self,
        cards: Mapping[str, ModelCard],
        ledger: Ledger,
        *,
        budget: Budget | None = None,
        retries: Retries | None = None,
        replay: Replay | None = None,
    ) -> None:
        self.cards, self.ledger = dict(cards), ledger
        self.budget, self.retries = budget or Budget(), retries or Retries()
        self.replay = replay
        self._embedded, self.session = Embedded(), Session()
        self._lanes: dict[tuple[str, str], _Lane] = {}

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | str | None = None,
        temperature: float = 0.0,
        draw: int = 0,
        role: str = "",
        logprobs: int | None = None,
        thinking: bool = True,
    ) -> Request:
        """Return a request on a model's route; see `models.requests.build_request`.

        Raises: ModelError (unknown model, its output limit is lower, its key is not set).
        """
        self.require(model)
        return build_request(
            self.cards[model],
            messages,
            max_tokens=max_tokens,
            schema=schema,
            temperature=temperature,
            draw=draw,
            role=role,
            logprobs=logprobs,
            thinking=thinking,
        )

    def require(self, *models: str) -> None:
        """Check before the first call that models can be asked. Raises: ModelError."""
        for model in models:
            card = card_of(self.cards, model)
            if not self.replay and (name := card.route.missing_key()):
                raise ModelError(
                    f"{model} is reached by its route {card.route.name!r}, and {name} is not set: put "
                    f"the key into the environment (export {name}=...), or its file's name into "
                    f"{name}_FILE, or seat another model"
                )

    @property
    def down(self) -> dict[str, str]:
        """Return the models whose route is down, with the reason: their work is open."""
        return {lane.card.id: lane.down for lane in self._lanes.values() if lane.down}

    async def __call__(self, request: Request) -> Answer:
        """Return the answer: from the ledger, or by a call. Raises: ModelError, LedgerError."""
        if (known := self.ledger.find(request.key)) is not None:
            return known
        if self.replay:
            raise self.replay.missing(request)
        if name := under_way(self.ledger.db, request.key):
            raise ModelError(
                f"this call waits in batch {name[:8]}: `benchtoward batches` fetches what has come"
            )
        lane = await self._lane(request)
        wait_s = _POLL_S[0]
        while (answer := await self._in_turn(lane, request)) is None:
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _POLL_S[1])
        return answer

    async def _in_turn(self, lane: _Lane, request: Request) -> Answer | None:
        """Make the call when the route and the budget have room for it.

        Returns None while somebody else makes the same call: it will be in the ledger.
        """
        price = lane.route.price(date.today())
        async with (
            self.budget.reserve(request.role, worst_usd(price, request)) as receipt,
            lane.limit.slot(prompt_bytes(request) // 4 + request.max_tokens),
        ):
            if lane.down:
                raise RouteDown(_down(lane))
            claim = await self.ledger.claim(request)
            if not isinstance(claim, Claim):
                return claim
            answer = await self._persist(lane, request, claim, receipt)
            receipt.settle(answer.cost_usd)
            return answer

    async def _persist(
        self, lane: _Lane, request: Request, claim: Claim, receipt: Receipt
    ) -> Answer:
        """Make attempts until one answers or none is left; the answer is kept."""
        waited_s = 0.0
        try:
            while True:
                receipt.settle(None)  # until it is known: a call that is cut may be billed
                try:
                    answer = await lane.carrier(request)
                except CallFailed as failure:
                    wait_s = self.retries.wait_s(failure, claim.number, waited_s)
                    await self._note(lane, failure, claim, receipt, wait_s)
                    if wait_s is None:
                        raise _last(lane, failure, claim.number) from None
                else:
                    return await self._keep(lane, claim, answer)
                await self.budget.again(receipt)
                await asyncio.sleep(wait_s)
                waited_s += wait_s
                claim = await self.ledger.again(claim)
        except BaseException:  # failed, cancelled or broken: whoever asks next need not wait
            self.ledger.abandon(claim)
            raise

    async def _keep(self, lane: _Lane, claim: Claim, answer: Answer) -> Answer:
        lane.lost = 0
        lane.limit.went_well()
        answer = replace(answer, cost_usd=cost_usd(lane.route.price(date.today()), answer))
        await self.ledger.keep(claim, answer)
        return answer

    async def _note(
        self,
        lane: _Lane,
        failure: CallFailed,
        claim: Claim,
        receipt: Receipt,
        wait_s: float | None,
    ) -> None:
        """Write a failure down and let the route learn from it."""
        if not failure.may_be_billed:
            receipt.settle(0.0)
        if failure.kind == "rate_limit":
            lane.limit.too_many()
        await self.ledger.failed(claim, failure.kind, failure.status, str(failure), wait_s)
        if failure.kind in OF_THE_ROUTE:
            lane.down = str(failure)
        elif wait_s is None and failure.kind not in ("bad_request", "context_length"):
            lane.lost += 1
            if failure.unsent or lane.lost >= _DOWN_AFTER:
                lane.down = str(failure)

    async def _lane(self, request: Request) -> _Lane:
        lane = self._lanes.get((request.model, request.route))
        if lane is None:
            lane = await self._open(request)
        if lane.down:
            raise RouteDown(_down(lane))
        return lane

    async def _open(self, request: Request) -> _Lane:
        self.require(request.model)
        card = self.cards[request.model]
        route = next((route for route in card.routes if route.name == request.route), None)
        if route is None:
            raise ModelError(
                f"{card.id} has no route {request.route!r} in registry/models.yaml; it has "
                + ", ".join(route.name for route in card.routes)
            )
        api_base = await self._embedded.address() if route.serve == "embedded" else route.api_base
        limit = Limit(
            route.concurrency,
            requests_per_minute=route.requests_per_minute,
            tokens_per_minute=route.tokens_per_minute,
        )
        lane = _Lane(card, route, carrier(route, self.session, api_base=api_base), limit)
        return self._lanes.setdefault((request.model, request.route), lane)

    async def close(self) -> None:
        """End what was started: connections, and the embedded model's process."""
        await self.session.close()
        await close_clients()
        await self._embedded.stop()


@asynccontextmanager
async def open_gateway(
    registry: Path,
    runs: Path,
    *,
    budget_usd: float | None = None,
    budgets: Mapping[str, float] | None = None,
    allow_unknown_cost: bool = False,
    replay: Path | None = None,
    command: str = "",
    models: Sequence[str] = (),
    retries: Retries | None = None,
) -> AsyncIterator[Gateway]:
    """Open the gateway of a command on `runs/ledger.sqlite`.

    budget_usd: of this command; `budgets` of its roles (`Roster.budgets`).
    replay:     answer from this ledger or JSONL export only (default: what BENCHTOWARD_REPLAY names,
                so that a whole line of commands can be replayed).
    models:     ids that will be asked: checked before anything else.
    Raises: ModelError, FormatError, LedgerError.
    """
    replay = replay or _path(os.environ.get("BENCHTOWARD_REPLAY"))
    with replayed(replay, runs) as path:
        ledger = Ledger(path, command=command)
        renewing = asyncio.create_task(ledger.renew())
        try:
            gateway = Gateway(
                load_models(registry),
                ledger,
                budget=Budget(budget_usd, budgets, allow_unknown=allow_unknown_cost),
                retries=retries,
                replay=Replay(ledger, str(replay)) if replay else None,
            )
            gateway.require(*models)
            try:
                yield gateway
            finally:
                await gateway.close()
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
            ledger.close()


def _path(name: str | None) -> Path | None:
    return Path(name) if name else None


def _down(lane: _Lane) -> str:
    return (
        f"the route {lane.route.name!r} of {lane.card.id} is down ({lane.down}): this call was not made; "
        "run the same command again when the route is up"
    )


def _last(lane: _Lane, failure: CallFailed, attempts: int) -> ModelError:
    times = "once" if attempts == 1 else f"{attempts} times"
    status = f"{failure.status} " if failure.status else ""
    return ModelError(f"{lane.card.id} failed {times}; last: {status}{failure.kind}: {failure}")
