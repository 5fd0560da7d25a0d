"""The handed cases as items: the reported reference errors and the fifteen Eunomia questions."""

from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import yaml

from items.checks import Finding
from items.model import Item

CASES = Path(__file__).parent / "cases"
TODAY = date(2019, 7, 3)
FIXTURE_TODAY = date(2020, 12, 31)
WITNESSES = {"ua1": "measurement.value_as_number", "ua2": "death", "ua4": "concept: insulin"}
PLAIN = Item(
    id="hard-001",
    question_ko="환자는 모두 몇 명인가요?",
    question_en="How many patients are there?",
    reference_sql="SELECT count(*) AS patients FROM person",
    order_matters=False,
    answerable=True,
    category="data_quality",
    difficulty="easy",
    scope="none",
)


def item(sql: str | None, question: str = "", **rest: Any) -> Item:
    """An item with this reference; the question in English, and a Korean one that says as much."""
    english = question or PLAIN.question_en
    return replace(PLAIN, reference_sql=sql, question_en=english, **rest)


@cache
def reported() -> dict[str, Any]:
    """The file of reported failures."""
    found: dict[str, Any] = yaml.safe_load((CASES / "reported_failures.yaml").read_text())
    return found


def reference_cases() -> list[dict[str, Any]]:
    """The 32 reported reference errors that have a wrong and a right query."""
    cases = reported()["cases"]
    return [c for c in cases if c["area"] == "reference" and "wrong_sql" in c]


def build_fixture(path: Path) -> Path:
    """Make the cases' small OMOP-like database."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(reported()["fixture_sql"])
    return path


def eunomia_items() -> list[tuple[Item, Item | None]]:
    """The fifteen questions as items, each with its wrong twin where it has one."""
    data = yaml.safe_load((CASES / "eunomia_questions.yaml").read_text())
    made = []
    for case in data["questions"]:
        answerable = case["answerable"]
        right = Item(
            id=case["id"],
            question_ko=case["question_ko"],
            question_en=case["question_en"],
            reference_sql=case["reference_sql"].strip() if answerable else None,
            order_matters="first" in case["question_en"] and case["id"] in ("ct3", "rt3"),
            answerable=answerable,
            category=case["category"],
            difficulty=case["difficulty"],
            scope=case["scope"],
            witness=WITNESSES.get(case["id"]),
        )
        wrong = case.get("wrong_sql")
        made.append((right, replace(right, reference_sql=wrong.strip()) if wrong else None))
    return made


def strong(findings: list[Finding]) -> set[str]:
    """The rules that found a problem or gave a warning."""
    return {finding.rule for finding in findings if finding.severity != "note"}
