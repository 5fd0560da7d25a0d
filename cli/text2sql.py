"""The making of a text2sql task: write, check, review, fix, decide, freeze, and look at it all."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import deciding, showing
from cli.check import check
from cli.making import (
    ROSTER,
    BudgetOption,
    RosterOption,
    Setting,
    TaskOption,
    TierName,
    begin_file,
    bench,
    models_in,
    setting,
    single_model,
    unfrozen,
)
from cli.options import DATA, REGISTRY, RUNS, DataOption, JsonOption, RegistryOption, RunsOption

if TYPE_CHECKING:
    from cli.making import Bench
    from graphs.workbook import Workbook

app = typer.Typer(help="Write, check, review, fix, vote on and freeze the items of a task.")
app.command("check")(check)
app.command("llm-decide")(deciding.llm_decide)
app.command("evidence")(deciding.evidence)
app.command("show")(showing.show)
app.command("status")(showing.status)

ROUNDS = 2


@app.command("hard-generate")
def hard_generate(
    count: Annotated[
        int, typer.Option("--count", min=1, help="How many places the hard tier has.")
    ],
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
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
    _say(asyncio.run(_generate(where, count, budget, quiet=json)), json=json)


@app.command("hard-review")
def hard_review(
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Bring the hard file before the panel, with the rules on abstention (S4-005).

    Each of the three seats answers the question itself before it sees the reference. Nothing is
    mended here; `llm-fix` does that. Example: benchtoward text2sql hard-review --roster source
    """
    where = setting(registry, runs, data, task, "hard", roster)
    _review(where, rounds=0, drop=False, budget=budget, json=json)


@app.command("llm-review")
def llm_review(
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
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
    _review(where, rounds=0, drop=False, budget=budget, json=json)


@app.command("llm-fix")
def llm_fix(
    rounds: Annotated[int, typer.Option(min=1, help="How often an item may be mended.")] = ROUNDS,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep as a draft what is not approved in time.")
    ] = False,
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Mend what the panel or the rules object to; all three seats judge each new version anew.

    What is not approved when the rounds are over is dropped with its reasons.
    Example: benchtoward text2sql llm-fix --roster source --rounds 3
    """
    for tier in _tiers(registry, task):
        where = setting(registry, runs, data, task, tier, roster)
        if where.path.exists():
            _review(where, rounds=rounds, drop=not keep, budget=budget, json=json)


async def _generate(
    where: Setting, count: int, budget: float | None, *, quiet: bool
) -> dict[str, Any]:
    from agents.panel import authors
    from cli.progress import progress
    from graphs import authoring, pipeline
    from graphs.plan import plan

    seats = where.roster.authors
    async with bench(where, "text2sql hard-generate", models_in(seats), budget) as b:
        slots = plan(where.tier, count, len(seats))
        held = authors(seats, b.gateway, b.briefing, b.limits)
        context = authoring.Context(b.book, b.ground, held, slots)
        places = [id for id in slots if id not in b.book.ids]
        with progress("writing", len(places), quiet=quiet) as step:
            await pipeline.write_items(context, where.runs, step)
        empty = [id for id in slots if id not in b.book.ids]
        return {
            "file": str(where.path),
            "written": len(places) - len(empty),
            "items": len(b.book.questions),
            "empty": empty,
            "next": "text2sql check",
        }


def _review(where: Setting, *, rounds: int, drop: bool, budget: float | None, json: bool) -> None:
    import asyncio

    unfrozen(where)
    told = asyncio.run(_reviewed(where, rounds, drop, budget, quiet=json))
    _say(told, json=json)
    if told["no_verdict"]:
        raise typer.Exit(1)


async def _reviewed(
    where: Setting, rounds: int, drop: bool, budget: float | None, *, quiet: bool
) -> dict[str, Any]:
    from cli.progress import progress
    from graphs import pipeline, review

    roster = where.roster
    models = models_in(roster.reviewers, roster.fixers if rounds else ())
    command = f"text2sql {'llm-fix' if rounds else 'review'}"
    async with bench(where, command, models, budget) as b:
        context = _panel(b, drop=drop)
        ids = [q.id for q in b.book.questions if review.open_work(context, q.id, fixing=rounds > 0)]
        what = f"{'fixing' if rounds else 'reviewing'} {where.tier}"
        with progress(what, len(ids), quiet=quiet) as step:
            await pipeline.review_items(
                context, where.runs, ids, panel=roster.id, rounds=rounds, step=step
            )
        return _standing(where, b.book, context)


def _panel(b: "Bench", *, drop: bool) -> Any:
    from agents.panel import fixers, reviewers
    from graphs.review import Context

    roster = b.setting.roster
    return Context(
        b.book,
        b.ground,
        reviewers(roster.reviewers, b.gateway, b.briefing, b.limits),
        fixers(roster.fixers, b.gateway, b.briefing, b.limits),
        single_model=single_model(roster.reviewers),
        second_round=bool(b.setting.task.review.get("second_round")),
        drop=drop,
    )


def _standing(where: Setting, book: "Workbook", context: Any) -> dict[str, Any]:
    """Return where a tier's items stand after a review."""
    from graphs.review import unheard

    kept = book.questions
    approved = [q.id for q in kept if book.panel(q.item).approved]
    broken = [q.id for q in kept if book.broken(q.item)]
    unjudged = [q.id for q in kept if unheard(context, q.id) and q.id not in broken]
    objected = [q.id for q in kept if q.id not in {*approved, *unjudged, *broken}]
    following = "text2sql llm-fix" if objected or broken else "text2sql llm-decide"
    return {
        "file": str(where.path),
        "items": len(kept),
        "approved": len(approved),
        "objected": objected,
        "broken": broken,
        "no_verdict": unjudged,
        "dropped": sorted(id for id in book.ids if book.dropped(id)),
        "next": "the same command again" if unjudged else following,
    }


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
