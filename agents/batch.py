"""A reviewer of several items in one request, as decision review_batch has it (S4-006).

The groups are made before anybody is asked and do not change: the first item of a group that is put to
the seat asks for the whole group, the others take their part of the reply. What stands in no group (a
fixed item, a retest) is asked alone. A reply that cannot be used is no verdict on any item of its group.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import prompts
from agents.ask import Reply, ask
from agents.judging import (
    JUDGED,
    PROMPTS,
    case,
    check_answer,
    check_verdict,
    committed,
    or_abstain,
    rules,
)
from agents.opening import SHARED, Holder, opening, pitfalls, tier_prompt, tier_rules
from agents.replies import ReplyError, Schema, one_of, read_object, record, words
from agents.seats import Ask, Briefing, Issue, NoReply, ReviewTask, Verdict

Group = tuple[ReviewTask, ...]
Said = dict[str, Verdict | NoReply]  # content sha256 -> what was said of it
NUMBER = {"type": "integer"}
VERDICTS = record(verdicts={"type": "array", "maxItems": 100, "items": record(n=NUMBER, **JUDGED)})


def batched(
    alone: Ask[ReviewTask, Verdict], holder: Holder, briefing: Briefing, groups: Sequence[Group]
) -> Ask[ReviewTask, Verdict]:
    """Return the seat of a model that judges each group in one request, and all else alone."""
    group_of = {task.item.sha256: group for group in groups for task in group}
    asked: dict[Group, asyncio.Task[Said]] = {}

    async def review(task: ReviewTask) -> Verdict | NoReply:
        group = group_of.get(task.item.sha256)
        if group is None or task.repeat or task.objections or task.answers:
            return await alone(task)
        if group not in asked:
            asked[group] = asyncio.create_task(_judge(holder, briefing, group))
        return (await asyncio.shield(asked[group]))[task.item.sha256]

    return review


async def _judge(holder: Holder, briefing: Briefing, group: Group) -> Said:
    """Ask for a group's answers, run them, ask for its verdicts."""
    prompt = prompts.sha256(
        "review/commit_batch", "review/verdict_batch", *PROMPTS, tier_prompt(briefing), *SHARED
    )
    first = await _answers(holder, briefing, group)
    if isinstance(first, NoReply):
        return _none(
            group, NoReply(f"first pass: {first.problem}", holder.model, first.calls, prompt)
        )
    answers = [first.value[n] for n in range(1, len(group) + 1)]
    ran = [await committed(a, t.item, briefing) for a, t in zip(answers, group, strict=True)]
    cases = [
        f"# Item {n}\n\n{case(task, told, briefing.database)}"
        for n, (task, (_, told)) in enumerate(zip(group, ran, strict=True), 1)
    ]
    second = await _verdicts(holder, first, group, "\n\n".join(cases))
    if isinstance(second, NoReply):
        silent = NoReply(f"second pass: {second.problem}", holder.model, second.calls, prompt)
        return _none(group, silent)
    said: Said = {}
    for n, (task, (commit, _)) in enumerate(zip(group, ran, strict=True), 1):
        value = second.value[n]
        issues = tuple(Issue(**issue) for issue in value["issues"])
        said[task.item.sha256] = Verdict(
            value["verdict"], issues, holder.model, commit, second.calls, (), prompt
        )
    return said


async def _answers(
    holder: Holder, briefing: Briefing, group: Group
) -> Reply[dict[int, dict[str, Any]]] | NoReply:
    actions = ("answer", "abstain") if briefing.abstention else ("answer",)
    entry = record(n=NUMBER, action=one_of(*actions), sql=words(8_000), reading=words(1_000))
    schema = record(answers={"type": "array", "maxItems": 100, "items": entry})
    asked = prompts.render(
        "review/commit_batch",
        count=str(len(group)),
        tier_rules=tier_rules(briefing),
        pitfalls=pitfalls(),
        or_abstain=or_abstain(briefing),
        questions="\n\n".join(_question(n, task) for n, task in enumerate(group, 1)),
    )
    request = holder.request(opening(briefing, asked), schema, group[0].draw, "reviewer")

    def parse(text: str) -> dict[int, dict[str, Any]]:
        return _numbered(text, schema, "answers", len(group), check_answer)

    return await ask(holder.line, request, parse)


async def _verdicts(
    holder: Holder, first: Reply[dict[int, dict[str, Any]]], group: Group, cases: str
) -> Reply[dict[int, dict[str, Any]]] | NoReply:
    asked = prompts.render("review/verdict_batch", cases=cases, rules=rules())
    messages = first.then(asked.strip()).messages
    request = holder.request(messages, VERDICTS, group[0].draw, "reviewer")

    def parse(text: str) -> dict[int, dict[str, Any]]:
        return _numbered(text, VERDICTS, "verdicts", len(group), check_verdict)

    return await ask(holder.line, request, parse, calls=first.calls)


def _numbered(
    text: str, schema: Schema, name: str, count: int, check: Any
) -> dict[int, dict[str, Any]]:
    """Return a reply's entries by their number. Raises: ReplyError (one missing, twice, or unusable)."""
    entries = read_object(text, schema)[name]
    found = {entry["n"]: entry for entry in entries}
    if sorted(entry["n"] for entry in entries) != list(range(1, count + 1)):
        raise ReplyError(f"{name!r} must hold the numbers 1 to {count}, each once")
    for n, entry in found.items():
        try:
            check(entry)
        except ReplyError as error:
            raise ReplyError(f"{name} {n}: {error}") from None
    return found


def _question(n: int, task: ReviewTask) -> str:
    korean = prompts.quoted("question_ko", task.item.question_ko)
    return f"## Question {n}\n\n{korean}\n\n{prompts.quoted('question_en', task.item.question_en)}"


def _none(group: Group, silent: NoReply) -> Said:
    return {task.item.sha256: silent for task in group}
