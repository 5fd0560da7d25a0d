"""A budget that is kept: the call that could pass it is not made.

Each call reserves the most it can cost and settles what it did cost. A call that fits only once others
have settled waits for them; one that does not fit at all stops the command (exit code 3).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from models.call import ModelError


class BudgetError(ModelError):
    """The next call could pass the budget. Never data: it must reach the command."""

    exit_code = 3


@dataclass
class _Purse:
    """One limit: the command's (`role` is "") or a role's."""

    role: str
    limit_usd: float
    spent_usd: float = 0.0
    reserved_usd: float = 0.0

    def fits(self, cost_usd: float) -> bool:
        return self.spent_usd + self.reserved_usd + cost_usd <= self.limit_usd

    def hopeless(self, cost_usd: float) -> bool:
        return self.spent_usd + cost_usd > self.limit_usd


@dataclass
class Receipt:
    """What one call reserved; `settle` with what it cost (None: unknown, the reserve is kept)."""

    worst_usd: float
    purses: list[_Purse]
    reserved_usd: float = 0.0
    cost_usd: float = 0.0

    def settle(self, cost_usd: float | None) -> None:
        """Say what the attempt cost."""
        self.cost_usd = self.reserved_usd if cost_usd is None else cost_usd


class Budget:
    """The limits of one command: a total, and one a role where the roster sets one.

    limit_usd None and no role limits: nothing is refused, what is spent is still counted.
    """

    def __init__(
        self,
        limit_usd: float | None = None,
        roles: Mapping[str, float] | None = None,
        *,
        allow_unknown: bool = False,
    ) -> None:
        total = [] if limit_usd is None else [_Purse("", limit_usd)]
        self._purses = total + [_Purse(role, limit) for role, limit in (roles or {}).items()]
        self._allow_unknown = allow_unknown
        self._settled = asyncio.Event()
        self.spent_usd = 0.0

    @asynccontextmanager
    async def reserve(self, role: str, worst_usd: float | None) -> AsyncIterator[Receipt]:
        """Hold the most a call can cost while it is made. Raises: BudgetError, ModelError."""
        purses = [purse for purse in self._purses if purse.role in ("", role)]
        if purses and worst_usd is None and not self._allow_unknown:
            raise ModelError(
                "a budget is set, and this route has no price in registry/models.yaml: add one with "
                "its date and source, or allow it with --allow-unknown-cost"
            )
        receipt = Receipt(worst_usd or 0.0, purses)
        await self._take(receipt)
        try:
            yield receipt
        finally:
            self._settle(receipt)

    async def again(self, receipt: Receipt) -> None:
        """Settle an attempt and hold the most that another can cost. Raises: BudgetError."""
        self._settle(receipt)
        await self._take(receipt)

    async def _take(self, receipt: Receipt) -> None:
        cost_usd = receipt.worst_usd
        while not all(purse.fits(cost_usd) for purse in receipt.purses):
            for purse in receipt.purses:
                if purse.hopeless(cost_usd):
                    raise BudgetError(_stopped(purse, cost_usd))
            await self._settled.wait()
        for purse in receipt.purses:
            purse.reserved_usd += cost_usd
        receipt.reserved_usd = cost_usd

    def _settle(self, receipt: Receipt) -> None:
        self.spent_usd += receipt.cost_usd
        for purse in receipt.purses:
            purse.reserved_usd -= receipt.reserved_usd
            purse.spent_usd += receipt.cost_usd
        receipt.reserved_usd = receipt.cost_usd = 0.0
        self._settled.set()
        self._settled = asyncio.Event()


def _stopped(purse: _Purse, cost_usd: float) -> str:
    whose = f"{purse.role}'s budget" if purse.role else "the budget"
    return (
        f"stopped before {whose} of ${purse.limit_usd:.2f}: ${purse.spent_usd:.4f} are spent and the "
        f"next call can cost ${cost_usd:.4f}. What was answered is kept and paid: run the same command "
        "again with a larger --budget to go on"
    )
