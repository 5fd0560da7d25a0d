# ruff: noqa: S608 -- SQL made of a parsed tree
"""Reading SQL: the tree with every column resolved, and how to ask variants of it.

`read_query` parses and qualifies a statement with the real schema (sqlglot), so that every column
names its source. A `Part` is one SELECT of it: the statement itself, a CTE, a subquery, a branch of
a UNION. Rules ask two kinds of variants: the whole statement with one node exchanged (`exchanged`),
and the rows that one part works on (`body`).
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from items.rules.nodes import bare

DIALECT = "duckdb"
logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it cannot read, rules tell, not stderr
Node = TypeVar("Node", bound=exp.Expr)
Origin = tuple[str, str]  # (table, column) of the database, lower case
Tables = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Part:
    """One SELECT of a statement, with its sources."""

    select: exp.Select
    scope: Scope

    @property
    def sources(self) -> dict[str, exp.Table | Scope]:
        """Return what FROM and JOIN name: alias to table, or to the scope of a subquery or CTE."""
        named = {_alias(node) for node in _relations(self.select)}
        return {name: source for name, source in self.scope.sources.items() if name in named}

    @property
    def correlated(self) -> bool:
        """Whether it reads columns of an enclosing SELECT, and so cannot be run alone."""
        return bool(self.scope.external_columns)

    def own(self, *kinds: type[Node]) -> Iterator[Node]:
        """Yield the nodes of some kinds in this SELECT, without those of SELECTs inside it."""
        for node in self.select.walk(prune=lambda n: n is not self.select and _select(n)):
            if isinstance(node, kinds):
                yield node


@dataclass(frozen=True)
class Query:
    """A statement, parsed and qualified."""

    tree: exp.Query
    parts: tuple[Part, ...]

    @property
    def tables(self) -> frozenset[str]:
        """Return the names that it reads from, lower case, those of CTEs included."""
        return frozenset(table.name.lower() for table in self.tree.find_all(exp.Table))

    @property
    def sql(self) -> str:
        """Return the qualified statement as SQL again."""
        return self.tree.sql(DIALECT)

    @property
    def top(self) -> Part | None:
        """Return the outermost SELECT; None where the statement is a UNION."""
        return next((part for part in self.parts if part.select is self.tree), None)

    def exchanged(self, node: exp.Expr, new: exp.Expr | None) -> str:
        """Return the statement with one node, or the whole of it, put in place of another (None: out)."""
        if node is self.tree and new is not None:
            return new.sql(DIALECT)
        copy = self.tree.copy()
        for original, twin in zip(self.tree.walk(), copy.walk(), strict=True):
            if original is node:
                if new is None:
                    twin.pop()
                else:
                    twin.replace(new.copy())
                return copy.sql(DIALECT)
        raise ValueError("the node is not in this statement")

    def body(
        self,
        part: Part,
        outputs: Sequence[str],
        *,
        where: str = "",
        group: Sequence[str] = (),
        numbered: str = "",
        having: str = "",
    ) -> str | None:
        """Return a query over the rows that a part works on: its FROM, JOINs and WHERE.

        outputs:  SQL expressions over its sources.
        where:    a condition in addition to its own.
        numbered: a source whose rows get a number, `row_number_`, so that copies can be told apart.
        Returns None for a correlated part: it has no rows of its own.
        """
        if part.correlated or not part.select.args.get("from_"):
            return None
        rows = exp.Select(
            **{key: _copied(part.select.args.get(key)) for key in ("from_", "joins", "where")}
        )
        rows = rows.select(*outputs, dialect=DIALECT)
        if where:
            rows = rows.where(where, dialect=DIALECT)
        if group:
            rows = rows.group_by(*group, dialect=DIALECT)
        if having:
            rows = rows.having(having, dialect=DIALECT)
        if numbered:
            _number(rows, numbered)
        for cte in self.visible(part.select):
            rows = rows.with_(cte.alias, as_=cte.this.copy(), dialect=DIALECT)
        return rows.sql(DIALECT)

    def visible(self, select: exp.Select) -> list[exp.CTE]:
        """Return the CTEs that a SELECT may name, in the order they stand."""
        node: exp.Expr | None = select
        found: dict[str, exp.CTE] = {}
        while node is not None:
            for cte in node.args["with_"].expressions if node.args.get("with_") else ():
                if not _inside(select, cte):
                    found.setdefault(cte.alias, cte)
            node = node.parent
        return [cte for cte in self.tree.find_all(exp.CTE) if found.get(cte.alias) is cte]

    def origin(self, part: Part, column: exp.Expr) -> Origin | None:
        """Return the table and column of the database that a column stands for, if it is one."""
        found = self.derived(part, column)
        if found is None:
            return None
        inner, expression = found
        if not isinstance(expression, exp.Column):
            return None
        source = inner.scope.sources.get(expression.table)
        if isinstance(source, exp.Table):
            return source.name.lower(), expression.name.lower()
        return None

    def derived(self, part: Part, node: exp.Expr) -> tuple[Part, exp.Expr] | None:
        """Follow a column through subqueries and CTEs to the expression that makes it."""
        node = bare(node)
        for _ in range(50):  # as deep as any reference nests
            if not isinstance(node, exp.Column):
                return part, node
            source = part.scope.sources.get(node.table)
            if not isinstance(source, Scope):
                return part, node
            step = _projection(source, node.name)
            if step is None:
                return None
            part, node = step
        return None


def read_query(sql: str | None, tables: Tables) -> Query | None:
    """Return a statement qualified with the schema; None where sqlglot cannot read it."""
    try:
        trees = sqlglot.parse(sql or "", dialect=DIALECT)
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        tree = qualify(
            _limited(trees[0]),
            dialect=DIALECT,
            schema={name: dict(columns) for name, columns in tables.items()},
            quote_identifiers=False,
            identify=False,
            validate_qualify_columns=False,
        )
        _grouped(tree)
        scopes = traverse_scope(tree)
    except (SqlglotError, RecursionError, ValueError, KeyError, AttributeError):
        return None  # what sqlglot cannot read is lint that we do not have, no fault of the item
    parts = [Part(s.expression, s) for s in scopes if isinstance(s.expression, exp.Select)]
    return Query(tree, tuple(parts))


def over(query: Query, node: exp.Expr, part: Part) -> list[Origin]:
    """Return the database columns that an expression reads."""
    found = (query.origin(part, column) for column in node.find_all(exp.Column))
    return [origin for origin in found if origin is not None]


def _limited(tree: exp.Query) -> exp.Query:
    """Return a statement with FETCH FIRST n ROWS ONLY as LIMIT n, so that rules know one form."""
    for fetch in list(tree.find_all(exp.Fetch)):
        options, count = fetch.args.get("limit_options"), fetch.args.get("count")
        if count and not (
            options and (options.args.get("percent") or options.args.get("with_ties"))
        ):
            fetch.replace(exp.Limit(expression=count.copy()))
    return tree


def _grouped(tree: exp.Expr) -> None:
    """Write GROUP BY ALL out: every output that has no aggregate, so that rules know one form."""
    for group in list(tree.find_all(exp.Group)):
        select = group.parent
        if group.args.get("all") and isinstance(select, exp.Select):
            keys = [
                o.unalias().copy() for o in select.selects if not o.find(exp.AggFunc, exp.Window)
            ]
            select.set("group", exp.Group(expressions=keys) if keys else None)


def _projection(source: Scope, name: str) -> tuple[Part, exp.Expr] | None:
    while source.set_operation_scopes:
        source = source.set_operation_scopes[0]
    if not isinstance(source.expression, exp.Select):
        return None
    for projection in source.expression.selects:
        if projection.alias_or_name.lower() == name.lower():
            return Part(source.expression, source), bare(projection)
    return None


def _relations(select: exp.Select) -> Iterator[exp.Expr]:
    start = select.args.get("from_")
    if start:
        yield start.this
    for join in select.args.get("joins") or ():
        yield join.this


def _alias(node: exp.Expr) -> str:
    return str(node.alias_or_name)


def _number(rows: exp.Select, name: str) -> None:
    for node in list(_relations(rows)):
        if _alias(node) == name:
            inner = node.copy()
            inner.set("alias", None)
            relation = inner.sql(DIALECT)
            text = f"(SELECT *, row_number() OVER () AS row_number_ FROM {relation}) AS {name}"
            table = sqlglot.parse_one(f"SELECT 1 FROM {text}", dialect=DIALECT).args["from_"].this
            node.replace(table)


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [item.copy() for item in value]
    return value.copy() if isinstance(value, exp.Expr) else value


def _select(node: exp.Expr) -> bool:
    return isinstance(node, (exp.Select, exp.SetOperation))


def _inside(node: exp.Expr | None, outer: exp.Expr) -> bool:
    while node is not None:
        if node is outer:
            return True
        node = node.parent
    return False
