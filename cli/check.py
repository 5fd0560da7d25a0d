"""`benchtoward text2sql check`: the rules on question files, no model asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.explaining import finding_line, show_rules
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
    from items.checking import Checked
    from items.checks import Ground
    from items.model import Item
    from items.questions import QuestionFile

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file", help="One question file; default: those of the task.", exists=True, dir_okay=False
    ),
]
ExplainOption = Annotated[
    str | None,
    typer.Option("--explain", help="For one item: every rule, what it looked at, what it found."),
]
FixOption = Annotated[
    bool, typer.Option("--fix", help="Mend texts that are not NFC or end in white space.")
]
RecipesOption = Annotated[
    bool,
    typer.Option("--recipes", help="Also write the recipes of the task's neighbour databases."),
]


def check(
    file: FileOption = None,
    task: TaskOption = None,
    explain: ExplainOption = None,
    fix: FixOption = False,
    recipes: RecipesOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Run the reference rules on every question of the task; exit 1 if one is broken.

    What an unchanged item got is remembered beside the database. Nothing is asked of any model.
    Example: benchtoward text2sql check --explain hard-007
    """
    from database.engine import open_database

    paths, database_file = _files(registry, task, file)
    if fix:
        for path in paths:
            _mend(path)
    with open_database(data / database_file, workers=1) as database:
        files = _loaded(paths)
        if explain is not None:
            show_rules(explain, _grounds(files, database), next(iter(files)), json=json)
            return
        checked = _check_all(files, database, quiet=json)
        if recipes:
            _write_recipes(registry, task, files, database, quiet=json)
    _show(_by_file(files, checked), json=json)
    if any(one.problems for one in checked):
        raise typer.Exit(1)


def _files(registry: Path, task: str | None, file: Path | None) -> tuple[list[Path], str]:
    """Return the question files to check, and the name of the database file that they stand on."""
    from eval.spec import find_task
    from items.spec import load_spec, spec_path

    if file is not None and task is None and not list((registry / "tasks").glob("*.yaml")):
        return [file], "eunomia.duckdb"
    spec = load_spec(spec_path(registry, find_task(registry, task)))
    paths = [file] if file is not None else [registry / tier.file for tier in spec.tiers.values()]
    there = [path for path in paths if path.exists()]
    if not there:
        raise FormatError(
            paths[0], None, "no question file yet; `text2sql hard-generate` makes one"
        )
    return there, _database_file(registry, spec.dataset)


def _database_file(registry: Path, name: str) -> str:
    """Return the name of a dataset's file; a registry without datasets.yaml has one a dataset."""
    from database.datasets import dataset

    listed = (registry / "datasets.yaml").exists()
    return dataset(registry, name).file if listed else f"{name}.duckdb"


def _loaded(paths: list[Path]) -> "dict[Path, QuestionFile]":
    from items.questions import load_questions

    return {path: load_questions(path) for path in paths}


def _grounds(files: "dict[Path, QuestionFile]", database: Any) -> "list[tuple[Item, Ground]]":
    """Return every kept item with what it is checked against: all the other items too."""
    from items.checks import Ground

    every = [item for file in files.values() for item in file.kept]
    return [
        (
            item,
            Ground(
                database,
                file.today,
                file.settings,
                tuple(other for other in every if other is not item),
            ),
        )
        for file in files.values()
        for item in file.kept
    ]


def _check_all(files: "dict[Path, QuestionFile]", database: Any, *, quiet: bool) -> "list[Checked]":
    from cli.progress import progress
    from items.checking import check_items

    work = _grounds(files, database)
    with progress("checking", len(work), quiet=quiet) as step:
        return check_items(work, step)


def _by_file(
    files: "dict[Path, QuestionFile]", checked: "list[Checked]"
) -> "dict[Path, list[Checked]]":
    ids = {path: {item.id for item in file.kept} for path, file in files.items()}
    return {path: [one for one in checked if one.item.id in ids[path]] for path in files}


def _show(tiers: "dict[Path, list[Checked]]", *, json: bool) -> None:
    """Print one line a finding, then the counts; or one JSON document."""
    from items.checking import best_constant

    checked = [one for tier in tiers.values() for one in tier]
    counts = {
        severity: sum(1 for one in checked for f in one.findings if f.severity == severity)
        for severity in ("problem", "warning", "note")
    }
    if json:
        from registry.canonical import canonical

        print(
            canonical({"items": {one.item.id: one.as_json() for one in checked}, "counts": counts})
        )
        return
    for one in checked:
        for finding in one.findings:
            if finding.severity != "note":
                print(finding_line(one.item.id, finding))
    told = ", ".join(
        f"{count} {severity}{'s' * (count != 1)}" for severity, count in counts.items()
    )
    known = sum(1 for one in checked if one.remembered)
    print(f"{len(checked)} items: {told} ({known} unchanged since the last check)")
    for path, tier in tiers.items():
        right, id = best_constant(tier)
        asked = sum(one.item.answerable for one in tier)
        if asked:
            print(f"{path.name}: the best constant answer ({id}) is right for {right} of {asked}")


def _write_recipes(
    registry: Path,
    task: str | None,
    files: "dict[Path, QuestionFile]",
    database: Any,
    *,
    quiet: bool,
) -> None:
    """Write how the task's neighbour databases are made: recipes and hashes, never rows."""
    from eval.spec import find_task
    from items.recipes import recipes_of, recipes_path, save_recipes
    from items.rules.facts import facts_of

    path = recipes_path(registry, find_task(registry, task))
    items = [item for file in files.values() for item in file.kept]
    made = recipes_of(items, facts_of(database))
    save_recipes(path, made)
    if not quiet:
        print(f"{path}: {len(made)} recipes of neighbour databases")


def _mend(path: Path) -> None:
    """Write a file's texts in NFC without trailing white space, and say which items changed."""
    from dataclasses import replace

    from items.model import tidy, untidy
    from items.questions import load_questions, save_questions

    file = load_questions(path)
    mended = []
    for question in file.questions:
        fresh: dict[str, Any] = {
            name: tidy(getattr(question, name)) for name in untidy(question.item)
        }
        if fresh:
            mended.append(replace(question, **fresh))
    if mended:
        save_questions(path, file.with_questions(mended))
        print(f"{path}: mended {', '.join(q.id for q in mended)}")
