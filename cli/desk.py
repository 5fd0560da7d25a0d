"""The owner's desk: what needs a person waits here, and nothing is lost when the terminal closes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.desk_items import Act, Word, settle_item
from cli.desk_waiting import found_waiting, waiting
from cli.desk_words import settle_decision, settle_freeze
from cli.making import ROSTER, BudgetOption, RosterOption, Setting, unfrozen
from cli.options import (
    DATA,
    REGISTRY,
    RUNS,
    DataOption,
    JsonOption,
    RegistryOption,
    RunsOption,
    TaskOption,
    printable,
)
from cli.telling import plain


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
    by: Annotated[
        str, typer.Option("--by", help="Who you are; stands in the record.", callback=printable)
    ] = "",
    reason: Annotated[
        str, typer.Option("--reason", help="Why; the panel is shown it.", callback=printable)
    ] = "",
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
        if act or option:
            raise typer.BadParameter("on which thing? Name what waits: `text2sql desk` lists it")
        _list(waiting(registry, runs, data, task, roster), json=json)
        return
    where, shown = found_waiting(registry, runs, data, task, roster, item)
    unfrozen(where)
    if shown["kind"] == "freeze":
        settle_freeze(where, shown["plan"], act, by, reason)
    elif shown["kind"] == "decision":
        settle_decision(where, shown, option, by, reason, budget, quiet=json)
    else:
        named = {"question_en": question_en, "question_ko": question_ko, "reference_sql": sql}
        changed = {name: text for name, text in named.items() if text is not None}
        word = Word(act, by, reason, rule, edit, changed)
        settle_item(where, shown, word, budget, json=json)


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
            print(f"decision {shown['decision']}: {plain(shown['question'])} [{options}]")
            print(f"    text2sql desk {shown['decision']} --option OPTION --by NAME --reason ...")
    print(f"{len(found)} wait for the owner")
