# ruff: noqa: S608 -- our own SQL over names that the schema has
"""What the database holds: counts, NULLs and ranges of a column, and what a concept is called.

Worked out when a rule first asks and kept as long as the database stays open.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from database import schema
from database.engine import Database
from database.result import Failure, Result
from items.rules.sql import Origin, Tables

MANY = 5_000  # concepts in use that are compared with a question's words


@dataclass(frozen=True)
class Column:
    """One column: rows of its table, NULLs and different values in it, its ends, its type."""

    rows: int
    nulls: int
    distinct: int
    low: Any
    high: Any
    type: str

    @property
    def constant(self) -> bool:
        """Whether two or more rows all say the same (or all say nothing)."""
        return self.rows > 1 and (
            self.nulls == self.rows or (self.distinct == 1 and not self.nulls)
        )


@dataclass(frozen=True)
class Concept:
    """A concept with every name it goes by."""

    id: int
    name: str
    domain: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What one database holds."""

    database: Database
    _seen: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def tables(self) -> Tables:
        """Return every table's columns and their types."""
        if ("tables",) not in self._seen:
            self._seen["tables",] = schema.tables(self.database)
        found: Tables = self._seen["tables",]
        return found

    def rows(self, sql: str) -> tuple[tuple[Any, ...], ...]:
        """Return the rows of our own query, kept. Raises: QueryError."""
        if (sql,) not in self._seen:
            self._seen[sql,] = self.database.read(sql).rows
        found: tuple[tuple[Any, ...], ...] = self._seen[sql,]
        return found

    def result(self, sql: str, time_s: float) -> Result | Failure:
        """Return what a reference returns, kept unless its worker was lost."""
        found: Result | Failure = self._seen.get(("run", sql)) or self.database.run(
            sql, time_s=time_s
        )
        if isinstance(found, Result) or found.reason != "lost":
            self._seen["run", sql] = found
        return found

    def has(self, table: str, *columns: str) -> bool:
        """Return whether there is such a table with such columns."""
        return table in self.tables and all(name in self.tables[table] for name in columns)

    def column(self, origin: Origin) -> Column | None:
        """Return what is known of a column; None where there is no such column."""
        table, name = origin
        if not self.has(table, name):
            return None
        counts = self.rows(
            f'SELECT count(*), count("{name}"), count(DISTINCT "{name}"), min("{name}"), '
            f'max("{name}") FROM "{table}"'
        )
        rows, values, distinct, low, high = counts[0]
        return Column(rows, rows - values, distinct, low, high, self.tables[table][name].upper())

    def holds(self, origin: Origin, value: str | int | float) -> bool:
        """Return whether a column has a value, compared as the engine compares it."""
        table, name = origin
        quoted = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
        return bool(
            self.rows(
                f'SELECT 1 FROM "{table}" WHERE CAST("{name}" AS VARCHAR) = '
                f'CAST({quoted} AS VARCHAR) OR TRY_CAST("{name}" AS DOUBLE) = '
                f"TRY_CAST({quoted} AS DOUBLE) LIMIT 1"
            )
        )

    def concept(self, id: int) -> Concept | None:
        """Return a concept by its id; None where the concept table has none."""
        if not self.has("concept", "concept_id", "concept_name"):
            return None
        domain = "domain_id" if self.has("concept", "domain_id") else "''"
        rows = self.rows(f"SELECT concept_name, {domain} FROM concept WHERE concept_id = {id:d}")
        if not rows:
            return None
        names = [str(rows[0][0])]
        if self.has("concept_synonym", "concept_id", "concept_synonym_name"):
            said = self.rows(
                f"SELECT concept_synonym_name FROM concept_synonym WHERE concept_id = {id:d} "
                "ORDER BY 1"
            )
            names += [str(row[0]) for row in said]
        return Concept(id, names[0], str(rows[0][1]), tuple(names))

    def used(self, origin: Origin) -> dict[int, str]:
        """Return the concepts that occur in a column, id to name."""
        table, name = origin
        if not self.has("concept", "concept_id", "concept_name"):
            return {}
        rows = self.rows(
            f'SELECT concept_id, concept_name FROM concept WHERE concept_id IN (SELECT "{name}" '
            f'FROM "{table}") ORDER BY 1 LIMIT {MANY}'
        )
        return {int(row[0]): str(row[1]) for row in rows}

    def family(self, id: int) -> frozenset[int]:
        """Return the ids of a concept's descendants and ancestors, itself among them."""
        if not self.has("concept_ancestor", "ancestor_concept_id", "descendant_concept_id"):
            return frozenset({id})
        rows = self.rows(
            f"SELECT descendant_concept_id FROM concept_ancestor WHERE ancestor_concept_id = {id:d} "
            "UNION SELECT ancestor_concept_id FROM concept_ancestor "
            f"WHERE descendant_concept_id = {id:d}"
        )
        return frozenset({id, *(int(row[0]) for row in rows)})

    def kinds(self, id: int, origin: Origin) -> tuple[int, int]:
        """Return how many rows of a column hold a concept itself, and how many a descendant."""
        table, name = origin
        if not self.has("concept_ancestor", "ancestor_concept_id", "descendant_concept_id"):
            return 0, 0
        rows = self.rows(
            f'SELECT count(*) FILTER ("{name}" = {id:d}), count(*) FILTER ("{name}" <> {id:d}) '
            f'FROM "{table}" WHERE "{name}" = {id:d} OR "{name}" IN (SELECT descendant_concept_id '
            f"FROM concept_ancestor WHERE ancestor_concept_id = {id:d})"
        )
        return int(rows[0][0]), int(rows[0][1])


@lru_cache(maxsize=8)
def facts_of(database: Database) -> Facts:
    """Return the facts of an open database, the same object each time."""
    return Facts(database)


def as_date(value: object) -> date | None:
    """Return a value as a date: a date, a timestamp, or ISO text; None for anything else."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
