"""Verifying votes: a tally from its ballots, a ballot from its reply, the spec from what was decided."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from items.approvals import SEATS
from items.decisions import load_decisions
from items.evidence import MissingError
from items.frozen import Finding, Frozen, Motion, rests
from items.records import decisions
from items.spec import spec_path
from registry.canonical import sha256_text
from registry.events import Event


def votes(frozen: Frozen) -> Iterator[Finding]:
    """Every tally follows from its ballots, and every ballot from its reply."""
    for tier in frozen.spec.tiers:
        events = frozen.events(tier)
        for event in (e for e in events if e.kind == "decided"):
            where = f"{tier}: decision {event.body['decision']}"
            voted = _ballots(events, event)
            yield from _tally(where, event, voted)
            if event.body["by"] == "panel" and not (
                frozen.spec.preview or frozen.independent(voted)
            ):
                yield Finding("broken", where, "voters for previews decided of a task that is none")
            changed = [*_shown(frozen, where, event)]
            yield from changed
            for ballot in () if changed else voted:
                yield from rests(frozen, where, ballot, _motion(frozen, event))


def decided(frozen: Frozen) -> Iterator[Finding]:
    """The spec says what was decided, and by whom."""
    path = str(spec_path(frozen.registry, frozen.task))
    asked = {decision.id: decision for decision in load_decisions(frozen.registry)}
    taken = {d.id: d for tier in frozen.spec.tiers for d in decisions(frozen.events(tier))}
    for setting in frozen.spec.decisions:
        found = taken.get(setting.decision or "")
        if setting.by == "unvoted":
            continue
        if found is None or found.option is None:
            yield Finding(
                "broken", path, f"{setting.key}: no record of decision {setting.decision!r}"
            )
        elif setting.by == "panel" and setting.tally != found.tally:
            yield Finding(
                "broken", path, f"{setting.key}: {setting.tally}, the record says {found.tally}"
            )
        elif found.id not in asked:
            gone = frozen.registry / "decisions" / f"{found.id}.yaml"
            yield Finding("missing", str(gone), f"{setting.key} rests on this decision")
        elif asked[found.id].protocol != setting.key:
            told = f"{setting.key}: {found.id} decided {asked[found.id].protocol}"
            yield Finding("broken", path, told)
        elif asked[found.id].option(found.option).value != value_of(frozen.spec, setting.key):
            yield Finding(
                "broken", path, f"{setting.key} is not what {found.id} decided ({found.option})"
            )
    keys = {setting.key for setting in frozen.spec.decisions if setting.by != "unvoted"}
    for id in sorted(id for id, one in taken.items() if one.option and id in asked):
        if asked[id].protocol not in keys:
            yield Finding("broken", path, f"{id} was decided, and the spec says that nobody did")


def value_of(spec: Any, key: str) -> Any:
    """Return the value under a dotted key of a spec; dataclasses as mappings. Raises: KeyError."""
    value = spec
    for name in key.split("."):
        value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _ballots(events: list[Event], decided: Event) -> list[Event]:
    """Return the last word of each seat on the ballot that decided."""
    last: dict[int, Event] = {}
    for event in events[: decided.seq]:
        body = event.body
        if event.kind == "ballot" and not body.get("repeat"):
            same = (body["decision"], body["ballot"], body["evidence"])
            if same == (decided.body["decision"], decided.body["ballot"], decided.body["evidence"]):
                last[body["seat"]] = event
    return [last[seat] for seat in sorted(last, key=str)]


def _tally(where: str, decided: Event, ballots: list[Event]) -> Iterator[Finding]:
    seats = len(ballots)
    votes = sum(
        b.body["valid"] is True and b.body["vote"] == decided.body["option"] for b in ballots
    )
    numbers = [ballot.body["seat"] for ballot in ballots]
    whole = numbers == [*range(1, seats + 1)] and seats >= len(SEATS)
    if decided.body["by"] == "panel" and not whole:
        yield Finding("broken", where, f"seats {numbers} voted; a panel's are 1 to 3 or more")
    elif decided.body["tally"] != f"{votes} of {seats}":
        told = f"the tally is {decided.body['tally']!r}, the ballots give '{votes} of {seats}'"
        yield Finding("broken", where, told)
    elif decided.body["by"] == "panel" and 2 * votes <= seats:
        yield Finding("broken", where, f"{votes} of {seats} votes are no majority of the seats")


def _motion(frozen: Frozen, decided: Event) -> Motion:
    """Return what the ballots of a decision were about. Raises: MissingError."""
    asked = {decision.id: decision for decision in load_decisions(frozen.registry)}
    id = decided.body["decision"]
    if id not in asked:
        path = frozen.registry / "decisions" / f"{id}.yaml"
        raise MissingError(path, None, "the record has ballots on this decision")
    decision = asked[id]
    options = {option.id: option.text for option in decision.options}
    names = [reference.rpartition(" ")[0] for reference in decided.body.get("evidence", ())]
    texts = [(frozen.registry / name).read_text(encoding="utf-8") for name in names]
    return Motion(decision.question, options, "".join(texts))


def _shown(frozen: Frozen, where: str, decided: Event) -> Iterator[Finding]:
    """The evidence that the voters saw is there, unchanged."""
    for reference in decided.body.get("evidence", ()):
        name, _, sha256 = reference.rpartition(" ")
        path = frozen.registry / name
        if not path.is_file():
            yield Finding("missing", str(path), f"the evidence of {where}")
        elif sha256_text(path.read_text(encoding="utf-8")) != sha256:
            yield Finding("broken", where, f"the evidence {name} changed after the vote")
