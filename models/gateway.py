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
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from models.batches import under_way
from models.budget import Budget, Receipt
from models.bulk import Session
from models.call import Answer, Message, ModelError, Request
from models.embedded import Embedded
from models.failures import CallFailed
from models.hosted import close_clients
from models.lane import Lane, RouteDown, open_lane, route_of
from models.ledger import Claim, Ledger
from models.prices import cost_usd, prompt_bytes, worst_usd
from models.replay import Replay, replayed
from models.requests import build_request
from models.retries import Retries
from models.roster import ModelCard, card_of, load_models

_POLL_S = (0.02, 0.5)  # how often another's claim is looked at: at first, at most
__all__ = ["Gateway", "RouteDown", "open_gateway"]


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
        self._lanes: dict[tuple[str, str], Lane] = {}

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
        cards = [card_of(self.cards, model) for model in models]
        missing = {c.id: name for c in cards if (name := c.route.missing_key()) and not self.replay}
        if missing:
            told = ", ".join(f"{name} for {model}" for model, name in missing.items())
            name = next(iter(missing.values()))
            raise ModelError(
                f"not set: {told}. Put each key into the environment (export {name}=...), or its "
                f"file's name into {name}_FILE, or seat another model"
            )

    @property
    def down(self) -> dict[str, str]:
        """Return the models whose route is down, with the reason: their work is open."""
        return {lane.card.id: lane.down for lane in self._lanes.values() if lane.down}

    async def __call__(self, request: Request) -> Answer:
        """Return the answer: from the ledger, or by a call. Raises: ModelError, LedgerError."""
        try:
            key = request.key
        except UnicodeEncodeError:
            raise ModelError("the prompt holds half a character, which no provider takes") from None
        if (known := self.ledger.find(key)) is not None:
            return known
        if self.replay:
            raise self.replay.missing(request)
        if name := under_way(self.ledger.db, key):
            raise ModelError(
                f"this call waits in batch {name[:8]}: `benchtoward batches` fetches what has come"
            )
        lane = await self._lane(request)
        wait_s = _POLL_S[0]
        while (answer := await self._in_turn(lane, request)) is None:
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _POLL_S[1])
        return answer

    async def _in_turn(self, lane: Lane, request: Request) -> Answer | None:
        """Make the call when the route and the budget have room for it.

        Returns None while somebody else makes the same call: it will be in the ledger.
        """
        price = lane.route.price(date.today())
        async with (
            self.budget.reserve(request.role, worst_usd(price, request)) as receipt,
            lane.limit.slot(prompt_bytes(request) // 4 + request.max_tokens),
        ):
            lane.require_up()
            claim = await self.ledger.claim(request)
            if not isinstance(claim, Claim):
                return claim
            answer = await self._persist(lane, request, claim, receipt)
            receipt.settle(answer.cost_usd)
            return answer

    async def _persist(
        self, lane: Lane, request: Request, claim: Claim, receipt: Receipt
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
                        raise lane.last(failure, claim.number) from None
                else:
                    return await self._keep(lane, claim, answer)
                await self.budget.again(receipt)
                await asyncio.sleep(wait_s)
                waited_s += wait_s
                claim = await self.ledger.again(claim)
        except BaseException:  # failed, cancelled or broken: whoever asks next need not wait
            self.ledger.abandon(claim)
            raise

    async def _keep(self, lane: Lane, claim: Claim, answer: Answer) -> Answer:
        lane.went_well()
        answer = replace(answer, cost_usd=cost_usd(lane.route.price(date.today()), answer))
        await self.ledger.keep(claim, answer)
        return answer

    async def _note(
        self,
        lane: Lane,
        failure: CallFailed,
        claim: Claim,
        receipt: Receipt,
        wait_s: float | None,
    ) -> None:
        """Write a failure down and let the route learn from it."""
        if not failure.may_be_billed:
            receipt.settle(0.0)
        await self.ledger.failed(claim, failure.kind, failure.status, str(failure), wait_s)
        lane.failed(failure, for_good=wait_s is None)

    async def _lane(self, request: Request) -> Lane:
        key = (request.model, request.route)
        if key not in self._lanes:
            self.require(request.model)
            card = self.cards[request.model]
            served = route_of(card, request.route).serve == "embedded"
            api_base = await self._embedded.address() if served else None
            self._lanes.setdefault(key, open_lane(card, request.route, self.session, api_base))
        lane = self._lanes[key]
        lane.require_up()
        return lane

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
