"""What a model is told about a database: tables, types, example rows, what is empty (S1-063 to S1-072).

    CREATE TABLE person (person_id BIGINT, gender_concept_id BIGINT, ...);
    /* 3 of 2,694 rows:
    1|8507|...
    */
    Tables without any row: care_site, ...

Layout: "Create Table + Select 3" (Rajkumar et al. 2022, arXiv:2204.00498), one CREATE TABLE a line for
each table with rows; the empty ones are only named. There a row of names stands above the example
rows; here the line above has them already, which saves a quarter of the prompt, and cells without spaces
between them another tenth of the rows. The example rows are the first three when ordered by all
columns, NULLs last, long texts cut; so the text is the same wherever the database has the same content
(S1-072). `concept` shows counts by domain and vocabulary in place of rows (S1-064, S1-075).
"""

# ruff: noqa: S608 (names come from the catalogue and are quoted)

from typing import TYPE_CHECKING, Any

from database.build import literal, name

if TYPE_CHECKING:
    from database.engine import Database

EXAMPLES = 3
LONGEST = 24  # characters of a text in an example row


def tables(database: "Database") -> dict[str, dict[str, str]]:
    """Return each table's columns and their types, tables by name, columns in their order."""
    return {table: columns_of(database, table) for table in sorted(database.tables)}


def columns_of(database: "Database", table: str) -> dict[str, str]:
    """Return a table's columns and their types, in their order."""
    if database.engine == "sqlite":
        sql = f"SELECT name, type FROM pragma_table_info({literal(table)})"
    else:
        sql = (
            "SELECT column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' "
            f"AND lower(table_name) = {literal(table)} ORDER BY column_index"
        )
    return {str(column).lower(): str(kind) for column, kind in database.read(sql).rows}


def empty_tables(database: "Database") -> tuple[str, ...]:
    """Return the names of the tables without rows."""
    return tuple(
        table for table, (rows, _) in sorted(database.fingerprint.tables.items()) if not rows
    )


def null_columns(database: "Database") -> tuple[str, ...]:
    """Return `table.column` for every column that is NULL in every row of a table with rows."""
    found = []
    for table, columns in tables(database).items():
        cells = ", ".join(f"count({name(column)})" for column in columns)
        counts = database.read(f"SELECT count(*), {cells} FROM {name(table)}").rows[0]
        if counts[0]:
            pairs = zip(columns, counts[1:], strict=True)
            found += [f"{table}.{column}" for column, filled in pairs if not filled]
    return tuple(found)


def schema_text(database: "Database", *, null_columns: bool) -> str:
    """Return the schema part of a prompt; `null_columns` adds the list of all-NULL columns (hard)."""
    empty = empty_tables(database)
    filled = {table: columns for table, columns in tables(database).items() if table not in empty}
    parts = [
        f"{_create(table, columns)}\n{_shown(database, table, columns)}"
        for table, columns in filled.items()
    ]
    parts.append("Tables without any row: " + (", ".join(empty) or "none"))
    if null_columns:
        parts.append("Columns that are NULL in every row: " + (_null_list(database) or "none"))
    return "\n".join(parts) + "\n"


def _null_list(database: "Database") -> str:
    of_table: dict[str, list[str]] = {}
    for table, column in (found.split(".", 1) for found in null_columns(database)):
        of_table.setdefault(table, []).append(column)
    return "; ".join(f"{table} ({', '.join(columns)})" for table, columns in of_table.items())


def _create(table: str, columns: dict[str, str]) -> str:
    cells = ", ".join(f"{_plain(column)} {kind}".rstrip() for column, kind in columns.items())
    return f"CREATE TABLE {_plain(table)} ({cells});"


def _plain(identifier: str) -> str:
    """Quotes only where SQL needs them."""
    return identifier if identifier.isidentifier() and identifier != "offset" else name(identifier)


def _shown(database: "Database", table: str, columns: dict[str, str]) -> str:
    if table == "concept" and {"domain_id", "vocabulary_id"} <= columns.keys():
        return _concepts(database)
    order = ", ".join(f"{name(column)} NULLS LAST" for column in columns)
    rows = database.read(f"SELECT * FROM {name(table)} ORDER BY {order} LIMIT {EXAMPLES}").rows
    count = database.fingerprint.tables[table][0]
    lines = ["|".join(map(_cell, row)) for row in rows]
    return f"/* {len(rows)} of {count:,} rows:\n" + "\n".join(lines) + "\n*/"


def _concepts(database: "Database") -> str:
    rows = database.read(
        "SELECT domain_id, vocabulary_id, count(*) FROM concept "
        "GROUP BY domain_id, vocabulary_id ORDER BY domain_id, vocabulary_id"
    ).rows
    lines = [f"{domain}|{vocabulary}|{count}" for domain, vocabulary, count in rows]
    head = "/* concepts by domain and vocabulary:\ndomain_id|vocabulary_id|concepts\n"
    return head + "\n".join(lines) + "\n*/"


def _cell(value: Any) -> str:
    text = "NULL" if value is None else " ".join(str(value).split())
    text = text.replace("*/", "* /")  # a value must not end the comment
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
