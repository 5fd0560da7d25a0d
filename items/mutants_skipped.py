"""What makes no mutant: a change that gives the same query again, or asks for another thing.

A join's own condition, an id moved by one, a position or a rounding, an outer join that WHERE undoes, a
UNION of rows that a constant tells apart.
"""

from sqlglot import exp

from items.rules.nodes import bare, conjuncts
from items.rules.sql import Part, Tables


def joins_sources(condition: exp.Expr) -> bool:
    """Whether a condition is what a join hangs on: columns of two sources, equal."""
    tables = {column.table for column in condition.find_all(exp.Column)}
    return isinstance(condition, exp.EQ) and len(tables) > 1


def is_id(node: exp.Literal) -> bool:
    """Whether a number is compared with a column of ids: one more would be another thing."""
    compared = node.find_ancestor(exp.EQ, exp.In, exp.NEQ)
    if compared is None or not isinstance(compared.this, (exp.Column, exp.Literal)):
        return False
    columns = list(compared.find_all(exp.Column))
    return any(column.name.lower().endswith("_id") for column in columns)


def is_place(node: exp.Literal) -> bool:
    """Whether a number is a position, a constant in SELECT, or rounds: nothing that selects rows."""
    inside = (exp.Ordered, exp.Round, exp.Interval, exp.DataType, exp.Group)
    if node.find_ancestor(*inside) is not None or isinstance(node.parent, (exp.Select, exp.Alias)):
        return True
    return (
        node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Limit, exp.Filter, exp.Case) is None
    )


def person(part: Part, tables: Tables) -> exp.Column | None:
    """Return the person that a SELECT's rows are about."""
    for name, source in part.sources.items():
        if isinstance(source, exp.Table) and "person_id" in tables.get(source.name.lower(), {}):
            return exp.column("person_id", table=name)
    return None


def undone(part: Part, join: exp.Join, later: list[exp.Join]) -> bool:
    """Whether a condition elsewhere needs the joined row, so that an outer join is the inner one."""
    name = join.this.alias_or_name
    conditions = conjuncts(part.select.args.get("where"))
    for other in later:
        conditions += conjuncts(other.args.get("on")) if not other.side else []
    for condition in conditions:
        ways = (
            condition.unnest().flatten() if isinstance(condition.unnest(), exp.Or) else [condition]
        )
        if all(_needs(way, name) for way in ways):
            return True
    return False


def _needs(condition: exp.Expr, name: str) -> bool:
    """Whether a condition is false where a source has no row."""
    read = {column.table for column in condition.find_all(exp.Column)}
    return name in read and condition.find(exp.Is, exp.Coalesce, exp.Or) is None


def one_row(branch: exp.Expr) -> bool:
    """Whether a branch of a UNION is one row that a constant tells from the others."""
    if isinstance(branch, exp.Union):
        return one_row(branch.left) and one_row(branch.right)
    if not isinstance(branch, exp.Select) or branch.args.get("group"):
        return False
    values = [bare(output) for output in branch.selects]
    constant = any(isinstance(value, exp.Literal) for value in values)
    alone = not branch.args.get("from_") or any(value.find(exp.AggFunc) for value in values)
    return constant and alone
