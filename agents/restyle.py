"""SQL in one style, so that a reviewer cannot tell who wrote it, or what was changed in it."""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from database.engine import Database
from items.rules.facts import facts_of
from items.rules.sql import DIALECT, Tables, read_query


def restyled(sql: str, database: Database) -> str:
    """Return a query with every column's table named, in one layout and without comments.

    Only for showing: what is run is always the reference itself. What sqlglot cannot qualify is laid
    out as it stands, what it cannot read is returned as it is.
    """
    return laid_out(sql, facts_of(database).tables)


def laid_out(sql: str, tables: Tables) -> str:
    """Return a query as `restyled` does, by a schema: table -> column -> type."""
    query = read_query(sql, tables)
    if query is not None:
        return query.tree.sql(DIALECT, pretty=True, comments=False)
    tree = _parsed(sql)
    return sql if tree is None else tree.sql(dialect=DIALECT, pretty=True, comments=False)


def sources(sql: str) -> dict[str, set[str]]:
    """Return the tables that a restyled query names, each with the columns that it names of it."""
    tree = _parsed(sql)
    if tree is None:
        return {}
    named: dict[str, set[str]] = {}
    for table in tree.find_all(exp.Table):
        named.setdefault(table.alias_or_name.lower(), set()).add(table.name.lower())
    found: dict[str, set[str]] = {}
    for column in tree.find_all(exp.Column):
        for name in named.get(column.table.lower(), ()):
            found.setdefault(name, set()).add(column.name.lower())
    return found


def _parsed(sql: str) -> exp.Expr | None:
    try:
        trees = sqlglot.parse(sql, read=DIALECT)
    except (SqlglotError, RecursionError):
        return None
    return trees[0] if len(trees) == 1 else None
