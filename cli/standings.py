"""The SOP check of a task, and the page of one run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.opening import DryOption, folder_of, one_run, opened, scored_runs
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
from registry.reader import FormatError

if TYPE_CHECKING:
    from eval.sop import Sop
    from eval.text2sql import Text2Sql


def sop(
    task: TaskOption = None,
    strong: Annotated[str | None, typer.Option(help="Instead of the spec's strong model.")] = None,
    weak: Annotated[str | None, typer.Option(help="Instead of the spec's weak model.")] = None,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Check whether a task is fit to rank models: headroom, order, format and route failures.

    Exit code 1 unless the verdict is pass. Example: benchtoward sop --task eunomia-text2sql@0
    """
    from dataclasses import asdict

    from cli.board import print_json
    from eval.sop import PRIORS
    from eval.sop import sop as check

    with opened(registry, data, task, dry_run) as exam:
        spec = exam.spec.check
        reference = (strong or spec.roster.strong, weak or spec.roster.weak)
        if not all(reference):
            raise FormatError(
                registry / "tasks" / f"{exam.task}.yaml",
                None,
                "the spec names no reference roster (check.roster); give --strong and --weak: "
                f"there are runs of {', '.join(_sat(exam, runs, dry_run)) or 'no model'}",
            )
        found = check(
            exam,
            scored_runs(exam, runs, dry_run),
            str(reference[0]),
            str(reference[1]),
            priors=spec.priors or PRIORS,
        )
    if json:
        told = [{**asdict(tier), "verdict": tier.verdict} for tier in found.tiers]
        print_json({**asdict(found), "tiers": told, "verdict": found.verdict})
    else:
        print_sop(found)
    raise typer.Exit(found.verdict != "pass")


def _sat(exam: "Text2Sql", runs: Path, dry_run: bool) -> list[str]:
    """Return the models that have a run on the task, priors left out."""
    from eval.rows import run_folders

    folders = run_folders(runs, "dry" if dry_run else "exam", exam.task)
    return [m for f in folders if not (m := str(f.header()["model"])).startswith("benchtoward/")]


def print_sop(found: "Sop") -> None:
    """Print the check, one line a figure."""
    from cli.board import in_words

    for tier in found.tiers:
        part = "decides" if tier.decides else "shown"
        print(f"{tier.tier} tier on {tier.metric} ({part}): {tier.verdict}")
        for point in tier.points:
            print(f"  {point.verdict:<10}  {point.name}: {in_words(point.figure)}{point.said}")
    print(f"SOP check of {found.task}: {found.verdict}")


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The model of a run on the task.")],
    task: TaskOption = None,
    out: Annotated[
        Path | None, typer.Option(help="The page; default: report.html in the run's folder.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Also write one row an instance to this Parquet file.")
    ] = None,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Write a run as one HTML page that opens from disk: scores, outcomes, every item and answer.

    Example: benchtoward report openai/gpt-oss-20b --out report.html
    """
    import asyncio

    from cli.board import print_json
    from eval.export import table_of, write_parquet
    from eval.report import report as page_of
    from registry.files import replace

    with opened(registry, data, task, dry_run) as exam:
        folder = folder_of(exam, runs, run, dry_run)
        scored = one_run(exam, runs, run, dry_run)
        if parquet:
            write_parquet(parquet, exam, folder, scored)
        if json:
            print_json(table_of(exam, folder, scored))
            return
        page = out or folder.path / "report.html"
        replace(page, asyncio.run(page_of(exam, folder, scored)))
    print(f"written {page}" + (f" and {parquet}" if parquet else ""))
