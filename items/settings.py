"""What a question file sets for its own check: thresholds, severities, waivers.

settings:
  thresholds:
    mutation_score: 0.5        # least share of telling mutants that must be killed or told apart
  severities:
    duplicates: warning        # problem, warning, note or off
  waivers:
    - item: hard-007
      rule: ties
      item_sha256: 3f0c...     # the content it was given for: an edit voids it
      reason: The question asks for any one of the tied dates.
      by: Kim
"""

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["problem", "warning", "note", "off"]


@dataclass(frozen=True)
class Waiver:
    """A finding that a person has answered for, with a reason and a name.

    item_sha256: the content it was given for; empty holds for any content.
    """

    item: str
    rule: str
    reason: str
    by: str
    item_sha256: str = ""

    def __post_init__(self) -> None:
        if not self.reason.strip() or not self.by.strip():
            raise ValueError(f"the waiver of {self.rule} for {self.item} needs a reason and a name")


@dataclass(frozen=True)
class Settings:
    """The check's settings of one question file; what is not set keeps the rule's own value."""

    thresholds: dict[str, float] = field(default_factory=dict)
    severities: dict[str, Severity] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()

    def threshold(self, name: str, default: float) -> float:
        """Return a threshold, the rule's own value where the file sets none."""
        return self.thresholds.get(name, default)

    def waiver(self, item_id: str, item_sha256: str, rule: str) -> Waiver | None:
        """Return the waiver that covers a rule for an item's present content, if there is one."""
        for waiver in self.waivers:
            right = waiver.item == item_id and waiver.rule == rule
            if right and waiver.item_sha256 in ("", item_sha256):
                return waiver
        return None
