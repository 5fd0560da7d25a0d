"""Years and decades as limits: in 2010 or later takes 2010 in, the 1950s end with 1959."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT

YEAR = r"(1[89]\d\d|20\d\d)(?![-\d])"
FROM = (
    rf"\b(?:in|from|since) {YEAR} (?:or later|and later|or after|on\b|onwards?)|\bsince {YEAR}|"
    rf"\b{YEAR} or later"
)
AFTER = rf"(?<!or )\bafter {YEAR}|\blater than {YEAR}"
BEFORE = rf"(?<!or )\bbefore {YEAR}|\bearlier than {YEAR}"
UNTIL = (
    rf"\b(?:in {YEAR} or (?:earlier|before)|{YEAR} or earlier|"
    rf"(?:until|through|up to) (?:the end of )?{YEAR})"
)
DECADE = r"\b(?:in|during|of) the ((?:1[89]|20)\d0)s\b"


@dataclass(frozen=True)
class Limit:
    """A comparison as the first (low) or the last year that it takes in whole."""

    node: exp.Expr
    low: int | None = None
    high: int | None = None


@rule("problem", source="S3-006 (since, until, in); arXiv 2601.08778 (error class E2)")
def year_limits(case: Case) -> Iterator[Found | str]:
    """In 2010 or later begins with 2010, after 2010 with 2011; before 2010 ends with 2009."""
    for pattern, side, more in (
        (FROM, "low", 0),
        (AFTER, "low", 1),
        (UNTIL, "high", 0),
        (BEFORE, "high", -1),
    ):
        for match in re.finditer(pattern, case.wording.english, re.I):
            year = int(next(group for group in match.groups() if group)) + more
            found = [limit for limit in _limits(case) if getattr(limit, side) is not None]
            yield f"{match.group(0)!r}: {side} {year}"
            ends = {getattr(limit, side) for limit in found}
            near = [limit for limit in found if abs(getattr(limit, side) - year) == 1]
            if near and year not in ends:
                yield Found(f"the question says {match.group(0)!r}; {near[0].node.sql(DIALECT)}")


@rule("problem", source="off-by-one limits in BIRD and Spider: a decade of eleven years")
def decade_limits(case: Case) -> Iterator[Found | str]:
    """The 1950s go from 1950 to 1959."""
    match = re.search(DECADE, case.wording.english)
    if match is None:
        return
    first = int(match.group(1))
    limits = list(_limits(case))
    lows, highs = ({getattr(limit, side) for limit in limits} for side in ("low", "high"))
    yield f"{match.group(0)!r}: from {sorted(filter(None, lows))} to {sorted(filter(None, highs))}"
    for limit in limits:
        if limit.high == first + 10 and first + 9 not in highs:
            yield Found(f"the {first}s end with {first + 9}; {limit.node.sql(DIALECT)}")
        if limit.low in (first - 1, first + 1) and first not in lows:
            yield Found(f"the {first}s begin with {first}; {limit.node.sql(DIALECT)}")


def _limits(case: Case) -> Iterator[Limit]:
    """Yield what a query compares years, or dates at the turn of a year, with."""
    for node in case.query.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE) if case.query else ():
        value = _year(node.expression, last=isinstance(node, (exp.LTE, exp.GT)))
        if value is not None and _of_years(node.this, node.expression):
            if isinstance(node, (exp.GT, exp.GTE)):
                yield Limit(node, low=value + isinstance(node, exp.GT))
            else:
                yield Limit(node, high=value - isinstance(node, exp.LT))
    for between in case.query.tree.find_all(exp.Between) if case.query else ():
        low, high = between.args["low"], between.args["high"]
        first, last = _year(low, last=False), _year(high, last=True)
        if first is not None and last is not None and _of_years(between.this, low):
            yield Limit(between, low=first, high=last)


def _year(node: exp.Expr, *, last: bool) -> int | None:
    """Return a year given as one, or as its last (first) day; None for a day in its middle."""
    value = literal(bare(node))
    if isinstance(value, int) and 1800 < value < 2100:
        return value
    day = (
        as_date(value[:10])
        if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value)
        else None
    )
    if day is None:
        return None
    edge = (12, 31) if last else (1, 1)
    return day.year if (day.month, day.day) == edge else None


def _of_years(node: exp.Expr, limit: exp.Expr) -> bool:
    """Whether what is compared with a bare number is a year, by its function or its name."""
    if isinstance(literal(bare(limit)), str):
        return True
    return "year" in node.sql(DIALECT).lower()
