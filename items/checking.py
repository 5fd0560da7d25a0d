"""Checking many items: what is unchanged is remembered, what is new is shared out to all cores."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from database.engine import Database, open_database
from items import checks
from items.checks import Finding, Ground
from items.memory import key_of, memory_of
from items.model import Item
from items.settings import Settings

FEW = 4  # fewer new items than this are checked here: another process takes a second to start


@dataclass(frozen=True)
class Checked:
    """An item with what the rules found; `remembered` from an earlier check."""

    item: Item
    findings: tuple[Finding, ...]
    remembered: bool = False

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Return what keeps the item from a freeze."""
        return tuple(finding for finding in self.findings if finding.severity == "problem")

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        findings = [asdict(finding) for finding in self.findings]
        return {"sha256": self.item.sha256, "findings": findings, "remembered": self.remembered}


def best_constant(checked: Sequence[Checked]) -> tuple[int, str]:
    """Return how many of a tier's questions one constant answer would be right for, and one of them.

    A query that returns a reference's result is right for every item with that result (S1-014).
    """
    ids = {one.item.id for one in checked}
    shared = {
        one.item.id: 1 + len({f.other for f in one.findings if f.rule == "same_result"} & ids)
        for one in checked
        if one.item.answerable
    }
    best = max(sorted(shared), key=lambda id: shared[id], default="")
    return shared.get(best, 0), best


def check_items(
    work: Sequence[tuple[Item, Ground]],
    step: Callable[[str], None],
    *,
    processes: int | None = None,
) -> list[Checked]:
    """Check items that share a database, each on its ground; `step` hears of each that is done.

    processes: how many to share new items among; default: one a core.
    Raises: QueryError.
    """
    new = [(item, ground) for item, ground in work if not _known(item, ground)]
    count = min(processes or os.cpu_count() or 1, len(new))
    ahead = _shared_out(new, count, step) if count > 1 and len(new) >= FEW else set()
    done = []
    for item, ground in work:
        found, remembered = checks.look(item, ground)
        fresh = item.id in ahead or not remembered
        done.append(Checked(item, tuple(checks.settled(item, ground, found)), not fresh))
        if item.id not in ahead:
            step(item.id)
    return done


def _known(item: Item, ground: Ground) -> bool:
    return memory_of(ground.database).known(key_of(item, ground, across=False)) is not None


def _shared_out(
    new: Sequence[tuple[Item, Ground]], count: int, step: Callable[[str], None]
) -> set[str]:
    """Let other processes run the rules that look at one item alone, and keep what they find."""
    memory = memory_of(new[0][1].database)
    path = new[0][1].database.path
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        waiting = {
            pool.submit(_alone, path, item, ground.today, ground.settings): (item, ground)
            for item, ground in new
        }
        try:
            for future in as_completed(waiting):
                item, ground = waiting[future]
                memory.keep(key_of(item, ground, across=False), future.result())
                step(item.id)
        except BrokenProcessPool:
            raise OSError(
                "a process that checks items was killed; run the same command again: what is done is kept"
            ) from None
    return {item.id for item, _ in new}


@cache
def _opened(path: Path) -> Database:
    """Return a process's own database; it is opened once and ends with the process."""
    return open_database(path)


def _alone(path: Path, item: Item, today: date | None, settings: Settings) -> list[Finding]:
    return checks.found_alone(item, Ground(_opened(path), today, settings))
