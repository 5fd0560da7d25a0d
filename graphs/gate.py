"""The gate as the graphs see it: an item's findings, worked out in a thread, remembered where unchanged."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphs.workbook import Workbook
from items.checks import Finding, Ground
from items.model import Item

Gate = Callable[[Item, Ground], Sequence[Finding]]


async def findings(gate: Gate, item: Item, ground: Ground, book: Workbook) -> Sequence[Finding]:
    """Return what the gate finds of an item beside all other items of its file."""
    others = (*ground.others, *book.others(item.id))
    return await asyncio.to_thread(gate, item, replace(ground, others=others))


def lines(found: Sequence[Finding], *severities: str) -> list[str]:
    """Return findings of these severities as `rule: message`."""
    return [f"{f.rule}: {f.message}" for f in found if f.severity in severities]
