"""The commands that look into finished runs: the SOP check, two runs compared, one run's report."""

from pathlib import Path
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
from registry.reader import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval.compare import Flip, Pair
    from eval.exam import Exam, Scored
    from eval.rows import Label, RunFolder
    from eval.score import Run
    from eval.sides import Sides
    from eval.sop import Sop
    from eval.statistics import Figure
    from eval.text2sql import Text2Sql
    from items.model import Item

ModelArgument = Annotated[str, typer.Argument(help="The model of a run on the task.")]


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
                "the spec names no reference roster (check.roster); give --strong and --weak",
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


def print_sop(found: "Sop") -> None:
    """Print the check, one line a figure."""
    for tier in found.tiers:
        part = "decides" if tier.decides else "shown"
        print(f"{tier.tier} tier on {tier.metric} ({part}): {tier.verdict}")
        for point in tier.points:
            print(f"  {point.verdict:<10}  {point.name}: {in_words(point.figure)}{point.said}")
    print(f"SOP check of {found.task}: {found.verdict}")


def compare(
    a: ModelArgument,
    b: ModelArgument,
    task: TaskOption = None,
    shown: Annotated[int, typer.Option(help="How many flips are shown with both queries.")] = 10,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Compare two runs: the paired difference, and the instances that flipped.

    Example: benchtoward compare openai/gpt-oss-20b benchtoward/prior
    """
    from asyncio import run
    from dataclasses import asdict

    from cli.board import print_json
    from eval.compare import flips, pair
    from eval.sides import sides

    with opened(registry, data, task, dry_run) as exam:
        ours, theirs = (one_run(exam, runs, model, dry_run) for model in (a, b))
        for one in (ours, theirs):
            if one.open:
                raise FormatError(
                    runs / exam.task,
                    None,
                    f"{one.model} has {one.open} open instances: finish it first",
                )
        compared = [pair(exam, ours, theirs, tier, metric) for tier, metric in headings(exam)]
        found = flips(ours, theirs)
        of_sides = run(sides(exam.database, sided(exam, found[:shown])))
    if json:
        told = [flip_json(flip) for flip in found]
        print_json({"pairs": [asdict(one) for one in compared], "flips": told})
        return
    print_pairs(compared)
    print_parts(found, a, b)
    for n, flip in enumerate(found[:shown]):
        print(f"\n{flip.instance}: {a} {flip.a.outcome}, {b} {flip.b.outcome}")
        for model, row, side in ((a, flip.a, of_sides[2 * n]), (b, flip.b, of_sides[2 * n + 1])):
            print_side(model, row, side)
    if len(found) > shown:
        print(f"\n{len(found) - shown} more flips; --shown {len(found)} shows all")


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


def headings(exam: "Exam") -> list[tuple[str, str]]:
    """Return (tier, metric) of what heads each tier: RS(0) and EX, or EX alone."""
    rows = [exam.assume(instance, right=False) for instance in exam.instances()]
    return [(m.tier, m.name) for m in exam.measures(rows) if m.name in ("rs0", "ex")]


def sided(exam: "Text2Sql", found: "Sequence[Flip]") -> "list[tuple[Item, Scored]]":
    """Return the answers of flips with their items: of one run and the other, in turn."""
    return [(exam.asked[flip.instance].item, row) for flip in found for row in (flip.a, flip.b)]


def print_pairs(compared: "Sequence[Pair]") -> None:
    """Print the paired differences, one line a metric."""
    for one in compared:
        print(
            f"{one.tier} {one.metric}: {one.a} minus {one.b} {in_words(one.difference)}"
            f"p {one.sign_flip:.3g} by questions, {one.mcnemar:.3g} by instances"
        )


def print_parts(found: "Sequence[Flip]", a: str, b: str) -> None:
    """Print how many flips there are, by category and by language."""
    from collections import Counter

    from eval.compare import good

    print(f"{len(found)} flips: {sum(good(f.a) for f in found)} good in {a} only")
    for label in ("category", "language"):
        only_a = Counter(flip.labels.get(label, "") for flip in found if good(flip.a))
        only_b = Counter(flip.labels.get(label, "") for flip in found if good(flip.b))
        for part in sorted(only_a | only_b):
            print(f"  {label} {part}: {only_a[part]} in {a} only, {only_b[part]} in {b} only")


def print_side(model: str, row: "Scored", side: "Sides") -> None:
    """Print one answer of a flip: what it was, its query, the first rows that differ."""
    from eval.sides import plain

    why = row.reason or (side.difference.reason if side.difference else "")
    print(f"  {model}: {row.outcome}{f' ({why})' if why else ''}")
    for line in str(row.facts.get("sql", "")).splitlines():
        print(f"    {plain(line)}")
    for pair in side.difference.pairs[:3] if side.difference else ():
        print(f"    reference {pair.reference}  answer {pair.prediction}")


def flip_json(flip: "Flip") -> dict[str, object]:
    """Return a flip as JSON-like values."""
    told = {name: {"outcome": r.outcome, **r.facts} for name, r in (("a", flip.a), ("b", flip.b))}
    return {"instance": flip.instance, **flip.labels, **told}


def in_words(figure: "Figure | None") -> str:
    """Return a figure as `0.25 (0.10 to 0.40); `."""
    if figure is None or figure.value is None:
        return ""
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f}; "
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f}); "


def scored_runs(exam: "Exam", runs: Path, dry_run: bool) -> "list[Run]":
    """Return every run on the task, scored."""
    from asyncio import run

    from eval.rows import run_folders
    from eval.score import load_or_score

    label: Label = "dry" if dry_run else "exam"
    return run(load_or_score(exam, run_folders(runs, label, exam.task)))


def one_run(exam: "Exam", runs: Path, model: str, dry_run: bool) -> "Run":
    """Return the run of a model. Raises: FormatError that lists the runs there are."""
    from asyncio import run

    from eval.score import load_or_score

    return run(load_or_score(exam, [folder_of(exam, runs, model, dry_run)]))[0]


def folder_of(exam: "Exam", runs: Path, model: str, dry_run: bool) -> "RunFolder":
    """Return where a model's run lies. Raises: FormatError that lists the runs there are."""
    from eval.rows import run_folder, run_folders

    label: Label = "dry" if dry_run else "exam"
    folder = run_folder(runs, label, exam.task, model)
    if not (folder.path / "run.json").exists():
        have = [str(f.header()["model"]) for f in run_folders(runs, label, exam.task)]
        raise FormatError(
            folder.path, None, f"no run of {model!r}; there are {', '.join(have) or 'none'}"
        )
    return folder
