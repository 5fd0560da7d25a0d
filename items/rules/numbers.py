"""Numbers: text that holds numbers, decimals cut off, divisions by zero."""

from collections.abc import Iterator
from math import isinf, isnan

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Origin
from items.rules.values import TEXT

RATIO = r"share|proportion|percent|percentage|fraction|ratio|rate|mean|average|per\b"
RATIO_KOREAN = "비율|퍼센트|평균|분율|당 "


@rule("problem", source="bird-bench/mini_dev#49")
def text_as_number(case: Case) -> Iterator[Found | str]:
    """Numbers kept as text are compared and ordered as numbers."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.Column):
            origin = case.query.origin(part, node)
            if origin is None or not _ordering(node) or not _numeric_text(case, origin):
                continue
            yield f"{node.sql(DIALECT)} is text that holds numbers"
            number = exp.TryCast(this=node.copy(), to=exp.DataType.build("DOUBLE"))
            other = case.changed(case.query.exchanged(node, number))
            if other is not None:
                yield Found(
                    f"{'.'.join(origin)} is text: '9' comes after '10'; cast it to a number",
                    evidence=case.told(other),
                )


@rule("problem", source="lightdash/lightdash#23100")
def whole_division(case: Case) -> Iterator[Found | str]:
    """A share or a mean is not cut to a whole number."""
    if case.query is None:
        return
    asked = case.wording.says(RATIO, korean=RATIO_KOREAN)
    for node in case.query.tree.find_all(exp.IntDiv):
        yield node.sql(DIALECT)
        real = exp.Div(this=node.this.copy(), expression=node.expression.copy())
        other = case.changed(case.query.exchanged(node, real))
        if other is not None and asked:
            yield Found(f"{node.sql(DIALECT)} cuts the decimals off", evidence=case.told(other))
    for cut in case.query.tree.find_all(exp.Floor):
        if asked and cut.find(exp.Div):
            yield Found(f"{cut.sql(DIALECT)} cuts the decimals off a ratio")
    for cast in case.query.tree.find_all(exp.Cast):
        ratio = isinstance(bare(cast.this), (exp.Div, exp.Avg))
        if asked and ratio and cast.to.is_type("int", "bigint"):
            yield Found(f"{cast.sql(DIALECT)} cuts the decimals off a ratio")


@rule(
    "problem",
    source="DuckDB: / keeps the decimals, // cuts them; SQL carried over from other engines",
)
def division_undone(case: Case) -> Iterator[Found | str]:
    """x / 10 * 10 is x again: only // or FLOOR makes decades of it."""
    for product in case.query.tree.find_all(exp.Mul) if case.query else ():
        ratio, factor = bare(product.this), literal(product.expression)
        yield product.sql(DIALECT)
        same = isinstance(ratio, exp.Div) and literal(ratio.expression) == factor
        if same and factor not in (None, 1) and literal(ratio.this) is None:
            yield Found(
                f"{product.sql(DIALECT)} gives back what was divided; // cuts the decimals off"
            )


@rule("problem", source="FACTS §1: 1/0 is infinity in DuckDB")
def zero_denominator(case: Case) -> Iterator[Found | str]:
    """Nothing is divided by 0."""
    if case.rows is None:
        return
    cells = [cell for row in case.rows.rows for cell in row if isinstance(cell, float)]
    yield f"{len(cells)} floating-point values in the result"
    if any(isinf(cell) or isnan(cell) for cell in cells):
        yield Found("the result holds infinity or NaN: a division by 0; use NULLIF")
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.Div):
            below = bare(node.expression)
            origin = case.query.origin(part, below) if isinstance(below, exp.Column) else None
            if origin is not None:
                sql = case.query.body(part, ["1"], where=f"{below.sql(DIALECT)} = 0")
                if case.ask(sql):
                    yield Found(f"{'.'.join(origin)} is 0 in rows that are divided by it")


def _ordering(node: exp.Column) -> bool:
    """Whether an expression's order counts: an end is taken, it is sorted by, or compared."""
    parent = node.parent
    if isinstance(parent, (exp.Max, exp.Min)):
        return True
    if isinstance(parent, exp.Ordered):
        return True
    if isinstance(parent, (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)):
        return True
    return isinstance(parent, (exp.ArgMax, exp.ArgMin)) and parent.expression is node


def _numeric_text(case: Case, origin: Origin) -> bool:
    known = case.facts.column(origin)
    if known is None or not known.type.startswith(TEXT) or known.rows == known.nulls:
        return False
    table, name = origin
    rows = case.facts.rows(
        f'SELECT count(TRY_CAST("{name}" AS DOUBLE)), count("{name}") FROM "{table}"'  # noqa: S608
    )
    numbers, values = rows[0]
    return bool(numbers >= 0.8 * values)
