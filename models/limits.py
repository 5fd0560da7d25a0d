"""How many calls a route takes at once, and how many a minute.

The number at once halves when the route says 429 and grows again by one for each round of calls that
went well (additive increase, multiplicative decrease: Chiu and Jain 1989).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_PAUSE_S = 1.0  # one halving for all the 429 of one moment
_BURST_S = 6.0  # of a minute's allowance that may go out at once


class Limit:
    """The limit of one route. `allowed` is how many calls it takes at once at present."""

    def __init__(
        self,
        most: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self.most, self.allowed = most, float(most)
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_at = float("-inf")
        self._requests, self._tokens = _Rate(requests_per_minute), _Rate(tokens_per_minute)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Hold one of the calls at once; waits for its turn and for the rates.

        tokens: what the call will take of the tokens a minute, estimated.
        """
        await self._enter()
        try:
            if (wait_s := max(self._requests.take(1), self._tokens.take(tokens))) > 0:
                await asyncio.sleep(wait_s)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def went_well(self) -> None:
        """Allow a little more."""
        self.allowed = min(self.most, self.allowed + 1 / self.allowed)

    def too_many(self) -> None:
        """Allow half as many: the route said 429."""
        if time.monotonic() - self._halved_at > _PAUSE_S:
            self._halved_at = time.monotonic()
            self.allowed = max(1.0, self.allowed / 2)

    async def _enter(self) -> None:
        while self._busy >= int(self.allowed):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake()  # the turn was given to a task that is gone
                raise
        self._busy += 1

    def _wake(self) -> None:
        free = int(self.allowed) - self._busy
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class _Rate:
    """An allowance a minute, paced; None is no limit."""

    def __init__(self, per_minute: int | None) -> None:
        self._per_s = per_minute and per_minute / 60
        self._next = 0.0  # when what was taken so far is earned

    def take(self, amount: int) -> float:
        """Take from the allowance; returns the seconds to wait before."""
        if not self._per_s:
            return 0.0
        now = time.monotonic()
        start = max(self._next, now - _BURST_S)
        self._next = start + amount / self._per_s
        return max(0.0, self._next - now)
