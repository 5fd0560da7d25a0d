"""The gate: the rules that every reference meets before anyone reads it. No model is asked here.

`text2sql check` runs them on a file, the authoring graph on every draft, and reviewers see what they
found as evidence. The rules stand in items/rules/, one subject a file.
"""

from collections.abc import Sequence

from items.model import Item
from items.rules import (
    basics,
    concepts,
    counting,
    injection,
    nulls,
    shape,
    ties,
    time,
    unanswerable,
    values,
)
from items.rules.base import Case, Finding, Found, Ground, Rule, Severity

__all__ = ["RULES", "Finding", "Ground", "Rule", "Severity", "check", "explain"]

RULES: tuple[Rule, ...] = (  # the order they run in
    basics.tidy_texts,
    basics.complete,
    basics.runs,
    basics.returns_rows,
    basics.clock,
    unanswerable.witness,
    injection.instructs,
    injection.hidden_characters,
    ties.ties,
    ties.picked,
    ties.null_picked,
    ties.order_ties,
    counting.counted_thing,
    counting.records_counted,
    counting.counted_condition,
    counting.sum_of_distinct,
    counting.fan_out,
    counting.distinct_values_added,
    counting.orphans,
    counting.merged_names,
    counting.empty_row_counted,
    values.absent_constant,
    values.absent_pattern,
    values.dead_column,
    values.text_as_number,
    values.whole_division,
    values.zero_denominator,
    concepts.unknown_concept,
    concepts.concept_named,
    concepts.descendants,
    nulls.not_in_null,
    nulls.equals_null,
    nulls.unequal_null,
    nulls.open_end,
    nulls.missing_averaged,
    nulls.left_join_undone,
    nulls.zero_rows,
    time.boundaries_counted,
    time.age_in_years,
    time.days_inclusive,
    time.midnight_limit,
    time.date_shown,
    time.pinned_today,
    time.one_sided,
    time.impossible_times,
    shape.yes_or_no,
    shape.asked_aggregate,
    shape.precedence,
    shape.order_said,
    shape.rounding_said,
    shape.columns_asked,
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
