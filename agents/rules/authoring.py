"""The template author: the slot's item from items/templates, another draw of it when one broke a rule."""

from dataclasses import replace

from agents.seats import AuthorSlot, Briefing, Draft, NoReply
from items import templates

BY = f"rule/template@{templates.VERSION}"


def template(slot: AuthorSlot, briefing: Briefing) -> Draft | NoReply:
    """Write the item of a slot; a later attempt draws values that no other slot draws first."""
    if slot.category not in templates.TEMPLATES:
        return NoReply(f"no template for the category {slot.category!r}", BY)
    if briefing.today is None:
        return NoReply("the templates count from a fixed today, and this tier has none", BY)
    place = templates.slot_for(slot.number, slot.id)
    place = replace(place, category=slot.category)
    item = templates.write(place, briefing.database, briefing.today, draw=slot.attempt - 1)
    if item is None:
        return NoReply("the database has no more values for this template", BY)
    return Draft(item, BY)
