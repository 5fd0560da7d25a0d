"""The gate: the rules that every reference meets before anyone reads it. No model is asked here.

`text2sql check` runs them on a file, the authoring graph on every draft, and reviewers see what they
found as evidence. The rules stand in items/rules/, one subject a file.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from database.engine import QueryError
from items.memory import recalled
from items.model import Item
from items.rules import basics
from items.rules.base import SEVERITIES, Case, Finding, Found, Ground, Rule, Severity
from items.rules.listed import RULES
from items.settings import Settings

__all__ = [
    "RULES",
    "Finding",
    "Ground",
    "Rule",
    "Severity",
    "Told",
    "check",
    "explain",
    "found_alone",
    "look",
    "settled",
]


@dataclass(frozen=True)
class Told:
    """What one rule looked at and what it found."""

    rule: Rule
    looked: tuple[str, ...]
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        rule = {"rule": self.rule.name, "reason": self.rule.reason, "source": self.rule.source}
        findings = [asdict(finding) for finding in self.findings]
        return {**rule, "looked": list(self.looked), "findings": findings}


def check(item: Item, ground: Ground) -> list[Finding]:
    """Return every broken rule, problems first; no problem is a pass. Raises: QueryError.

    What was found before on the same content is taken from memory (items/memory.py).
    """
    return settled(item, ground, look(item, ground)[0])


def look(item: Item, ground: Ground) -> tuple[list[Finding], bool]:
    """Return what the rules find, before any setting; and whether all of it was remembered."""
    found: list[Finding] = []
    remembered = True
    for across in (False, True):
        rules = [rule for rule in RULES if rule.across is across or rule is basics.answered]
        part, kept = recalled(
            item, ground, across=across, look=partial(_found, item, ground, rules)
        )
        found += part
        remembered = remembered and kept
    return found, remembered


def found_alone(item: Item, ground: Ground) -> list[Finding]:
    """Return what the rules that look at one item alone find now, before any setting."""
    return _found(item, ground, [rule for rule in RULES if not rule.across])


def explain(item: Item, ground: Ground) -> list[Told]:
    """Return for every rule what it looked at and what it found now. Raises: QueryError."""
    case = Case(item, ground)
    told = [_told(rule, case) for rule in RULES]
    return [replace(one, findings=tuple(settled(item, ground, one.findings))) for one in told]


def settled(item: Item, ground: Ground, found: Iterable[Finding]) -> list[Finding]:
    """Return findings as the file's settings and waivers have them, problems first."""
    kept = [_settled(item, ground.settings, finding) for finding in found]
    shown = [finding for finding in kept if finding is not None]
    return sorted(shown, key=lambda finding: SEVERITIES.index(finding.severity))


def _settled(item: Item, settings: Settings, finding: Finding) -> Finding | None:
    severity = settings.severities.get(finding.rule, finding.severity)
    if severity == "off":
        return None
    waiver = settings.waiver(item.id, item.sha256, finding.rule)
    if waiver:
        text = f"{finding.message} (waived by {waiver.by}: {waiver.reason})"
        return replace(finding, severity="note", message=text)
    return replace(finding, severity=severity)


def _found(item: Item, ground: Ground, rules: Sequence[Rule]) -> list[Finding]:
    case = Case(item, ground)
    return [finding for rule in rules for finding in _told(rule, case).findings]


def _told(rule: Rule, case: Case) -> Told:
    try:
        said = list(rule.look(case))
    except QueryError:
        raise
    except Exception as error:  # a mistake of ours neither ends the check nor passes the item
        case.unanswered.append(f"{rule.name} failed: {type(error).__name__}: {error}")
        said = []
    looked = tuple(part for part in said if isinstance(part, str))
    found = [part for part in said if isinstance(part, Found)]
    findings = (
        Finding(rule.name, part.severity or rule.severity, part.message, part.evidence, part.other)
        for part in found
    )
    return Told(rule, looked, tuple(findings))
