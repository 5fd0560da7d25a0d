"""SQL in one style, so that a reviewer cannot tell who wrote it, or what was changed in it."""

import sqlglot
from sqlglot.errors import SqlglotError

from database.engine import Database
from items.rules.facts import facts_of
from items.rules.sql import DIALECT, read_query


def restyled(sql: str, database: Database) -> str:
    """Return a query with every column's table named, in one layout and without comments.

    Only for showing: what is run is always the reference itself. What sqlglot cannot qualify is laid
    out as it stands, what it cannot read is returned as it is.
    """
    query = read_query(sql, facts_of(database).tables)
    if query is not None:
        return query.tree.sql(DIALECT, pretty=True, comments=False)
    try:
        trees = sqlglot.parse(sql, read=DIALECT)
    except (SqlglotError, RecursionError):
        return sql
    if len(trees) != 1 or trees[0] is None:
        return sql
    return trees[0].sql(dialect=DIALECT, pretty=True, comments=False)
