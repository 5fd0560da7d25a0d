"""What waits for the owner: what the threads show, held against what the record says by now.

A thread may be overtaken: its item was changed, dropped, waived or approved by other ways, its decision
decided, or put to the voters again on other evidence. Such a one waits no longer.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.making import Setting, TierName, setting
from cli.telling import plain
from registry.reader import FormatError

if TYPE_CHECKING:
    from registry.events import Event

Waiting = tuple[Setting, dict[str, Any]]
TIERS: tuple[TierName, ...] = ("easy", "hard")


def waiting(registry: Path, runs: Path, data: Path, task: str | None, roster: str) -> list[Waiting]:
    """Return what waits in each tier of the task. Raises: FormatError (no such task or roster)."""
    import asyncio

    from eval.spec import find_task
    from graphs.pipeline import at_desk
    from items.spec import load_spec, spec_path

    spec = load_spec(spec_path(registry, find_task(registry, task)))
    found: list[Waiting] = []
    for tier in (tier for tier in TIERS if tier in spec.tiers):
        where = setting(registry, runs, data, task, tier, roster)
        if (runs / "checkpoints.sqlite").exists():
            shown = asyncio.run(at_desk(runs, where.path.stem))
            found += [(where, one) for one in _still(where, shown)]
    return found


def found_waiting(
    registry: Path, runs: Path, data: Path, task: str | None, roster: str, name: str
) -> Waiting:
    """Return where something waits, seated as the thread that waits, and what it shows.

    Where the threads of several rosters wait with it, the one of `roster` is taken, else the first.
    Raises: FormatError (nothing of that name waits; who settled it, where somebody did).
    """
    every = waiting(registry, runs, data, task, roster)
    named = [(where, shown) for where, shown in every if _name(shown) == name]
    named.sort(key=lambda one: one[1].get("panel") != roster)
    for where, shown in named:
        panel = shown.get("panel", roster)
        return setting(registry, runs, data, task, where.tier, panel), shown
    have = ", ".join(_name(shown) for _, shown in every) or "nothing"
    told = f"{name!r} does not wait for the owner; {have} does"
    raise FormatError(registry / "drafts", None, told + _settled(registry, task, name))


def _name(shown: dict[str, Any]) -> str:
    """Return what a waiting thing is called on the command line."""
    return str(shown.get("item") or shown.get("decision") or "freeze")


def _still(where: Setting, shown: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what waits still, as the record has it: the file may be older."""
    from items.records import record_of
    from registry.events import load

    record = load(record_of(where.path)) if shown else []
    for one in shown:
        waits = {"item": _item_waits, "decision": _decision_waits}
        kind = next((kind for kind in waits if kind in one), None)
        if kind is None or waits[kind](where, record, one):
            yield one


def _item_waits(where: Setting, record: "Sequence[Event]", shown: dict[str, Any]) -> bool:
    """Whether an item is what the thread judged: kept, unchanged, not approved, its rules not waived."""
    from items.approvals import approval
    from items.records import contents

    id, sha256 = shown["item"], shown["item_sha256"]
    now = contents(event for event in record if event.item == id).get(id)
    if now is None or now.status == "dropped" or now.item.sha256 != sha256:
        return False
    rules = {problem.partition(":")[0] for problem in shown.get("problems", ())}
    waived = {
        waiver["rule"]
        for waiver in _waivers(record)
        if waiver["item"] == id and waiver["item_sha256"] in ("", sha256)
    }
    return not rules & waived and not approval(record, now.item).approved


def _waivers(record: "Sequence[Event]") -> list[dict[str, Any]]:
    """Return the waivers that stand: those of the last settings in the record."""
    for event in reversed(record):
        if event.kind == "edit" and "settings" in event.body:
            return list(event.body["settings"]["waivers"])
    return []


def _decision_waits(where: Setting, record: "Sequence[Event]", shown: dict[str, Any]) -> bool:
    """Whether a decision is open, on the evidence that would be voted on now."""
    from cli.evidence import planned_evidence

    evidence = shown.get("evidence")
    done = any(
        e.kind == "decided"
        and e.body["decision"] == shown["decision"]
        and e.body["evidence"] == [evidence]
        for e in record
    )
    return not done and planned_evidence(where).reference == evidence


def _settled(registry: Path, task: str | None, name: str) -> str:
    """Return the owner's last word on an item that waits no longer; nothing where there is none."""
    from eval.spec import find_task
    from items.records import record_of
    from items.spec import load_spec, spec_path
    from registry.events import load

    spec = load_spec(spec_path(registry, find_task(registry, task)))
    for tier in spec.tiers.values():
        for event in reversed(load(record_of(registry / tier.file))):
            if event.kind == "owner" and event.item == name:
                return f"; {event.body['act']} by {plain(event.by)} stands in the record"
    return ""
