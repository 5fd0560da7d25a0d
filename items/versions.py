"""The versions of a task: starting the next one, and saying what it changed (S1-007, S1-052).

A version's question files and records end in -v<N>; a thawed task copies them under the next number, so
that what stays as it is keeps its approvals, and the frozen version stays as it was.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from items.freeze import PINNED
from items.questions import load_questions
from items.records import record_of
from items.spec import Pins, Spec, save_spec, spec_path, thawed
from registry import files
from registry.events import load
from registry.reader import FormatError, read_text

_VERSION = re.compile(r"-v\d+(?=\.yaml$)")


def start_next(registry: Path, spec: Spec) -> list[Path]:
    """Write the next version's spec, question files and records; returns their paths.

    Raises: FormatError (not frozen, or the next version is there already), OSError.
    """
    path = spec_path(registry, spec.task)
    if spec.pins is None:
        raise FormatError(path, None, f"{spec.task} is a draft already: edit it")
    version = spec.version + 1
    target = spec_path(registry, f"{spec.slug}@{version}")
    if target.exists():
        raise FormatError(target, None, "the next version was started already")
    draft = read_text(thawed(path), Spec, path)
    tiers = {
        name: replace(tier, file=_VERSION.sub(f"-v{version}", tier.file))
        for name, tier in draft.tiers.items()
    }
    for tier in spec.tiers.values():  # a copy of a broken record would pass for a whole one
        record = record_of(registry / tier.file)
        if not load(record):
            raise FormatError(
                record, None, "the record is gone; `verify` says what else is missing"
            )
    written = []
    for name, tier in tiers.items():
        written += _copied(registry / spec.tiers[name].file, registry / tier.file)
    save_spec(target, replace(draft, version=version, tiers=tiers))
    return [*written, target]


def entry(before: Spec, after: Spec) -> list[str]:
    """Return what changed between two frozen versions, one line a change. Raises: FormatError (a draft)."""
    old, new = _pins(before), _pins(after)
    lines = [
        line
        for tier in sorted(old.tiers.keys() | new.tiers.keys())
        for line in _tier(tier, old, new)
    ]
    for name in ("protocol", "duckdb", "database"):
        if getattr(old, name) != getattr(new, name):
            lines.append(f"{name}: {getattr(old, name)[:12]} -> {getattr(new, name)[:12]}")
    settings = {s.key: s for s in before.decisions}
    lines += [f"{s.key}: set anew by {s.by}" for s in after.decisions if settings.get(s.key) != s]
    return lines or ["nothing that a pin covers"]


def write_entry(registry: Path, spec: Spec, lines: list[str]) -> Path:
    """Put a version's entry at the top of registry/tasks/CHANGELOG.md, once. Raises: OSError."""
    path = registry / "tasks" / "CHANGELOG.md"
    title = "# What each version of a task changed\n"
    old = path.read_text(encoding="utf-8") if path.exists() else title
    when = spec.pins.frozen.isoformat() if spec.pins else ""
    head = f"\n## {spec.task} ({when})\n"
    if head not in old:
        body = head + "".join(f"- {line}\n" for line in lines)
        files.replace(path, old.replace(title, title + body, 1))
    return path


def _tier(tier: str, old: Pins, new: Pins) -> Iterator[str]:
    if tier not in old.tiers or tier not in new.tiers:
        yield f"{tier}: {'added' if tier in new.tiers else 'removed'}"
        return
    before, after = old.tiers[tier].items, new.tiers[tier].items
    yield from (f"{tier}/{id}: added" for id in sorted(after.keys() - before.keys()))
    yield from (f"{tier}/{id}: removed" for id in sorted(before.keys() - after.keys()))
    for id in sorted(before.keys() & after.keys()):
        if before[id] != after[id]:
            yield f"{tier}/{id}: {', '.join(_fields(before[id], after[id]))}"
    for name in ("today", "prompt_sha256", "schema_sha256"):
        if getattr(old.tiers[tier], name) != getattr(new.tiers[tier], name):
            yield f"{tier}: another {name.removesuffix('_sha256')}"


def _fields(before: str, after: str) -> list[str]:
    pairs = zip(PINNED, before.split()[1:], after.split()[1:], strict=True)
    return [name for name, old, new in pairs if old != new]


def _pins(spec: Spec) -> Pins:
    if spec.pins is None:
        raise FormatError(
            spec_path(Path(), spec.task), None, f"{spec.task} is a draft: it has no pins"
        )
    return spec.pins


def _copied(source: Path, target: Path) -> list[Path]:
    load_questions(source)
    pairs = [(source, target), (record_of(source), record_of(target))]
    made = []
    for old, new in pairs:
        if new.exists():
            raise FormatError(new, None, "is in the way of the next version")
        if old.exists():
            files.replace(new, old.read_bytes())
            made.append(new)
    return made
