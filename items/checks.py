"""The gate: the rules that every reference meets before anyone reads it. No model is asked here.

`text2sql check` runs them on a file, the authoring graph on every draft, and reviewers see what they
found as evidence. The rules stand in items/rules/, one subject a file.
"""

from collections.abc import Sequence

from items.model import Item
from items.rules import basics, unanswerable
from items.rules.base import Case, Finding, Found, Ground, Rule, Severity

__all__ = ["RULES", "Finding", "Ground", "Rule", "Severity", "check", "explain"]

RULES: tuple[Rule, ...] = (  # the order they run in
    basics.tidy_texts,
    basics.complete,
    basics.runs,
    basics.returns_rows,
    basics.clock,
    unanswerable.witness,
)


def check(item: Item, ground: Ground, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return every broken rule, problems first; an empty list is a pass."""
    order = ("problem", "warning", "note")
    found = [finding for _, _, findings in explain(item, ground, rules) for finding in findings]
    return sorted(found, key=lambda finding: order.index(finding.severity))


def explain(
    item: Item, ground: Ground, rules: Sequence[Rule] = RULES
) -> list[tuple[Rule, list[str], list[Finding]]]:
    """Return for every rule what it looked at and what it found."""
    case = Case(item, ground)
    told = []
    for rule in rules:
        said = list(rule.look(case))
        looked = [part for part in said if isinstance(part, str)]
        found = [_finding(rule, part, case) for part in said if isinstance(part, Found)]
        told.append((rule, looked, [finding for finding in found if finding is not None]))
    return told


def _finding(rule: Rule, found: Found, case: Case) -> Finding | None:
    """Return what the file's settings make of a finding; None where they switch the rule off."""
    settings, item = case.ground.settings, case.item
    severity = settings.severities.get(rule.name, found.severity or rule.severity)
    waiver = settings.waiver(item.id, item.sha256, rule.name)
    if severity == "off":
        return None
    if waiver:
        text = f"{found.message} (waived by {waiver.by}: {waiver.reason})"
        return Finding(rule.name, "note", text, found.evidence)
    return Finding(rule.name, severity, found.message, found.evidence)
