"""Freezing a task, and refusing what no longer matches its pins.

A frozen spec pins all that decides a score: each tier's items, prompt, schema text and today, the
protocol version, the DuckDB version, the database's fingerprint, and the heads of the records that the
approvals rest on. `verify_pins` refuses what no longer matches and names the item and the field
(S1-052): a changed item is a new task version.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from items.approvals import approval
from items.model import Item, tier_sha256, untidy
from items.questions import QuestionFile
from items.spec import Pins, Spec, Tier, TierPins, envelope, load_spec, save_spec, spec_path, thawed
from registry.canonical import sha256_json
from registry.events import Event
from registry.reader import FormatError

__all__ = [
    "Now",
    "Pins",
    "Spec",
    "Tier",
    "TierNow",
    "TierPins",
    "content_differences",
    "differences",
    "envelope",
    "freeze",
    "load_spec",
    "pins_of",
    "save_spec",
    "spec_path",
    "thawed",
    "verify_pins",
]

PINNED = tuple(f.name for f in fields(Item) if f.name != "id")
SHORT = (
    12  # hex digits of a field's hash: they only name the changed field, the tier's sha256 guards
)


@dataclass(frozen=True)
class TierNow:
    """A tier as it stands: kept items, today, and the hashes of what a model is shown."""

    items: tuple[Item, ...]
    today: date | None
    prompt_sha256: str
    schema_sha256: str
    record: str = ""


@dataclass(frozen=True)
class Now:
    """Everything that pins name, as it stands now. Built by cli and eval, which know the prompts."""

    tiers: dict[str, TierNow]
    protocol: str
    duckdb: str
    database: str
    tables: dict[str, str]


def freeze(
    spec: Spec, now: Now, events: Mapping[str, Sequence[Event]], *, by: str, on: date
) -> Spec:
    """Return the spec with pins.

    events: each tier's record; an item is frozen only on the panel's approval of its present content.
    Raises: ValueError naming the first thing that forbids it.
    """
    if spec.pins is not None:
        raise ValueError(
            f"{spec.task} is frozen; `benchtoward text2sql thaw` starts the next version"
        )
    for name, tier in now.tiers.items():
        if spec.approval == "panel":
            _approved(name, tier.items, events[name], spec.preview)
        _sound(name, tier.items)
    return replace(spec, pins=pins_of(spec, now, by=by, on=on))


def pins_of(spec: Spec, now: Now, *, by: str, on: date) -> Pins:
    """Return the pins of what stands now."""
    tiers = {name: _tier_pins(tier) for name, tier in now.tiers.items()}
    seed = ",".join([spec.task, *(f"{name}:{tiers[name].sha256}" for name in sorted(tiers))])
    return Pins(
        frozen=on,
        by=by,
        canary=str(uuid.uuid5(uuid.NAMESPACE_URL, f"benchtoward:{seed}")),
        protocol=now.protocol,
        duckdb=now.duckdb,
        database=now.database,
        tables=dict(sorted(now.tables.items())),
        tiers=tiers,
    )


def verify_pins(spec: Spec, now: Now, path: Path) -> None:
    """Compare what stands with what the spec pins.

    path: the spec's file, for the message. Raises: FormatError naming the first difference: the item
    and its field, the table, the prompt, the version.
    """
    if spec.pins is None:
        raise FormatError(
            path, None, f"{spec.task} is a draft; `llm-decide --freeze` writes its pins"
        )
    for difference in differences(spec, now):
        raise FormatError(path, None, f"{difference}; what changed is a new task version")


def differences(spec: Spec, now: Now) -> list[str]:
    """Return every difference between the pins and what stands, the most telling first."""
    pins = spec.pins
    if pins is None:
        return [f"{spec.task} has no pins"]
    found = [
        f"the {name} tier has no pins" for name in sorted(spec.tiers.keys() - pins.tiers.keys())
    ]
    found += [line for name in pins.tiers for line in _tier_differences(name, pins, now)]
    found += [
        f"table {table} is {_short(now.tables.get(table))}, the spec pins {_short(sha256)}"
        for table, sha256 in pins.tables.items()
        if now.tables.get(table) != sha256
    ]
    for name in ("database", "protocol", "duckdb"):
        have, pinned = getattr(now, name), getattr(pins, name)
        if have != pinned:
            found.append(f"the {name} is {_short(have)}, the spec pins {_short(pinned)}")
    # a changed table changes the schema text too: the table is what to name
    return sorted(found, key=lambda line: ": schema_sha256 is " in line)


def content_differences(spec: Spec, files: Mapping[str, QuestionFile]) -> list[str]:
    """Return every difference between the pins and the question files: each field of each item, today.

    files: by tier. What needs the database or the prompts is not looked at. Raises: ValueError (a draft).
    """
    pins = spec.pins
    if pins is None:
        raise ValueError(f"{spec.task} has no pins")
    tiers = {
        name: TierNow(file.kept, file.today, of.prompt_sha256, of.schema_sha256)
        for name, file in files.items()
        if (of := pins.tiers.get(name))
    }
    return differences(spec, Now(tiers, pins.protocol, pins.duckdb, pins.database, pins.tables))


def _tier_differences(name: str, pins: Pins, now: Now) -> list[str]:
    pinned, tier = pins.tiers[name], now.tiers.get(name)
    if tier is None:
        return [f"the {name} tier is missing"]
    have = {item.id: item for item in tier.items}
    found = [f"{name}/{id} is missing" for id in pinned.items if id not in have]
    found += [f"{name}/{id} is not in the frozen task" for id in have if id not in pinned.items]
    for id in pinned.items.keys() & have.keys():
        found += [f"{name}/{id}: {field} changed" for field in _changed(have[id], pinned.items[id])]
    if not found and tier_sha256(tier.items) != pinned.sha256:
        found.append(
            f"the {name} tier is {tier_sha256(tier.items)[:12]}, the spec pins {pinned.sha256}"
        )
    for key in ("today", "prompt_sha256", "schema_sha256"):
        if getattr(tier, key) != getattr(pinned, key):
            ours, theirs = _short(getattr(tier, key)), _short(getattr(pinned, key))
            found.append(f"{name}: {key} is {ours}, the spec pins {theirs}")
    return sorted(found)


def _changed(item: Item, pinned: str) -> list[str]:
    """Return the fields of an item whose hash is not the pinned one."""
    whole, *parts = pinned.split()
    if whole == item.sha256:
        return []
    now = _field_hashes(item)
    return [n for n, old, new in zip(PINNED, parts, now, strict=False) if old != new] or ["content"]


def _tier_pins(tier: TierNow) -> TierPins:
    items = sorted(tier.items, key=lambda item: item.id)
    return TierPins(
        sha256=tier_sha256(items),
        questions=len(items),
        answerable=sum(item.answerable for item in items),
        instances=2 * len(items),
        today=tier.today,
        prompt_sha256=tier.prompt_sha256,
        schema_sha256=tier.schema_sha256,
        record=tier.record,
        items={item.id: " ".join([item.sha256, *_field_hashes(item)]) for item in items},
    )


def _field_hashes(item: Item) -> list[str]:
    values = asdict(item)
    return [sha256_json(values[name])[:SHORT] for name in PINNED]


def _approved(tier: str, items: Iterable[Item], events: Sequence[Event], preview: bool) -> None:
    of_item: dict[str | None, list[Event]] = {}
    for event in events:
        of_item.setdefault(event.item, []).append(event)
    for item in items:
        panel = approval(of_item.get(item.id, []), item)
        if not panel.approved:
            seats = sum(e.body.get("verdict") == "approve" for e in panel.verdicts)
            raise ValueError(
                f"{tier}/{item.id}: {seats} of 3 seats approve its present content; review or drop it"
            )
        if panel.preview_only and not preview:
            raise ValueError(
                f"{tier}/{item.id}: a rule or one model in several seats approved it ({', '.join(panel.by)}):"
                " such a panel freezes only a task with `preview: true`"
            )


def _sound(tier: str, items: Sequence[Item]) -> None:
    if not items:
        raise ValueError(f"the {tier} tier has no item")
    for item in items:
        if names := untidy(item):
            raise ValueError(f"{tier}/{item.id}: {names[0]} is not NFC or ends in white space")


def _short(value: Any) -> str:
    return value[:12] if isinstance(value, str) and len(value) == 64 else str(value)
