"""What the exam's commands open before they begin: a task with its database, and finished runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.reader import FormatError

if TYPE_CHECKING:
    from eval.exam import Exam
    from eval.rows import Label, RunFolder
    from eval.score import Run
    from eval.text2sql import Text2Sql

DryOption = Annotated[
    bool, typer.Option("--dry-run", help="A dry run: also on a task that is not frozen.")
]


def instance_of(exam: "Exam", id: str) -> Any:
    """Return an instance by its id. Raises: BadParameter that shows what ids look like."""
    known = {instance.id: instance for instance in exam.instances()}
    if id not in known:
        shown = ", ".join(list(known)[:3])
        raise typer.BadParameter(f"{exam.task} has no instance {id!r}; ids look like {shown}")
    return known[id]


@contextmanager
def opened(
    registry: Path,
    data: Path,
    task: str | None,
    dry_run: bool,
    *,
    other_protocol: bool = False,
    max_tokens: int | None = None,
) -> Iterator["Text2Sql"]:
    """Hold a text2sql exam open with its database; see eval.spec.open_task and open_text2sql."""
    from database.engine import open_database
    from eval.spec import find_task, open_task
    from eval.text2sql import open_text2sql
    from items.freeze import load_spec, spec_path

    name = find_task(registry, task)
    spec = load_spec(spec_path(registry, name))
    with open_database(data / f"{spec.dataset}.duckdb", workers=2) as database:
        how = {"dry_run": dry_run, "other_protocol": other_protocol}
        opened_task = open_task(registry, name, database, **how)
        yield open_text2sql(opened_task, max_tokens=max_tokens)


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
