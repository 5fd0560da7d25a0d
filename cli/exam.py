"""The exam's commands: sit it, score it, rank it, and look into it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.opening import DryOption, opened
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

if TYPE_CHECKING:
    from eval.rows import Label
    from eval.take import Taken


def eval_text2sql(
    model: Annotated[
        str,
        typer.Option("--model", help="A model of registry/models.yaml, or benchtoward/prior, ..."),
    ],
    task: TaskOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N questions of each tier (a trial).")
    ] = None,
    reuse: Annotated[
        bool,
        typer.Option(
            "--reuse", help="Take answers of earlier runs, dry runs too, to equal requests."
        ),
    ] = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="With --reuse: say for each instance reused, or what differs."),
    ] = False,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="Score answers made elsewhere: a JSON object, instance id to SQL or null.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Allow missing and unknown ids in --predictions; count them."
        ),
    ] = False,
    dry_run: DryOption = False,
    abstain_by: Annotated[
        Literal["entropy"] | None,
        typer.Option(
            help="Also score the run that abstains where a token's entropy is above a threshold."
        ),
    ] = None,
    fit_on: Annotated[
        str,
        typer.Option(help="The tier that the threshold is fitted on, to be applied to the other."),
    ] = "easy",
    threshold: Annotated[
        Literal["two_means", "percentile"], typer.Option(help="How the threshold is fitted.")
    ] = "two_means",
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours", help="Also run right answers on neighbour databases: which are luck?"
        ),
    ] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="A diagnostic run with this output limit; it stands on no board."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be asked and what it costs; ask nothing.")
    ] = False,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch", help="Send it as a provider's batch, at its price; `batches` fetches it."
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0.0, help="USD that this command may spend; exit 3 before more."),
    ] = None,
    allow_unknown_cost: Annotated[
        bool,
        typer.Option(
            "--allow-unknown-cost", help="With --budget: also ask where no price is known."
        ),
    ] = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Let a model take the exam of a frozen task, or go on where it was stopped.

    Example: benchtoward eval-text2sql --model openai/gpt-oss-20b --reuse
    """
    from asyncio import run

    from cli.progress import progress
    from cli.taken import look_for_luck, print_plan, print_sent, show_taken
    from eval.abstain import Rule
    from eval.take import Options, batched, chosen, planned, reasons, take

    spending = {"budget_usd": budget, "allow_unknown_cost": allow_unknown_cost}
    options = Options(
        model,
        label_of(dry_run, max_tokens),
        limit,
        reuse or why,
        predictions,
        partial,
        Rule(fit_on, threshold) if abstain_by else None,
        {**spending, "command": "eval-text2sql"},
    )
    with opened(registry, data, task, dry_run, max_tokens=max_tokens) as exam:
        if plan:
            print_plan(planned(exam, registry, runs, options), json=json)
            return
        if batch:
            print_sent(run(batched(exam, registry, runs, options)), json=json)
            return
        for reason in reasons(exam, registry, runs, options) if why else []:
            print(reason)
        with progress("answering", len(chosen(exam, options)), quiet=json) as step:
            taken = run(take(exam, registry, runs, options, step))
        lucky = run(look_for_luck(exam, taken, registry, quiet=json)) if neighbours else None
        show_taken(exam, taken, options.label, lucky, json=json)
    raise typer.Exit(exit_code(taken))


def label_of(dry_run: bool, max_tokens: int | None) -> "Label":
    """Return the kind of a run: exam, dry or diagnostic."""
    return "diagnostic" if max_tokens else "dry" if dry_run else "exam"


def exit_code(taken: "Taken") -> int:
    """Return 3 after a spent budget, 1 when a route failed or no threshold was found, else 0."""
    stopped = taken.sitting.stopped
    failed = taken.sitting.failed > 0 or bool(taken.no_threshold)
    return getattr(stopped, "exit_code", 1) if stopped else int(failed)
