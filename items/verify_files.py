"""Verifying the files of a freeze: the records, and that the question files say what these say."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from items.freeze import content_differences
from items.frozen import Finding, Frozen
from items.questions import QuestionFile
from items.records import CONTENT, contents, record_of
from items.rendered import render, settings_of
from items.spec import spec_path
from registry.canonical import canonical
from registry.events import Event, head

CHANGING = (*CONTENT, "drop", "waiver", "decided", "owner")


def records(frozen: Frozen) -> Iterator[Finding]:
    """The heads that receipt and pins name are lines of the records, where they say."""
    heads = {told.file: told for told in frozen.receipt.records} if frozen.receipt else {}
    for tier, pinned in frozen.pins.tiers.items():
        path, events = record_of(frozen.path(tier)), frozen.records[tier]
        if path.exists() and path.read_bytes() != _written(events):
            yield Finding("broken", str(path), "there are bytes that no event wrote")
        lines = [*(event.previous for event in events), head(path)]
        told = heads.get(frozen.path(tier).stem)
        if told and (len(events) < told.events or lines[told.events] != told.sha256):
            yield Finding(
                "broken", str(path), f"line {told.events} is not the one that the receipt names"
            )
        yield from _later(str(path), events[told.events :] if told else ())
        if pinned.record and pinned.record not in lines:
            yield Finding(
                "broken", str(path), "the head that the spec pins is no line of this record"
            )


def _written(events: list[Event]) -> bytes:
    return "".join(canonical(asdict(event)) + "\n" for event in events).encode()


def items(frozen: Frozen) -> Iterator[Finding]:
    """The files hold the pinned items, and the record holds the files' items."""
    for tier, file in frozen.files.items():
        recorded = {
            q.id: q for q in contents(frozen.events(tier)).values() if q.status != "dropped"
        }
        for item in file.kept:
            if item.id not in recorded or recorded[item.id].item != item:
                yield Finding("broken", f"{tier}/{item.id}", "the record holds another content")
        for id in recorded.keys() - {item.id for item in file.kept}:
            yield Finding("broken", f"{tier}/{id}", "the record keeps it, the file does not")
        yield from _entries(frozen, tier, file)
    for difference in content_differences(frozen.spec, frozen.files):
        yield Finding("broken", str(spec_path(frozen.registry, frozen.task)), difference)


def _entries(frozen: Frozen, tier: str, file: QuestionFile) -> Iterator[Finding]:
    """Every entry, the dropped ones too, shows what the record has of it."""
    events, path = frozen.records[tier][: file.rendered_to], str(frozen.path(tier))
    shown = render(replace(file, questions=()), events)
    told = {q.id: q for q in shown.questions}
    authors = {q.id: q.author for q in contents(frozen.events(tier)).values()}
    if (file.task, file.tier) != (frozen.spec.slug, tier):
        yield Finding("broken", path, f"it is of {file.task}, tier {file.tier}")
    for q in file.questions:
        where, known = f"{tier}/{q.id}", told.get(q.id)
        if known is None:
            yield Finding("broken", where, "the record has no such item")
            continue
        if (q.reviews, q.history) != (known.reviews, known.history):
            yield Finding("broken", where, "it shows reviews that the record has not")
        if q.status == "dropped" and q.item != known.item:
            yield Finding("broken", where, "it was dropped with another content")
        if q.author != authors.get(q.id, q.author):
            yield Finding("broken", where, f"its author is {authors[q.id]}")
    if file.decisions != shown.decisions:
        yield Finding("broken", path, "it shows decisions that the record has not")


def shown(frozen: Frozen) -> Iterator[Finding]:
    """The record reaches as far as the file shows it, and the file's settings are the record's."""
    for tier, file in frozen.files.items():
        events, path = frozen.events(tier), str(frozen.path(tier))
        if file.rendered_to > len(events):
            told = (
                f"it shows event {file.rendered_to}; the record has {len(events)} up to the freeze"
            )
            yield Finding("broken", path, told)
        if canonical(asdict(file.settings)) != canonical(settings_of(events)):
            yield Finding("broken", path, "its settings (waivers, severities) are not the record's")


def _later(path: str, events: Sequence[Event]) -> Iterator[Finding]:
    """What was appended after the receipt: broken where it would change what is frozen."""
    changing = [event for event in events if event.kind in CHANGING]
    for event in changing[:1]:
        told = f"event {event.seq} ({event.kind} by {event.by}) came after the freeze"
        yield Finding("broken", path, told)
    if events and not changing:
        yield Finding("unverifiable", path, f"{len(events)} events came after the freeze")
