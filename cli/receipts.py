"""The receipt of a freeze: what it rests on, taken out of the ledger and put beside it (Agreements 4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from items.spec import Spec
    from registry.events import Event

RESTS_ON = ("draft", "fix", "verdict", "ballot")


def write_receipt(registry: Path, runs: Path, spec: "Spec") -> None:
    """Export the replies that a frozen task rests on, and write its receipt. Raises: FormatError, OSError.

    Replies that the ledger does not hold are left out: `verify` calls what rests on them unverifiable.
    """
    from items.evidence import Head, Receipt, evidence_folder, save_receipt, save_replies
    from items.records import record_of
    from registry.events import head, load

    assert spec.pins is not None
    events, heads = [], []
    for tier in spec.tiers.values():
        path = record_of(registry / tier.file)
        record = load(path)
        events += record
        heads.append(Head(path.stem, len(record), head(path)))
    replies = list(_replies(runs, _calls(events)))
    names = (save_replies(evidence_folder(registry, spec.task), replies),) if replies else ()
    receipt = Receipt(
        spec.task,
        spec.sha256,
        spec.pins.frozen,
        spec.pins.by,
        tuple(heads),
        names,
        _seen(events),
    )
    save_receipt(registry, receipt)


def _calls(events: "list[Event]") -> list[str]:
    """Return the ledger keys that the events name, each once."""
    keys = [
        key
        for event in events
        if event.kind in RESTS_ON
        for key in event.body.get("calls") or ([event.call] if event.call else [])
    ]
    return list(dict.fromkeys(keys))


def _replies(runs: Path, keys: list[str]) -> Iterator[dict[str, Any]]:
    from dataclasses import asdict

    from models.ledger import Ledger

    path = runs / "ledger.sqlite"
    if not keys or not path.exists():
        return
    ledger = Ledger(path, command="receipt")
    try:
        for key in keys:
            request, answer = ledger.request(key), ledger.find(key)
            if request is not None and answer is not None:
                yield {"key": key, "request": request.decides, "answer": asdict(answer)}
    finally:
        ledger.close()


def _seen(events: "list[Event]") -> dict[str, str]:
    """Return the evidence files that voters saw, with their hashes."""
    references = [ref for e in events if e.kind == "decided" for ref in e.body.get("evidence", ())]
    return {ref.rpartition(" ")[0]: ref.rpartition(" ")[2] for ref in sorted(set(references))}
