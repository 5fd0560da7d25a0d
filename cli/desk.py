"""The owner's desk: what needs a person waits here, and nothing is lost when the terminal closes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.desk_items import Act, Word, settle_item
from cli.desk_words import settle_decision, settle_freeze
from cli.making import ROSTER, BudgetOption, RosterOption, Setting, TierName, setting, unfrozen
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
from cli.telling import plain
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import QuestionFile


def desk(
    item: Annotated[
        str | None,
        typer.Argument(help="What waits: an item, a decision or `freeze`; default: list all."),
    ] = None,
    act: Annotated[
        Act | None,
        typer.Option(
            "--act", help="approve: back to the panel as it is; waive a broken rule; edit; drop."
        ),
    ] = None,
    option: Annotated[
        str, typer.Option("--option", help="The option that decides a decision.")
    ] = "",
    rule: Annotated[
        str, typer.Option("--rule", help="With --act waive: the rule, where several are broken.")
    ] = "",
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

    The freeze takes approve or drop, a decision an --option, an item that breaks a rule waive, edit or
    drop, an item that the panel is split on approve, edit or drop. An owner never stands in for a seat:
    what is approved, waived or edited here goes back to the panel, whose seats see the reason of an
    approval. Editing the YAML by hand and running the same command again does the same.
    Example: benchtoward text2sql desk hard-007 --act drop --by Kim --reason "No clinician asks this."
    """
    if item is None:
        _list(_waiting(registry, runs, data, task, roster), json=json)
        return
    where, shown = _found(registry, runs, data, task, roster, item)
    unfrozen(where)
    if shown["kind"] == "freeze":
        settle_freeze(where, shown["plan"], act, by, reason)
    elif shown["kind"] == "decision":
        settle_decision(where, shown, option, by, reason, budget, quiet=json)
    else:
        named = {"question_en": question_en, "question_ko": question_ko, "reference_sql": sql}
        changed = {name: text for name, text in named.items() if text is not None}
        word = Word(act, by, reason, rule, edit, changed)
        settle_item(where, shown, word, budget, quiet=json)


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
            found += [(where, one) for one in _still(where, shown)]
    return found


def _still(where: Setting, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what waits still: no item that was changed, dropped, waived or approved by other ways since."""
    from items.approvals import approval
    from items.questions import load_questions
    from items.records import record_of
    from registry.events import load

    if not any("item" in one for one in shown):
        return shown
    file, record = load_questions(where.path), load(record_of(where.path))
    open_ = {item.id: item.sha256 for item in file.kept if not approval(record, item).approved}
    return [one for one in shown if "item" not in one or _waits(file, open_, one)]


def _waits(file: "QuestionFile", open_: dict[str, str], shown: dict[str, Any]) -> bool:
    id, sha256 = shown["item"], shown["item_sha256"]
    rules = [problem.partition(":")[0] for problem in shown.get("problems", ())]
    waived = any(file.settings.waiver(id, sha256, rule) for rule in rules)
    return not waived and open_.get(id) == sha256


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
            print(
                f"{where.tier} {shown['item']} ({shown['panel']}) needs an edit or a waiver: {rules}"
            )
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
