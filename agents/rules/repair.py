"""The rule fixer: what can be mended without judgement, and another draw of the template."""

import re
from dataclasses import replace

from agents.seats import Briefing, Fix, FixTask
from items import templates
from items.model import Item, tidy, untidy

BY = "rule/repair@1"
_NUMBERED = re.compile(r"hard-(\d+)$")


def repair(task: FixTask, briefing: Briefing) -> Fix:
    """Return a mended item, another draw of its template, or None with the reason to drop it."""
    item = task.item
    if untidy(item):
        return Fix(tidied(item), "white space and Unicode form", BY)
    other = _another_draw(task, briefing)
    if other is not None and other != item:
        return Fix(other, "the template draws other values", BY)
    kinds = ", ".join(sorted({issue.kind for issue in task.objections})) or "a broken rule"
    return Fix(None, f"no rule can mend this: {kinds}", BY)


def tidied(item: Item) -> Item:
    """Return the item in NFC, without white space at ends of lines."""
    for name in untidy(item):
        item = replace(item, **{name: tidy(getattr(item, name))})  # type: ignore[arg-type]  # a text
    return item


def _another_draw(task: FixTask, briefing: Briefing) -> Item | None:
    """Return the next values of the template that wrote the item, if one did."""
    numbered = _NUMBERED.search(task.item.id)
    if numbered is None or briefing.today is None:
        return None
    slot = templates.slot_for(int(numbered[1]) - 1, task.item.id)
    first = templates.write(slot, briefing.database, briefing.today)
    if not _same_template(first, task.item):
        return None
    return templates.write(slot, briefing.database, briefing.today, draw=task.round)


def _same_template(first: Item | None, item: Item) -> bool:
    """Tell whether an item reads like its template's: equal but for the values."""
    if first is None or first.category != item.category:
        return False
    a, b = (re.findall(r"[a-z]+", text.question_en.lower()) for text in (first, item))
    return a[:4] == b[:4]
