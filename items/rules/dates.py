"""Dates: whole days, months and years, midnights, formatted dates, ends of months."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK")


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


@rule("problem", source="arXiv 2601.08778 (error class E2); EHRSQL interval ends")
def month_ends(case: Case) -> Iterator[Found | str]:
    """An interval of whole months neither takes in the next month's first day nor loses the last day."""
    if case.query is None:
        return
    for part in case.query.parts:
        ends = [node.expression for node in part.own(exp.GTE, exp.GT)]
        ends += [node.args["low"] for node in part.own(exp.Between)]
        lows = {day.isoformat() for end in ends if (day := _limit(end))}
        if not any(low.endswith("-01") for low in lows):
            continue
        for node in part.own(exp.Between, exp.LTE, exp.LT):
            high = _limit(node.args.get("high") or node.expression)
            if high is None or str(high) in lows or _said(case, high):
                continue
            yield node.sql(DIALECT)
            if high.day == 1 and not isinstance(node, exp.LT):
                yield Found(
                    f"{node.sql(DIALECT)} takes in {high}, the first day after the interval"
                )
            elif isinstance(node, exp.LT) and (high + timedelta(days=1)).day == 1:
                yield Found(f"{node.sql(DIALECT)} loses {high}, the last day of the interval")


@rule("warning", source="generated SQL: formatted dates sort as text")
def dates_as_text(case: Case) -> Iterator[Found | str]:
    """A date that is formatted with the day or month first is not ordered or compared."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.TimeToStr):
        shape = str(literal(node.args.get("format")) or "")
        yield node.sql(DIALECT)
        ordered = node.find_ancestor(
            exp.Max, exp.Min, exp.Ordered, exp.GT, exp.GTE, exp.LT, exp.LTE
        )
        if ordered is not None and not shape.startswith(("%Y", "%m", "%H")):
            yield Found(f"{node.sql(DIALECT)} is text: it sorts by {shape[:2]!r} first")
        elif ordered is not None and shape.startswith("%m") and "%Y" in shape:
            yield Found(f"{node.sql(DIALECT)} is text: it sorts by the month first")


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


def _limit(node: exp.Expr | None) -> date | None:
    """Return the day that a constant names; None for anything else."""
    value = literal(node)
    return (
        as_date(value) if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value) else None
    )


def _said(case: Case, day: date) -> bool:
    """Whether a question names a day: as ISO text, or its number beside its month."""
    month = day.strftime("%B")
    english, korean = case.wording.english, f"{day.month}월 {day.day}일"
    spoken = rf"\b{day.day}(?:st|nd|rd|th)? (?:of )?{month}|{month} {day.day}\b|{day.isoformat()}"
    return bool(re.search(spoken, english)) or korean in case.wording.korean


def _names_a_day(node: exp.Expr) -> bool:
    """Whether a limit is a date without a time."""
    limit = node.args.get("high") or node.expression
    value = literal(limit)
    return isinstance(value, str) and bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value.strip()))
