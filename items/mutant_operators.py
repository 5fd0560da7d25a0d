"""The mistakes that mutants make: each operator yields what it would change in a query, and into what.

    kind, node, new       comparator, n >= 5, n > 5

`new` stands in the node's place; None takes it out. What is the same query by SQL's own rules is not made
(items/mutants_skipped.py). Source: see items/mutants.py.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

from sqlglot import exp

from items.mutants_skipped import is_id, is_place, joins_sources, one_row, person, undone
from items.rules.nodes import bare, conjuncts
from items.rules.sql import Query, Tables

STRICTER = {exp.GTE: exp.GT, exp.GT: exp.GTE, exp.LTE: exp.LT, exp.LT: exp.LTE}
MOST_CHOICES = 4  # of an IN list that are left out one at a time
COLUMN_ENDS = (
    ("_start_", "_end_"),
    ("_source_concept_id", "_concept_id"),
    ("ancestor_", "descendant_"),
)

# A node taken over into a new expression is copied first: a node has one parent.
Change = tuple[str, exp.Expr, exp.Expr | None]


def _predicates(query: Query, _tables: Tables) -> Iterator[Change]:
    """Leave out one condition of WHERE or HAVING, or one of several in ON."""
    for part in query.parts:
        for name in ("where", "having"):
            clause = part.select.args.get(name)
            parts = conjuncts(clause)
            for condition in parts:
                kind = (
                    "guard" if condition.find(exp.Is) and condition.find(exp.Null) else "predicate"
                )
                if len(parts) == 1 and clause is not None:
                    yield kind, clause, None
                else:
                    yield kind, condition, exp.true()
        for join in part.select.args.get("joins") or ():
            parts = conjuncts(join.args.get("on"))
            for condition in parts if len(parts) > 1 else ():
                if not joins_sources(condition):
                    yield "predicate", condition, exp.true()
        for filtered in part.own(exp.Filter):
            yield "predicate", filtered, filtered.this


def _comparators(query: Query, _tables: Tables) -> Iterator[Change]:
    """Move a comparison by its limit: > for >=, and the ends of BETWEEN."""
    for node in query.tree.find_all(*STRICTER):
        yield (
            "comparator",
            node,
            STRICTER[type(node)](this=node.this.copy(), expression=node.expression.copy()),
        )
    for between in query.tree.find_all(exp.Between):
        low, high = between.args["low"], between.args["high"]
        for above, below in ((exp.GT, exp.LTE), (exp.GTE, exp.LT)):
            value = between.this
            pair = [
                above(this=value.copy(), expression=low.copy()),
                below(this=value.copy(), expression=high.copy()),
            ]
            yield "comparator", between, exp.paren(exp.and_(*pair))


def _connectors(query: Query, _tables: Tables) -> Iterator[Change]:
    """OR for AND between two conditions, and AND for OR."""
    for node in query.tree.find_all(exp.Or):
        yield "and_or", node, exp.And(this=node.this.copy(), expression=node.expression.copy())
    for part in query.parts:
        parts = conjuncts(part.select.args.get("where"))
        for one, other in pairwise(parts):
            if (
                isinstance(other.parent, exp.And)
                and not one.find(exp.Or)
                and not other.find(exp.Or)
            ):
                joined = other.parent
                if joined.this is one:
                    yield (
                        "and_or",
                        joined,
                        exp.paren(exp.Or(this=one.copy(), expression=other.copy())),
                    )


def _dates(query: Query, _tables: Tables) -> Iterator[Change]:
    """A date a day or a year earlier or later."""
    for node in query.tree.find_all(exp.Cast):
        if node.to.is_type("date", "timestamp") and isinstance(node.this, exp.Literal):
            for step in ("-1 DAY", "1 DAY", "-1 YEAR", "1 YEAR"):
                count, unit = step.split()
                interval = exp.Interval(this=exp.Literal.string(count), unit=exp.var(unit))
                moved = exp.Add(this=node.copy(), expression=interval)
                yield "date", node, exp.paren(exp.Cast(this=exp.paren(moved), to=node.to.copy()))


def _numbers(query: Query, _tables: Tables) -> Iterator[Change]:
    """A number that is no id one more or one less."""
    for node in query.tree.find_all(exp.Literal):
        if node.is_string or "." in str(node.this) or is_id(node) or is_place(node):
            continue
        value = int(node.this)
        for step in (1, -1) if value > 0 else (1,):
            yield "number", node, exp.Literal.number(value + step)
    for interval in query.tree.find_all(exp.Interval):
        text = str(getattr(interval.this, "this", ""))
        if text.isdigit():
            for step in (1, -1):
                moved = exp.Interval(
                    this=exp.Literal.string(str(int(text) + step)), unit=interval.unit
                )
                yield "number", interval, moved


def _counts(query: Query, tables: Tables) -> Iterator[Change]:
    """COUNT and COUNT(DISTINCT), SELECT and SELECT DISTINCT, UNION and UNION ALL."""
    for part in query.parts:
        for count in part.own(exp.Count):
            if isinstance(count.this, exp.Distinct):
                inner = count.this.expressions
                if len(inner) == 1:
                    yield "count", count, exp.Count(this=inner[0].copy(), big_int=True)
            else:
                value = bare(count.this) if isinstance(count.this, exp.Expr) else None
                key = value if isinstance(value, exp.Column) else person(part, tables)
                if key is not None:
                    distinct = exp.Distinct(expressions=[key.copy()])
                    yield "count", count, exp.Count(this=distinct, big_int=True)
        if part.select.args.get("distinct"):
            plain = part.select.copy()
            plain.set("distinct", None)
            yield "distinct", part.select, plain
    for union in query.tree.find_all(exp.Union):
        if one_row(union.left) and one_row(union.right):
            continue  # the branches differ in a constant: nothing can be dropped
        other = union.copy()
        other.set("distinct", not union.args.get("distinct"))
        yield "distinct", union, other


def _join_kinds(query: Query, _tables: Tables) -> Iterator[Change]:
    """LEFT for INNER where nothing undoes it, and INNER for LEFT."""
    for part in query.parts:
        joins: list[exp.Join] = list(part.select.args.get("joins") or ())
        for place, join in enumerate(joins):
            if join.side == "LEFT":
                inner = join.copy()
                inner.set("side", None)
                yield "join", join, inner
            elif (
                not join.side and join.args.get("on") and not undone(part, join, joins[place + 1 :])
            ):
                outer = join.copy()
                outer.set("kind", None)
                outer.set("side", "LEFT")
                yield "join", join, outer


def _extremes(query: Query, _tables: Tables) -> Iterator[Change]:
    """MIN for MAX, MAX for MIN, and the other direction of an order that LIMIT cuts."""
    for node in query.tree.find_all(exp.Min):
        yield "extreme", node, exp.Max(this=node.this.copy())
    for top in query.tree.find_all(exp.Max):
        yield "extreme", top, exp.Min(this=top.this.copy())
    for part in query.parts:
        if part.select.args.get("limit") and part.select.args.get("order"):
            first = part.select.args["order"].expressions[0]
            turned = first.copy()
            turned.set("desc", not first.args.get("desc"))
            yield "extreme", first, turned


def _aggregates(query: Query, _tables: Tables) -> Iterator[Change]:
    """MAX for AVG: where one row is meant, they agree and nobody sees the difference."""
    for node in query.tree.find_all(exp.Avg):
        yield "aggregate", node, exp.Max(this=node.this.copy())


def _columns(query: Query, tables: Tables) -> Iterator[Change]:
    """A column for the one that looks like it: start for end, source concept for concept."""
    for part in query.parts:
        for column in part.own(exp.Column):
            source = part.scope.sources.get(column.table)
            known = tables.get(source.name.lower(), {}) if isinstance(source, exp.Table) else {}
            for one, other in COLUMN_ENDS:
                for old, new in ((one, other), (other, one)):
                    name = column.name.lower().replace(old, new)
                    taken_twice = new in column.name.lower() and old in new
                    if name != column.name.lower() and name in known and not taken_twice:
                        yield "column", column, exp.column(name, table=column.table)


def _lists(query: Query, _tables: Tables) -> Iterator[Change]:
    """An IN list without one of its choices."""
    for node in query.tree.find_all(exp.In):
        choices = node.expressions
        for place in range(min(len(choices), MOST_CHOICES) if len(choices) > 1 else 0):
            kept = [choice.copy() for i, choice in enumerate(choices) if i != place]
            yield "list", node, exp.In(this=node.this.copy(), expressions=kept)


def _guards(query: Query, _tables: Tables) -> Iterator[Change]:
    """COALESCE taken away, an OR … IS NULL taken away."""
    for node in query.tree.find_all(exp.Coalesce):
        yield "guard", node, node.this
    for either in query.tree.find_all(exp.Or):
        for side, other in ((either.left, either.right), (either.right, either.left)):
            if isinstance(side, exp.Is):
                yield "guard", either, other


def _units(query: Query, _tables: Tables) -> Iterator[Change]:
    """date_sub for date_diff: whole units for boundaries."""
    for node in query.tree.find_all(exp.DateDiff):
        unit = str(node.args.get("unit") or "").lower()
        if unit in ("year", "month", "quarter"):
            arguments = [exp.Literal.string(unit), node.expression.copy(), node.this.copy()]
            yield "unit", node, exp.Anonymous(this="date_sub", expressions=arguments)


OPERATORS: tuple[Callable[[Query, Tables], Iterator[Change]], ...] = (
    _predicates,
    _comparators,
    _connectors,
    _dates,
    _numbers,
    _counts,
    _join_kinds,
    _extremes,
    _aggregates,
    _columns,
    _lists,
    _guards,
    _units,
)
