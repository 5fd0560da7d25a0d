"""The owner's word on what is no item: the freeze, an undecided vote."""

import sys
from typing import Any

import typer

from cli.making import Setting
from cli.options import printable
from cli.telling import plain
from registry.reader import FormatError


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
    from items.questions import load_questions

    id, options = shown["decision"], shown["options"]
    if not option:
        print(f"{id}: {plain(shown['question'])} [{', '.join(options)}]; --option decides it")
        return
    by, reason = signed(by, reason)
    if option not in options:
        raise typer.BadParameter(f"no option {option!r} of {id}; {', '.join(options)}")
    vote = Voting(True, {id: {"option": option, "by": by, "reason": reason}}, False, 0, only=id)
    asyncio.run(decide_on(where, current_evidence(where), vote, budget, quiet=quiet))
    now = next((d for d in load_questions(where.path).decisions if d.id == id), None)
    if now is None or (now.option, now.by) != (option, "owner"):
        stands = f"{now.option} by the {now.by}" if now else "nothing"
        raise FormatError(where.path, None, f"{id} was not decided so: the record holds {stands}")
    print(f"{id}: {option}, by {plain(by)}")


def signed(by: str, reason: str) -> tuple[str, str]:
    """Return who says so and why; asked for on a terminal. Raises: typer.BadParameter."""
    if sys.stdin.isatty():
        by, reason = by or typer.prompt("your name"), reason or typer.prompt("reason")
    if not by.strip() or not reason.strip():
        raise typer.BadParameter("an owner's word needs --by and --reason")
    return printable(by), printable(reason)
