"""The making of a text2sql task: write, check, review, fix, decide, freeze, and look at it all."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli import deciding, desk, panel, release, showing
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
    voted,
)
from cli.options import DATA, REGISTRY, RUNS, DataOption, JsonOption, RegistryOption, RunsOption

if TYPE_CHECKING:
    from cli.making import Bench
    from graphs.review import Context
    from graphs.workbook import Workbook
    from items.trials import Trial

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
RETEST = 0.05  # of items, judged twice by every model
CatchOption = Annotated[
    int,
    typer.Option(
        "--catch", min=0, help="Catch trials: N items with a seeded error among the rest."
    ),
]


@dataclass(frozen=True)
class Work:
    """What a review is to do: fix rounds, trials, and what becomes of an item still not agreed on."""

    rounds: int = 0
    catch: int = 0
    unsettled: Literal["drop", "keep", "owner"] = "keep"

    @property
    def command(self) -> str:
        """Return what the ledger calls it."""
        return "fix" if self.rounds else "review"


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
    catch: CatchOption = 0,
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
    mended here; `llm-fix` does that. Example: benchtoward text2sql hard-review --roster source --catch 20
    """
    where = setting(registry, runs, data, task, "hard", roster)
    _review(where, Work(catch=catch), budget, json=json)


@app.command("llm-review")
def llm_review(
    catch: CatchOption = 0,
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
    _review(where, Work(catch=catch), budget, json=json)


@app.command("llm-fix")
def llm_fix(
    rounds: Annotated[int, typer.Option(min=1, help="How often an item may be mended.")] = ROUNDS,
    unsettled: Annotated[
        Literal["drop", "keep", "owner"],
        typer.Option(help="What is not approved in time: drop it, keep it, or put it on the desk."),
    ] = "drop",
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
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
    for tier in _tiers(registry, task):
        where = setting(registry, runs, data, task, tier, roster)
        if where.path.exists():
            _review(where, Work(rounds=rounds, unsettled=unsettled), budget, json=json)


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


def _review(where: Setting, work: Work, budget: float | None, *, json: bool) -> None:
    import asyncio

    unfrozen(where)
    told = asyncio.run(_reviewed(where, work, budget, quiet=json))
    _say(told, json=json)
    if told["no_verdict"]:
        raise typer.Exit(1)


async def _reviewed(
    where: Setting, work: Work, budget: float | None, *, quiet: bool
) -> dict[str, Any]:
    from contextlib import ExitStack
    from random import Random

    from cli.progress import progress
    from graphs import pipeline, review
    from graphs.trials import trial_events

    roster, fixing = where.roster, work.rounds > 0
    models = models_in(roster.reviewers, roster.fixers if fixing else ())
    async with bench(where, f"text2sql {work.command}", models, budget) as b:
        context = panel_context(b, work)
        with ExitStack() as stack:
            pairs = [(context, question.id) for question in b.book.questions]
            caught, trials = _trials(stack, b, context, work.catch)
            pairs += [(caught, trial.item.id) for trial in trials]
            pairs = [(c, id) for c, id in pairs if review.open_work(c, id, fixing=fixing)]
            Random(roster.id).shuffle(pairs)  # noqa: S311  trials among the items
            with progress(f"{work.command} {where.tier}", len(pairs), quiet=quiet) as step:
                await pipeline.review_items(
                    pairs, where.runs, panel=roster.id, rounds=work.rounds, step=step
                )
            b.book.write(*trial_events(caught.book, trials))
        return _standing(where, b.book, context)


def _trials(
    stack: Any, b: "Bench", context: "Context", count: int
) -> tuple["Context", tuple["Trial", ...]]:
    """Return the review context of the catch trials, and the trials; none when none are asked for."""
    from dataclasses import replace

    from graphs.trials import open_trials

    if not count:
        return context, ()
    runs, ground = b.setting.runs, b.ground
    book, trials = stack.enter_context(open_trials(runs, b.book, ground, count))
    return replace(context, book=book), trials[:count]


def panel_context(b: "Bench", work: Work) -> "Context":
    """Return the review context of a bench: its panel, its fixers, and what was voted."""
    from agents.panel import fixers, reviewers
    from graphs.review import Context

    roster = b.setting.roster
    return Context(
        b.book,
        b.ground,
        reviewers(roster.reviewers, b.gateway, b.briefing, b.limits),
        fixers(roster.fixers, b.gateway, b.briefing, b.limits),
        single_model=single_model(roster.reviewers),
        second_round=bool(voted(b.setting, "review.second_round")),
        retest=RETEST,
        unsettled=work.unsettled,
    )


def _standing(where: Setting, book: "Workbook", context: "Context") -> dict[str, Any]:
    """Return where a tier's items stand after a review."""
    from graphs.minutes import unheard

    kept = book.questions
    approved = [q.id for q in kept if book.panel(q.item).approved]
    broken = [q.id for q in kept if book.broken(q.item)]
    unjudged = [q.id for q in kept if unheard(book, context.reviewers, q.id) and q.id not in broken]
    objected = [q.id for q in kept if q.id not in {*approved, *unjudged, *broken}]
    following = "text2sql llm-fix" if objected or broken else "text2sql llm-decide"
    return {
        "tier": where.tier,
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
