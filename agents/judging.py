"""What a reviewer's two passes are made of: answers run, cases shown, verdicts read."""

from typing import Any

import prompts
from agents.opening import issues_text, listed
from agents.probing import shown
from agents.replies import ReplyError, one_of, record, words
from agents.restyle import restyled
from agents.seats import ISSUE_KINDS, Briefing, Commit, ReviewTask
from database.engine import Database
from database.result import Failure, Result, results_match
from items.model import Item

ISSUES = {
    "type": "array",
    "maxItems": 12,
    "items": record(kind=one_of(*ISSUE_KINDS), sentence=words(600), evidence=words(1_000)),
}
JUDGED = {"issues": ISSUES, "verdict": one_of("approve", "revise", "reject")}
UNANSWERABLE = "None: the item is marked unanswerable."
PROMPTS = ("review/case", "review/rules", "review/objections")


def or_abstain(briefing: Briefing) -> str:
    """Return the tier's other way to answer, as a prompt says it."""
    said = ', or with action "abstain" and an empty `sql` if it is unanswerable'
    return said if briefing.abstention else ""


def rules() -> str:
    """Return how a verdict is reached."""
    return prompts.render("review/rules", kinds=", ".join(ISSUE_KINDS)).strip()


def check_answer(value: dict[str, Any]) -> None:
    """Refuse an answer without a query. Raises: ReplyError."""
    if value["action"] == "answer" and not value["sql"].strip():
        raise ReplyError("action answer needs your query in `sql`")


def check_verdict(value: dict[str, Any]) -> None:
    """Refuse a verdict that its issues contradict. Raises: ReplyError."""
    if value["verdict"] == "approve" and value["issues"]:
        raise ReplyError("the verdict is approve and yet there are issues; one of the two is wrong")
    if value["verdict"] != "approve" and not value["issues"]:
        raise ReplyError(f"the verdict is {value['verdict']} and no issue says why")


def case(task: ReviewTask, told: dict[str, str], database: Database) -> str:
    """Return what the second pass shows of an item: both answers, what it says of itself, the notes."""
    item, objections = task.item, ""
    if task.objections or task.answers:
        objections = prompts.render(
            "review/objections",
            objections=issues_text(task.objections),
            answers=listed("replies", task.answers),
        )
    sql = restyled(item.reference_sql, database) if item.reference_sql else None
    return prompts.render(
        "review/case",
        reference_sql=prompts.quoted("sql", sql) if sql else UNANSWERABLE,
        order_matters=str(item.order_matters).lower(),
        answerable=str(item.answerable).lower(),
        category=item.category,
        difficulty=item.difficulty,
        scope=item.scope,
        witness=item.witness or "none",
        notes=listed("notes", task.notes),
        objections=objections.strip(),
        **told,
    ).strip()


async def committed(
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
