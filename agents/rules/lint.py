"""The second rule reviewer: the reference against the real schema.

Columns that do not exist or are ambiguous (sqlglot's qualify), columns that hold nothing (NULL or 0 in
every row), `SELECT *`, a LIMIT without an order, an order that the question does not ask for, and, for
an unanswerable item, a witness that is not true.
"""

from collections.abc import Iterator
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from agents.rules.verdicts import verdict
from agents.seats import Briefing, Issue, ReviewTask, Verdict
from database.engine import Database
from database.schema import empty_tables, null_columns, tables
from items.model import Item

BY = "rule/lint@1"


def lint(task: ReviewTask, briefing: Briefing) -> Verdict:
    """Read the reference as a careful colleague reads SQL."""
    item, database = task.item, briefing.database
    if item.reference_sql is None:
        return verdict(BY, list(_witness(item, database)))
    try:
        tree = qualify(
            sqlglot.parse_one(item.reference_sql, dialect="duckdb"),
            schema={name: dict(columns) for name, columns in tables(database).items()},
            dialect="duckdb",
        )
    except SqlglotError as error:
        return verdict(
            BY, [Issue("wrong_result", "The SQL does not fit the schema.", str(error)[:300])]
        )
    return verdict(BY, [*_dead_columns(tree, database), *_shape(item, item.reference_sql)])


def _witness(item: Item, database: Database) -> Iterator[Issue]:
    known = {*empty_tables(database), *null_columns(database)}
    if item.witness not in known:
        yield Issue("answerable_after_all", f"The witness {item.witness!r} does hold data.")


def _dead_columns(tree: exp.Expr, database: Database) -> Iterator[Issue]:
    for table, column in sorted(set(_columns(tree))):
        if f"{table}.{column}" in null_columns(database):
            yield Issue("wrong_result", f"{table}.{column} is NULL in every row.")
    for name in sorted({table.name for table in tree.find_all(exp.Table)}):
        if name in empty_tables(database):
            yield Issue("unanswerable_after_all", f"Table {name} is empty.")


def _columns(tree: exp.Expr) -> Iterator[tuple[str, str]]:
    """Yield every column of a real table that the query reads."""
    for scope in traverse_scope(tree):
        for column in scope.columns:
            source: Any = scope.sources.get(column.table)
            if isinstance(source, exp.Table):
                yield source.name, column.name


def _shape(item: Item, sql: str) -> Iterator[Issue]:
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if isinstance(tree, exp.Query) and any(isinstance(one, exp.Star) for one in tree.selects):
        yield Issue("answer_shape", "SELECT * names no columns.")
    ordered, limited = tree.args.get("order"), tree.args.get("limit")
    if limited and not ordered:
        yield Issue("boundary", "A LIMIT without ORDER BY picks any rows.")
    if item.order_matters and not ordered:
        yield Issue("answer_shape", "The question asks for an order, the SQL has none.")
