"""Absences: people and groups that have nothing, and should still have their row or their zero."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.left_out import filled_up, joined_away, zeros_asked
from items.rules.nodes import bare, conjuncts
from items.rules.relations import ZERO, ZERO_KOREAN, keeps_those_without
from items.rules.sql import DIALECT, Part

SOME_PERIODS = (  # the question asks for those with something
    r"(?:month|year|day)s?(?: (?:of|in) \d{4})? (?:that|which|when|where|having|"
    r"with (?:an?|any|some|at least))\b",
    r"(?:month|year|day)s?(?: (?:of|in) \d{4})? in which\b",
)
SOME_PERIODS_KOREAN = "있(?:었던|는|던) (?:달|해|월)|없는 (?:달|해|월)[은을] (?:빼|제외)"


@rule("problem", source="arXiv 2601.08778 (error class E1)")
def left_join_undone(case: Case) -> Iterator[Found | str]:
    """A condition on the outer table in WHERE makes an inner join of a LEFT JOIN."""
    if case.query is None:
        return
    for part in case.query.parts:
        for join in part.select.args.get("joins") or ():
            if join.side != "LEFT":
                continue
            yield join.sql(DIALECT)
            name = join.this.alias_or_name
            for condition in conjuncts(part.select.args.get("where")):
                read = {column.table for column in condition.find_all(exp.Column)}
                if name in read and _rejects_null(condition):
                    yield Found(
                        f"WHERE {condition.sql(DIALECT)} undoes the LEFT JOIN of {name}: "
                        "move it into ON, or join with INNER"
                    )
                    break


@rule("problem", source="COUNT(*) over an outer join counts the empty row")
def empty_row_counted(case: Case) -> Iterator[Found | str]:
    """COUNT(*) after a LEFT JOIN counts 1 where nothing was joined."""
    if case.query is None:
        return
    for part in case.query.parts:
        right = [j.this for j in part.select.args.get("joins") or () if j.side == "LEFT"]
        if not right or not part.select.args.get("group"):
            continue
        for count in part.own(exp.Count):
            if not isinstance(count.this, exp.Star) or isinstance(count.parent, exp.Filter):
                continue
            key = _any_key(case, part, right[-1])
            if key is None:
                continue
            yield f"COUNT(*) over LEFT JOIN {right[-1].sql(DIALECT)}"
            other = case.changed(case.query.exchanged(count, exp.Count(this=key, big_int=True)))
            if other is not None:
                yield Found(
                    f"COUNT(*) counts 1 where the LEFT JOIN found nothing; COUNT({key.sql(DIALECT)}) 0",
                    evidence=case.told(other),
                )


@rule("problem", source="arXiv 2601.08778 (error class E1)")
def zero_rows(case: Case) -> Iterator[Found | str]:
    """A mean per person, or a row for each person (visit, provider), also takes in who has nothing."""
    if case.query is None:
        return
    if zeros_asked(case):
        lost = [found for part in case.query.parts for found in joined_away(case, part)]
        yield "the question asks for the zeros"
        if lost:
            yield lost[0]
            return
    if not case.wording.each_of_all or case.wording.only_those_with:
        return
    if not case.facts.has("person", "person_id"):
        return
    for part in case.query.parts:
        group = part.select.args.get("group")
        keys = [key for key in (group.expressions if group else ()) if isinstance(key, exp.Column)]
        origins = [case.query.origin(part, key) for key in keys]
        ids = [k for k, o in zip(keys, origins, strict=True) if o and o[1] == "person_id"]
        if not ids or any(_keeps_everybody(part, key) for key in ids):
            continue
        if filled_up(part) or not _adds_up(part):
            continue
        rows = case.ask(case.query.body(part, [f"count(DISTINCT {ids[0].sql(DIALECT)})"]))
        every = case.facts.rows("SELECT count(*) FROM person")[0][0]
        yield f"{rows[0][0] if rows else '?'} of {every} people have a row"
        if rows and rows[0][0] < every and not _restricted(part, case):
            yield Found(
                f"{every - rows[0][0]:,} of {every:,} people have no row and are left out; count them as "
                "0, or say in the question who is meant"
            )


@rule("warning", source="arXiv 2601.08778 (error class E1): zeros that the question asks for")
def zeros_promised(case: Case) -> Iterator[Found | str]:
    """Who is to count as 0 is kept by the query, also where today's data have nobody like that."""
    if case.query is None or not case.wording.says(ZERO, korean=ZERO_KOREAN):
        return
    yield "those who have none count as 0"
    if not keeps_those_without(case.query.tree):
        yield Found("the question counts those who have none as 0; nothing in the query keeps them")


@rule("problem", source="arXiv 2601.08778 (error class E1)")
def per_person(case: Case) -> Iterator[Found | str]:
    """A number per person is divided by all people, not by those who have a record."""
    if case.query is None or not case.wording.each_of_all or case.wording.only_those_with:
        return
    every = (
        case.facts.rows("SELECT count(*) FROM person")[0][0]
        if case.facts.has("person", "person_id")
        else 0
    )
    for part in case.query.parts:
        for ratio in part.own(exp.Div):
            below = bare(ratio.expression)
            people = isinstance(below, exp.Count) and isinstance(below.this, exp.Distinct)
            column = below.find(exp.Column) if people else None
            if (
                column is None
                or column.name.lower() != "person_id"
                or part.select.args.get("group")
            ):
                continue
            rows = case.ask(case.query.body(part, [below.sql(DIALECT)]))
            yield f"{below.sql(DIALECT)}: {rows[0][0] if rows else '?'} of {every}"
            if rows and rows[0][0] < every and not _restricted(part, case):
                yield Found(
                    f"divided by {rows[0][0]:,} people who have a record, not by all {every:,}"
                )


@rule("warning", source="arXiv 2601.08778 (error class E1): months without a record")
def missing_periods(case: Case) -> Iterator[Found | str]:
    """A row for each month or year also has the ones with nothing, or the question leaves them out."""
    if case.rows is None or not case.wording.says(
        r"(?:each|every) (?:calendar )?(?:month|year|day)|each of the (?:\w+ )?months|month by month|"
        r"year by year|per month|per year|monthly|by month",
        korean="달마다|매달|월별|해마다|연도별|매년",
    ):
        return
    if case.wording.says(*SOME_PERIODS, korean=SOME_PERIODS_KOREAN):
        return
    yield from _missing_months(case)
    for place, name in enumerate(case.rows.columns):
        days = sorted({day for row in case.rows.rows if (day := as_date(row[place]))})
        if len(days) < 2 or any(day.day != 1 for day in days):
            continue
        months = [day.year * 12 + day.month for day in days]
        step = 12 if all(day.month == days[0].month for day in days) else 1
        yield f"{name}: {days[0]} to {days[-1]}"
        gaps = (months[-1] - months[0]) // step + 1 - len(days)
        if gaps:
            yield Found(
                f"{gaps} of the periods between {days[0]} and {days[-1]} have no row; 0 is an answer"
            )


def _adds_up(part: Part) -> bool:
    """Whether a group without rows would have a 0: a count or a sum, and not a mean alone."""
    aggregates = list(part.own(exp.AggFunc))
    means = (exp.Avg, exp.Median, exp.Stddev, exp.StddevSamp, exp.Variance)
    return not aggregates or any(not isinstance(node, means) for node in aggregates)


def _missing_months(case: Case) -> Iterator[Found | str]:
    """Look for months that stand as 1 to 12 or 2018-01, all twelve where the question names one year."""
    years = set(re.findall(r"\b(?:19|20)\d\d\b", case.wording.english))
    whole = len(years) == 1 and case.wording.says(
        r"(?:each|every) (?:calendar )?month (?:of|in) (?:the year )?(?:19|20)\d\d|each of the "
        r"(?:twelve |12 )?months (?:of|in) (?:19|20)\d\d"
    )
    for place, name in enumerate(case.rows.columns if case.rows else ()):
        cells = {row[place] for row in case.rows.rows} if case.rows else set()
        months = {_month(cell, name) for cell in cells}
        found = sorted(month for month in months if month is not None)
        if len(found) < 2 or None in months:
            continue
        yield f"{name}: {len(found)} months"
        gaps = 12 - len(found) if whole else found[-1] - found[0] + 1 - len(found)
        if gaps > 0:
            yield Found(f"{gaps} of the months have no row; 0 is an answer")
            return


def _month(cell: object, name: str) -> int | None:
    """Return a month as a number that grows by one a month: 3 of a column month, or 2018-03."""
    if isinstance(cell, int) and "month" in name.lower() and 1 <= cell <= 12:
        return cell
    text = re.fullmatch(r"(\d{4})-(\d{2})", cell) if isinstance(cell, str) else None
    return int(text.group(1)) * 12 + int(text.group(2)) if text else None


def _any_key(case: Case, part: Part, relation: exp.Expr) -> exp.Column | None:
    """Return a column of a joined table that its join condition compares, so never NULL when joined."""
    for join in part.select.args.get("joins") or ():
        if join.this is relation:
            for condition in conjuncts(join.args.get("on")):
                for column in condition.find_all(exp.Column):
                    if column.table == relation.alias_or_name:
                        return exp.column(column.name, table=column.table)
    return None


def _rejects_null(condition: exp.Expr) -> bool:
    """Whether a condition is false where its columns are NULL."""
    if condition.find(exp.Is, exp.Coalesce, exp.Or, exp.Case, exp.Not) is not None:
        return isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is)
    return True


def _keeps_everybody(part: Part, key: exp.Column) -> bool:
    """Whether people come from the side of the joins that loses no row."""
    start = part.select.args["from_"].this
    joins = part.select.args.get("joins") or ()
    outer = all(join.side == "LEFT" for join in joins)
    person = isinstance(start, exp.Table) and start.name.lower() == "person"
    return person and outer and key.table == start.alias_or_name


def _restricted(part: Part, case: Case) -> bool:
    """Whether the question itself restricts the people, by a condition that the query has on person."""
    if case.query is None:
        return False
    columns = (c for c in conjuncts(part.select.args.get("where")) for c in c.find_all(exp.Column))
    origins = (case.query.origin(part, column) for column in columns)
    return any(origin and origin[0] == "person" for origin in origins)
