"""Many threads side by side: our own workers, so that one graph run is one item (FACTS §7)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
WIDTH = 32  # graph runs at once; calls are limited in the gateway


async def each(
    pieces: Iterable[T], work: Callable[[T], Awaitable[None]], *, width: int = WIDTH
) -> None:
    """Do the work for every piece, `width` at a time; the first error stops the rest and is raised."""
    queue = iter(pieces)

    async def worker() -> None:
        for piece in queue:
            await work(piece)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(width):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = errors.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
