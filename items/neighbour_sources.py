# ruff: noqa: S608 -- our own SQL over names that the schema has
"""What a neighbour database is dealt from: the recipe's limits and people, and the real data's values.

Nothing here is random: every read has a fixed order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from items.rules.facts import Facts, as_date

if TYPE_CHECKING:
    from items.neighbour import Recipe

Row = list[Any]
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")
PEOPLE, TEMPLATES, DOMAIN = 240, 120, 12


@dataclass(frozen=True)
class Kind:
    """One column of a neighbour: where it stands, its type, and what it is compared with."""

    table: str
    name: str
    type: str
    levels: tuple[str, ...]
    used: bool

    @property
    def is_date(self) -> bool:
        """Whether it holds dates or times."""
        return self.type.upper().startswith(("DATE", "TIMESTAMP"))

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.type.upper().startswith(
            ("BIGINT", "INT", "SMALL", "TINY", "DOUBLE", "FLOAT", "DEC", "HUGE")
        )

    @property
    def is_end(self) -> bool:
        """Whether it is the later of two dates."""
        return "_end_" in self.name or "stop" in self.name or "discharge" in self.name


@dataclass(frozen=True)
class Sources:
    """A recipe and the database that its values are taken from."""

    recipe: "Recipe"
    facts: Facts

    def kinds(self, table: str) -> list[Kind]:
        """Return a table's columns."""
        used = set(self.recipe.used)
        found = []
        for name, kind in self.facts.tables[table].items():
            column = f"{table}.{name}"
            made = Kind(table, name, kind, self.recipe.levels.get(column, ()), column in used)
            if made.is_number:  # a number's column may be compared with a text, or with NULL
                made = replace(made, levels=tuple(v for v in made.levels if _PLAIN.fullmatch(v)))
            found.append(made)
        return found

    def domain(self, group: Sequence[str]) -> list[Any]:
        """Return the values that a group of joined columns share: constants, their kin, and others."""
        values: list[Any] = []
        for name in group:
            table, column = name.split(".")
            if column == "person_id":
                return []
            numbers = [int(v) for v in self.recipe.levels.get(name, ()) if v.lstrip("-").isdigit()]
            values += numbers
            if column == "descendant_concept_id":
                values += self._descendants()
            rows = self.facts.rows(
                f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL '
                f"ORDER BY 1 LIMIT {DOMAIN}"
            )
            values += [row[0] for row in rows]
            if numbers:
                rows = self.facts.rows(
                    f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" > {numbers[0]} '
                    "ORDER BY 1 LIMIT 4"
                )
                values += [row[0] for row in rows]
        values += self._matching(group)
        return list(dict.fromkeys(values))

    def _descendants(self) -> list[Any]:
        ancestors = self.recipe.levels.get("concept_ancestor.ancestor_concept_id", ())
        found: list[Any] = []
        for ancestor in ancestors:
            rows = self.facts.rows(
                "SELECT DISTINCT descendant_concept_id FROM concept_ancestor WHERE "
                f"ancestor_concept_id = {int(ancestor)} ORDER BY 1 LIMIT 8"
            )
            found += [row[0] for row in rows]
        return found

    def _matching(self, group: Sequence[str]) -> list[Any]:
        """Return concepts whose other columns match the reference's constants (a name, a domain)."""
        if "concept.concept_id" not in group:
            return []
        found: list[Any] = []
        for name, values in self.recipe.levels.items():
            table, column = name.split(".")
            if table == "concept" and not column.endswith("_id"):
                for value in values:
                    text = value.replace("'", "''")
                    rows = self.facts.rows(
                        f"SELECT concept_id FROM concept WHERE CAST(\"{column}\" AS VARCHAR) ILIKE '{text}' "
                        "ORDER BY 1 LIMIT 12"
                    )
                    found += [row[0] for row in rows]
        return found

    def limits(self) -> list[date]:
        """Return the days that the reference compares with, in order."""
        days = (as_date(value) for values in self.recipe.levels.values() for value in values)
        return sorted({day for day in days if day is not None and 1900 <= day.year <= 2100})

    def patients(self) -> list[int]:
        """Return the people whom the reference names."""
        found = [
            int(value)
            for name, values in self.recipe.levels.items()
            if name.endswith(".person_id")
            for value in values
            if value.isdigit()
        ]
        return sorted(set(found))

    def people(self) -> list[Any]:
        """Return the ids of the people to deal to, the named ones first."""
        ids = (
            [
                row[0]
                for row in self.facts.rows(
                    f"SELECT person_id FROM person ORDER BY 1 LIMIT {PEOPLE}"
                )
            ]
            if self.facts.has("person", "person_id")
            else list(range(1, PEOPLE + 1))
        )
        return list(dict.fromkeys([*self.patients(), *ids]))

    def templates(self, table: str, most: int = TEMPLATES, where: str = "") -> list[Row]:
        """Return some rows of a table, the same each time."""
        order = ", ".join(
            str(place) for place in range(1, min(len(self.facts.tables[table]), 6) + 1)
        )
        return [
            list(row)
            for row in self.facts.rows(
                f'SELECT * FROM "{table}" {where} ORDER BY {order} LIMIT {most}'
            )
        ]
