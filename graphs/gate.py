"""The gate as the graphs see it: an item's findings, worked out in a thread, remembered where unchanged."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphs.workbook import Workbook
from items.checks import Finding, Ground
from items.model import Item
from items.rules import mutation

HIDDEN = mutation.hidden_mistakes.name
Gate = Callable[[Item, Ground], Sequence[Finding]]


async def findings(gate: Gate, item: Item, ground: Ground, book: Workbook) -> Sequence[Finding]:
    """Return what the gate finds of an item beside all other items of its file, waivers as they stand."""
    others = (*ground.others, *book.others(item.id))
    ground = replace(ground, others=others, settings=book.file.settings)
    return await asyncio.to_thread(gate, item, ground)


def lines(found: Sequence[Finding], *severities: str) -> list[str]:
    """Return findings of these severities as `rule: message`."""
    return [f"{f.rule}: {f.message}" for f in found if f.severity in severities]


def hidden(found: Sequence[Finding]) -> list[str]:
    """Return the mistakes that do not show in the database, each with the rows that would show it."""
    evidence = (f.evidence for f in found if f.rule == HIDDEN)
    return [line for text in evidence for line in text.splitlines()]


def below_score(found: Sequence[Finding]) -> bool:
    """Tell whether more mistakes stay hidden than the tier's threshold allows."""
    return any(f.rule == HIDDEN and f.severity != "note" for f in found)
