# ruff: noqa: S608 -- our own SQL over names that the schema has
"""The rows of a neighbour database, from a recipe and a seed.

People first, then each table: lookups keep the rows that the reference can reach and some beside them,
events are dealt out to people, most with a few and some with many, on dates near the limits and near
each person's own base date. Plain `random.Random(seed)` over rows in a fixed order: no clock, no hash().
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from items.rules.facts import Facts, as_date

if TYPE_CHECKING:
    from items.neighbour import Recipe

Row = list[Any]
Made = dict[str, list[Row]]
PEOPLE, TEMPLATES, LOOKUPS, DOMAIN = 240, 120, 400, 12
EVENTS = (0, 0, 1, 1, 1, 2, 2, 3, 6)  # events of a person in one table
OF_THE_PATIENT = 40  # events of a person whom the reference names
DEVOTED, OF_THE_DEVOTED = 0.2, 5  # share of people who have little but what the reference looks for
VOCABULARY = ("concept", "concept_ancestor", "concept_synonym", "concept_relationship", "vocabulary",
              "domain", "concept_class", "relationship", "drug_strength")  # fmt: skip


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


def make_rows(recipe: "Recipe", facts: Facts) -> Made:
    """Return every table's rows. Raises: QueryError."""
    return _Maker(recipe, facts).made()


class _Maker:
    """One neighbour being made; holds the dice and what was dealt so far."""

    def __init__(self, recipe: "Recipe", facts: Facts) -> None:
        self.recipe, self.facts = recipe, facts
        self.dice = random.Random(recipe.seed)  # noqa: S311 -- reproducible, not secret
        self.class_of = {
            name: place for place, group in enumerate(recipe.classes) for name in group
        }
        self.domains = {place: self._domain(group) for place, group in enumerate(recipe.classes)}
        self.limits = self._limits()
        self.patients = self._patients()
        self.bases: dict[Any, date] = {}
        self.people = self._people()
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

    def _kinds(self, table: str) -> list[Kind]:
        used = set(self.recipe.used)
        return [
            Kind(
                table,
                name,
                kind,
                self.recipe.levels.get(f"{table}.{name}", ()),
                f"{table}.{name}" in used,
            )
            for name, kind in self.facts.tables[table].items()
        ]

    def _domain(self, group: Sequence[str]) -> list[Any]:
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

    def _limits(self) -> list[date]:
        days = (as_date(value) for values in self.recipe.levels.values() for value in values)
        return sorted({day for day in days if day is not None and 1900 <= day.year <= 2100})

    def _patients(self) -> list[int]:
        found = [
            int(value)
            for name, values in self.recipe.levels.items()
            if name.endswith(".person_id")
            for value in values
            if value.isdigit()
        ]
        return sorted(set(found))

    def _people(self) -> list[Any]:
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
        return list(dict.fromkeys([*self.patients, *ids]))

    def _templates(self, table: str, most: int = TEMPLATES, where: str = "") -> list[Row]:
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

    def _person_rows(self) -> list[Row]:
        kinds = self._kinds("person")
        templates = self._templates("person") or [[None] * len(kinds)]
        rows = []
        for person in self.people:
            if self.dice.random() < 0.05 and person not in self.patients:
                continue  # events without a person, as real extracts have them
            row = list(self.dice.choice(templates))
            for place, kind in enumerate(kinds):
                if kind.name == "person_id":
                    row[place] = person
                elif kind.levels or kind.used:
                    row[place] = self._cell(kind, row[place], self._base(person))
            rows.append(row)
        return rows

    def _lookup_rows(self, table: str) -> list[Row]:
        """Return the rows that the reference can reach through its joins, and some that it should not."""
        kinds = self._kinds(table)
        wanted = [
            f'"{kind.name}" IN ({", ".join(str(v) for v in domain)})'
            for kind in kinds
            if (domain := self._shared(kind)) and all(isinstance(v, int) for v in domain)
        ]
        where = f"WHERE {' OR '.join(wanted)}" if wanted else ""
        rows = self._templates(table, LOOKUPS, where) + (
            self._templates(table, 40) if wanted else []
        )
        made = []
        for row in rows:
            for place, kind in enumerate(kinds):
                if kind.levels and f"{table}.{kind.name}" not in self.class_of:
                    row[place] = self._cell(kind, row[place], None)
            made.append(row)
            if self.dice.random() < 0.05 and table != "concept":
                made.append(list(row))
        return [row for row in made if self.dice.random() > 0.04]

    def _event_rows(self, table: str) -> list[Row]:
        kinds = self._kinds(table)
        templates = self._templates(table) or [[None] * len(kinds)]
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
        day = self._day(person)
        for place, kind in enumerate(kinds):
            if kind.name == "person_id":
                row[place] = person
            elif place == 0:
                row[place] = (
                    number if not kind.used or self.dice.random() > 0.2 else max(1, number - 1)
                )
            elif kind.is_date:
                row[place] = self._date_cell(kind, day)
            elif kind.levels and self.dice.random() < 0.9 and person in self.devoted:
                row[place] = self._sought(kind)
            else:
                row[place] = self._cell(kind, row[place], day)
        return row

    def _sought(self, kind: Kind) -> Any:
        """Return one of the constants that the reference looks for."""
        value = self.dice.choice(kind.levels)
        if not kind.is_number:
            return value.strip("%")
        return float(value) if "." in value else int(value)

    def _again(self, kinds: list[Kind], row: Row, number: int) -> Row:
        """Return the same event recorded once more, perhaps with another value."""
        copy = list(row)
        copy[0] = number if kinds[0].name != "person_id" else copy[0]
        return copy

    def _date_cell(self, kind: Kind, day: date) -> str | None:
        if kind.is_end:
            if self.dice.random() < 0.1:
                return None
            step = self.dice.choice([0, 0, 1, 2, 5, *self.recipe.offsets])
            day = day + timedelta(days=step + self.dice.choice([-1, 0, 0, 1]) * (step > 2))
        if kind.type.upper().startswith("TIMESTAMP"):
            return f"{day} {self.dice.choice(['00:00:00', '08:30:00', '23:59:00'])}"
        return str(day)

    def _cell(self, kind: Kind, old: Any, day: date | None) -> Any:
        """Return a value near what the column is compared with, another one, or nothing."""
        luck = self.dice.random()
        shared = self._shared(kind)
        if shared:
            return self._of_class(kind, shared, luck)
        if kind.is_date:
            return self._date_cell(kind, day or self._day(None))
        if kind.levels:
            if luck < 0.05:
                return None
            return self._near(kind, old) if kind.is_number else self._text(kind, old)
        if kind.name.endswith("_source_concept_id"):
            return self._look_alike(kind, old)
        if kind.used and luck < 0.1:
            return None
        return old

    def _of_class(self, kind: Kind, shared: list[Any], luck: float) -> Any:
        levels = [int(level) for level in kind.levels if level.lstrip("-").isdigit()]
        if levels and luck < 0.55:
            return self.dice.choice(levels)
        if luck > 0.95:
            return None if luck > 0.98 else 999_999_000 + self.dice.randrange(3)  # dangles
        return self.dice.choice(shared)

    def _look_alike(self, kind: Kind, old: Any) -> Any:
        """Return a source concept that is not simply the concept again."""
        twin = f"{kind.table}.{kind.name.replace('_source_concept_id', '_concept_id')}"
        levels = [int(v) for v in self.recipe.levels.get(twin, ()) if v.isdigit()]
        domain = self.domains.get(self.class_of.get(twin, -1), []) or levels
        return self.dice.choice([*domain, old, 0]) if domain else old

    def _near(self, kind: Kind, old: Any) -> Any:
        value = float(self.dice.choice(kind.levels)) if kind.levels else 0.0
        if kind.name.endswith("_id"):
            choices = [value, value, value + 1, value + 2, old]
        else:
            choices = [value, value, value - 1, value + 1, old]
        found = self.dice.choice(choices)
        whole = not kind.type.upper().startswith(("DOUBLE", "FLOAT", "DEC"))
        return int(found) if whole and found is not None else found

    def _text(self, kind: Kind, old: Any) -> Any:
        core = self.dice.choice(kind.levels).strip("%")
        others = [core, core, core.upper(), f"Other {core}", f"{core} once", "Other", old]
        if kind.levels and "%" not in kind.levels[0]:
            others = [*kind.levels, *kind.levels, core.upper(), "Other", old]
        return self.dice.choice(others)

    def _shared(self, kind: Kind) -> list[Any]:
        return self.domains.get(self.class_of.get(f"{kind.table}.{kind.name}", -1), [])

    def _base(self, person: Any) -> date:
        if person not in self.bases:
            if self.limits:
                start = self.dice.choice(self.limits) + timedelta(days=self.dice.randint(-40, 40))
            else:
                start = date(2015, 1, 1) + timedelta(days=self.dice.randint(0, 900))
            self.bases[person] = start
        return self.bases[person]

    def _day(self, person: Any) -> date:
        """Return a day near a limit, near a person's base date at an offset, or further away."""
        luck, dice = self.dice.random(), self.dice
        if self.limits and luck < 0.45:
            return dice.choice(self.limits) + timedelta(days=dice.choice([-1, -1, 0, 0, 1, 1]))
        if self.limits and luck < 0.6:
            year = dice.choice([365, 366, -365, -366])
            return dice.choice(self.limits) + timedelta(days=year + dice.randint(-2, 2))
        base = self._base(person)
        if luck < 0.9:
            steps = [0, 0, 1, -1]
            for offset in self.recipe.offsets:
                steps += [offset - 1, offset, offset, offset + 1, -offset]
            return base + timedelta(days=dice.choice(steps))
        return base + timedelta(days=dice.randint(-400, 400))
