"""What happens to a frozen task: verify it, package it, start its next version, and lint its settings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import DATA, REGISTRY, DataOption, JsonOption, RegistryOption, TaskOption
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import QuestionFile
    from items.spec import Spec
    from items.verify import Finding, Frozen
    from registry.events import Event


def verify(
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Walk from the replies to the frozen hashes and name the first thing that does not follow.

    Needs only the registry; where the task's database is at hand, the references run again as well.
    Exit code 1 when something is broken. Example: benchtoward verify --task eunomia-text2sql
    """
    tasks = [_task(registry, task)] if task else _frozen_tasks(registry)
    if not tasks:
        raise FormatError(
            registry / "tasks", None, "no frozen task; `text2sql llm-decide --freeze`"
        )
    broken = False
    for name in tasks:
        broken |= _verify(registry, name, data, json=json)
    raise typer.Exit(1 if broken else 0)


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
    version: Annotated[str, typer.Option(help="The package's own version.")] = "1.0.0",
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Build the items of a frozen task as a dataset: data/khdp/<slug>-<version> (S1-121).

    Where the task's database is at hand, recipes of the items' neighbour databases come with them.
    Example: benchtoward text2sql khdp-package --task eunomia-text2sql
    """
    from items.package import build_package
    from items.questions import load_questions

    spec = _spec(registry, _task(registry, task))
    files = {name: load_questions(registry / tier.file) for name, tier in spec.tiers.items()}
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


def _verify(registry: Path, task: str, data: Path, *, json: bool) -> bool:
    from agents.rereading import reread
    from items.verify import Frozen, panels, verify

    frozen = Frozen(registry, task, reread)
    found = [*verify(frozen)]
    database = data / f"{frozen.spec.dataset}.duckdb"
    if not any(f.status == "broken" for f in found):
        found += _on_database(frozen, database)
    if not any(f.status == "broken" for f in found):
        found += _published(frozen, database)
    broken = [f for f in found if f.status == "broken"]
    told: dict[str, Any] = {"task": task, "spec_sha256": frozen.spec.sha256}
    told |= {"findings": [str(finding) for finding in found], "broken": len(broken)}
    if json:
        _print(told, [], json=True)
        return bool(broken)
    for finding in _worst_first(found):
        print(finding)
    approved = 0 if broken else sum(said.approved for _, _, said in panels(frozen))
    state = "broken" if broken else "follows"
    print(
        f"{task}: {state}; {approved} approvals derived, {len(frozen.replies) if not broken else 0} replies"
    )
    print(f"  spec {frozen.spec.sha256}; database {'read' if database.exists() else 'not at hand'}")
    return bool(broken)


def _recipes(spec: "Spec", files: "dict[str, QuestionFile]", data: Path, *, quiet: bool) -> Any:
    """Return the recipes of all tiers, or None without the database that the task was frozen on."""
    from cli.progress import progress
    from database.engine import open_database
    from items.package import recipes_of

    path = data / f"{spec.dataset}.duckdb"
    if not path.exists():
        return None
    with open_database(path) as database:
        if spec.pins is None or database.fingerprint.sha256 != spec.pins.database:
            return None
        count = sum(len(file.kept) for file in files.values())
        with progress("neighbour", count, quiet=quiet) as step:
            return {tier: recipes_of(file, database, step) for tier, file in files.items()}


def _worst_first(found: "list[Finding]") -> list[str]:
    """Return the lines to show: what is broken in full, of the rest how much and the first."""
    lines = [str(f) for f in found if f.status == "broken"]
    weak = [f for f in found if f.status == "unverifiable"]
    if weak:
        lines.append(f"{len(weak)} unverifiable, the first: {weak[0].where}: {weak[0].what}")
    return lines


def _on_database(frozen: "Frozen", path: Path) -> "list[Finding]":
    """Return what the database says: pins that differ, references that do not run as they must."""
    from database.engine import open_database
    from eval.spec import open_task
    from items.verify import Finding, rule_verdicts, runs

    if not path.exists():
        return []
    with open_database(path, workers=2) as database:
        try:
            open_task(frozen.registry, frozen.task, database)
        except FormatError as error:
            return [Finding("broken", str(error.path), error.problem)]
        return [*runs(frozen, database), *rule_verdicts(frozen, _judge(frozen, database))]


def _published(frozen: "Frozen", path: Path) -> "list[Finding]":
    """Return what does not follow in the task's published leaderboard; nothing where there is none."""
    from asyncio import run

    from database.engine import open_database
    from eval.published import check_published, results_path
    from eval.spec import open_task, read_task
    from eval.text2sql import Text2Sql
    from items.verify import Finding

    where = results_path(frozen.registry, frozen.task)
    if not where.exists():
        return []
    if path.exists():
        with open_database(path, workers=2) as database:
            exam = Text2Sql(open_task(frozen.registry, frozen.task, database))
            said = run(check_published(frozen.registry, exam, database=True))
    else:
        exam = Text2Sql(read_task(frozen.registry, frozen.task))
        said = run(check_published(frozen.registry, exam, database=False))
    weak = ": unverifiable"
    return [
        Finding("unverifiable" if line.endswith(weak) else "broken", str(where), line)
        for line in said
    ]


def _judge(frozen: "Frozen", database: Any) -> Any:
    """Return what a rule's seat says of an item today: (event, item) -> verdict, or None if unknown."""
    from agents.rules import REVIEWERS
    from agents.seats import Briefing, ReviewTask, Verdict

    def judge(tier: str, event: "Event", item: Any) -> str | None:
        rule = REVIEWERS.get(event.by.removeprefix("rule/").split("@")[0])
        if rule is None:
            return None
        today = frozen.files[tier].today
        briefing = Briefing(database, "", "", today, frozen.spec.tiers[tier].abstention)
        said = rule(ReviewTask(item, event.body["seat"]), briefing)
        right = isinstance(said, Verdict) and said.by == event.by
        return said.verdict if right and isinstance(said, Verdict) else None

    return judge


def _frozen_tasks(registry: Path) -> list[str]:
    names = sorted(path.stem for path in (registry / "tasks").glob("*@*.yaml"))
    return [name for name in names if _spec(registry, name).pins is not None]


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
