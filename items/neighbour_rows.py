"""The rows of a neighbour database, from a recipe and a seed.

People first, then each table: lookups keep the rows that the reference can reach and some beside them,
events are dealt out to people, most with a few and some with many, on dates near the limits and near
each person's own base date. Plain `random.Random(seed)` over rows in a fixed order: no clock, no hash().
"""

import random
from typing import TYPE_CHECKING, Any

from items.neighbour_cells import Cells
from items.neighbour_sources import Kind, Row, Sources
from items.rules.facts import Facts

if TYPE_CHECKING:
    from items.neighbour import Recipe

Made = dict[str, list[Row]]
LOOKUPS = 400
EVENTS = (0, 0, 1, 1, 1, 2, 2, 3, 6)  # events of a person in one table
OF_THE_PATIENT = 40  # events of a person whom the reference names
DEVOTED, OF_THE_DEVOTED = 0.2, 5  # share of people who have little but what the reference looks for
VOCABULARY = ("concept", "concept_ancestor", "concept_synonym", "concept_relationship", "vocabulary",
              "domain", "concept_class", "relationship", "drug_strength")  # fmt: skip


def make_rows(recipe: "Recipe", facts: Facts) -> Made:
    """Return every table's rows. Raises: QueryError."""
    return _Maker(recipe, facts).made()


class _Maker:
    """One neighbour being made; holds the dice and what was dealt so far."""

    def __init__(self, recipe: "Recipe", facts: Facts) -> None:
        self.recipe, self.facts = recipe, facts
        self.dice = random.Random(recipe.seed)  # noqa: S311 -- reproducible, not secret
        self.sources = Sources(recipe, facts)
        self.cells = Cells(recipe, self.sources, self.dice)
        self.patients = self.sources.patients()
        self.people = self.sources.people()
        self.devoted = {p for p in self.people if self.dice.random() < DEVOTED}

    def made(self) -> Made:
        """Deal out every table."""
        tables: Made = {}
        for table in sorted(self.recipe.tables, key=lambda name: (name != "person", name)):
            if table == "person":
                tables[table] = self._person_rows()
            elif table in VOCABULARY or not self.facts.has(table, "person_id"):
                tables[table] = self._lookup_rows(table)
            else:
                tables[table] = self._event_rows(table)
        return tables

    def _person_rows(self) -> list[Row]:
        kinds = self.sources.kinds("person")
        templates = self.sources.templates("person") or [[None] * len(kinds)]
        rows = []
        for person in self.people:
            if self.dice.random() < 0.05 and person not in self.patients:
                continue  # events without a person, as real extracts have them
            row = list(self.dice.choice(templates))
            for place, kind in enumerate(kinds):
                if kind.name == "person_id":
                    row[place] = person
                elif kind.levels or kind.used:
                    row[place] = self.cells.cell(kind, row[place], self.cells.base(person))
            rows.append(row)
        return rows

    def _lookup_rows(self, table: str) -> list[Row]:
        """Return the rows that the reference can reach through its joins, and some that it should not."""
        kinds = self.sources.kinds(table)
        wanted = [
            f'"{kind.name}" IN ({", ".join(str(v) for v in domain)})'
            for kind in kinds
            if (domain := self.cells.shared(kind)) and all(isinstance(v, int) for v in domain)
        ]
        where = f"WHERE {' OR '.join(wanted)}" if wanted else ""
        rows = self.sources.templates(table, LOOKUPS, where) + (
            self.sources.templates(table, 40) if wanted else []
        )
        made = []
        for row in rows:
            for place, kind in enumerate(kinds):
                if kind.levels and f"{table}.{kind.name}" not in self.cells.class_of:
                    row[place] = self.cells.cell(kind, row[place], None)
            made.append(row)
            if self.dice.random() < 0.05 and table != "concept":
                made.append(list(row))
        return [row for row in made if self.dice.random() > 0.04]

    def _event_rows(self, table: str) -> list[Row]:
        kinds = self.sources.kinds(table)
        templates = self.sources.templates(table) or [[None] * len(kinds)]
        made: list[Row] = []
        for person in self.people:
            count = OF_THE_DEVOTED if person in self.devoted else self.dice.choice(EVENTS)
            count = OF_THE_PATIENT if person in self.patients else count
            for _ in range(count):
                made.append(self._event(kinds, self.dice.choice(templates), person, len(made) + 1))
                if self.dice.random() < 0.1:
                    made.append(self._again(kinds, made[-1], len(made) + 1))
        return made

    def _event(self, kinds: list[Kind], template: Row, person: Any, number: int) -> Row:
        row = list(template)
        day = self.cells.day(person)
        for place, kind in enumerate(kinds):
            if kind.name == "person_id":
                row[place] = person
            elif place == 0:
                row[place] = (
                    number if not kind.used or self.dice.random() > 0.2 else max(1, number - 1)
                )
            elif kind.is_date:
                row[place] = self.cells.date_cell(kind, day)
            elif kind.levels and self.dice.random() < 0.9 and person in self.devoted:
                row[place] = self.cells.sought(kind)
            else:
                row[place] = self.cells.cell(kind, row[place], day)
        return row

    def _again(self, kinds: list[Kind], row: Row, number: int) -> Row:
        """Return the same event recorded once more, perhaps with another value."""
        copy = list(row)
        copy[0] = number if kinds[0].name != "person_id" else copy[0]
        return copy
