"""One value of a neighbour database: near what the reference compares with, another, or nothing.

All chance comes from the dice that are passed in; the order of the throws is part of a recipe's
fingerprint.
"""

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from items.neighbour_sources import Kind, Sources

if TYPE_CHECKING:
    from items.neighbour import Recipe


class Cells:
    """The values of one neighbour; remembers each person's base date."""

    def __init__(self, recipe: "Recipe", sources: Sources, dice: random.Random) -> None:
        self.recipe, self.dice = recipe, dice
        self.class_of = {
            name: place for place, group in enumerate(recipe.classes) for name in group
        }
        self.domains = {place: sources.domain(group) for place, group in enumerate(recipe.classes)}
        self.limits = sources.limits()
        self.bases: dict[Any, date] = {}

    def date_cell(self, kind: Kind, day: date) -> str | None:
        """Return an event's day as the column holds it; an end is a little later, or open."""
        if kind.is_end:
            if self.dice.random() < 0.1:
                return None
            step = self.dice.choice([0, 0, 1, 2, 5, *self.recipe.offsets])
            day = day + timedelta(days=step + self.dice.choice([-1, 0, 0, 1]) * (step > 2))
        if kind.type.upper().startswith("TIMESTAMP"):
            return f"{day} {self.dice.choice(['00:00:00', '08:30:00', '23:59:00'])}"
        return str(day)

    def cell(self, kind: Kind, old: Any, day: date | None) -> Any:
        """Return a value near what the column is compared with, another one, or nothing."""
        luck = self.dice.random()
        shared = self.shared(kind)
        if shared:
            return self._of_class(kind, shared, luck)
        if kind.is_date:
            return self.date_cell(kind, day or self.day(None))
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

    def shared(self, kind: Kind) -> list[Any]:
        """Return the values that the column shares with those it is joined with."""
        return self.domains.get(self.class_of.get(f"{kind.table}.{kind.name}", -1), [])

    def sought(self, kind: Kind) -> Any:
        """Return one of the constants that the reference looks for."""
        value = self.dice.choice(kind.levels)
        if not kind.is_number:
            return value.strip("%")
        return float(value) if "." in value else int(value)

    def base(self, person: Any) -> date:
        """Return the day around which a person's events lie."""
        if person not in self.bases:
            if self.limits:
                start = self.dice.choice(self.limits) + timedelta(days=self.dice.randint(-40, 40))
            else:
                start = date(2015, 1, 1) + timedelta(days=self.dice.randint(0, 900))
            self.bases[person] = start
        return self.bases[person]

    def day(self, person: Any) -> date:
        """Return a day near a limit, near a person's base date at an offset, or further away."""
        luck, dice = self.dice.random(), self.dice
        if self.limits and luck < 0.45:
            return dice.choice(self.limits) + timedelta(days=dice.choice([-1, -1, 0, 0, 1, 1]))
        if self.limits and luck < 0.6:
            year = dice.choice([365, 366, -365, -366])
            return dice.choice(self.limits) + timedelta(days=year + dice.randint(-2, 2))
        base = self.base(person)
        if luck < 0.9:
            steps = [0, 0, 1, -1]
            for offset in self.recipe.offsets:
                steps += [offset - 1, offset, offset, offset + 1, -offset]
            return base + timedelta(days=dice.choice(steps))
        return base + timedelta(days=dice.randint(-400, 400))
