"""Boundary rows: the rows of a neighbour on which a mutant decides otherwise than the reference.

    boundary(query, mutant, ask)  ->  "visit_start_date 2019-01-01, visit_end_date 2019-01-02"

They say what a question leaves open: whether such a row counts. Only a change inside a condition of
WHERE, ON, HAVING or FILTER has them; of other changes the two results say enough.
"""

from collections.abc import Iterator

from sqlglot import exp

from database.result import Result
from database.scratch import Ask
from items.mutants import Mutant
from items.rules.nodes import bare, conjuncts
from items.rules.sql import DIALECT, Part, Query

ROWS = 2
COLUMNS = 4
CELL = 40  # characters


def boundary(query: Query, mutant: Mutant, ask: Ask) -> str:
    """Return up to two rows on which the changed condition differs; nothing where there are none."""
    sql = boundary_query(query, mutant)
    found = ask(sql) if sql else None
    if not isinstance(found, Result):
        return ""
    return " / ".join(_told(found.columns, row) for row in found.rows)


def boundary_query(query: Query, mutant: Mutant) -> str | None:
    """Return the query for the rows on which the changed condition differs, if it is in a condition."""
    part = _part(query, mutant.node)
    clause = _clause(mutant.node)
    if part is None or clause is None or part.correlated or not part.select.args.get("from_"):
        return None
    before = _condition(clause, mutant.node)
    after = _changed(before, mutant.node, mutant.new)
    differs = f"COALESCE({before.sql(DIALECT)}, FALSE) <> COALESCE({after.sql(DIALECT)}, FALSE)"
    rows = _rows(part, before, differs, grouped=isinstance(clause, exp.Having))
    for cte in query.visible(part.select):
        rows = rows.with_(cte.alias, as_=cte.this.copy(), dialect=DIALECT)
    return rows.sql(DIALECT)


def _part(query: Query, node: exp.Expr) -> Part | None:
    """Return the SELECT that a node stands in, itself not in one further inside."""
    select = node.find_ancestor(exp.Select)
    return next((part for part in query.parts if part.select is select), None)


def _clause(node: exp.Expr) -> exp.Expr | None:
    """Return the WHERE, HAVING or JOIN whose condition a node is part of."""
    if isinstance(node, (exp.Where, exp.Having)):
        return node
    found = node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Select)
    return None if isinstance(found, exp.Select) else found


def _condition(clause: exp.Expr, node: exp.Expr) -> exp.Expr:
    """Return the one condition of a clause that holds a node, or the whole where several do."""
    whole = clause.args["on"] if isinstance(clause, exp.Join) else clause.this
    holds = [one for one in conjuncts(whole) if any(inner is node for inner in one.walk())]
    found: exp.Expr = holds[0] if holds else whole
    return found


def _changed(before: exp.Expr, node: exp.Expr, new: exp.Expr | None) -> exp.Expr:
    """Return a condition with the mutant's change in it; what is taken out holds for every row."""
    if new is None:
        return exp.true()
    if before is node:
        return new.copy()
    copy = before.copy()
    for original, twin in zip(before.walk(), copy.walk(), strict=True):
        if original is node:
            twin.replace(new.copy())
    return copy


def _rows(part: Part, before: exp.Expr, differs: str, *, grouped: bool) -> exp.Select:
    """Return the query for a SELECT's rows, or groups, where a condition and its mutant differ."""
    rows = exp.Select()
    for name in ("from_", "joins", "where", *(("group", "having") if grouped else ())):
        rows.set(name, _without(part.select.args.get(name), before))
    shown = list(dict.fromkeys(_shown(part, before, grouped=grouped)))[:COLUMNS]
    rows = rows.select(*(shown or ["1"]), dialect=DIALECT).limit(ROWS)
    add = rows.having if grouped else rows.where
    ordered = add(differs, dialect=DIALECT).order_by(*shown, dialect=DIALECT)
    return ordered if grouped else ordered.distinct()


def _without(clause: object, condition: exp.Expr) -> object:
    """Return a copy of a clause in which a condition always holds."""
    if isinstance(clause, list):
        return [_without(one, condition) for one in clause]
    if not isinstance(clause, exp.Expr):
        return clause
    copy = clause.copy()
    for original, twin in zip(list(clause.walk()), list(copy.walk()), strict=True):
        if original is condition:
            twin.replace(exp.true())
    return copy


def _shown(part: Part, before: exp.Expr, *, grouped: bool) -> Iterator[str]:
    """Yield what is shown of a row: what the condition reads, and of a group its key."""
    if not grouped:
        yield from (column.sql(DIALECT) for column in before.find_all(exp.Column))
        return
    group = part.select.args.get("group")
    yield from (bare(key).sql(DIALECT) for key in (group.expressions if group else ()))
    yield from (value.sql(DIALECT) for value in before.find_all(exp.AggFunc))


def _told(columns: tuple[str, ...], row: tuple[object, ...]) -> str:
    cells = (
        f"{name} {'NULL' if cell is None else str(cell)[:CELL]}"
        for name, cell in zip(columns, row, strict=True)
    )
    return ", ".join(cells)
