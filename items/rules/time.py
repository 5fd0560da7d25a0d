"""Time: whole days, months and years, both ends of an interval, dates against times, a pinned today."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.sql import DIALECT, Part, bare, literal
from items.rules.wording import number

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK")
AGE = r"how old|\bage\b|aged|older|younger|years? old|years of age"
AGE_KOREAN = "나이|몇 살|세 이상|세 이하|연령|세 미만|세 초과"
DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
LONGEST_LIFE = 120


@rule("problem", source="duckdb/duckdb#600; Eunomia question cd1")
def boundaries_counted(case: Case) -> Iterator[Found | str]:
    """date_diff counts New Years and month ends crossed; date_sub counts whole years and months."""
    if case.query is None or case.wording.says(r"calendar (?:year|month|quarter)"):
        return
    for node in case.query.tree.find_all(exp.DateDiff):
        unit = str(node.args.get("unit") or "").upper()
        if unit not in UNITS or node.find(exp.TimestampTrunc, exp.DateTrunc):
            continue
        yield node.sql(DIALECT)
        arguments = [exp.Literal.string(unit.lower()), node.expression.copy(), node.this.copy()]
        whole = exp.Anonymous(this="date_sub", expressions=arguments)
        other = case.changed(case.query.exchanged(node, whole))
        if other is not None:
            yield Found(
                f"{node.sql(DIALECT)} counts {unit.lower()} boundaries; date_sub counts whole ones",
                evidence=case.told(other),
            )


@rule("warning", source="duckdb/duckdb#600 (ages from years alone)")
def age_in_years(case: Case) -> Iterator[Found | str]:
    """An age is whole years lived, not a difference of years, where the birthday is known."""
    if case.query is None or not case.wording.says(AGE, korean=AGE_KOREAN):
        return
    known = case.facts.tables.get("person", {})
    birthday = [n for n in ("birth_date", "birth_datetime", "day_of_birth") if _filled(case, n)]
    if (
        not known
        or not birthday
        or case.wording.says("year of birth", "birth year", korean="출생 ?연도")
    ):
        return
    for node in case.query.tree.find_all(exp.Sub):
        if any(column.name.lower() == "year_of_birth" for column in node.find_all(exp.Column)):
            yield node.sql(DIALECT)
            yield Found(
                f"{node.sql(DIALECT)} may be a year too many before the birthday; person has "
                f"{birthday[0]}, or say in the question that only years count",
                severity="note",
            )
    for ratio in case.query.tree.find_all(exp.Div, exp.IntDiv):
        if literal(ratio.expression) in (365, 365.25, 365.2425):
            yield Found(f"{ratio.sql(DIALECT)} is not an age in whole years: date_sub('year', …)")


@rule("problem", source="duckdb/duckdb#1825; Eunomia question rt3")
def days_inclusive(case: Case) -> Iterator[Found | str]:
    """A difference of dates counts nights; + 1 only where both days are asked for."""
    if case.query is None:
        return
    for part in case.query.parts:
        for output in part.select.selects:
            for node in output.find_all(exp.Sub, exp.DateDiff):
                if not _between_columns(case, part, node):
                    continue
                plus = _plus_one(node)
                yield f"{node.sql(DIALECT)}{' + 1' if plus else ''}"
                if case.wording.inclusive_days and not plus:
                    yield Found(
                        f"{node.sql(DIALECT)} leaves one of the two days out; the question counts both"
                    )
                elif plus and not case.wording.inclusive_days:
                    yield Found(
                        f"{node.sql(DIALECT)} + 1 counts both days; the question does not say so",
                        severity="warning",
                    )


@rule("problem", source="arXiv 2601.08778 (error class E2)")
def midnight_limit(case: Case) -> Iterator[Found | str]:
    """A date as the upper limit of a time is that day's midnight: the rest of the day is lost."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.Between, exp.LTE, exp.EQ, exp.GT):
            column = bare(node.this)
            origin = case.query.origin(part, column) if isinstance(column, exp.Column) else None
            known = case.facts.column(origin) if origin else None
            if known is None or not known.type.startswith("TIMESTAMP"):
                continue
            yield node.sql(DIALECT)
            day = exp.Cast(this=column.copy(), to=exp.DataType.build("DATE"))
            other = case.changed(case.query.exchanged(column, day))
            if other is not None and _names_a_day(node):
                yield Found(
                    f"{node.sql(DIALECT)}: the limit is midnight, later times of that day fall out",
                    evidence=case.told(other),
                )


@rule("warning", source="measured: DATE minus INTERVAL is a TIMESTAMP in DuckDB 2.0.1")
def date_shown(case: Case) -> Iterator[Found | str]:
    """A date comes back as a DATE, not as a timestamp at midnight."""
    if case.query is None or case.rows is None or case.query.top is None:
        return
    for place, output in enumerate(case.query.top.select.selects):
        kind = case.rows.types[place].upper() if place < len(case.rows.types) else ""
        values = [str(row[place]) for row in case.rows.rows if row[place] is not None]
        midnight = bool(values) and all(value.endswith("00:00:00") for value in values)
        yield f"{output.alias_or_name}: {kind}"
        if kind.startswith("TIMESTAMP") and midnight and not isinstance(bare(output), exp.Column):
            yield Found(f"{output.sql(DIALECT)} is a timestamp at midnight; cast it to DATE")


@rule("warning", source="S3-006; S1-065")
def pinned_today(case: Case) -> Iterator[Found | str]:
    """A time counted from today starts from the tier's today."""
    today = case.ground.today
    if case.query is None or today is None or not case.wording.relative:
        return
    said = sorted({day for node in case.query.tree.walk() if (day := _day(node))})
    yield f"today is {today}; the query names {', '.join(map(str, said)) or 'no date'}"
    spans = _spans(case.wording.english)
    if not said:
        yield Found(
            f"the question counts from today ({today}), the query names no date", severity="problem"
        )
    elif not any(_starts_from(day, today, spans) for day in said):
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


def _filled(case: Case, name: str) -> bool:
    known = case.facts.column(("person", name))
    return known is not None and known.nulls < known.rows


def _between_columns(case: Case, part: Part, node: exp.Expr) -> bool:
    """Whether a difference is one of two dates that both stand in the data: a length, not an age."""
    columns = [bare(side) for side in (node.this, node.expression)]
    columns = [inner.this if isinstance(inner, exp.Cast) else inner for inner in columns]
    if not all(isinstance(column, exp.Column) for column in columns) or case.query is None:
        return False
    if isinstance(node, exp.DateDiff) and str(node.args.get("unit") or "").upper() != "DAY":
        return False
    origins = [case.query.origin(part, column) for column in columns]
    return all(o is not None and ("date" in o[1] or "time" in o[1]) for o in origins)


def _plus_one(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, (exp.Paren, exp.Cast, exp.Avg, exp.Sum)):
        parent = parent.parent
    return isinstance(parent, exp.Add) and 1 in (literal(parent.this), literal(parent.expression))


def _names_a_day(node: exp.Expr) -> bool:
    """Whether a limit is a date without a time."""
    limit = node.args.get("high") or node.expression
    value = literal(limit)
    return isinstance(value, str) and bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value.strip()))


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
