"""Items written by rule, the EHRSQL way: template, operation values, time template, condition values.

base.py    what a template is and how it is filled      times.py   absolute, relative and mixed times
terms.py   the words in English, Korean and SQL         telling.py which values tell near misses apart
and one file a category: clinical_terms.py cohort_definition.py data_quality.py relative_time.py
unanswerable.py

`plan(20)` is the tier's slots, four a category; `write(slot, database, today)` fills one. Both depend
on nothing but the database's content: the demo's tier hash is pinned by a test.
Source: Lee et al., EHRSQL, NeurIPS 2022 Datasets and Benchmarks, §3.1 (method only, no template of theirs).
"""

from dataclasses import dataclass
from datetime import date

from database.engine import Database
from items.model import Item
from items.questions import CATEGORIES
from items.templates import (
    clinical_terms,
    cohort_definition,
    data_quality,
    relative_time,
    unanswerable,
)
from items.templates.base import Template, written

__all__ = ["TEMPLATES", "VERSION", "Slot", "Template", "plan", "slot_for", "write"]

OTHERS = 8  # other draws begin behind the ones that a plan of some 200 places uses
VERSION = 1  # counted up when the same database would give other items
TEMPLATES: dict[str, tuple[Template, ...]] = {
    "clinical_terms": clinical_terms.TEMPLATES,
    "cohort_definition": cohort_definition.TEMPLATES,
    "data_quality": data_quality.TEMPLATES,
    "relative_time": relative_time.TEMPLATES,
    "unanswerable": unanswerable.TEMPLATES,
}


@dataclass(frozen=True)
class Slot:
    """A place in the plan: `number` counts from 0, `turn` the category's slots before it."""

    id: str
    number: int
    category: str
    difficulty: str
    scope: str
    turn: int


def plan(count: int, *, prefix: str = "hard-") -> tuple[Slot, ...]:
    """Return the slots of a tier: the hard categories in turn, each with its template's difficulty."""
    return tuple(slot_for(number, f"{prefix}{number + 1:03}") for number in range(count))


def slot_for(number: int, id: str) -> Slot:
    """Return the plan's slot of a number."""
    categories = CATEGORIES["hard"]
    turn, place = divmod(number, len(categories))
    templates = TEMPLATES[categories[place]]
    template = templates[turn % len(templates)]
    return Slot(id, number, template.category, template.difficulty, template.scope, turn)


def write(slot: Slot, database: Database, today: date, draw: int = 0) -> Item | None:
    """Return the slot's item; None when the database has no more for its template.

    draw: 0, or which other values to take (after a draft that broke a rule); no two slots share any.
    """
    templates = TEMPLATES[slot.category]
    lap, place = divmod(slot.turn, len(templates))
    item = written(templates[place], database, today, slot.id, lap + draw * OTHERS)
    for template in templates[place + 1 :] + templates[:place]:
        if item is None:  # few values: another template takes the place
            item = written(template, database, today, slot.id, OTHERS + slot.turn)
    return item
