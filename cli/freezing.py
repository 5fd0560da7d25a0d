"""The freeze: what must hold, what is written, and the question to the owner before it."""

from datetime import date
from typing import TYPE_CHECKING, Any, Literal

import typer

from cli.making import Setting, opened_database
from cli.receipts import write_receipt
from registry.reader import FormatError

if TYPE_CHECKING:
    from database.engine import Database
    from items.freeze import Now
    from items.questions import Decided
    from items.spec import Spec
    from registry.events import Event


def freeze_task(where: Setting, *, by: str, yes: bool) -> None:
    """Write the pins, when every kept item is approved and breaks no rule and the owner agrees.

    Raises: FormatError (what forbids it), typer.Exit 1 (problems found, or the owner said no).
    """
    from items.freeze import freeze
    from items.spec import save_spec, spec_path
    from registry.events import Event, append, record_path

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
            frozen = freeze(spec, now, events, by=by, on=date.today())
        except ValueError as error:
            raise FormatError(path, None, f"not frozen: {error}") from None
    for line in [*_shown(frozen), *_panels(where, frozen)]:
        print(line)
    if not yes and not typer.confirm("Freeze?"):
        print("not frozen: the owner said no")
        raise typer.Exit(1)
    hard = record_path(where.registry, where.path.stem)
    body = {"task": spec.task, "asked": not yes, "tiers": _tier_hashes(frozen)}
    if not any(e.kind == "freeze" and e.body == body for e in events["hard"]):
        append(hard, [Event("freeze", by, body)])
    # The receipt first: a kill between the two leaves a draft, which is frozen again.
    write_receipt(where.registry, where.runs, frozen)
    save_spec(path, frozen)
    print(f"frozen: {path}")


def settled(where: Setting) -> "Spec":
    """Return the spec with what was decided: the keys it sets, and who set them (S1-037).

    Raises: FormatError (a freeze decision that is open, a protocol key that the spec lacks).
    """
    from dataclasses import replace

    from items.decisions import load_decisions
    from items.questions import load_questions
    from items.spec import Setting as Set_

    decided = {d.id: d for d in load_questions(where.path).decisions}
    spec = where.task
    kept = [s for s in spec.decisions if s.by == "unvoted"]
    for decision in load_decisions(where.registry):
        found = decided.get(decision.id)
        if problem := _unfit(where, found):
            raise FormatError(where.registry / "decisions" / f"{decision.id}.yaml", None, problem)
        assert found is not None
        assert found.option is not None
        spec = _with(spec, decision.protocol, decision.option(found.option).value)
        by: Literal["panel", "owner"] = "panel" if found.by == "panel" else "owner"
        when = date.fromisoformat(found.when)
        kept = [s for s in kept if s.key != decision.protocol]
        kept.append(Set_(decision.protocol, by, decision.id, found.tally, when, found.reason))
    return replace(spec, decisions=tuple(sorted(kept, key=lambda s: s.key)))


def _unfit(where: Setting, found: "Decided | None") -> str | None:
    """Return why a decision cannot be frozen on; None where it can."""
    from cli.evidence import stale

    if found is None or found.option is None:
        return "not decided; `text2sql llm-decide` asks the voters"
    if stale(where, found):
        return "its evidence changed after the vote; `text2sql llm-decide --again` votes anew"
    voters = {vote.by for vote in found.votes if vote.ballot == max(v.ballot for v in found.votes)}
    independent = len(voters) >= 3 and not any(by.startswith("rule/") for by in voters)
    if found.by == "panel" and not independent and not where.task.preview:
        return "decided by rules, or by one model in several seats: good for `preview: true` only"
    return None


def _with(spec: Any, key: str, value: Any) -> Any:
    """Return a dataclass or mapping with the value under a dotted key. Raises: FormatError."""
    from dataclasses import fields, is_dataclass, replace

    name, _, rest = key.partition(".")
    if isinstance(spec, dict):
        return {**spec, name: _with(spec.get(name, {}), rest, value) if rest else value}
    if not is_dataclass(spec) or name not in {f.name for f in fields(spec)}:
        raise FormatError("decisions", None, f"protocol key {name!r} is no key of the spec")
    inner = _with(getattr(spec, name), rest, value) if rest else value
    return replace(spec, **{name: inner})  # type: ignore[type-var]


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
