"""The owner's desk: what needs a person waits here, and nothing is lost when the terminal closes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.desk_words import settle_decision, settle_freeze, waivable, waive
from cli.differing import change_lines
from cli.editing import edited
from cli.making import (
    ROSTER,
    BudgetOption,
    RosterOption,
    Setting,
    TierName,
    bench,
    setting,
    unfrozen,
)
from cli.options import (
    DATA,
    REGISTRY,
    RUNS,
    DataOption,
    JsonOption,
    RegistryOption,
    RunsOption,
    TaskOption,
)
from cli.telling import item_lines, plain, result_lines, side_by_side, verdict_lines
from registry.reader import FormatError

if TYPE_CHECKING:
    from registry.events import Event

ACTS = ("approve", "edit", "drop")
Act = Literal["approve", "edit", "drop", "waive"]


def desk(
    item: Annotated[
        str | None,
        typer.Argument(help="What waits: an item, a decision or `freeze`; default: list all."),
    ] = None,
    act: Annotated[
        Act | None,
        typer.Option("--act", help="approve: back to the panel as it is; edit; drop; waive."),
    ] = None,
    option: Annotated[
        str, typer.Option("--option", help="The option that decides a decision.")
    ] = "",
    rule: Annotated[str, typer.Option("--rule", help="With --act waive: the rule.")] = "",
    edit: Annotated[
        Path | None,
        typer.Option("--edit", help="With --act edit: a YAML file of new fields; else $EDITOR."),
    ] = None,
    question_en: Annotated[
        str | None, typer.Option("--question-en", help="With --act edit: the English question.")
    ] = None,
    question_ko: Annotated[
        str | None, typer.Option("--question-ko", help="With --act edit: the Korean question.")
    ] = None,
    sql: Annotated[
        str | None, typer.Option("--sql", help="With --act edit: the reference SQL.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who you are; stands in the record.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why; the panel is shown it.")] = "",
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """List what waits for the owner, or act on one thing of it.

    The freeze takes approve or drop, a decision an --option, an item that breaks a rule a waiver.
    An owner never stands in for a seat: what is approved or edited here goes back to the panel, whose
    seats see the reason. Editing the YAML by hand and running `llm-fix` again does the same.
    Example: benchtoward text2sql desk hard-007 --act drop --by Kim --reason "No clinician asks this."
    """
    import asyncio

    if item is None:
        _list(_waiting(registry, runs, data, task, roster), json=json)
        return
    where, shown = _found(registry, runs, data, task, roster, item)
    unfrozen(where)
    if shown["kind"] == "freeze":
        settle_freeze(where, shown["plan"], act, by, reason)
        return
    if shown["kind"] == "decision":
        settle_decision(where, shown, option, by, reason, budget, quiet=json)
        return
    if shown["kind"] == "waiver":
        waive(where, shown, act, rule, by, reason)
        return
    _view(where, item)
    if act is None and not sys.stdin.isatty():
        return
    named = {"question_en": question_en, "question_ko": question_ko, "reference_sql": sql}
    changed = {name: text for name, text in named.items() if text is not None}
    answer = _answer(where, item, act, edit, changed, by, reason)
    asyncio.run(_settle(where, item, answer, budget, quiet=json))
    print(
        f"{item}: {answer['act']} by {answer['by']}; `text2sql show {item}` tells what came of it"
    )


def _waiting(
    registry: Path, runs: Path, data: Path, task: str | None, roster: str
) -> list[tuple[Setting, dict[str, Any]]]:
    """Return what waits in each tier of the task."""
    import asyncio

    from graphs.pipeline import at_desk

    found = []
    tiers: tuple[TierName, ...] = ("easy", "hard")
    for tier in tiers:
        try:
            where = setting(registry, runs, data, task, tier, roster)
        except FormatError:
            continue  # the task has no such tier
        if (runs / "checkpoints.sqlite").exists():
            shown = asyncio.run(at_desk(runs, where.path.stem))
            found += [(where, one) for one in shown]
        if where.path.exists():
            named = {one.get("item") for _, one in found}
            found += [(where, one) for one in waivable(where) if one["item"] not in named]
    return found


def _list(found: list[tuple[Setting, dict[str, Any]]], *, json: bool) -> None:
    from registry.canonical import canonical

    if json:
        print(canonical([{"tier": where.tier, **shown} for where, shown in found]))
        return
    for where, shown in found:
        if shown["kind"] == "item":
            print(f"{where.tier} {shown['item']} ({shown['panel']}): {'; '.join(shown['said'])}")
        elif shown["kind"] == "waiver":
            rules = "; ".join(plain(problem) for problem in shown["problems"])
            print(f"{where.tier} {shown['item']} needs an edit or a waiver: {rules}")
        elif shown["kind"] == "freeze":
            print(
                f"freeze of {shown['task']} ({shown['panel']}): `text2sql desk freeze` shows the plan"
            )
        else:
            options = ", ".join(shown["options"])
            print(f"decision {shown['decision']}: {shown['question']} [{options}]")
            print(f"    text2sql desk {shown['decision']} --option OPTION --by NAME --reason ...")
    print(f"{len(found)} wait for the owner")


def _found(
    registry: Path, runs: Path, data: Path, task: str | None, roster: str, name: str
) -> tuple[Setting, dict[str, Any]]:
    """Return where something waits, seated as the thread that waits, and what it shows.

    Raises: FormatError (nothing of that name waits).
    """
    waiting = _waiting(registry, runs, data, task, roster)
    for where, shown in waiting:
        if _name(shown) == name:
            panel = shown.get("panel", roster)
            return setting(registry, runs, data, task, where.tier, panel), shown
    have = ", ".join(_name(shown) for _, shown in waiting) or "nothing"
    raise FormatError(
        registry / "drafts", None, f"{name!r} does not wait for the owner; {have} does"
    )


def _name(shown: dict[str, Any]) -> str:
    """Return what a waiting thing is called on the command line."""
    return str(shown.get("item") or shown.get("decision") or "freeze")


def _view(where: Setting, id: str) -> None:
    """Print the item, its result beside each reviewer's own, and every verdict."""
    from cli.making import opened_database
    from items.approvals import approval
    from items.questions import load_questions
    from items.records import record_of
    from registry.events import load

    question = load_questions(where.path).question(id)
    record = load(record_of(where.path))
    verdicts = approval(record, question.item).verdicts
    for line in item_lines(question):
        print(line)
    for lines in change_lines(e for e in record if e.item == id).values():
        print("\n".join(["what was changed:", *lines]))
    with opened_database(where) as database:
        queries = {"reference": question.reference_sql}
        queries |= {f"seat {e.body['seat']}": _own(e) for e in verdicts}
        results = {name: result_lines(database.run(sql)) for name, sql in queries.items() if sql}
    for line in side_by_side(results):
        print(line)
    for event in verdicts:
        for line in verdict_lines(event):
            print(line)


def _own(event: "Event") -> str | None:
    return (event.body.get("commit") or {}).get("sql")


def _answer(
    where: Setting,
    id: str,
    act: Act | None,
    edit: Path | None,
    changed: dict[str, str],
    by: str,
    reason: str,
) -> dict[str, Any]:
    """Return the owner's word; what is missing is asked for on a terminal. Raises: FormatError."""
    chosen: str = act or typer.prompt(f"{', '.join(ACTS)}?")
    who, why = by or _asked("your name"), reason or _asked("reason")
    if chosen not in ACTS or not who.strip() or not why.strip():
        raise typer.BadParameter(f"an act ({', '.join(ACTS)}) with --by and --reason is needed")
    answer: dict[str, Any] = {"act": chosen, "by": who, "reason": why}
    if chosen == "edit":
        answer["item"] = edited(where, id, edit, changed)
    return answer


def _asked(what: str) -> str:
    return str(typer.prompt(what)) if sys.stdin.isatty() else ""


async def _settle(
    where: Setting, id: str, answer: dict[str, Any], budget: float | None, *, quiet: bool
) -> None:
    """Let the waiting thread go on with the owner's word."""
    from dataclasses import replace

    from cli.making import models_in
    from cli.progress import progress
    from cli.reviewing import Work, panel_context
    from graphs import pipeline

    roster = where.roster
    models = models_in(roster.reviewers, roster.fixers) if answer["act"] != "drop" else ()
    async with bench(where, "text2sql desk", models, budget) as b:
        context = replace(panel_context(b, Work(rounds=1)), unsettled="owner")
        with progress("settling", 1, quiet=quiet) as step:
            await pipeline.review_items(
                [(context, id)],
                where.runs,
                panel=roster.id,
                rounds=1,
                step=step,
                answers={id: answer},
            )
