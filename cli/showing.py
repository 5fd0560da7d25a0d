"""`show` and `status`: an item's whole life, and a tier at a glance."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    from pathlib import Path

    from items.questions import QuestionFile
    from items.spec import Spec
    from registry.events import Event


def show(
    item: Annotated[str, typer.Argument(help="The item's id.")],
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    json: JsonOption = False,
) -> None:
    """Tell an item's life in order: drafts, problems, verdicts, fixes.

    Example: benchtoward text2sql show hard-001
    """
    from dataclasses import asdict

    from registry.canonical import canonical

    events = _life(registry, task, item)
    if json:
        print(canonical([asdict(event) for event in events]))
        return
    for event in events:
        print(f"{event.seq} {event.when} {event.kind} by {event.by}")
        for line in _told(event):
            print(f"    {line}")


def status(
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Show each tier at a glance: how far it is, its quotas, and which command comes next.

    Example: benchtoward text2sql status
    """
    from registry.canonical import canonical

    told = [_tier_status(path, name, file) for name, path, file in _files(registry, task)]
    if json:
        print(canonical(told))
        return
    for tier in told:
        for name, value in tier.items():
            shown = (
                ", ".join(f"{k} {v}" for k, v in value.items())
                if isinstance(value, dict)
                else value
            )
            print(f"{name}: {shown}")
        print()


def _tier_status(path: "Path", name: str, file: "QuestionFile") -> dict[str, Any]:
    from items.records import approval, record_of
    from registry.events import load

    events = load(record_of(path))
    kept = [q for q in file.questions if q.status != "dropped"]
    approved = sum(approval(events, q.item).approved for q in kept)
    told: dict[str, Any] = {
        "tier": name,
        "file": str(path),
        "items": len(kept),
        "approved": approved,
    }
    told["dropped"] = len(file.questions) - len(kept)
    told["decisions"] = {d.id: f"{d.option} ({d.tally}, {d.by})" for d in file.decisions}
    for key in ("category", "difficulty", "scope", "author"):
        told[key] = dict(sorted(Counter(getattr(q, key) for q in kept).items()))
    return told


def _files(registry: "Path", task: str | None) -> list[tuple[str, "Path", "QuestionFile"]]:
    from items.questions import load_questions

    spec = _spec(registry, task)
    paths = {name: registry / tier.file for name, tier in spec.tiers.items()}
    return [(name, path, load_questions(path)) for name, path in paths.items() if path.exists()]


def _spec(registry: "Path", task: str | None) -> "Spec":
    from eval.spec import find_task
    from items.spec import load_spec, spec_path

    return load_spec(spec_path(registry, find_task(registry, task)))


def _life(registry: "Path", task: str | None, item: str) -> list["Event"]:
    """Return an item's events. Raises: FormatError when no tier of the task has it."""
    from items.records import record_of
    from registry.events import load

    files = _files(registry, task)
    for _, path, _ in files:
        if events := [event for event in load(record_of(path)) if event.item == item]:
            return events
    ids = [q.id for _, _, file in files for q in file.questions][:6]
    raise FormatError(registry / "drafts", None, f"no item {item!r}; there are {', '.join(ids)}, …")


def _told(event: "Event") -> list[str]:
    body = event.body
    lines = [
        f"{name}: {value}" for name, value in body.get("item", {}).items() if value is not None
    ]
    lines += [str(problem) for problem in body.get("problems", ())]
    if event.kind == "verdict":
        lines.append(
            f"round {body['round']}, seat {body['seat']}: {body['verdict'] or 'no verdict'}"
        )
        lines += [f"{i['kind']}: {i['sentence']} [{i['evidence']}]" for i in body["issues"]]
        lines += [body["problem"]] if body.get("problem") else []
    return lines + ([body["reason"]] if body.get("reason") else [])
