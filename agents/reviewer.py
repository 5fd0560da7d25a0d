"""The reviewer: it answers the question itself, and only then sees the reference and judges it.

Commit first: its own query (or ABSTAIN) is asked from the question alone and is run; the second pass
shows the reference, both results and the gate's notes. Both passes stand apart in the verdict.
"""

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
from agents.probing import PROBES, talk
from agents.replies import one_of, read_object, record, words
from agents.seats import Ask, Briefing, Issue, NoReply, ReviewTask, Verdict

VERDICT = record(**JUDGED)
ACTIONS = {True: ("probe", "answer", "abstain"), False: ("probe", "answer")}


def reviewer(holder: Holder, briefing: Briefing) -> Ask[ReviewTask, Verdict]:
    """Return the seat of a model that reviews items, one at a time."""
    names = ("review/commit", "review/verdict", *PROMPTS, tier_prompt(briefing), *SHARED)
    prompt = prompts.sha256(*names)
    actions = ACTIONS[briefing.abstention]
    schema = record(action=one_of(*actions), sql=words(8_000), reading=words(1_000))

    async def review(task: ReviewTask) -> Verdict | NoReply:
        messages = opening(briefing, _question(task, briefing))
        request = holder.request(messages, schema, task.draw, "reviewer")
        ended = await talk(holder.line, request, schema, check_answer, briefing.database)
        if isinstance(ended, NoReply):
            return NoReply(f"first pass: {ended.problem}", holder.model, ended.calls, prompt)
        commit, told = await committed(ended.reply.value, task.item, briefing)
        second = await _second(holder, ended.reply, task, case(task, told, briefing.database))
        if isinstance(second, NoReply):
            problem = f"second pass: {second.problem}"
            return NoReply(problem, holder.model, second.calls, prompt)
        return Verdict(
            verdict=second.value["verdict"],
            issues=tuple(Issue(**issue) for issue in second.value["issues"]),
            by=holder.model,
            commit=commit,
            calls=second.calls,
            probes=ended.probes,
            prompt_sha256=prompt,
        )

    return review


def _question(task: ReviewTask, briefing: Briefing) -> str:
    return prompts.render(
        "review/commit",
        tier_rules=tier_rules(briefing),
        pitfalls=pitfalls(),
        probes=str(PROBES),
        or_abstain=or_abstain(briefing),
        question_ko=prompts.quoted("question_ko", task.item.question_ko),
        question_en=prompts.quoted("question_en", task.item.question_en),
    )


async def _second(
    holder: Holder, first: Reply[dict[str, Any]], task: ReviewTask, shown: str
) -> Reply[dict[str, Any]] | NoReply:
    asked = prompts.render("review/verdict", case=shown, rules=rules())
    messages = first.then(asked.strip()).messages
    request = holder.request(messages, VERDICT, task.draw, "reviewer")
    return await ask(holder.line, request, _verdict, calls=first.calls)


def _verdict(text: str) -> dict[str, Any]:
    value = read_object(text, VERDICT)
    check_verdict(value)
    return value
