"""The fixer: a new version of an item that the panel or the rules objected to, or the advice to drop it."""

from typing import Any

import prompts
from agents.author import CONTENT, check_item, item_of
from agents.opening import (
    SHARED,
    Holder,
    issues_text,
    item_text,
    listed,
    opening,
    pitfalls,
    tier_prompt,
    tier_rules,
)
from agents.probing import PROBES, talk
from agents.replies import ReplyError, maybe, one_of, record, words
from agents.seats import Ask, Briefing, Fix, FixTask, NoReply

SCHEMA = record(
    action=one_of("probe", "submit", "drop"),
    sql=maybe(words(8_000)),
    reason=words(1_000),
    item=maybe(record(**CONTENT)),
)


def fixer(holder: Holder, briefing: Briefing) -> Ask[FixTask, Fix]:
    """Return the seat of a model that mends items."""
    prompt = prompts.sha256("fix/item", tier_prompt(briefing), *SHARED)

    async def mend(task: FixTask) -> Fix | NoReply:
        # The round is part of the draw: the same content may come back a round later.
        draw = task.seat + 100 * (task.round - 1)
        request = holder.request(opening(briefing, _words(task, briefing)), SCHEMA, draw, "fixer")
        ended = await talk(holder.line, request, SCHEMA, _check, briefing.database)
        if isinstance(ended, NoReply):
            return NoReply(ended.problem, holder.model, ended.calls, prompt)
        value, old = ended.reply.value, task.item
        item = None
        if value["action"] == "submit":
            item = item_of(value["item"], old.id, old.category, old.difficulty, old.scope)
        return Fix(item, value["reason"], holder.model, ended.reply.calls, ended.probes, prompt)

    return mend


def _check(value: dict[str, Any]) -> None:
    if value["action"] == "submit":
        check_item(value)
    if not value["reason"].strip():
        raise ReplyError("`reason` is empty")


def _words(task: FixTask, briefing: Briefing) -> str:
    item = task.item
    return prompts.render(
        "fix/item",
        tier_rules=tier_rules(briefing),
        pitfalls=pitfalls(),
        probes=str(PROBES),
        item=item_text(item),
        category=item.category,
        difficulty=item.difficulty,
        scope=item.scope,
        problems=listed("problems", task.problems),
        objections=issues_text(task.objections),
        history=listed("history", task.history),
    )
