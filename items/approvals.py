"""Who approved what: three valid approvals of an item's present content, derived, never stored (S4-007).

A review is held by the seats 1, 2 and 3 of one roster; each verdict says who held them (`panel`). A
verdict on another seat, or of somebody who did not hold the seat that it names, is of no review.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from items.model import Item
from registry.events import Event

SEATS = (1, 2, 3)  # S1-043: every kept item was approved by all three


@dataclass(frozen=True)
class Approval:
    """What the panel said of one content; derived, never stored.

    verdicts: the last verdict of each seat on this content, by seat number.
    approved: exactly the seats of the review have a last verdict, and each is a valid "approve".
    """

    verdicts: tuple[Event, ...]

    @property
    def approved(self) -> bool:
        """Tell whether all seats approve, each by the one who held it."""
        seats = tuple(event.body["seat"] for event in self.verdicts)
        return seats == SEATS and all(map(_approves, self.verdicts)) and not self.strangers

    @property
    def by(self) -> tuple[str, ...]:
        """Return who holds the seats."""
        return tuple(event.by for event in self.verdicts)

    @property
    def strangers(self) -> tuple[str, ...]:
        """Return who spoke for a seat that the latest verdict's roster gives to somebody else."""
        latest = max(self.verdicts, key=lambda event: event.seq, default=None)
        held = latest.body.get("panel") if latest else None
        if held is None:  # records from before verdicts named their panel
            return ()
        seated = dict(enumerate(held, 1))
        return tuple(
            event.by
            for event in self.verdicts
            if holder(event.by) != holder(str(seated.get(event.body["seat"])))
        )

    @property
    def preview_only(self) -> bool:
        """Tell whether the panel is good for a preview only (Agreements 1)."""
        told = any(event.body.get("single_model") for event in self.verdicts)
        return told or not independent(self.by)


def approval(events: Iterable[Event], item: Item) -> Approval:
    """Return what the panel said of an item's present content, and of no other content.

    The last word of each seat counts, also when it is "no verdict"; retests do not count.
    """
    last: dict[int, Event] = {}
    for event in events:
        on_this = event.item == item.id and event.item_sha256 == item.sha256
        if event.kind == "verdict" and on_this and not event.body.get("repeat"):
            last[event.body["seat"]] = event
    return Approval(tuple(last[seat] for seat in sorted(last, key=str)))


def holder(by: str) -> str:
    """Return who holds a seat, under one name: without a version, however it is spelled.

    `rule/lint@2` is `rule/lint`, and `Acme/A-1B` is `acme/a-1b`.
    """
    return unicodedata.normalize("NFKC", by).casefold().strip().partition("@")[0]


def independent(by: Sequence[str]) -> bool:
    """Tell whether three different models hold the seats, and no rule (Agreements 1)."""
    names = {holder(name) for name in by}
    return len(names) >= len(SEATS) and not any(name.startswith("rule/") for name in names)


def _approves(event: Event) -> bool:
    """Tell whether a verdict is a valid "approve"; one that names issues contradicts itself."""
    body = event.body
    return body.get("valid") is True and body.get("verdict") == "approve" and not body.get("issues")
