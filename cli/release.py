"""What happens to a frozen task: package it, start its next version, and lint its settings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import DATA, REGISTRY, DataOption, JsonOption, RegistryOption, TaskOption
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import QuestionFile
    from items.spec import Spec


def lint(
    task: TaskOption = None, registry: RegistryOption = REGISTRY, json: JsonOption = False
) -> None:
    """Say of every protocol key who set it, and whether the spec has what was decided.

    Example: benchtoward lint --task eunomia-text2sql
    """
    from items.decisions import load_decisions
    from items.protocol import KEYS, lint
    from items.questions import load_questions

    spec = _spec(registry, _task(registry, task))
    files = [registry / tier.file for tier in spec.tiers.values()]
    taken = [d for path in files if path.exists() for d in load_questions(path).decisions]
    found = lint(spec, load_decisions(registry), taken)
    _print({"task": spec.task, "problems": found}, found, json=json)
    if not found and not json:
        print(
            f"{spec.task}: {len(KEYS)} protocol keys, each voted, the owner's, or unvoted with a reason"
        )
    raise typer.Exit(1 if found else 0)


def khdp_package(
    version: Annotated[str, typer.Option(help="The package's own version, as 1.0.0.")] = "1.0.0",
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Build the items of a frozen task as a dataset: data/khdp/<slug>-<version> (S1-121).

    The task must pass `verify` on registry/ first. Where the task's database is at hand, recipes of the
    items' neighbour databases come with them.
    Example: benchtoward text2sql khdp-package --task eunomia-text2sql
    """
    from cli.verifying import frozen_task
    from items.package import VERSION, build_package
    from items.verify import verify

    if not VERSION.fullmatch(version):
        raise typer.BadParameter(
            f"--version is {version!r}; a version is three numbers, as 1.0.0 or 2.1.0"
        )
    frozen = frozen_task(registry, _task(registry, task))
    spec, files = frozen.spec, frozen.files
    if failing := [str(finding) for finding in verify(frozen) if finding.fails]:
        told = {"folder": None, "findings": failing}
        _print(told, [*failing, f"{spec.task}: nothing is packaged"], json=json)
        raise typer.Exit(1)
    recipes = _recipes(spec, files, data, quiet=json)
    target = data / "khdp" / f"{spec.slug}-{version}"
    folder = build_package(spec, files, target, version, recipes)
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    _print(
        {"folder": str(folder), "files": written},
        [f"{folder}/{name}" for name in written],
        json=json,
    )


def thaw(
    task: TaskOption = None, registry: RegistryOption = REGISTRY, json: JsonOption = False
) -> None:
    """Start the next version of a frozen task: a draft spec, and copies of its files and records.

    Items that stay as they are keep their approvals; the frozen version stays untouched.
    Example: benchtoward text2sql thaw --task eunomia-text2sql
    """
    from items.versions import start_next

    written = start_next(registry, _spec(registry, _task(registry, task)))
    _print({"written": [str(path) for path in written]}, [str(path) for path in written], json=json)


def bump(
    task: TaskOption = None, registry: RegistryOption = REGISTRY, json: JsonOption = False
) -> None:
    """Write what a frozen version changes against the one before into registry/tasks/CHANGELOG.md.

    Example: benchtoward text2sql bump --task eunomia-text2sql@1
    """
    from items.versions import entry, write_entry

    spec = _spec(registry, _task(registry, task))
    if spec.version == 0:
        raise FormatError(registry / "tasks", None, f"{spec.task} has no version before it")
    lines = entry(_spec(registry, f"{spec.slug}@{spec.version - 1}"), spec)
    path = write_entry(registry, spec, lines)
    _print({"file": str(path), "changes": lines}, [*lines, f"written: {path}"], json=json)


def _recipes(spec: "Spec", files: "dict[str, QuestionFile]", data: Path, *, quiet: bool) -> Any:
    """Return the recipes of all tiers, or None without the database that the task was frozen on."""
    from cli.progress import progress
    from database.engine import open_database
    from items.recipes import recipes_of
    from items.rules.facts import Facts

    path = data / f"{spec.dataset}.duckdb"
    if not path.exists():
        return None
    with open_database(path) as database:
        if spec.pins is None or database.fingerprint.sha256 != spec.pins.database:
            return None
        count = sum(len(file.kept) for file in files.values())
        with progress("neighbour", count, quiet=quiet) as step:
            facts = Facts(database)
            return {tier: recipes_of(file.kept, facts, step) for tier, file in files.items()}


def _task(registry: Path, task: str | None) -> str:
    from eval.spec import find_task

    return find_task(registry, task)


def _spec(registry: Path, task: str) -> "Spec":
    from items.spec import load_spec, spec_path

    return load_spec(spec_path(registry, task))


def _print(told: dict[str, Any], lines: list[str], *, json: bool) -> None:
    if json:
        from registry.canonical import canonical

        print(canonical(told))
        return
    for line in lines:
        print(line)
