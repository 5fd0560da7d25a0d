"""Weekdays: a question for Saturdays and Sundays takes these two numbers and no others."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKEND = r"\bweekends?\b"
WORKDAYS = r"\bweekdays\b|\bworking days\b"
COMPARED = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


@rule("problem", source="DuckDB: dayofweek has Sunday 0, isodow Monday 1 to Sunday 7")
def weekday_numbers(case: Case) -> Iterator[Found | str]:
    """Saturday and Sunday are 6 and 0 of dayofweek, 6 and 7 of isodow."""
    asked = _asked_days(case.wording.english)
    nodes = case.query.tree.find_all(exp.In, exp.Between, *COMPARED) if case.query else ()
    taken = [(node, days) for node in nodes if (days := _taken_days(node)) is not None]
    yield "; ".join(f"{node.sql(DIALECT)}: {', '.join(sorted(days))}" for node, days in taken)
    if not asked or not taken:
        return
    right = (asked, set(DAYS) - asked)
    every = set().union(*(days for _, days in taken))
    if every not in right and not any(days in right for _, days in taken):
        node, days = taken[0]
        yield Found(
            f"the question says {', '.join(sorted(asked))}; {node.sql(DIALECT)} takes "
            f"{', '.join(sorted(days)) or 'no day'}"
        )


def _asked_days(text: str) -> set[str]:
    """Return the weekdays that a question names, a weekend as its two days."""
    found = {day for day in DAYS if re.search(rf"\b{day}s?\b", text, re.I)}
    through = re.search(rf"({'|'.join(DAYS)})s? (?:to|through) ({'|'.join(DAYS)})", text, re.I)
    if through:
        low, high = (DAYS.index(name.lower()) for name in through.groups())
        return set(DAYS[low : high + 1]) if low < high else set()
    if found:
        return found
    if re.search(WEEKEND, text, re.I):
        return set(DAYS[5:])
    return set(DAYS[:5]) if re.search(WORKDAYS, text, re.I) else set()


def _taken_days(node: exp.Expr) -> set[str] | None:
    """Return the weekdays that a condition on a weekday's number holds for; None for another condition."""
    names = _numbered(bare(node.this))
    if names is None:
        return None
    if isinstance(node, exp.Between):
        low, high = literal(node.args["low"]), literal(node.args["high"])
        if not isinstance(low, int) or not isinstance(high, int):
            return None
        return {day for number, day in names.items() if low <= number <= high}
    if isinstance(node, exp.In):
        listed = {literal(choice) for choice in node.expressions}
        known = bool(listed) and listed <= set(names)  # days.calendar_codes tells of the others
        return {day for number, day in names.items() if number in listed} if known else None
    limit = literal(node.expression)
    return (
        {day for n, day in names.items() if _holds(node, n, limit)}
        if isinstance(limit, int)
        else None
    )


def _holds(node: exp.Expr, value: int, limit: int) -> bool:
    signs: dict[type[exp.Expr], bool] = {
        exp.EQ: value == limit,
        exp.GT: value > limit,
        exp.GTE: value >= limit,
        exp.LT: value < limit,
        exp.LTE: value <= limit,
    }
    return signs[type(node)]


def _numbered(node: exp.Expr) -> dict[int, str] | None:
    """Return the numbers that a function gives the weekdays."""
    unit = ""
    if isinstance(node, exp.Extract):
        unit = node.this.name.lower()
    elif isinstance(node, exp.Anonymous) and node.name.lower() in ("date_part", "datepart"):
        unit = str(literal(node.expressions[0]) or "").lower()
    if isinstance(node, exp.DayOfWeekIso) or unit == "isodow":
        return dict(enumerate(DAYS, 1))
    sunday = isinstance(node, exp.Anonymous) and node.name.lower() == "weekday"
    if sunday or isinstance(node, exp.DayOfWeek) or unit in ("dow", "dayofweek", "weekday"):
        return {0: "sunday", **dict(enumerate(DAYS[:6], 1))}
    return None
