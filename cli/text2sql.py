"""The making of a text2sql task: write, check, review, fix, decide, freeze, and look at it all."""

from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from cli import deciding, desk, panel, release, showing
from cli.check import check
from cli.making import (
    ROSTER,
    BudgetOption,
    PlanOption,
    RosterOption,
    Setting,
    TierName,
    begin_file,
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
from cli.planning import Planned, plan_authors, plan_reviewers, say_plan
from cli.planning_fixes import plan_fixers
from cli.reviewing import Work, reviewed
from cli.writing import generated

app = typer.Typer(help="Write, check, review, fix, vote on and freeze the items of a task.")
app.command("check")(check)
app.command("llm-decide")(deciding.llm_decide)
app.command("evidence")(deciding.evidence)
app.command("desk")(desk.desk)
app.command("show")(showing.show)
app.command("status")(showing.status)
app.command("panel")(panel.panel)
app.command("khdp-package")(release.khdp_package)
app.command("thaw")(release.thaw)
app.command("bump")(release.bump)

ROUNDS = 2
CatchOption = Annotated[
    int,
    typer.Option(
        "--catch", min=0, help="Catch trials: N items with a seeded error among the rest."
    ),
]


@app.command("hard-generate")
def hard_generate(
    count: Annotated[
        int, typer.Option("--count", min=1, help="How many places the hard tier has.")
    ],
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    plan: PlanOption = False,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Let the roster's authors write the hard tier: every draft passes the rules or goes back.

    Example: benchtoward text2sql hard-generate --count 20 --roster embedded
    """
    import asyncio

    where = setting(registry, runs, data, task, "hard", roster)
    unfrozen(where)
    begin_file(where)
    if plan:
        say_plan(asyncio.run(plan_authors(where, count)), json=json)
        return
    _say(asyncio.run(generated(where, count, budget, quiet=json)), json=json)


@app.command("hard-review")
def hard_review(
    catch: CatchOption = 0,
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    plan: PlanOption = False,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Bring the hard file before the panel, with the rules on abstention (S4-005).

    Each of the three seats answers the question itself before it sees the reference. Nothing is
    mended here; `llm-fix` does that. Example: benchtoward text2sql hard-review --roster source --catch 20
    """
    where = setting(registry, runs, data, task, "hard", roster)
    _review(where, Work(catch=catch, plan=plan), budget, json=json)


@app.command("llm-review")
def llm_review(
    catch: CatchOption = 0,
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    plan: PlanOption = False,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Bring the easy file before the panel; there is no abstention (S4-005).

    Example: benchtoward text2sql llm-review --roster source
    """
    where = setting(registry, runs, data, task, "easy", roster)
    _review(where, Work(catch=catch, plan=plan), budget, json=json)


@app.command("llm-fix")
def llm_fix(
    rounds: Annotated[int, typer.Option(min=1, help="How often an item may be mended.")] = ROUNDS,
    unsettled: Annotated[
        Literal["drop", "keep", "owner"],
        typer.Option(help="What is not approved in time: drop it, keep it, or put it on the desk."),
    ] = "drop",
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    plan: PlanOption = False,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Mend what the panel or the rules object to; all three seats judge each new version anew.

    What is not approved when the rounds are over is dropped with its reasons, unless --unsettled says
    otherwise; `text2sql desk` shows what waits for the owner.
    Example: benchtoward text2sql llm-fix --roster source --rounds 3
    """
    tiers = _tiers(registry, task)
    places = [setting(registry, runs, data, task, tier, roster) for tier in tiers]
    places = [where for where in places if where.path.exists()]
    if plan:
        say_plan(_planned_fixes(places, rounds), json=json)
        return
    from registry.canonical import canonical

    work = Work(rounds=rounds, unsettled=unsettled)
    told = [_reviewed(where, work, budget, quiet=json) for where in places]
    if json:
        print(canonical(told))
    for one in () if json else told:
        _say(one, json=False)
    if any(one["no_verdict"] for one in told):
        raise typer.Exit(1)


def _planned_fixes(places: list[Setting], rounds: int) -> list[Planned]:
    """Return the plans of all tiers, seat by seat."""
    import asyncio

    found: list[Planned] = []
    for where in places:
        unfrozen(where)
        for of_seat in asyncio.run(plan_fixers(where, rounds)):
            seat, basis = f"{where.tier} {of_seat.seat}", f"{where.tier}, {of_seat.basis}"
            found.append(replace(of_seat, seat=seat, basis=basis))
    return found


def _review(where: Setting, work: Work, budget: float | None, *, json: bool) -> None:
    import asyncio

    unfrozen(where)
    if work.plan:
        say_plan(asyncio.run(plan_reviewers(where, work.catch)), json=json)
        return
    told = _reviewed(where, work, budget, quiet=json)
    _say(told, json=json)
    if told["no_verdict"]:
        raise typer.Exit(1)


def _reviewed(where: Setting, work: Work, budget: float | None, *, quiet: bool) -> dict[str, Any]:
    import asyncio

    unfrozen(where)
    return asyncio.run(reviewed(where, work, budget, quiet=quiet))


def _tiers(registry: Any, task: str | None) -> list[TierName]:
    from eval.spec import find_task
    from items.spec import load_spec, spec_path

    spec = load_spec(spec_path(registry, find_task(registry, task)))
    known: list[TierName] = ["easy", "hard"]
    return [tier for tier in known if tier in spec.tiers]


def _say(told: dict[str, Any], *, json: bool) -> None:
    """Print what a command did: one line a fact, or one JSON document."""
    if json:
        from registry.canonical import canonical

        print(canonical(told))
        return
    for name, value in told.items():
        if isinstance(value, list):
            value = f"{len(value)}" + (f": {', '.join(value[:12])}" if value else "")
            value += ", …" if len(told[name]) > 12 else ""
        print(f"{name.replace('_', ' ')}: {value}")
