"""SQL in one style, so that a reviewer cannot tell who wrote it."""

import sqlglot
from sqlglot.errors import SqlglotError


def restyled(sql: str) -> str:
    """Return a query re-printed in one style, without comments; as it is where sqlglot cannot read it.

    Only for showing: what is run is always the reference itself.
    """
    try:
        trees = sqlglot.parse(sql, read="duckdb")
    except (SqlglotError, RecursionError):
        return sql
    if len(trees) != 1 or trees[0] is None:
        return sql
    return trees[0].sql(dialect="duckdb", pretty=True, comments=False)
