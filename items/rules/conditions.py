"""Conditions: what AND and OR hold together, what can never be true, and what leaves nothing out."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, conjuncts, literal
from items.rules.sql import DIALECT, Part


@rule("warning", source="arXiv 2601.08778 (error class E1)")
def precedence(case: Case) -> Iterator[Found | str]:
    """AND binds before OR: where both stand side by side, parentheses say what is meant."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.Or):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(side, exp.And):
                continue
            yield node.sql(DIALECT)
            parts = conjuncts(side)
            near = parts[-1] if side is node.left else parts[0]
            rest = [part.copy() for part in parts if part is not near]
            choice = (
                [near.copy(), other.copy()] if side is node.left else [other.copy(), near.copy()]
            )
            regrouped = exp.and_(*rest, exp.paren(exp.or_(*choice)), copy=False)
            changed = case.changed(case.query.exchanged(node, exp.paren(regrouped)))
            if changed is not None:
                yield Found(
                    f"{node.sql(DIALECT)}: AND binds before OR; write the parentheses",
                    evidence=case.told(changed),
                )
                return


@rule("problem", source="conditions that contradict themselves: reported for generated SQL")
def contradictions(case: Case) -> Iterator[Found | str]:
    """No interval that ends before it begins, no column that must be two values at once."""
    if case.query is None:
        return
    for between in case.query.tree.find_all(exp.Between):
        low, high = literal(between.args["low"]), literal(between.args["high"])
        yield between.sql(DIALECT)
        if low is not None and high is not None and type(low) is type(high) and low > high:  # type: ignore[operator]
            yield Found(f"{between.sql(DIALECT)} ends before it begins")
    for part in case.query.parts:
        yield from _counts_of_nothing(part)
        said: dict[str, object] = {}
        for condition in conjuncts(part.select.args.get("where")):
            value = (
                literal(condition.expression) if isinstance(condition, (exp.EQ, exp.NEQ)) else None
            )
            if value is None:
                continue
            column = condition.this.sql(DIALECT)
            if isinstance(condition, exp.NEQ):
                if said.get(column, value) != value:
                    yield Found(
                        f"{condition.sql(DIALECT)} says nothing beside {column} = {said[column]!r}: "
                        "whoever has such a row at another time is not left out"
                    )
                continue
            if said.setdefault(column, value) != value:
                yield Found(
                    f"{column} cannot be {said[column]!r} and {value!r} at once; use IN or OR"
                )


def _counts_of_nothing(part: Part) -> Iterator[Found]:
    """Tell COUNT(x) over rows WHERE x IS NULL: it is 0 whatever the rows are."""
    empty = {
        node.this.sql(DIALECT).lower()
        for node in conjuncts(part.select.args.get("where"))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
    }
    for count in part.own(exp.Count):
        if isinstance(count.this, exp.Column) and count.this.sql(DIALECT).lower() in empty:
            yield Found(
                f"{count.sql(DIALECT)} is 0 where {count.this.sql(DIALECT)} IS NULL; COUNT(*)"
            )


@rule("warning", source="bird-bench/mini_dev#45 (question 271): a value that the column has not")
def leaves_nothing_out(case: Case) -> Iterator[Found | str]:
    """What <> or NOT IN leaves out is there to be left out; 0 and '' may guard."""
    if case.query is None:
        return
    for part in case.query.parts:
        for column, value in _left_out(part):
            origin = case.query.origin(part, column)
            if origin is None:
                continue
            yield f"{column.sql(DIALECT)} <> {value!r}"
            if not case.facts.holds(origin, value):
                yield Found(f"{value!r} is left out and does not occur in {'.'.join(origin)}")


def _left_out(part: Part) -> Iterator[tuple[exp.Column, str | int | float]]:
    """Yield the columns and the constants that they must not be."""
    for node in part.own(exp.NEQ):
        yield from _constant(node.this, node.expression)
    for turned in part.own(exp.Not):
        inner = bare(turned.this)
        if isinstance(inner, exp.EQ):
            yield from _constant(inner.this, inner.expression)
        for choice in inner.expressions if isinstance(inner, exp.In) else ():
            yield from _constant(inner.this, choice)


def _constant(column: exp.Expr, value: exp.Expr) -> Iterator[tuple[exp.Column, str | int | float]]:
    told = literal(value)
    if isinstance(column, exp.Column) and told is not None and told not in (0, ""):
        yield column, told
