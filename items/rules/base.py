"""What a rule is, what it sees, and what it says.

    @rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0")
    def ties(case: Case) -> Iterator[Found | str]:
        '''A LIMIT must not cut through equal values.'''
        yield "ORDER BY n DESC LIMIT 5: row 5 has 249, row 6 has 201"     # what it looked at
        yield Found("row 5 and row 6 both have 249", evidence="...")      # what is wrong

A rule looks at one item on its ground and never raises for what an item says: SQL that cannot be
read or run is one finding of one rule, and the others stay silent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Literal

from database.engine import Database

from database.result import Failure, Result
from items.model import Item
from items.settings import Settings

Severity = Literal["problem", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
TIME_S = (
    3.0  # a reference that needs longer than this is no question for an exam (30 s is its limit)
)


@dataclass(frozen=True)
class Found:
    """What a rule says is wrong; without a severity it has the rule's own."""

    message: str
    evidence: str = ""
    severity: Severity | None = None


@dataclass(frozen=True)
class Finding:
    """One broken rule of one item. A waived one keeps its text and is a note."""

    rule: str
    severity: Severity
    message: str
    evidence: str = ""


@dataclass(frozen=True)
class Ground:
    """What an item is checked against.

    today:   the tier's fixed current date, or None.
    others:  the other items of the tier, and those of other tiers that share its database.
    """

    database: Database
    today: date | None = None
    settings: Settings = field(default_factory=Settings)
    others: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Case:
    """One item on its ground, with what several rules want to know worked out once."""

    item: Item
    ground: Ground

    @cached_property
    def result(self) -> Result | Failure | None:
        """What the reference returns; None where there is no reference."""
        sql = self.item.reference_sql
        return None if sql is None else self.ground.database.run(sql, time_s=TIME_S)

    def ask(self, sql: str) -> tuple[tuple[object, ...], ...] | None:
        """Return the rows of a query that a rule made from the reference; None when it fails."""
        result = self.ground.database.run(sql, time_s=TIME_S)
        return result.rows if isinstance(result, Result) else None


Look = Callable[[Case], Iterator[Found | str]]


@dataclass(frozen=True)
class Rule:
    """A function with a name, a reason, a severity and a source.

    version: counted up when what it finds changes, so that no cached finding outlives it.
    """

    name: str
    reason: str
    severity: Severity
    source: str
    look: Look
    version: int = 1


def rule(severity: Severity, *, source: str, version: int = 1) -> Callable[[Look], Rule]:
    """Make a Rule of a function: its name is the rule's, its docstring the reason."""

    def made(look: Look) -> Rule:
        name, reason = getattr(look, "__name__", ""), (look.__doc__ or "").strip()
        return Rule(name, " ".join(reason.split()), severity, source, look, version)

    return made
