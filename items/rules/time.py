"""Time: the tier's today, both sides of an interval, starts and ends, days that nobody can have."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part
from items.rules.wording import number

SIGNS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.EQ)
AGE = r"\bage\b|\baged\b|\bold\b|\bolder\b|\byounger\b|\byoung\b|birthday|\bturned\b|\bunder\b|\bover\b"
STARTS = (
    r"(?:take|use|using|by|based on|counting) (?:the |their )?start dates?\b|"
    r"(?:earliest|latest|first|last) (?:\w+ ){0,3}start dates?\b"
)
DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}


@rule("warning", source="S3-006; S1-065")
def pinned_today(case: Case) -> Iterator[Found | str]:
    """A time counted from today starts from the tier's today."""
    today = case.ground.today
    if case.query is None or today is None or not case.wording.relative:
        return
    said = sorted({day for node in case.query.tree.walk() if (day := _day(node))})
    yield f"today is {today}; the query names {', '.join(map(str, said)) or 'no date'}"
    spans = _spans(case.wording.english)
    named = _named_days(case.wording.english, today)
    if not said:
        yield Found(
            f"the question counts from today ({today}), the query names no date", severity="problem"
        )
    elif not any(day in named or _starts_from(day, today, spans) for day in said):
        yield Found(
            f"no date of the query fits the question's time counted from today ({today})",
            evidence=", ".join(map(str, said)),
        )


@rule("warning", source="S3-006 (since, until, within); Eunomia question cd1")
def one_sided(case: Case) -> Iterator[Found | str]:
    """Within N days after something is not before it, too."""
    if case.query is None or not case.wording.says(
        r"within (?:\S+ ){1,3}(?:after|of|from|following)", korean="(?:후|뒤|이내|안)에?"
    ):
        return
    for part in case.query.parts:
        for node in part.own(exp.LTE, exp.LT):
            late, start = bare(node.this), node.expression
            shifted = isinstance(bare(start), exp.Add) and bare(start).find(exp.Column)
            if not isinstance(late, exp.Column) or not shifted:
                continue
            yield node.sql(DIALECT)
            early = bare(start).find(exp.Column)
            if early is None or _also_limited(part, node, late, early):
                continue
            after = exp.GTE(this=late.copy(), expression=early.copy())
            both = exp.Paren(this=exp.And(this=node.copy(), expression=after))
            other = case.changed(case.query.exchanged(node, both))
            if other is not None:
                yield Found(
                    f"{node.sql(DIALECT)} also holds for what happened before {early.sql(DIALECT)}",
                    evidence=case.told(other),
                )


@rule("warning", source="bird-bench/mini_dev#45 (wrong column): start for end")
def start_or_end(case: Case) -> Iterator[Found | str]:
    """What ended is looked for by its end, what started by its start."""
    if case.query is None:
        return
    ended = case.wording.says(
        r"ended\b|discharged\b|stopped\b|finished\b|left (?:the )?hospital",
        korean="퇴원|종료된|끝난",
    )
    began = case.wording.says(
        r"start\w*|began|begin\w*|begun|admitted|admission", korean="시작|입원한|입원일"
    )
    if ended == began:
        return
    every = {column.name.lower() for column in case.query.tree.find_all(exp.Column)}
    if (
        ended
        and not any("_end_" in name for name in every)
        and any("_start_" in name for name in _dated(case))
    ):
        yield Found("the question asks for what ended; the query looks at no end")
        return
    wrong, right = ("_start_", "_end_") if ended else ("_end_", "_start_")
    for part in case.query.parts:
        names = {
            c.name.lower() for n in part.own(*SIGNS, exp.Group) for c in n.find_all(exp.Column)
        }
        yield ", ".join(sorted(names))
        bad = [name for name in sorted(names) if wrong in name]
        if bad and not any(right in name for name in names):
            yield Found(
                f"the question asks for what {'ended' if ended else 'started'}; the query has {bad[0]}"
            )


@rule("warning", source="bird-bench/mini_dev#45 (wrong column): an end where starts are named")
def dates_named(case: Case) -> Iterator[Found | str]:
    """Where the question says to take start dates, no end date is taken."""
    said = case.wording.says(STARTS, korean="시작일[을 ]{1,2}기준")
    if case.query is None or not said or case.wording.says(r"end dates?\b", korean="종료|끝"):
        return
    for column in case.query.tree.find_all(exp.Column):
        yield column.sql(DIALECT)
        if "_end_date" in column.name.lower() and not isinstance(column.parent, exp.Is):
            yield Found(f"the question takes start dates; the query reads {column.sql(DIALECT)}")
            return


@rule("warning", source="S3-006; events after today or before birth")
def impossible_times(case: Case) -> Iterator[Found | str]:
    """No event after the tier's today, and no filter on dates that nobody can have."""
    today = case.ground.today
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.GT, exp.GTE, exp.LT, exp.LTE):
            column, value = bare(node.this), literal(node.expression)
            origin = case.query.origin(part, column) if isinstance(column, exp.Column) else None
            known = case.facts.column(origin) if origin else None
            if known is None or value is None or known.low is None:
                continue
            yield f"{node.sql(DIALECT)}: the column goes from {known.low} to {known.high}"
            if _never(node, known.low, known.high, value):
                yield Found(
                    f"no row has {node.sql(DIALECT)}: the column goes from {known.low} to {known.high}"
                )
            late = as_date(known.high)
            open_above = isinstance(node, (exp.GT, exp.GTE)) and case.wording.relative
            if open_above and today and late and "DATE" in known.type and late > today:
                yield Found(
                    f"{column.sql(DIALECT)} holds days after today ({today}), up to {late}: limit it"
                )


def _dated(case: Case) -> set[str]:
    """Return the columns of the tables that a query reads."""
    tables = case.query.tables if case.query else ()
    return {name for table in tables for name in case.facts.tables.get(table, {})}


def _day(node: exp.Expr) -> date | None:
    if not isinstance(node, exp.Literal) or not node.is_string:
        return None
    return as_date(node.this) if re.match(r"\d{4}-\d{2}-\d{2}", str(node.this)) else None


def _spans(text: str) -> list[tuple[int, str]]:
    """Return the times counted back from today: (12, "month")."""
    found = re.findall(
        r"\b(?:last|past|previous|recent)\s+(?:(\w+)\s+)?(?:full\s+|calendar\s+)*"
        r"(day|week|month|quarter|year)s?\b|\b(\w+)\s+(day|week|month|quarter|year)s?\s+(?:ago|earlier)",
        text.lower(),
    )
    spans = []
    for count, unit, other, other_unit in found:
        n = number(count or other) if (count or other) else 1
        spans.append((n if n is not None else 1, unit or other_unit))
    return spans


def _named_days(text: str, today: date) -> set[date]:
    """Return the days that lie as far before today as the question says; a day beside them too.

    Who is older than 40 today has had the 41st birthday: an age and the next one both count.
    """
    text = text.lower()
    ends = set()
    for count, unit in re.findall(r"\b(\w+)[\s-](day|week|month|year)s?\b", text):
        ends |= {_back(today, n, unit) for n in [number(count)] if n is not None}
    if re.search(AGE, text):
        ages = [int(age) for age in re.findall(r"\b\d{1,3}\b", text)]
        ends |= {_back(today, age + more, "year") for age in ages for more in (0, 1)}
    days = {day for day in ends if day is not None}
    return days | {day + timedelta(days=by) for day in days for by in (-1, 1)}


def _back(today: date, count: int, unit: str) -> date | None:
    """Return the day some units before today (the month's last where it has no such day)."""
    months = {"month": count, "year": 12 * count}.get(unit)
    if months is None:
        return today - timedelta(days=min(count, 36_500) * DAYS[unit])
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    if year < 1:
        return None
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def _starts_from(day: date, today: date, spans: list[tuple[int, str]]) -> bool:
    """Whether a date is today, a start of its week, month or year, or a span back from it."""
    starts = {today, today.replace(day=1), today.replace(month=1, day=1)}
    starts |= {today - timedelta(days=today.weekday()), today + timedelta(days=1)}
    if day in starts:
        return True
    for count, unit in spans:
        back = today - timedelta(days=count * DAYS[unit])
        slack = timedelta(days={"day": 1, "week": 8}.get(unit, 2 * DAYS[unit]))
        if back - slack <= day <= today:
            return True
    return not spans and date(today.year - 1, 1, 1) <= day <= today


def _also_limited(part: Part, node: exp.Expr, late: exp.Expr, early: exp.Expr) -> bool:
    pair = {late.sql(DIALECT).lower(), early.sql(DIALECT).lower()}
    for other in part.own(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between):
        read = {column.sql(DIALECT).lower() for column in other.find_all(exp.Column)}
        if other is not node and pair <= read:
            return True
    return False


def _never(node: exp.Expr, low: object, high: object, value: str | int | float) -> bool:
    """Whether no value between two ends satisfies a comparison with a constant."""
    ends: tuple[object, object] = (low, high)
    limit: object = value
    if isinstance(value, str):
        days = as_date(low), as_date(high), as_date(value)
        if None in days:
            return False
        ends, limit = (days[0], days[1]), days[2]
    try:
        above = isinstance(node, (exp.GT, exp.GTE))
        if above:
            over = ends[1] < limit  # type: ignore[operator]
            return bool(over or (isinstance(node, exp.GT) and ends[1] == limit))
        under = ends[0] > limit  # type: ignore[operator]
        return bool(under or (isinstance(node, exp.LT) and ends[0] == limit))
    except TypeError:
        return False
