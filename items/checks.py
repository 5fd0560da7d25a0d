"""The gate: the rules that every reference meets before anyone reads it. No model is asked here.

`text2sql check` runs them on a file, the authoring graph on every draft, and reviewers see what they
found as evidence. The rules stand in items/rules/, one subject a file.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from items.memory import recalled
from items.model import Item
from items.rules import (
    absences,
    ages,
    aggregates,
    answers,
    basics,
    concepts,
    conditions,
    counting,
    dates,
    determinism,
    distinct,
    duplicates,
    events,
    fanout,
    grouping,
    injection,
    joins,
    kinds,
    languages,
    limits,
    mutation,
    naming,
    nulls,
    numbers,
    opposites,
    periods,
    relations,
    shape,
    shares,
    ties,
    time,
    unanswerable,
    unasked,
    units,
    values,
)
from items.rules.base import SEVERITIES, Case, Finding, Found, Ground, Rule, Severity
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

RULES: tuple[Rule, ...] = (  # the order they run in
    basics.tidy_texts,
    basics.complete,
    basics.runs,
    basics.readable,
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
    counting.repeats_counted,
    counting.records_counted,
    counting.counted_condition,
    distinct.days_counted,
    distinct.record_ids_counted,
    fanout.sum_of_distinct,
    fanout.fan_out,
    fanout.distinct_values_added,
    grouping.orphans,
    grouping.merged_names,
    grouping.names_counted,
    absences.empty_row_counted,
    values.absent_constant,
    values.absent_pattern,
    values.text_case,
    values.codes_as_numbers,
    values.dead_column,
    numbers.text_as_number,
    numbers.whole_division,
    numbers.zero_denominator,
    units.mixed_units,
    concepts.unknown_concept,
    concepts.concept_named,
    concepts.descendants,
    concepts.fixed_concepts,
    kinds.itself_left_out,
    kinds.one_product,
    kinds.with_or_without,
    joins.unjoined,
    joins.joined_keys,
    joins.ancestor_direction,
    nulls.not_in_null,
    nulls.equals_null,
    nulls.unequal_null,
    nulls.open_end,
    nulls.missing_averaged,
    absences.left_join_undone,
    nulls.nulls_uncounted,
    nulls.null_in_else,
    nulls.missing_in_ratio,
    absences.per_person,
    absences.zero_rows,
    dates.boundaries_counted,
    ages.age_in_years,
    dates.days_inclusive,
    dates.midnight_limit,
    dates.month_ends,
    dates.dates_as_text,
    time.start_or_end,
    absences.missing_periods,
    dates.date_shown,
    time.pinned_today,
    time.one_sided,
    periods.named_month,
    periods.named_year,
    periods.window_side,
    periods.ongoing_both,
    time.impossible_times,
    shape.yes_or_no,
    relations.first_or_latest,
    events.first_of_all,
    events.reaches_into,
    relations.negation_done,
    relations.all_of_a_list,
    relations.order_in_time,
    aggregates.asked_aggregate,
    aggregates.extreme_taken,
    aggregates.mean_of_rows,
    conditions.precedence,
    shape.order_said,
    shape.rounding_said,
    shape.rows_asked,
    aggregates.whole_share,
    shares.share_of_whole,
    aggregates.percent_scale,
    fanout.mean_of_means,
    grouping.grouped_gap,
    shape.columns_asked,
    answers.names_shown,
    answers.numbers_shown,
    answers.measures_shown,
    answers.groups_labelled,
    answers.order_direction,
    limits.number_limits,
    limits.date_limits,
    limits.within_limits,
    limits.count_of_rows,
    conditions.contradictions,
    conditions.leaves_nothing_out,
    unasked.unasked_sex,
    unasked.unasked_period,
    unasked.exact_number,
    unasked.pattern_side,
    languages.written_in,
    languages.numbers_agree,
    languages.units_agree,
    languages.negation_agrees,
    languages.quantity_agrees,
    languages.constants_said,
    naming.drug_in_korean,
    naming.named_unused,
    opposites.opposites_agree,
    opposites.limits_agree,
    opposites.as_many_asked,
    opposites.decimals_agree,
    determinism.order_dependence,
    duplicates.same_question,
    duplicates.same_query,
    duplicates.same_result,
    mutation.hidden_mistakes,
    basics.answered,  # last: it tells which queries of the others were lost
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
    said = list(rule.look(case))
    looked = tuple(part for part in said if isinstance(part, str))
    found = [part for part in said if isinstance(part, Found)]
    findings = (
        Finding(rule.name, part.severity or rule.severity, part.message, part.evidence, part.other)
        for part in found
    )
    return Told(rule, looked, tuple(findings))
