"""Who approved what: three valid approvals of an item's present content, derived, never stored (S4-007)."""

from collections.abc import Iterable
from dataclasses import dataclass

from items.model import Item
from registry.events import Event

SEATS = 3  # S1-043: every kept item was approved by all three


@dataclass(frozen=True)
class Approval:
    """What the panel said of one content; derived, never stored (S4-007).

    verdicts: the last verdict of each seat on this content, by seat number.
    approved: `seats` seats have a last verdict, and each is a valid "approve".
    """

    verdicts: tuple[Event, ...]
    seats: int = SEATS

    @property
    def approved(self) -> bool:
        """Tell whether all seats approve."""
        return len(self.verdicts) == self.seats and all(map(_approves, self.verdicts))

    @property
    def by(self) -> tuple[str, ...]:
        """Return who holds the seats."""
        return tuple(event.by for event in self.verdicts)

    @property
    def preview_only(self) -> bool:
        """Tell whether the panel is good for a preview only: a rule's seat, or one model in two."""
        return len(set(self.by)) < self.seats or any(by.startswith("rule/") for by in self.by)


def approval(events: Iterable[Event], item: Item, seats: int = SEATS) -> Approval:
    """Return what the panel said of an item's present content, and of no other content.

    The last word of each seat counts, also when it is "no verdict"; retests do not count.
    """
    last: dict[int, Event] = {}
    for event in events:
        on_this = event.item == item.id and event.item_sha256 == item.sha256
        if event.kind == "verdict" and on_this and not event.body.get("repeat"):
            last[int(event.body["seat"])] = event
    return Approval(tuple(last[seat] for seat in sorted(last)), seats)


def _approves(event: Event) -> bool:
    """Tell whether a verdict is a valid "approve"; one that names issues contradicts itself."""
    body = event.body
    return body.get("valid") is True and body.get("verdict") == "approve" and not body.get("issues")
