"""The museum as a table for the docs: error, where it was published, the rule that catches it.

python -m tests.museum.table > docs/museum.md
"""

from pathlib import Path
from typing import Any

import yaml

from items.checks import RULES
from tests.gate import reported

HERE = Path(__file__).parent
HANDED = {  # which rule catches a handed case; a case's own name for its kind is not always telling
    "reference-fanout-ancestor": "sum_of_distinct",
    "reference-count-rows-for-people": "counted_thing",
    "reference-count-distinct-drugs": "counted_thing",
    "reference-latest-tied": "ties",
    "reference-busiest-day-tie": "ties",
    "reference-null-extreme": "null_picked",
    "reference-text-as-number": "text_as_number",
    "reference-between-timestamp": "midnight_limit",
    "reference-length-of-stay": "days_inclusive",
    "reference-age-boundary": "boundaries_counted",
    "reference-interval-month": "date_shown",
    "reference-wall-clock": "clock",
    "reference-integer-division": "whole_division",
    "reference-count-case-else-0": "counted_condition",
    "reference-not-in-null": "not_in_null",
    "reference-inner-join-drops-zero": "zero_rows",
    "reference-left-join-where": "left_join_undone",
    "reference-open-visit": "missing_averaged",
    "reference-open-end-coalesce": "open_end",
    "reference-avg-ignores-null": "missing_averaged",
    "reference-two-death-rows": "counted_thing",
    "reference-two-observation-periods": "fan_out",
    "reference-orphan-period": "orphans",
    "reference-and-or": "precedence",
    "reference-like-case": "absent_pattern",
    "reference-wrong-column": "concept_named",
    "reference-name-merge": "merged_names",
    "reference-literal-typo": "absent_constant",
    "reference-gold-does-not-run": "runs",
    "reference-yes-no-shape": "yes_or_no",
    "reference-not-discriminating": "asked_aggregate",
    "reference-empty-reference": "unknown_concept",
    "reference-clock-window-empty": "clock",
    "reference-duplicate-ids": "(the reader of question files refuses it)",
    "reference-gold-as-prediction": "(the oracle run scores every reference against itself)",
}
HEAD = """# The museum of known errors

Errors that other benchmarks published, each replayed on a small OMOP-like database with its right twin
(`tests/museum/`, `tests/cases/reported_failures.yaml`). The rule must speak up on the error and stay silent
on the twin; `tests/test_museum.py` holds it to that. This page is made by `python -m tests.museum.table`.

| error | published | caught by |
|---|---|---|
"""
TAIL = """
## The rules

Each is a function in `items/rules/`; `text2sql check --explain ID` shows what each looked at for one item.

| rule | severity | says | source |
|---|---|---|---|
"""


def errors() -> list[dict[str, Any]]:
    """The museum's own exhibits."""
    found: list[dict[str, Any]] = yaml.safe_load((HERE / "errors.yaml").read_text())
    return found


def page() -> str:
    """The docs page."""
    handed = {case["id"]: case for case in reported()["cases"] if case["area"] == "reference"}
    rows = [
        f"| {case['symptom']} | {case['source']} | {_code(HANDED[id])} |"
        for id, case in handed.items()
    ]
    rows += [f"| {one['kind']} | {one['published']} | {_code(one['rule'])} |" for one in errors()]
    rules = [f"| `{r.name}` | {r.severity} | {r.reason} | {r.source} |" for r in RULES]
    return HEAD + "\n".join(rows) + "\n" + TAIL + "\n".join(rules) + "\n"


def _code(rule: str) -> str:
    return rule if rule.startswith("(") else f"`{rule}`"


if __name__ == "__main__":
    print(page(), end="")
