"""The author: one item for one place of the plan, after a few looks at the data."""

from typing import Any

import prompts
from agents.opening import (
    SHARED,
    Holder,
    item_text,
    listed,
    opening,
    pitfalls,
    tier_prompt,
    tier_rules,
)
from agents.probing import PROBES, talk
from agents.replies import ReplyError, maybe, one_of, record, words
from agents.seats import Ask, AuthorSlot, Briefing, Draft, NoReply
from items.model import Item, tidy

CONTENT = {
    "question_en": words(1_000),
    "question_ko": words(1_000),
    "answerable": {"type": "boolean"},
    "reference_sql": maybe(words(8_000)),
    "order_matters": {"type": "boolean"},
    "witness": maybe(words(200)),
}
SCHEMA = record(
    action=one_of("probe", "submit"),
    sql=maybe(words(8_000)),
    item=maybe(record(**CONTENT)),
    check=maybe(words(1_000)),
)
EXISTING = 60  # questions shown: the latest of the same category come last


def author(holder: Holder, briefing: Briefing) -> Ask[AuthorSlot, Draft]:
    """Return the seat of a model that writes items."""
    prompt = prompts.sha256("author/item", tier_prompt(briefing), *SHARED)

    async def write(slot: AuthorSlot) -> Draft | NoReply:
        request = holder.request(
            opening(briefing, _words(slot, briefing)), SCHEMA, slot.seat, "author"
        )
        ended = await talk(holder.line, request, SCHEMA, check_item, briefing.database)
        if isinstance(ended, NoReply):
            return NoReply(ended.problem, holder.model, ended.calls, prompt)
        item = item_of(
            ended.reply.value["item"], slot.id, slot.category, slot.difficulty, slot.scope
        )
        return Draft(item, holder.model, ended.reply.calls, ended.probes, prompt)

    return write


def check_item(value: dict[str, Any]) -> None:
    """Refuse a submitted reply that holds no item. Raises: ReplyError."""
    item = value["item"]
    if item is None:
        raise ReplyError("action submit needs the item in `item`")
    for name in ("question_en", "question_ko"):
        if not tidy(item[name]):
            raise ReplyError(f"{name!r} is empty")
    if item["answerable"] and not tidy(item["reference_sql"] or ""):
        raise ReplyError("an answerable item needs its reference_sql")
    if not item["answerable"] and not tidy(item["witness"] or ""):
        raise ReplyError(
            "an unanswerable item needs its witness: an empty table or an all-NULL column"
        )


def item_of(content: dict[str, Any], id: str, category: str, difficulty: str, scope: str) -> Item:
    """Return the item of a checked reply, its texts tidied; the place in the plan is not the model's."""
    answerable = content["answerable"]
    return Item(
        id=id,
        question_ko=tidy(content["question_ko"]),
        question_en=tidy(content["question_en"]),
        reference_sql=tidy(content["reference_sql"]) if answerable else None,
        order_matters=content["order_matters"] and answerable,
        answerable=answerable,
        category=category,
        difficulty=difficulty,
        scope=scope,
        witness=None if answerable else tidy(content["witness"]),
    )


def _words(slot: AuthorSlot, briefing: Briefing) -> str:
    return prompts.render(
        "author/item",
        tier_rules=tier_rules(briefing),
        pitfalls=pitfalls(),
        probes=str(PROBES),
        category=slot.category,
        difficulty=slot.difficulty,
        scope=slot.scope,
        existing=listed("questions", slot.existing[-EXISTING:]),
        last=_last(slot).strip(),
    )


def _last(slot: AuthorSlot) -> str:
    """Return what is said of the attempt before: its problems, and the mistakes that stay hidden."""
    if slot.last is None:
        return prompts.text("author/first")
    return prompts.render(
        "author/again",
        item=item_text(slot.last),
        problems=listed("problems", slot.problems),
        hidden=listed("hidden", slot.hidden),
    )
