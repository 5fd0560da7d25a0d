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
from typing import Any, Literal

from database.engine import Database
from database.result import Failure, Result, results_match
from items.model import Item
from items.rules.facts import Facts, facts_of
from items.rules.sql import Query, read_query
from items.rules.wording import Wording
from items.settings import Settings

Severity = Literal["problem", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
TIME_S = (
    3.0  # a reference that needs longer than this is no question for an exam (30 s is its limit)
)


@dataclass(frozen=True)
class Found:
    """What a rule says is wrong; without a severity it has the rule's own. `other`: an item's id."""

    message: str
    evidence: str = ""
    severity: Severity | None = None
    other: str = ""


@dataclass(frozen=True)
class Finding:
    """One broken rule of one item. A waived one keeps its text and is a note.

    other: the item that it is compared with, where it is.
    """

    rule: str
    severity: Severity
    message: str
    evidence: str = ""
    other: str = ""


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
    """One item on its ground, with what several rules want to know worked out once.

    unanswered: what queries of the rules were lost on the way, a line each (basics.answered tells).
    """

    item: Item
    ground: Ground
    unanswered: list[str] = field(default_factory=list, repr=False, compare=False)

    @cached_property
    def result(self) -> Result | Failure | None:
        """What the reference returns; None where there is no reference."""
        sql = self.item.reference_sql
        return None if sql is None else self.result_of(sql)

    @property
    def rows(self) -> Result | None:
        """What the reference returns, if it runs."""
        return self.result if isinstance(self.result, Result) else None

    @cached_property
    def facts(self) -> Facts:
        """What the database holds."""
        return facts_of(self.ground.database)

    @cached_property
    def wording(self) -> Wording:
        """What the question asks for."""
        return Wording(self.item.question_en, self.item.question_ko)

    @cached_property
    def query(self) -> Query | None:
        """The reference, parsed and qualified; None where there is none, or sqlglot cannot read it.

        Also None where the qualified text returns something else than the reference: then no variant
        of it would say anything about the reference.
        """
        if self.rows is None:
            return None
        query = read_query(self.item.reference_sql, self.facts.tables)
        if query is None:
            return None
        again = self.run(query.sql)
        ordered = self.item.order_matters
        same = isinstance(again, Result) and results_match(self.rows, again, ordered=ordered)
        return query if same else None

    def result_of(self, reference_sql: str) -> Result | Failure:
        """Return what this or another item's reference gives, worked out once."""
        return self._noted(self.facts.result(reference_sql, TIME_S))

    def run(self, sql: str, time_s: float = TIME_S) -> Result | Failure:
        """Return what a variant of the reference gives; that its worker was lost is noted."""
        return self._noted(self.ground.database.run(sql, time_s=time_s))

    def _noted(self, outcome: Result | Failure) -> Result | Failure:
        if isinstance(outcome, Failure) and outcome.reason == "lost":
            self.unanswered.append(f"lost: {outcome.message}")
        return outcome

    def ask(self, sql: str | None) -> tuple[tuple[Any, ...], ...]:
        """Return the rows of a query that a rule made from the reference; none when it fails."""
        result = None if sql is None else self.run(sql)
        return result.rows if isinstance(result, Result) else ()

    def changed(self, sql: str) -> Result | None:
        """Return what a variant of the reference returns, if that is something else; else None."""
        result = self.run(sql)
        if self.rows is None or not isinstance(result, Result):
            return None
        same = results_match(self.rows, result, ordered=False)
        return None if same else result

    def told(self, other: Result) -> str:
        """Return the reference's result beside another one, short, as evidence."""
        return f"reference {brief(self.rows)}; instead {brief(other)}"


def brief(result: Result | None, most: int = 3) -> str:
    """Return the first rows of a result on one line."""
    if result is None:
        return "nothing"
    shown = ", ".join(
        "(" + ", ".join(str(cell)[:40] for cell in row[:6]) + ")" for row in result.rows[:most]
    )
    more = len(result.rows) - most
    return (shown or "no rows") + (f" and {more:,} more rows" if more > 0 else "")


Look = Callable[[Case], Iterator[Found | str]]


@dataclass(frozen=True)
class Rule:
    """A function with a name, a reason, a severity and a source.

    across: it compares the item with the others, so that their content decides too.
    """

    name: str
    reason: str
    severity: Severity
    source: str
    look: Look
    across: bool = False


def rule(severity: Severity, *, source: str, across: bool = False) -> Callable[[Look], Rule]:
    """Make a Rule of a function: its name is the rule's, its docstring the reason."""

    def made(look: Look) -> Rule:
        name, reason = getattr(look, "__name__", ""), (look.__doc__ or "").strip()
        return Rule(name, " ".join(reason.split()), severity, source, look, across)

    return made
