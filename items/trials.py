"""Catch trials: good items with one seeded error each, to measure who sees what (issue kinds known).

    for trial in seeded(items, ground, count=20):
        print(trial.error, trial.of, trial.change)     # comparator hard-004 n >= 5 became n > 5

The errors are those that published benchmarks shipped (FACTS §5):

    a mutant's kind   the reference has a plausible mistake that changes its result (items/mutants.py)
    languages         the Korean question says another number or word than the English one
    unanswerable      an answerable question is passed off as unanswerable, with a table that is empty

A trial passes the same gate as every item, so that nothing tells it from the rest. It is never an item:
its record is one of its own, and its id has the shape of the others'.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from database.schema import empty_tables
from items import checks
from items.checks import Finding, Ground
from items.model import Item
from items.mutants import mutants
from items.rules.base import Case

WORDS = (  # Korean words whose exchange changes what is asked, and the English one stays
    ("이상", "초과"),
    ("이하", "미만"),
    ("여성", "남성"),
    ("남성", "여성"),
    ("처음", "마지막"),
    ("가장 많", "가장 적"),
    ("이후", "이전"),
    ("이전", "이후"),
)
_MOVED = re.compile(
    r"\(?CAST\(\(CAST\('(\d{4}-\d\d-\d\d)' AS DATE\) \+ INTERVAL '(-?\d+)' (DAY|YEAR)\) AS DATE\)\)?"
)
Gate = Callable[[Item, Ground], Sequence[Finding]]


@dataclass(frozen=True)
class Trial:
    """An item with a seeded error: of which item, what kind of error, and what was changed."""

    item: Item
    of: str
    error: str
    change: str


def seeded(
    items: Sequence[Item], ground: Ground, count: int, *, gate: Gate = checks.check, seed: int = 0
) -> tuple[Trial, ...]:
    """Return at most `count` trials, the kinds of error in turn, no base used twice before all were.

    gate: what every item passes; a trial that it finds a problem in is not taken.
    seed: another seed gives other trials; the same gives the same on every machine.
    """
    order = Random(f"trials/{seed}")  # noqa: S311  a fixed seed: an order, no secret
    bases = order.sample(list(items), len(items))
    taken: list[Trial] = []
    seen: dict[str, int] = {}
    waiting = [_candidates(item, ground, order) for item in bases]
    while waiting and len(taken) < count:
        for candidates in list(waiting):
            trial = _next(candidates, seen, ground, gate)
            if trial is None:
                waiting.remove(candidates)
            elif len(taken) < count:
                seen[trial.error] = seen.get(trial.error, 0) + 1
                taken.append(replace(trial, item=_named(trial.item, len(taken), items)))
    return tuple(taken)


def _next(
    candidates: list[Trial], seen: dict[str, int], ground: Ground, gate: Gate
) -> Trial | None:
    """Return a base's next trial: the kind of error seen least so far, if the gate lets it pass."""
    while candidates:
        candidates.sort(key=lambda trial: seen.get(trial.error, 0))
        trial = candidates.pop(0)
        if not any(finding.severity == "problem" for finding in gate(trial.item, ground)):
            return trial
    return None


def _candidates(item: Item, ground: Ground, order: Random) -> list[Trial]:
    """Return every error that can be seeded into an item, in a shuffled order."""
    found = [*_mutants(item, ground), *_languages(item), *_unanswerable(item, ground, order)]
    order.shuffle(found)
    return found


def _mutants(item: Item, ground: Ground) -> Iterator[Trial]:
    case = Case(item, ground)
    if case.query is None:
        return
    for mutant in mutants(case.query, case.facts.tables):
        changed = case.changed(mutant.sql)
        if changed is not None and changed.rows:
            wrong = replace(item, reference_sql=_folded(mutant.sql))
            yield Trial(wrong, item.id, mutant.kind, mutant.change)


def _folded(sql: str) -> str:
    """Return SQL with a date that a mutant moved written as a date: the sum would give it away."""

    def moved(match: re.Match[str]) -> str:
        day, step = date.fromisoformat(match[1]), int(match[2])
        try:
            found = (
                day + timedelta(step) if match[3] == "DAY" else day.replace(year=day.year + step)
            )
        except ValueError:  # 29 February
            return match[0]
        return f"CAST('{found.isoformat()}' AS DATE)"

    return _MOVED.sub(moved, sql)


def _languages(item: Item) -> Iterator[Trial]:
    korean = item.question_ko
    for match in re.finditer(r"(?<![\d.])\d{1,4}(?![\d.])", korean):
        other = str(int(match[0]) + 1)
        text = korean[: match.start()] + other + korean[match.end() :]
        change = f"question_ko: {match[0]} became {other}"
        yield Trial(replace(item, question_ko=text), item.id, "languages", change)
    for old, new in WORDS:
        if old in korean:
            text = korean.replace(old, new, 1)
            change = f"question_ko: {old} became {new}"
            yield Trial(replace(item, question_ko=text), item.id, "languages", change)


def _unanswerable(item: Item, ground: Ground, order: Random) -> Iterator[Trial]:
    empty = sorted(empty_tables(ground.database))
    if item.answerable and empty:
        witness = order.choice(empty)
        wrong = replace(
            item, reference_sql=None, answerable=False, order_matters=False, witness=witness
        )
        yield Trial(wrong, item.id, "unanswerable", f"passed off as unanswerable: {witness}")


def _named(item: Item, number: int, items: Sequence[Item]) -> Item:
    """Return a trial under an id of the same shape as the others', which no item has."""
    prefix = item.id.rstrip("0123456789")
    used = {other.id for other in items}
    start = 500 + len(items) + number
    id = next(
        f"{prefix}{n:03d}" for n in range(start, start + 10_000) if f"{prefix}{n:03d}" not in used
    )
    return replace(item, id=id)
