"""Seats that a rule holds: no model is asked, and every record says which rule it was.

authoring.py  template: writes the slot's item from items/templates
languages.py  languages: the two questions and the SQL's constants say the same numbers, dates and kinds
lint.py       lint: the reference against the real schema; columns that hold nothing; order
neighbour.py  neighbour: near misses of the reference that give the same result
repair.py     repair: mends white space and lost orders; else the template draws other values
evidence.py   evidence: votes by the figures of the evidence

They run the whole line without a key (roster `embedded`). Three rules looking for three things are no
panel of experts: what they pass freezes only a task with `preview: true` (Agreements 1).
"""

from agents.rules.authoring import template
from agents.rules.evidence import evidence
from agents.rules.languages import languages
from agents.rules.lint import lint
from agents.rules.neighbour import neighbour
from agents.rules.repair import repair
from agents.seats import (
    AuthorSlot,
    BallotTask,
    Draft,
    Fix,
    FixTask,
    ReviewTask,
    Rule,
    Verdict,
    Vote,
)

AUTHORS: dict[str, Rule[AuthorSlot, Draft]] = {"template": template}
REVIEWERS: dict[str, Rule[ReviewTask, Verdict]] = {
    "languages": languages,
    "lint": lint,
    "neighbour": neighbour,
}
FIXERS: dict[str, Rule[FixTask, Fix]] = {"repair": repair}
VOTERS: dict[str, Rule[BallotTask, Vote]] = {"evidence": evidence}
