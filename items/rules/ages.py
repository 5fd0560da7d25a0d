"""Ages: whole years lived, however the difference of two years is spelled."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part

AGE = r"how old|\bage\b|aged|older|younger|years? old|years of age|birthdays?\b"
AGE_KOREAN = "나이|몇 살|세 이상|세 이하|연령|세 미만|세 초과|생일"
BIRTHDAYS = ("birth_date", "birth_datetime", "day_of_birth")
YEARS = (365, 365.25, 365.2425)
TURNED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


@rule("warning", source="duckdb/duckdb#600 (ages from years alone)")
def age_in_years(case: Case) -> Iterator[Found | str]:
    """An age is whole years lived, not a difference of years, where the birthday is known."""
    if case.query is None or not case.wording.says(AGE, korean=AGE_KOREAN):
        return
    birthday = next((name for name in BIRTHDAYS if _filled(case, name)), None)
    if birthday is None or case.wording.says("year of birth", "birth year", korean="출생 ?연도"):
        return
    for part in case.query.parts:
        for node, day, variant in _differences(case, part, birthday):
            yield node.sql(DIALECT)
            yield _told(case, node, birthday, day, variant)
    for ratio in case.query.tree.find_all(exp.Div, exp.IntDiv):
        if literal(ratio.expression) in YEARS:
            yield Found(f"{ratio.sql(DIALECT)} is not an age in whole years: date_sub('year', …)")


def _told(
    case: Case, node: exp.Expr, birthday: str, day: exp.Expr | None, variant: exp.Expr
) -> Found:
    """Say what is wrong: a problem where the answer changes, a note where whole years give the same."""
    query = case.query
    sql = query.exchanged(node, variant) if query and day is not None else None
    other = case.changed(sql) if sql else None
    same = day is None or (other is None and bool(case.ask(sql)))
    return Found(
        f"{node.sql(DIALECT)} is a year too many before the birthday; person has {birthday}, or say "
        "in the question that only years count",
        evidence=case.told(other) if other else "",
        severity="problem" if other else "note" if same else None,
    )


def _differences(
    case: Case, part: Part, birthday: str
) -> Iterator[tuple[exp.Expr, exp.Expr | None, exp.Expr]]:
    """Yield what reckons with years alone: the node, the day it stands for, and what whole years are."""
    for node in part.own(exp.Sub):
        born = _born(case, part, node.expression, birthday)
        if born is not None:
            day = _day(bare(node.this))
            yield node, day, _age(born, day)
    for limit in part.own(exp.LT, exp.LTE, exp.GT, exp.GTE):
        born = _born(case, part, limit.this, birthday)
        ago = bare(limit.expression)
        if born is None or not isinstance(ago, exp.Sub):
            continue
        day = _day(bare(ago.this))
        if day is not None and literal(ago.expression) is not None:  # born <= year(day) - 65
            turned = TURNED[type(limit)]
            yield limit, day, turned(this=_age(born, day), expression=ago.expression.copy())


def _age(born: exp.Expr, day: exp.Expr | None) -> exp.Expr:
    whole = [exp.Literal.string("year"), born, day.copy() if day else exp.Null()]
    return exp.Anonymous(this="date_sub", expressions=whole)


def _born(case: Case, part: Part, node: exp.Expr, birthday: str) -> exp.Expr | None:
    """Return the birthday of what is a year of birth: its column, or the year of a birthday."""
    node = bare(node)
    date = _year_of(node)
    if date is not None:
        name = date.name.lower() if isinstance(date, exp.Column) else ""
        return _one(date, node) if name in BIRTHDAYS[:2] else None
    if not isinstance(node, exp.Column) or case.query is None:
        return None
    if node.name.lower() != "year_of_birth":
        origin = case.query.origin(part, node)
        if origin is None or origin[1] != "year_of_birth":
            return None
    return _birth(birthday, node)


def _year_of(node: exp.Expr) -> exp.Expr | None:
    """Return what a year is taken of: year(d), extract(year FROM d), date_part('year', d), strftime."""
    node = bare(node)
    while isinstance(node, exp.Cast):
        node = bare(node.this)
    if isinstance(node, exp.Year):
        inner: exp.Expr = node.this
        return bare(inner.this) if isinstance(inner, exp.TsOrDsToDate) else bare(inner)
    if isinstance(node, exp.Extract) and str(node.this).upper() == "YEAR":
        return bare(node.expression)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in ("date_part", "datepart"):
        unit, *rest = node.expressions
        return bare(rest[0]) if str(literal(unit)).lower() == "year" and rest else None
    if isinstance(node, exp.TimeToStr) and literal(node.args.get("format")) == "%Y":
        return bare(node.this)
    return None


def _day(year: exp.Expr) -> exp.Expr | None:
    """Return the date that a year is taken of; the first date for the first of several years."""
    found = _year_of(year)
    if found is None and isinstance(year, (exp.Min, exp.Max)):
        inner = _year_of(year.this)
        return type(year)(this=inner.copy()) if inner is not None else None
    return found or next(iter(year.find_all(exp.Column, exp.Cast)), None)


def _birth(name: str, born: exp.Column) -> exp.Expr:
    """Return a person's birthday: a date's column, or made of three."""
    made: exp.Expr = exp.column(name, table=born.table)
    if name == "day_of_birth":
        parts = ("year_of_birth", "month_of_birth", "day_of_birth")
        columns = [exp.column(part, table=born.table) for part in parts]
        made = exp.Anonymous(this="make_date", expressions=columns)
    return _one(made, born)


def _one(birthday: exp.Expr, born: exp.Expr) -> exp.Expr:
    """Return a birthday, or one of the group's where the SELECT groups outside of an aggregate."""
    select = born.find_ancestor(exp.Select)
    grouped = select is not None and select.args.get("group")
    added = born.find_ancestor(exp.AggFunc, exp.Where, exp.Select)
    return exp.Min(this=birthday.copy()) if grouped and added is select else birthday.copy()


def _filled(case: Case, name: str) -> bool:
    known = case.facts.column(("person", name))
    return known is not None and known.nulls < known.rows
