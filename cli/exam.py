"""The exam's commands: sit it, score it, rank it, and look into it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.opening import DryOption, instance_of, opened
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
        int | None, typer.Option(help="Only the first N questions of each tier (a trial).")
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
        typer.Option(help="A diagnostic run with this output limit; it stands on no board."),
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


def score(
    task: TaskOption = None,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Score every run on a task again from its answers, all together; asks no model.

    Example: benchtoward score --task eunomia-text2sql@0
    """
    from asyncio import run

    from cli.board import print_board, print_json
    from eval.leaderboard import board, board_json
    from eval.rows import run_folders
    from eval.score import refuse_other_protocol
    from eval.score import score as score_runs

    label: Label = "dry" if dry_run else "exam"
    with opened(registry, data, task, dry_run) as exam:
        folders = run_folders(runs, label, exam.task)
        for folder in folders:
            refuse_other_protocol(exam, folder)
        shown = board(exam, run(score_runs(exam, *folders)), label=label)
    print_json(board_json(shown)) if json else print_board(shown)


def rescore(
    task: TaskOption = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="List every instance whose outcome moves.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Take the new scores over.")] = False,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Score all runs by today's rules beside their kept scores, after a rule or the engine changed.

    Exit code 1 when something moves and is not written. Example: benchtoward rescore --diff
    """
    from asyncio import run

    from cli.board import print_json
    from eval.rescore import moved, moved_json, moved_lines
    from eval.rescore import rescore as again
    from eval.rows import run_folders

    label: Label = "dry" if dry_run else "exam"
    with opened(registry, data, task, dry_run, other_protocol=True) as exam:
        found = run(again(exam, run_folders(runs, label, exam.task), write=write))
    if json:
        print_json([moved_json(one) for one in found])
    else:
        for line in (line for one in found for line in moved_lines(one, diff=diff)):
            print(line)
    raise typer.Exit(int(moved(found) and not write))


def leaderboard(
    task: TaskOption = None,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Write it and the replies it rests on into the registry."),
    ] = False,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Rank the runs on a task, with 95% intervals. A run whose score is stale is scored again.

    Example: benchtoward leaderboard --task eunomia-text2sql@0 --publish
    """
    from asyncio import run

    from cli.board import print_board, print_json
    from eval.leaderboard import board, board_json
    from eval.makers import makers
    from eval.published import publish as write
    from eval.rows import run_folders
    from eval.score import load_or_score

    label: Label = "dry" if dry_run else "exam"
    with opened(registry, data, task, dry_run) as exam:
        folders = run_folders(runs, label, exam.task)
        scored = run(load_or_score(exam, folders))
        shown = board(exam, scored, label=label, makers=makers(registry, exam.task))
        written = (
            [write(registry, exam, shown, list(zip(scored, folders, strict=True)))]
            if publish
            else []
        )
    if json:
        print_json(board_json(shown))
        return
    if not scored:
        print(f"no runs on {shown.task}; benchtoward eval-text2sql --model MODEL makes one")
        return
    print_board(shown)
    for path in (*(folder.path for folder in folders), *written):
        print(f"written in {path}")


def prompt(
    instance: Annotated[str, typer.Argument(help="<tier>/<question id>-<lang>")],
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Print one instance's prompt as every model gets it.

    Example: benchtoward-admin text2sql prompt hard/hard-001-ko
    """
    from dataclasses import asdict
    from json import dumps

    with opened(registry, data, task, True) as exam:
        request = exam.next_request(instance_of(exam, instance), ())
    assert request is not None
    if json:
        print(
            dumps([asdict(message) for message in request.messages], ensure_ascii=False, indent=1)
        )
    else:
        print("\n\n".join(f"--- {m.role}\n{m.content}" for m in request.messages))
