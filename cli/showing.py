"""`show` and `status`: an item's whole life, and a tier at a glance."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.differing import change_lines
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
from cli.telling import event_lines, plain
from registry.reader import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from items.model import Item
    from items.questions import Question, QuestionFile
    from items.spec import Spec
    from registry.events import Event


def show(
    item: Annotated[str, typer.Argument(help="The item's id.")],
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Tell an item's life in order: drafts, problems, verdicts, fixes, what the exam made of it.

    Example: benchtoward text2sql show hard-001
    """
    from dataclasses import asdict

    from registry.canonical import canonical

    tier, events = _life(registry, task, item)
    answers = answered(runs, _spec(registry, task).task, f"{tier}/{item}-")
    if json:
        print(canonical({"events": [asdict(event) for event in events], "answers": answers}))
        return
    changes = change_lines(events)
    for event in events:
        call = f", call {event.call[:12]}" if event.call else ""
        print(f"{event.seq} {event.when} {event.kind} by {plain(event.by)}{call}")
        for line in [*event_lines(event), *changes.get(event.seq, ())]:
            print(f"    {line}")
    for answer in answers:
        print(f"exam: {answer['run']} {answer['instance']}: {plain(answer['outcome'])}")


def status(
    task: TaskOption = None,
    roster: Annotated[
        str | None, typer.Option("--roster", help="Mark reviewers below this roster's floors.")
    ] = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Show each tier at a glance: how far it is, its quotas, its panel, and which command comes next.

    Example: benchtoward text2sql status
    """
    from cli.standing import cost_so_far, next_command, panel_lines, tier_standing
    from items.freeze import content_differences
    from registry.canonical import canonical

    spec, files = _spec(registry, task), _files(registry, task)
    told = [tier_standing(name, path, file) for name, path, file in files]
    changed = content_differences(spec, {n: file for n, _, file in files}) if spec.pins else []
    summary = {
        "task": spec.task,
        "state": f"frozen {spec.pins.frozen}" if spec.pins else "draft",
        **({"changed": "; ".join(changed)} if changed else {}),
        "next": next_command(spec, told, registry, runs, changed=bool(changed)),
        "cost": cost_so_far(runs),
    }
    if json:
        print(canonical({**summary, "tiers": told}))
        return
    for name, value in summary.items():
        print(f"{name}: {value}")
    for tier, (_, path, _) in zip(told, files, strict=True):
        print()
        for name, value in tier.items():
            print(f"{name}: {_one_line(value)}")
        for line in panel_lines(path, registry, roster):
            print(line)


def answered(runs: "Path", task: str, prefix: str) -> list[dict[str, str]]:
    """Return what every run of a task made of an item's instances, dry and diagnostic runs too."""
    from json import loads

    from registry.canonical import json_lines

    found = []
    for path in sorted(runs.glob(f"*/{task}*/*/scored.jsonl")):
        for line in json_lines(path.read_text(encoding="utf-8")):
            row = loads(line) if prefix in line else {}
            if str(row.get("instance", "")).startswith(prefix):
                run = str(path.parent.relative_to(runs))
                found.append({"run": run, "instance": row["instance"], "outcome": row["outcome"]})
    return found


def _one_line(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _files(registry: "Path", task: str | None) -> list[tuple[str, "Path", "QuestionFile"]]:
    from items.questions import load_questions

    spec = _spec(registry, task)
    paths = {name: registry / tier.file for name, tier in spec.tiers.items()}
    return [(name, path, load_questions(path)) for name, path in paths.items() if path.exists()]


def _spec(registry: "Path", task: str | None) -> "Spec":
    from eval.spec import find_task
    from items.spec import load_spec, spec_path

    return load_spec(spec_path(registry, find_task(registry, task)))


def _life(registry: "Path", task: str | None, item: str) -> tuple[str, list["Event"]]:
    """Return an item's tier and events. Raises: FormatError when no tier of the task has it."""
    from items.records import record_of
    from registry.events import load

    files = _files(registry, task)
    for tier, path, _ in files:
        events = [e for e in load(record_of(path)) if e.item == item or e.body.get("of") == item]
        if events:
            return tier, events
    held = [record_of(path) for _, path, file in files if item in {q.id for q in file.questions}]
    if held:
        told = f"nothing of {item} is recorded; `check` or a review takes a new item in"
        raise FormatError(held[0], None, told)
    there = "; ".join(f"{tier} {ids_in_short(file.questions)}" for tier, _, file in files)
    raise FormatError(registry / "drafts", None, f"no item {item!r}; there are {there or 'none'}")


def ids_in_short(items: "Sequence[Item | Question]") -> str:
    """Return the ids of items in one phrase: all of a few, the first and the last of many."""
    ids = sorted(item.id for item in items)
    return ", ".join(ids) if len(ids) < 5 else f"{ids[0]} to {ids[-1]}"
