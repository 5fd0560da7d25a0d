"""Ties: a LIMIT, a row number or an arg_max that picks one of several equal rows, and NULLs picked.

EHRSQL had to change 1,840 references for this (CHANGELOG 1.5.0): which of the equal rows comes back is
luck, so a right answer may be scored as wrong.
"""

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT, Query

KEYS = "sort_key_"
TIE_BREAK = (
    r"(?:break ties|ties|on (?:equal|the same|a tie)|if (?:equal|tied)|then) "
    r"(?:\w+ ){0,4}(?:by|first)\b"
)
PICKS = (exp.ArgMax, exp.ArgMin, exp.AnyValue, exp.First, exp.Last)


@rule("problem", source="glee4810/EHRSQL CHANGELOG 1.5.0; taoyds/test-suite-sql-eval#25")
def ties(case: Case) -> Iterator[Found | str]:
    """A LIMIT must not cut through rows that are equal in what they are ordered by."""
    if case.query is None:
        return
    for select in case.query.tree.find_all(exp.Select):
        count = literal(getattr(select.args.get("limit"), "expression", None))
        if not isinstance(count, int) or count < 1:
            continue
        order = select.args.get("order")
        offset = literal(getattr(select.args.get("offset"), "expression", None))
        last = count + (offset if isinstance(offset, int) else 0)
        yield f"{order.sql(DIALECT) if order else 'no ORDER BY'} LIMIT {count}"
        if not order:
            yield from _unordered(case, case.query, select, count)
        else:
            yield from _cut(case, case.query, select, order, last)
            if last > count:  # OFFSET cuts, too
                yield from _cut(case, case.query, select, order, last - count)


@rule("problem", source="glee4810/EHRSQL CHANGELOG 1.5.0")
def picked(case: Case) -> Iterator[Found | str]:
    """A row number, arg_max, arg_min, first or any_value must not pick one of several equal rows."""
    if case.query is None:
        return
    for number in case.query.tree.find_all(exp.RowNumber):
        window = number.parent
        if isinstance(window, exp.Window) and window.args.get("order"):
            yield window.sql(DIALECT)
            ranked = exp.Anonymous(this="rank", expressions=[])
            other = case.changed(case.query.exchanged(number, ranked))
            if other is not None:
                yield Found(
                    "row_number() picks one of several equal rows; rank() keeps them all",
                    evidence=case.told(other),
                )
    for select in case.query.tree.find_all(exp.Select):
        yield from _first_of_each(case, case.query, select)
    for node in case.query.tree.find_all(*PICKS):
        if isinstance(node.this, exp.Order) or isinstance(node.expression, exp.Order):
            continue
        yield node.sql(DIALECT)
        ends = [
            case.ask(case.query.exchanged(node, _ordered(node, desc))) for desc in (False, True)
        ]
        if ends[0] and ends[1] and sorted(map(repr, ends[0])) != sorted(map(repr, ends[1])):
            yield Found(
                f"{node.sql(DIALECT)} picks one of several equal rows",
                evidence=f"it may give {ends[0][0]!r} or {ends[1][0]!r}",
            )


@rule("problem", source="bird-bench/mini_dev#49")
def null_picked(case: Case) -> Iterator[Found | str]:
    """A missing value must not be picked as the highest or the lowest."""
    if case.query is None:
        return
    for select in case.query.tree.find_all(exp.Select):
        order = select.args.get("order")
        count = literal(getattr(select.args.get("limit"), "expression", None))
        if not order or not isinstance(count, int):
            continue
        rows = _keyed(case, case.query, select, order, count)
        yield f"{order.sql(DIALECT)} LIMIT {count}: first key {rows[0][0]!r}" if rows else "no rows"
        if any(row[0] is None for row in rows[:count]):
            yield Found(
                f"{order.expressions[0].this.sql(DIALECT)} is NULL in a row that LIMIT {count} keeps; "
                "leave missing values out",
                evidence=f"row {rows[0]!r}",
            )


@rule("problem", source="S1-081; Spider's order rule; reported by tied ORDER BY keys")
def order_ties(case: Case) -> Iterator[Found | str]:
    """Where the order counts, ORDER BY must decide it: no two different rows with equal keys."""
    if case.query is None or case.rows is None or not case.item.order_matters:
        return
    order = case.query.tree.args.get("order")
    if not order or not isinstance(case.query.tree, exp.Select):
        return
    width = len(order.expressions)
    limit = literal(getattr(case.query.tree.args.get("limit"), "expression", None))
    shown = limit if isinstance(limit, int) and not case.query.tree.args.get("offset") else None
    rows = _keyed(case, case.query, case.query.tree, order, shown)
    yield f"{order.sql(DIALECT)} over {len(rows)} rows"
    for one, other in pairwise(rows):
        if one[:width] == other[:width] and one[width:] != other[width:]:
            yield Found(
                "two different rows are equal in all that ORDER BY names: their order is luck",
                evidence=f"{one[width:]!r} and {other[width:]!r}",
            )
            return


@rule("warning", source="Spider's order rule: a tie-break that was asked for")
def tie_break_done(case: Case) -> Iterator[Found | str]:
    """Where the question says how ties are broken, ORDER BY has a second key."""
    order = case.query.tree.args.get("order") if case.query else None
    if not order or not case.item.order_matters:
        return
    said = case.wording.says(
        TIE_BREAK, korean="(?:같으면|동률이면|같은 경우)[^.?]*순|같으면[^.?]*부터"
    )
    yield f"{order.sql(DIALECT)}; a tie-break is asked for: {said}"
    if said and len(order.expressions) == 1:
        yield Found(
            f"the question says how ties are ordered; the query has {order.sql(DIALECT)} alone"
        )


def _first_of_each(case: Case, query: Query, select: exp.Select) -> Iterator[Found | str]:
    """DISTINCT ON keeps one row of each group: by luck where the order leaves rows equal."""
    distinct, order = select.args.get("distinct"), select.args.get("order")
    if not isinstance(distinct, exp.Distinct) or not distinct.args.get("on"):
        return
    yield distinct.sql(DIALECT)
    ends = []
    for desc in (False, True):
        copy = select.copy()
        keys = [key.copy() for key in (order.expressions if order else ())]
        rest = [exp.Ordered(this=output.unalias().copy(), desc=desc) for output in copy.selects]
        copy.set("order", exp.Order(expressions=keys + rest))
        whole = select is query.tree
        ends.append(case.ask(copy.sql(DIALECT) if whole else query.exchanged(select, copy)))
    if all(ends) and sorted(map(repr, ends[0])) != sorted(map(repr, ends[1])):
        one, other = next((a, b) for a, b in zip(*ends, strict=True) if a != b)
        yield Found(
            "DISTINCT ON picks one of several equal rows",
            evidence=f"it may give {one!r} or {other!r}",
        )


def _unordered(case: Case, query: Query, select: exp.Select, count: int) -> Iterator[Found]:
    limit = select.args["limit"]
    more = exp.Limit(expression=exp.Literal.number(count + 1))
    if case.changed(query.exchanged(limit, more)) is not None:
        yield Found(f"LIMIT {count} without ORDER BY keeps whatever rows come first")


def _cut(
    case: Case, query: Query, select: exp.Select, order: exp.Order, last: int
) -> Iterator[Found | str]:
    width = len(order.expressions)
    rows = _keyed(case, query, select, order, last + 1)
    if len(rows) <= last:
        return
    kept, lost = rows[last - 1], rows[last]
    yield f"row {last}: {kept!r}; row {last + 1}: {lost!r}"
    if kept[width:] == lost[width:]:
        return
    if kept[:width] == lost[:width]:
        yield Found(
            f"rows {last} and {last + 1} are equal in what they are ordered by "
            f"({_values(kept[:width])}): the LIMIT keeps either",
            evidence=f"kept {kept[width:]!r}, lost {lost[width:]!r}",
        )
    elif kept[0] == lost[0] and not _tie_break_said(case):
        yield Found(
            f"rows {last} and {last + 1} are equal ({kept[0]!r}); only a key that the question does "
            "not name decides which is kept",
            evidence=f"kept {kept[width:]!r}, lost {lost[width:]!r}",
            severity="warning",
        )


def _keyed(
    case: Case, query: Query, select: exp.Select, order: exp.Order, most: int | None
) -> tuple[tuple[object, ...], ...]:
    """Return a SELECT's rows in order, each with its sort keys in front."""
    if select.args.get("distinct"):
        return ()
    copy = select.copy()
    outputs = [projection.copy() for projection in copy.selects]
    named = {projection.alias_or_name.lower(): projection for projection in copy.selects}
    keys = []
    for place, ordered in enumerate(order.expressions):
        key = ordered.this
        if isinstance(key, exp.Literal) and not key.is_string:
            key = copy.selects[int(key.this) - 1]
        elif isinstance(key, exp.Column) and not key.table:
            key = named.get(key.name.lower(), key)
        keys.append(exp.alias_(key.unalias().copy(), f"{KEYS}{place}"))
    copy.set("expressions", keys + outputs)
    copy.set("with_", None)
    copy.set("limit", exp.Limit(expression=exp.Literal.number(most)) if most else None)
    copy.set("offset", None)
    for cte in query.visible(select):
        copy = copy.with_(cte.alias, as_=cte.this.copy(), dialect=DIALECT, append=True)
    return case.ask(copy.sql(DIALECT))


def _ordered(node: exp.Expr, desc: bool) -> exp.Expr:
    """Return an aggregate that goes through its rows in the order of the value that it picks."""
    copy = node.copy()
    key = exp.Ordered(this=node.this.copy(), desc=desc)
    inner = copy.expression if copy.args.get("expression") else copy.this
    inner.replace(exp.Order(this=inner.copy(), expressions=[key]))
    return copy


def _tie_break_said(case: Case) -> bool:
    return case.wording.says(
        r"ties?\b",
        "tied",
        "alphabetical",
        "by name",
        "(?:lowest|smallest|smaller|lower) (?:id|concept|number)",
        "any one",
        "equal (?:counts?|numbers?)",
        korean="동점|동률|같으면|같은 경우|가나다",
    )


def _values(keys: tuple[object, ...]) -> str:
    return ", ".join(str(key) for key in keys)
