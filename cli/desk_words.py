"""The owner's word on what is no split panel: the freeze, an undecided vote, a rule to be waived."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from cli.making import Setting
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.model import Item
    from items.settings import Settings
    from registry.events import Event


def settle_freeze(where: Setting, seen: str, act: str | None, by: str, reason: str) -> None:
    """Take approve or drop on a freeze that waits; without an act the plan is shown.

    seen: the plan that waits. One that has changed since waits anew and is not answered unseen.
    Raises: FormatError, typer.Exit 1 (the plan has changed, or the owner said no).
    """
    from cli.freezing import answer_freeze, freeze_plan, waits

    plan = freeze_plan(where, by=by or "owner")
    for line in plan.lines:
        print(line)
    if not waits(plan):
        return
    if plan.sha256 != seen:
        print("the plan has changed since it was shown: this one waits now; read it and say again")
        raise typer.Exit(1)
    if act is None:
        return
    if act not in ("approve", "drop"):
        raise typer.BadParameter(f"a freeze takes --act approve or drop, not {act}")
    by, reason = signed(by, reason)
    answer_freeze(plan, {"act": act, "by": by, "reason": reason, "asked": True})


def settle_decision(
    where: Setting,
    shown: dict[str, Any],
    option: str,
    by: str,
    reason: str,
    budget: float | None,
    *,
    quiet: bool,
) -> None:
    """Take the owner's option on a vote that no majority decided. Raises: FormatError."""
    import asyncio

    from cli.deciding import Voting, decide_on
    from cli.evidence import current_evidence

    id, options = shown["decision"], shown["options"]
    if not option:
        print(f"{id}: {shown['question']} [{', '.join(options)}]; --option decides it")
        return
    by, reason = signed(by, reason)
    if option not in options:
        raise typer.BadParameter(f"no option {option!r} of {id}; {', '.join(options)}")
    vote = Voting(True, {id: {"option": option, "by": by, "reason": reason}}, False, 0)
    asyncio.run(decide_on(where, current_evidence(where), vote, budget, quiet=quiet))
    print(f"{id}: {option}, by {by}")


def waivable(where: Setting) -> list[dict[str, Any]]:
    """Return the items of a tier that the gate stopped: what a mend or a waiver could settle."""
    from items.questions import load_questions
    from items.records import record_of
    from registry.events import load

    file = load_questions(where.path)
    of_item: dict[str | None, list[Event]] = {}
    for event in load(record_of(where.path)):
        of_item.setdefault(event.item, []).append(event)
    return [
        {"kind": "waiver", "item": item.id, "problems": stopped}
        for item in file.kept
        if (stopped := _stopped(of_item.get(item.id, []), item, file.settings))
    ]


def waive(
    where: Setting, shown: dict[str, Any], act: str | None, rule: str, by: str, reason: str
) -> None:
    """Write a waiver for an item's present content into its file's settings and into the record.

    Raises: FormatError (the rule is not one that stopped it), typer.BadParameter (no name or reason).
    """
    from dataclasses import replace

    from graphs.workbook import open_workbook
    from items.questions import load_questions, save_questions
    from items.settings import Waiver

    for problem in shown["problems"]:
        print(f"{shown['item']}: {problem}")
    if act is None:
        return
    rules = [problem.partition(":")[0] for problem in shown["problems"]]
    if act != "waive" or rule not in rules:
        told = f"{shown['item']} takes --act waive with --rule {' or '.join(rules)}; else edit {where.path}"
        raise FormatError(where.path, None, told)
    by, reason = signed(by, reason)
    file = load_questions(where.path)
    item = file.question(shown["item"]).item
    given = Waiver(item.id, rule, reason, by, item.sha256)
    settings = replace(file.settings, waivers=(*file.settings.waivers, given))
    save_questions(where.path, replace(file, settings=settings))
    with open_workbook(where.path):
        pass  # takes the file's new settings into the record
    print(f"{item.id}: {rule} waived by {by}; `text2sql llm-fix` goes on with it")


def signed(by: str, reason: str) -> tuple[str, str]:
    """Return who says so and why; asked for on a terminal. Raises: typer.BadParameter."""
    if sys.stdin.isatty():
        by, reason = by or typer.prompt("your name"), reason or typer.prompt("reason")
    if not by.strip() or not reason.strip():
        raise typer.BadParameter("an owner's word needs --by and --reason")
    return by, reason


def _stopped(events: "list[Event]", item: "Item", settings: "Settings") -> list[str]:
    """Return the problems that the gate last found with the present content and nobody has waived."""
    last = [e for e in events if e.kind in ("problem", "verdict") and e.item_sha256 == item.sha256]
    if not last or last[-1].kind != "problem":
        return []
    return [
        problem
        for problem in last[-1].body.get("problems", ())
        if not settings.waiver(item.id, item.sha256, problem.partition(":")[0])
    ]
