"""The freeze: what must hold, what is written, and the question to the owner before it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import typer

from cli.making import Setting, opened_database
from cli.receipts import write_receipt
from cli.settled import settled
from cli.telling import plain
from registry.canonical import sha256_json
from registry.reader import FormatError

if TYPE_CHECKING:
    from database.engine import Database
    from items.freeze import Now
    from items.spec import Spec
    from registry.events import Event


@dataclass(frozen=True)
class Plan:
    """A freeze that would be: the spec with its pins, and what the owner is shown of it."""

    where: Setting
    spec: "Spec"
    lines: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Return what names the plan: a change of any line makes it another."""
        return sha256_json(list(self.lines))

    @property
    def thread(self) -> str:
        """Return the thread that its interrupt waits in."""
        return f"freeze/{self.where.path.stem}/{self.where.roster.id}"


def freeze_task(where: Setting, *, by: str, reason: str, yes: bool) -> None:
    """Show the plan and wait at an interrupt; --yes or a person at a terminal answers it.

    Raises: FormatError (what forbids it), typer.Exit 1 (problems, nobody answered, or the owner said no).
    """
    plan = freeze_plan(where, by=by)
    for line in plan.lines:
        print(line)
    if not waits(plan):  # a run that was killed after the owner's word has come to its end
        return
    if not yes and not sys.stdin.isatty():
        print("the freeze waits for the owner: `text2sql desk freeze --act approve --by --reason`")
        raise typer.Exit(1)
    act = "approve" if yes or typer.confirm("Freeze?") else "drop"
    answer_freeze(plan, {"act": act, "by": by, "reason": reason, "asked": not yes})


def freeze_plan(where: Setting, *, by: str) -> Plan:
    """Return what a freeze would pin now. Raises: FormatError (what forbids it), typer.Exit 1."""
    from items.freeze import freeze
    from items.spec import spec_path

    path = spec_path(where.registry, where.task.task)
    spec = settled(where)
    with opened_database(where) as database:
        now, events = _now(where, spec, database), _records(where, spec)
        if found := _problems(where, spec, database):
            for line in found:
                print(line)
            print(f"not frozen: check finds {len(found)} problems")
            raise typer.Exit(1)
        try:
            pinned = freeze(spec, now, events, by=by, on=date.today())
        except ValueError as error:
            raise FormatError(path, None, f"not frozen: {error}") from None
    items = {name: tuple(item.id for item in tier.items) for name, tier in now.tiers.items()}
    lines = [*_shown(pinned), *in_and_out(items, events), *_panels(where, pinned)]
    return Plan(where, pinned, tuple(lines))


def in_and_out(
    items: Mapping[str, tuple[str, ...]], events: "Mapping[str, Sequence[Event]]"
) -> list[str]:
    """Return each tier's items that go in, and each that stays out with who dropped it and why."""
    lines = []
    for tier, ids in items.items():
        lines.append(f"{tier} in: {', '.join(ids) or 'nothing'}")
        # The last drop of an item counts: one that was taken back is in.
        dropped = {e.item: e for e in events[tier] if e.kind == "drop" and e.item not in ids}
        lines += [
            f"{tier} out: {id}, by {plain(e.by)}: {plain(str(e.body.get('reason', '')))}"
            for id, e in sorted(dropped.items(), key=lambda pair: str(pair[0]))
        ]
    return lines


def waits(plan: Plan) -> bool:
    """Bring the freeze to its interrupt, a changed plan to a new one; tells whether it waits there."""
    return _go_on(plan, None)


def answer_freeze(plan: Plan, answer: dict[str, Any]) -> None:
    """Give the owner's word on a plan that waits, while nobody else may change a question file.

    Raises: typer.Exit 1 (it is a no, or the plan has changed since it was shown), BusyError.
    """
    with _held(plan.where):
        now = freeze_plan(plan.where, by=answer["by"])
        if now.sha256 != plan.sha256 or _go_on(plan, answer):
            print("not frozen: the plan has changed since it was shown; the same command shows it")
            raise typer.Exit(1)
    if answer["act"] != "approve":
        print("not frozen: the owner said no")
        raise typer.Exit(1)


@contextmanager
def _held(where: Setting) -> Iterator[None]:
    """Hold every tier's file, with what a person changed in it taken into its record."""
    from graphs.workbook import open_workbook

    with ExitStack() as files:
        for tier in where.task.tiers.values():
            files.enter_context(open_workbook(where.registry / tier.file))
        yield


def _go_on(plan: Plan, answer: dict[str, Any] | None) -> bool:
    import asyncio

    from graphs.freezing import Context, go_on

    context = Context(
        plan.spec.task,
        plan.sha256,
        plan.lines,
        lambda said: _write(plan, said),
        lambda said: _refuse(plan, said),
    )
    return asyncio.run(go_on(context, plan.where.runs, plan.thread, answer))


def _write(plan: Plan, answer: dict[str, Any]) -> None:
    """Write the freeze into the record, the receipt and the spec; what stands already stays."""
    from items.spec import save_spec, spec_path

    where, pins = plan.where, plan.spec.pins
    assert pins is not None
    frozen = replace(plan.spec, pins=replace(pins, by=answer["by"]))
    body = {"task": frozen.task, "asked": answer["asked"], "tiers": _tier_hashes(frozen)}
    _record(where, "freeze", answer, {**body, "plan": plan.sha256})
    # The receipt first: a kill between the two leaves a draft, which is frozen again.
    write_receipt(where.registry, where.runs, frozen)
    path = spec_path(where.registry, frozen.task)
    save_spec(path, frozen)
    print(f"frozen: {path}")


def _refuse(plan: Plan, answer: dict[str, Any]) -> None:
    body = {"act": "drop", "of": "freeze", "task": plan.spec.task, "plan": plan.sha256}
    _record(plan.where, "owner", answer, body)


def _record(where: Setting, kind: str, answer: dict[str, Any], body: dict[str, Any]) -> None:
    """Append an owner's word on the freeze to the hard file's record, unless it is the last line."""
    from items.records import record_of
    from registry.events import Event, append, load

    record, body = record_of(where.path), {**body, "reason": answer["reason"]}
    last = load(record)[-1:]
    if not any((e.kind, e.by, e.body) == (kind, answer["by"], body) for e in last):
        append(record, [Event(kind, answer["by"], body)])


def _now(where: Setting, spec: "Spec", database: "Database") -> "Now":
    from eval.spec import open_tier, task_now

    tiers = {name: open_tier(where.registry, spec, name, database) for name in spec.tiers}
    return task_now(tiers, database)


def _records(where: Setting, spec: "Spec") -> dict[str, list["Event"]]:
    from items.records import record_of
    from registry.events import load

    return {name: load(record_of(where.registry / tier.file)) for name, tier in spec.tiers.items()}


def _problems(where: Setting, spec: "Spec", database: "Database") -> list[str]:
    """Return what `check` finds wrong with the kept items of all tiers."""
    from items.checking import check_items
    from items.checks import Ground
    from items.questions import load_questions

    files = {name: load_questions(where.registry / t.file) for name, t in spec.tiers.items()}
    every = tuple(item for file in files.values() for item in file.kept)
    work = [
        (
            item,
            Ground(database, file.today, file.settings, tuple(o for o in every if o is not item)),
        )
        for file in files.values()
        for item in file.kept
    ]
    checked = check_items(work, lambda _: None)
    return [f"{c.item.id}: {f.rule}: {f.message}" for c in checked for f in c.problems]


def _shown(spec: "Spec") -> list[str]:
    """Return the plan of a freeze as the owner reads it."""
    pins = spec.pins
    assert pins is not None
    lines = [f"{spec.task}{' (preview)' if spec.preview else ''}, canary {pins.canary}"]
    for name, tier in pins.tiers.items():
        lines.append(
            f"{name}: {tier.questions} questions, {tier.answerable} answerable, {tier.sha256}"
        )
    lines += [f"{s.key}: by {s.by} {s.tally or ''} {s.reason}".rstrip() for s in spec.decisions]
    return lines


def _panels(where: Setting, spec: "Spec") -> list[str]:
    """Return each tier's panel in a line, with the reviewers below the roster's floors."""
    from cli.standing import panel_lines

    return [
        f"{name}: {line.strip()}"
        for name, tier in spec.tiers.items()
        for line in panel_lines(where.registry / tier.file, where.registry, where.roster.id)
    ]


def _tier_hashes(spec: "Spec") -> dict[str, str]:
    assert spec.pins is not None
    return {name: tier.sha256 for name, tier in spec.pins.tiers.items()}
