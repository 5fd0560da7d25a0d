"""The reviewer: it answers the question itself, and only then sees the reference and judges it.

Commit first: its own query (or ABSTAIN) is asked from the question alone and is run; the second pass
shows the reference, both results and the gate's notes. Both passes stand apart in the verdict.
"""

from typing import Any

import prompts
from agents.ask import Reply, ask
from agents.opening import (
    SHARED,
    Holder,
    issues_text,
    listed,
    opening,
    pitfalls,
    tier_prompt,
    tier_rules,
)
from agents.probing import PROBES, shown, talk
from agents.replies import ReplyError, one_of, read_object, record, words
from agents.restyle import restyled
from agents.seats import (
    ISSUE_KINDS,
    Ask,
    Briefing,
    Commit,
    Issue,
    NoReply,
    ReviewTask,
    Verdict,
)
from database.engine import Database
from database.result import Failure, Result, results_match
from items.model import Item

ISSUES = {
    "type": "array",
    "maxItems": 12,
    "items": record(kind=one_of(*ISSUE_KINDS), sentence=words(600), evidence=words(1_000)),
}
VERDICT = record(issues=ISSUES, verdict=one_of("approve", "revise", "reject"))
COMMIT = {True: ("probe", "answer", "abstain"), False: ("probe", "answer")}


def reviewer(holder: Holder, briefing: Briefing) -> Ask[ReviewTask, Verdict]:
    """Return the seat of a model that reviews items."""
    parts = ("review/commit", "review/verdict", "review/objections")
    names = (*parts, tier_prompt(briefing), *SHARED)
    prompt = prompts.sha256(*names)
    schema = record(
        action=one_of(*COMMIT[briefing.abstention]), sql=words(8_000), reading=words(1_000)
    )

    async def review(task: ReviewTask) -> Verdict | NoReply:
        messages = opening(briefing, _question(task, briefing))
        request = holder.request(messages, schema, task.draw, "reviewer")
        ended = await talk(holder.line, request, schema, _check_commit, briefing.database)
        if isinstance(ended, NoReply):
            return NoReply(f"first pass: {ended.problem}", holder.model, ended.calls, prompt)
        commit, told = await _committed(ended.reply.value, task.item, briefing)
        second = await _second(holder, ended.reply, task, told, briefing.database)
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


def parse_verdict(text: str) -> dict[str, Any]:
    """Return the second pass's object. Raises: ReplyError (also when verdict and issues disagree)."""
    value = read_object(text, VERDICT)
    if value["verdict"] == "approve" and value["issues"]:
        raise ReplyError("the verdict is approve and yet there are issues; one of the two is wrong")
    if value["verdict"] != "approve" and not value["issues"]:
        raise ReplyError(f"the verdict is {value['verdict']} and no issue says why")
    return value


def _check_commit(value: dict[str, Any]) -> None:
    if value["action"] == "answer" and not value["sql"].strip():
        raise ReplyError("action answer needs your query in `sql`")


def _question(task: ReviewTask, briefing: Briefing) -> str:
    abstain = ', or with action "abstain" and an empty `sql` if it is unanswerable'
    return prompts.render(
        "review/commit",
        tier_rules=tier_rules(briefing),
        pitfalls=pitfalls(),
        probes=str(PROBES),
        or_abstain=abstain if briefing.abstention else "",
        question_ko=prompts.quoted("question_ko", task.item.question_ko),
        question_en=prompts.quoted("question_en", task.item.question_en),
    )


async def _committed(
    value: dict[str, Any], item: Item, briefing: Briefing
) -> tuple[Commit, dict[str, str]]:
    """Return the reviewer's own answer as it fared, and what the second pass is told of it."""
    sql = value["sql"] if value["action"] == "answer" else None
    own = await briefing.database.arun(sql) if sql else None
    reference = await briefing.database.arun(item.reference_sql) if item.reference_sql else None
    matches = _matches(own, reference, item)
    told = {
        "own_sql": prompts.quoted("sql", sql) if sql else "ABSTAIN",
        "own_result": prompts.quoted("rows", shown(own)) if own else "(no query)",
        "reference_result": prompts.quoted("rows", shown(reference)) if reference else "(no query)",
        "matches": "yes" if matches else "no",
    }
    return Commit(sql, matches, _outcome(own)), told


def _matches(own: Result | Failure | None, reference: Result | Failure | None, item: Item) -> bool:
    if own is None or reference is None:
        return own is None and not item.answerable
    if isinstance(own, Failure) or isinstance(reference, Failure):
        return False
    return results_match(reference, own, ordered=item.order_matters)


def _outcome(own: Result | Failure | None) -> str:
    if own is None:
        return "abstained"
    if isinstance(own, Failure):
        return f"{own.reason}: {own.message}"[:200]
    return f"{len(own.rows)} rows"


async def _second(
    holder: Holder,
    first: Reply[dict[str, Any]],
    task: ReviewTask,
    told: dict[str, str],
    database: Database,
) -> Reply[dict[str, Any]] | NoReply:
    item, objections = task.item, ""
    if task.objections or task.answers:
        said = {
            "objections": issues_text(task.objections),
            "answers": listed("replies", task.answers),
        }
        objections = prompts.render("review/objections", **said)
    sql = restyled(item.reference_sql, database) if item.reference_sql else None
    asked = prompts.render(
        "review/verdict",
        reference_sql=prompts.quoted("sql", sql)
        if sql
        else "None: the item is marked unanswerable.",
        order_matters=str(item.order_matters).lower(),
        answerable=str(item.answerable).lower(),
        category=item.category,
        difficulty=item.difficulty,
        scope=item.scope,
        witness=item.witness or "none",
        notes=listed("notes", task.notes),
        objections=objections.strip(),
        kinds=", ".join(ISSUE_KINDS),
        **told,
    )
    messages = first.then(asked.strip()).messages
    request = holder.request(messages, VERDICT, task.draw, "reviewer")
    return await ask(holder.line, request, parse_verdict, calls=first.calls)
