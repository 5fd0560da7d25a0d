"""Periods that the question names: the month in words is the month of the query, before is not after."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part
from items.rules.wording import number

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
NAMED = re.compile(rf"\b(?:in|during) ({'|'.join(MONTHS)}) (\d{{4}})\b")
ONGOING = (
    r"(?:ongoing|in progress|under way|active|open|under observation|observed|enrolled) "
    r"(?:on|at the end of|as of) \S*\d"
)
YEARS = {  # years back: as English and Korean name the calendar year
    2: (r"\byear before last\b", "재작년"),
    1: (r"(?<!the )\blast year\b", "(?<!재)작년|지난해"),
    0: (r"\bthis year\b", "올해|금년"),
}
SPAN = (
    r"(?:within|in|during|up to|at most|no more than|not more than) (?:the )?(?:last )?"
    r"(\d+|[a-z]+) (?:days?|weeks?|months?|years?)(?: or less| at most)?"
)
BACK = re.compile(rf"\b{SPAN} (?:before|prior to|preceding|leading up to)\b", re.I)
ON = re.compile(rf"\b{SPAN} (?:after|following|of|from|since)\b", re.I)
AFTER = re.compile(rf"\b{SPAN} (?:after|following|since)\b", re.I)
BOTH = r"before (?:or|and|to) |after (?:or|and) before|either side|or (?:after|before|following)\b|around"


@rule("problem", source="arXiv 2601.08778 (error class E2): another period than the question's")
def named_month(case: Case) -> Iterator[Found | str]:
    """In March 2010 starts in March 2010."""
    if case.query is None:
        return
    starts = {day for day in map(_day, _low_ends(case)) if day}
    for match in NAMED.finditer(case.wording.english):
        month, year = MONTHS.index(match.group(1)) + 1, int(match.group(2))
        yield f"{match.group(0)}; the query starts on {', '.join(map(str, sorted(starts))) or '?'}"
        near = {d for day in starts for d in (day, day + timedelta(days=1))}
        if starts and not any((day.year, day.month) == (year, month) for day in near):
            found = ", ".join(map(str, sorted(starts)))
            yield Found(f"the question says {match.group(0)!r}; the query starts on {found}")


@rule("problem", source="arXiv 2601.08778 (error class E2); S3-006: last year is the calendar's")
def named_year(case: Case) -> Iterator[Found | str]:
    """Last year and this year, in either language, are the calendar years beside the tier's today."""
    if case.query is None or case.ground.today is None:
        return
    starts = {day for day in map(_day, _low_ends(case)) if day}
    years = {day.year for start in starts for day in (start, start + timedelta(days=1))}
    for back, (english, korean) in YEARS.items():
        said = re.search(english, case.wording.english, re.I) or re.search(
            korean, case.wording.korean
        )
        if said is None or not years:
            continue
        wanted = case.ground.today.year - back
        yield f"{said.group(0)!r} is {wanted}; the query starts in {sorted(years)}"
        rolling = back == 1 and any(_a_year_ago(start, case.ground.today) for start in starts)
        if wanted not in years or rolling:
            found = ", ".join(map(str, sorted(starts)))
            yield Found(f"{said.group(0)!r} is {wanted}; the query starts on {found}")


@rule("warning", source="OHDSI/Circe (index windows): days before taken for days after")
def window_side(case: Case) -> Iterator[Found | str]:
    """Within N days before an event looks back, within N days after it looks on."""
    back, on = BACK.search(case.wording.english), ON.search(case.wording.english)
    said = back or on
    if case.query is None or said is None or (back and on):
        return
    sides = set(_sides(case, number(said.group(1).lower())))
    yield f"{said.group(0)!r}; the query looks {', '.join(sorted(sides)) or '?'}"
    wrong = "on" if back else "back"
    if sides == {wrong}:
        yield Found(f"the question says {said.group(0)!r}; the query looks {wrong}")
    yield from _both_sides(case, back or AFTER.search(case.wording.english))


@rule("warning", source="OHDSI/CohortConstructor#628 (what is ongoing on a day)")
def ongoing_both(case: Case) -> Iterator[Found | str]:
    """What is ongoing on a day had started by then and had not ended."""
    if case.query is None or not case.wording.says(ONGOING):
        return
    limits = case.query.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
    names = {column.name.lower() for node in limits for column in node.find_all(exp.Column)}
    starts, ends = (any(f"_{side}_" in name for name in names) for side in ("start", "end"))
    yield f"limits on {', '.join(sorted(names)) or 'nothing'}"
    if starts != ends:
        yield Found(
            f"ongoing wants a start and an end; the query limits {', '.join(sorted(names))}"
        )


def _a_year_ago(day: date, today: date) -> bool:
    """Whether a day begins the last twelve months, which are not last year."""
    return abs((today - day).days - 365) <= 2 and (day.month, day.day) != (1, 1)


def _low_ends(case: Case) -> Iterator[exp.Expr]:
    """Yield what dates are compared with as the start of a period."""
    for node in case.query.tree.find_all(exp.GTE, exp.GT, exp.Between) if case.query else ():
        yield node.args.get("low") or node.expression


def _day(node: exp.Expr) -> date | None:
    value = literal(node)
    return as_date(value) if isinstance(value, str) else None


def _sides(case: Case, span: int | None) -> Iterator[str]:
    """Yield where windows of a span lie, seen from the event that it is counted from: back, on."""
    for between in case.query.tree.find_all(exp.Between) if case.query else ():
        low, high = bare(between.args["low"]), bare(between.args["high"])
        yield from _steps(low, high, span)
    for node in case.query.tree.find_all(exp.LTE, exp.LT, exp.GTE, exp.GT) if case.query else ():
        if not isinstance(bare(node.this), exp.Column):
            continue
        step = bare(node.expression)
        if isinstance(node, (exp.LTE, exp.LT)) and _is_step(step, exp.Add, span):
            yield "on"
        if isinstance(node, (exp.GTE, exp.GT)) and _is_step(step, exp.Sub, span):
            yield "back"


def _both_sides(case: Case, said: re.Match[str] | None) -> Iterator[Found]:
    """Find abs(a - b) <= n, which holds before and after, where the question looks to one side."""
    if said is None or case.wording.says(BOTH, korean="전후|앞뒤"):
        return
    span = number(said.group(1).lower())
    for part in case.query.parts if case.query else ():
        for size in part.own(exp.Abs):
            limit, sides = size.parent, _dates(size)
            asked = isinstance(limit, (exp.LT, exp.LTE, exp.Between)) and len(sides) == 2
            if asked and limit is not None and _spans(limit, span) and not _ordered(part, sides):
                yield Found(
                    f"the question says {said.group(0)!r}; {limit.sql(DIALECT)} looks both ways"
                )


def _dates(size: exp.Abs) -> set[str]:
    """Return the two columns whose distance it is."""
    inner = bare(size.this)
    if not isinstance(inner, (exp.Sub, exp.DateDiff)):
        return set()
    return {column.sql(DIALECT) for column in inner.find_all(exp.Column)}


def _spans(limit: exp.Expr, span: int | None) -> bool:
    """Whether a limit is a span of days, weeks, months or years; a day more below a limit."""
    value = literal(limit.args.get("high") or limit.expression)
    days = {span * unit for unit in (1, 7, 30, 31, 365)} if span else set()
    return span is None or value in days | {day + 1 for day in days}


def _ordered(part: Part, sides: set[str]) -> bool:
    """Whether another condition says which of two dates comes first."""
    limits = part.own(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
    return any(
        sides <= {column.sql(DIALECT) for column in limit.find_all(exp.Column)}
        for limit in limits
        if not limit.find(exp.Abs)
    )


def _steps(low: exp.Expr, high: exp.Expr, span: int | None) -> Iterator[str]:
    if _is_step(high, exp.Add, span):
        yield "on"
    if _is_step(low, exp.Sub, span):
        yield "back"


def _is_step(node: exp.Expr, kind: type[exp.Expr], span: int | None) -> bool:
    """Whether an expression is a column plus or minus a span of days."""
    while isinstance(node, exp.Cast):
        node = bare(node.this)
    if not isinstance(node, kind) or node.this.find(exp.Column) is None:
        return False
    step = bare(node.expression)
    value = literal(step.this if isinstance(step, exp.Interval) else step)
    return span is None or str(value) in (str(span), str(span * 7))
