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


KOREAN = {  # the handed cases have their questions in English only
    "reference-fanout-ancestor": "당뇨병(하위 종류를 포함하여)이 있는 사람은 몇 명인가요?",
    "reference-count-rows-for-people": "제2형 당뇨병이 있는 사람은 몇 명인가요?",
    "reference-count-distinct-drugs": "환자 1번은 서로 다른 약을 몇 가지 받았나요?",
    "reference-latest-tied": "환자 1번의 가장 최근 당화혈색소 값은 얼마인가요?",
    "reference-busiest-day-tie": "방문이 가장 많이 시작된 날짜는 언제인가요?",
    "reference-null-extreme": "당화혈색소(단위 %)가 가장 높은 사람은 누구인가요?",
    "reference-text-as-number": "기록된 A1c 원본 값 가운데 가장 높은 것은 얼마인가요?",
    "reference-between-timestamp": "2020년 5월 1일부터 5일까지 시작된 방문은 몇 건인가요?",
    "reference-length-of-stay": "방문 1번은 달력으로 며칠에 걸쳐 있었나요?",
    "reference-age-boundary": "2020년 12월 30일에 환자 3번은 몇 살이었나요?",
    "reference-interval-month": "2020년 3월 31일의 한 달 전은 며칠인가요?",
    "reference-wall-clock": "70세보다 나이가 많은 사람은 몇 명인가요?",
    "reference-integer-division": "전체 사람 중 여성의 비율은 얼마인가요?",
    "reference-count-case-else-0": "어떤 진단이든 있는 사람 가운데 고혈압이 있는 사람의 비율은 얼마인가요?",
    "reference-not-in-null": "진단이 하나도 기록되지 않은 방문은 어느 것인가요?",
    "reference-inner-join-drops-zero": "1인당 평균 방문 횟수는 얼마인가요?",
    "reference-left-join-where": "사람마다 아스피린 노출이 몇 건인가요?",
    "reference-open-visit": "열린 방문은 2020년 3월 10일까지로 셀 때, 입원의 평균 재원 일수는?",
    "reference-open-end-coalesce": "2020년 3월 1일에 진행 중이던 메트포르민 정제 노출은 몇 건인가요?",
    "reference-avg-ignores-null": "누락된 수량은 0으로 셀 때, 모든 메트포르민 정제 노출의 평균 수량은?",
    "reference-two-death-rows": "사망 기록이 있는 사람은 몇 명인가요?",
    "reference-two-observation-periods": "당시 관찰 중이던 사람의 평균 A1c(%)는 얼마인가요?",
    "reference-orphan-period": "데이터베이스에 있는 사람은 몇 명인가요?",
    "reference-and-or": "1950년에 태어난 사람 중 제1형 또는 제2형 당뇨병이 있는 사람은 몇 명인가요?",
    "reference-like-case": "대소문자에 상관없이 이름에 metformin이 들어가는 약물 개념은 몇 개인가요?",
    "reference-wrong-column": "환자 4번의 가장 높은 이완기 혈압은 얼마인가요?",
    "reference-name-merge": "Diabetes mellitus로 시작하는 이름마다 질환 개념이 몇 개 있나요?",
    "reference-literal-typo": "외래 방문은 몇 건인가요?",
    "reference-gold-does-not-run": "환자 1번에게 진단이 몇 건 있나요?",
    "reference-yes-no-shape": "환자 1번은 고혈압이 있나요?",
    "reference-not-discriminating": "2020년 6월 15일의 평균 이완기 혈압은 얼마인가요?",
    "reference-empty-reference": "와파린을 받은 사람은 누구인가요?",
}


def twin(case: dict[str, Any], which: str) -> Item:
    """The wrong or the right query of a reported case as an item."""
    korean = KOREAN[case["id"]]
    return item(case[f"{which}_sql"], case["question"], id=case["id"], question_ko=korean)


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
