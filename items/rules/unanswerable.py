"""Unanswerable items: the witness is true, and no other place holds what the question wants."""

from collections.abc import Iterator

from database import schema
from items.rules.base import Case, Found, rule


@rule("problem", source="S1-061, S1-062; DESIGN, Agreements 10")
def witness(case: Case) -> Iterator[Found | str]:
    """An unanswerable item names an empty table or a column NULL in every row, and it is so."""
    if case.item.answerable:
        return
    named = (case.item.witness or "").strip().lower()
    yield f"witness: {named or 'none'}"
    problem = _untrue(case, named)
    if problem:
        yield Found(problem)


def _untrue(case: Case, named: str) -> str | None:
    database = case.ground.database
    tables = schema.tables(database)
    table, _, column = named.partition(".")
    if not named:
        return "no witness; name the empty table, or the column that is NULL in every row"
    if table not in tables:
        return f"there is no table {table!r}; a witness is a table or table.column of this database"
    if table in schema.empty_tables(database):
        known = not column or column in tables[table]
        return None if known else f"table {table} has no column {column!r}"
    if not column:
        return f"table {table} is not empty"
    if column not in tables[table]:
        return f"table {table} has no column {column!r}"
    if named not in schema.null_columns(database):
        return f"{named} holds values: it is not NULL in every row"
    return None
