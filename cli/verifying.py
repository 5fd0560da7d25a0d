"""`benchtoward verify`: from replies to frozen hashes, and again on the database where it is there."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.options import DATA, REGISTRY, DataOption, JsonOption, RegistryOption, TaskOption
from registry.reader import FormatError

if TYPE_CHECKING:
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
    Exit code 1 when something is broken or missing. Example: benchtoward verify --task eunomia-text2sql
    """
    from eval.spec import find_task

    tasks = [find_task(registry, task)] if task else _frozen_tasks(registry)
    if not tasks:
        raise FormatError(
            registry / "tasks", None, "no frozen task; `text2sql llm-decide --freeze`"
        )
    failed = [name for name in tasks if _verify(registry, name, data, json=json)]
    raise typer.Exit(1 if failed else 0)


def _verify(registry: Path, task: str, data: Path, *, json: bool) -> bool:
    """Print what was found of one task; returns whether something is broken or missing."""
    from items.verify import verify
    from registry.canonical import canonical

    frozen = frozen_task(registry, task)
    database = data / f"{frozen.spec.dataset}.duckdb"
    found = [*verify(frozen)]
    for step in (_on_database, _published):
        if not any(finding.fails for finding in found):
            found += step(frozen, database)
    if json:
        count = Counter(finding.status for finding in found)
        told = {"task": task, "spec_sha256": frozen.spec.sha256, "database": database.exists()}
        counts = {"broken": count["broken"], "missing": count["missing"]}
        print(canonical({**told, "findings": [str(finding) for finding in found], **counts}))
    else:
        for line in (*_worst_first(found), *_summary(frozen, found, database)):
            print(line)
    return any(finding.fails for finding in found)


def frozen_task(registry: Path, task: str) -> "Frozen":
    """Return a task to be verified. Raises: FormatError for a draft that nothing says was frozen."""
    from agents.rereading import reread
    from items.spec import spec_path
    from items.verify import Frozen
    from models.roster import canonical_ids, load_models

    listed = (registry / "models.yaml").exists()
    aliases = canonical_ids(load_models(registry)) if listed else {}
    frozen = Frozen(registry, task, reread, aliases)
    if frozen.spec.pins is None and frozen.receipt is None:
        path = spec_path(registry, task)
        raise FormatError(
            path, None, f"{task} is a draft; `text2sql llm-decide --freeze` freezes it"
        )
    return frozen


def _worst_first(found: "list[Finding]") -> list[str]:
    """Return the lines to show: what does not pass in full, of the rest how much and the first."""
    lines = [str(finding) for finding in found if finding.fails]
    weak = [finding for finding in found if not finding.fails]
    if weak:
        lines.append(f"{len(weak)} unverifiable, the first: {weak[0].where}: {weak[0].what}")
    return lines


def _summary(frozen: "Frozen", found: "list[Finding]", database: Path) -> list[str]:
    """Return the last lines: how it stands, what was derived, what was at hand."""
    from items.verify import panels

    read = "read" if database.exists() else "not at hand: no query and no rule ran again"
    last = f"  spec {frozen.spec.sha256}; database {read}"
    if failing := [finding.status for finding in found if finding.fails]:
        state = "broken" if "broken" in failing else "incomplete"
        return [f"{frozen.task}: {state}; {len(failing)} findings", last]
    approved = sum(said.approved for _, _, said in panels(frozen))
    state = "follows, but for what is unverifiable" if found else "follows"
    derived = f"{approved} approvals derived, {len(frozen.replies)} replies"
    return [f"{frozen.task}: {state}; {derived}", last]


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
    from items.evidence import MissingError
    from items.verify import Finding

    where = results_path(frozen.registry, frozen.task)
    if not where.exists():
        return []
    try:
        if path.exists():
            with open_database(path, workers=2) as database:
                exam = Text2Sql(open_task(frozen.registry, frozen.task, database))
                said = run(check_published(frozen.registry, exam, database=True))
        else:
            exam = Text2Sql(read_task(frozen.registry, frozen.task))
            said = run(check_published(frozen.registry, exam, database=False))
    except MissingError as error:
        return [Finding("missing", str(error.path), error.problem)]
    except FormatError as error:
        return [Finding("broken", str(error.path), error.problem)]
    except (KeyError, TypeError, ValueError) as error:  # the file says what no board could
        return [Finding("broken", str(where), f"{type(error).__name__}: {error}")]
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
    """Return the tasks that were frozen: those with pins, and those whose receipt says so."""
    from items.spec import load_spec, spec_path

    names = sorted(path.stem for path in (registry / "tasks").glob("*@*.yaml"))
    pinned = [name for name in names if load_spec(spec_path(registry, name)).pins is not None]
    receipts = [path.parent.name for path in (registry / "evidence").glob("*/receipt.yaml")]
    return sorted({*pinned, *receipts})
