"""The gate: the rules that every reference meets before anyone reads it. No model is asked here.

`text2sql check` runs them on a file, the authoring graph on every draft, and reviewers see what they
found as evidence. The rules stand in items/rules/, one subject a file.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from items.model import Item
from items.rules import (
    basics,
    concepts,
    counting,
    determinism,
    duplicates,
    injection,
    languages,
    mutation,
    nulls,
    shape,
    ties,
    time,
    unanswerable,
    values,
)
from items.rules.base import SEVERITIES, Case, Finding, Found, Ground, Rule, Severity

__all__ = ["RULES", "Finding", "Ground", "Rule", "Severity", "Told", "check", "explain"]

RULES: tuple[Rule, ...] = (  # the order they run in
    basics.tidy_texts,
    basics.complete,
    basics.runs,
    basics.returns_rows,
    basics.clock,
    unanswerable.witness,
    unanswerable.answer_elsewhere,
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
    languages.written_in,
    languages.numbers_agree,
    languages.units_agree,
    languages.negation_agrees,
    languages.quantity_agrees,
    languages.constants_said,
    determinism.order_dependence,
    duplicates.same_question,
    duplicates.same_query,
    duplicates.same_result,
    mutation.hidden_mistakes,
)


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


def check(item: Item, ground: Ground, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return every broken rule, problems first; no problem is a pass. Raises: QueryError."""
    found = [finding for told in explain(item, ground, rules) for finding in told.findings]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def explain(item: Item, ground: Ground, rules: Sequence[Rule] = RULES) -> list[Told]:
    """Return for every rule what it looked at and what it found. Raises: QueryError."""
    case = Case(item, ground)
    return [_told(rule, case) for rule in rules]


def _told(rule: Rule, case: Case) -> Told:
    said = list(rule.look(case))
    looked = tuple(part for part in said if isinstance(part, str))
    found = (_finding(rule, part, case) for part in said if isinstance(part, Found))
    return Told(rule, looked, tuple(finding for finding in found if finding is not None))


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
