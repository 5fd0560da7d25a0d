"""Runs that are there already: scored again, re-scored by today's rules, ranked."""

from typing import TYPE_CHECKING, Annotated

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
