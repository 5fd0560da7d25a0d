"""Questions about the data themselves: missing ends, dangling visits, repeats, periods, unused terms."""

from collections.abc import Iterator
from datetime import date

from database.engine import Database
from items.templates.base import Filling, Template
from items.templates.terms import CONDITIONS, Term, drawn
from items.templates.times import Time, in_year, since_year

KINDS = {  # table -> its words, concept column, date column, domain
    "condition_occurrence": (
        "diagnosis",
        "진단",
        "condition_concept_id",
        "condition_start_date",
        "Condition",
    ),
    "drug_exposure": ("drug", "약물", "drug_concept_id", "drug_exposure_start_date", "Drug"),
    "measurement": (
        "measurement",
        "측정",
        "measurement_concept_id",
        "measurement_date",
        "Measurement",
    ),
    "procedure_occurrence": (
        "procedure",
        "처치",
        "procedure_concept_id",
        "procedure_date",
        "Procedure",
    ),
}


def kinds(database: Database, today: date) -> Iterator[Filling]:
    """Draw every table of events."""
    for table, (en, ko, concept, day, domain) in KINDS.items():
        yield {
            "kind": Term(en, ko, table),
            "concept": Term("", "", concept),
            "day": Term("", "", day),
            "domain": Term(domain, domain, domain),
        }


def sometimes_open(database: Database, today: date) -> Iterator[Filling]:
    """Draw conditions of which some records have an end date and some have none."""
    sql = """
        SELECT condition_concept_id
        FROM condition_occurrence
        GROUP BY condition_concept_id
        HAVING count(condition_end_date) BETWEEN 1 AND 0.99 * count(*)
        ORDER BY condition_concept_id"""
    for condition, _ in drawn(database, sql, CONDITIONS):
        yield {"condition": condition}


def visit_years(today: date) -> tuple[Time, ...]:
    """Return absolute times for records that name a visit."""
    single = tuple(in_year(year) for year in range(today.year - 6, today.year))
    return (*single, *(since_year(year) for year in range(today.year - 19, today.year - 4, 5)))


TEMPLATES = (
    Template(
        name="no_end",
        category="data_quality",
        difficulty="easy",
        scope="none",
        en="How many diagnosis records of {condition} have no end date, and what percentage of all diagnosis"
        " records of {condition} is that, rounded to one decimal place?",
        ko="종료일이 없는 {condition} 진단 기록은 몇 건이고, 전체 {condition} 진단 기록 가운데 몇 퍼센트(소수"
        " 첫째 자리까지 반올림)인가요?",
        sql="""
SELECT count(*) FILTER (WHERE condition_end_date IS NULL) AS records_without_end,
       round(100.0 * count(*) FILTER (WHERE condition_end_date IS NULL) / count(*), 1) AS percentage
FROM condition_occurrence
WHERE condition_concept_id = {condition}""",
        values=sometimes_open,
    ),
    Template(
        name="dangling_visit",
        category="data_quality",
        difficulty="medium",
        scope="group",
        en="How many {kind} records dated {time} refer to a visit number that does not exist in the visit"
        " table, and how many patients do these records belong to? Leave out records without a visit number.",
        ko="{time} 발생한 {kind} 기록 가운데 방문 테이블에 없는 방문 번호를 가리키는 기록은 몇 건이고, 그"
        " 기록은 환자 몇 명의 것인가요? 방문 번호가 없는 기록은 빼 주세요.",
        sql="""
SELECT count(*) AS records, count(DISTINCT r.person_id) AS patients
FROM {kind} AS r
WHERE {time}
  AND r.visit_occurrence_id IS NOT NULL
  AND NOT EXISTS (
    SELECT 1 FROM visit_occurrence AS v WHERE v.visit_occurrence_id = r.visit_occurrence_id
  )""",
        values=kinds,
        times=visit_years,
        column="r.{day}",
    ),
    Template(
        name="repeated_records",
        category="data_quality",
        difficulty="hard",
        scope="group",
        en="Group the {kind} records that have the same patient, the same concept and the same start date."
        " How many of these groups hold {n} or more records, and how many records are in those groups?",
        ko="환자, 개념, 시작일이 모두 같은 {kind} 기록을 한 묶음으로 볼 때, 기록이 {n}건 이상인 묶음은 몇"
        " 개이고 그 묶음에 든 기록은 모두 몇 건인가요?",
        sql="""
SELECT count(*) AS groups, CAST(sum(records) AS BIGINT) AS records
FROM (
  SELECT count(*) AS records
  FROM {kind}
  GROUP BY person_id, {concept}, {day}
  HAVING count(*) >= {n}
) AS repeated""",
        values=kinds,
        operations={"n": (2, 3)},
    ),
    Template(
        name="outside_period",
        category="data_quality",
        difficulty="hard",
        scope="group",
        en="How many {kind} records start before the patient's own observation period begins, and how many"
        " start after it has ended?",
        ko="환자 본인의 관찰 기간이 시작되기 전에 시작된 {kind} 기록은 몇 건이고, 관찰 기간이 끝난 뒤에"
        " 시작된 {kind} 기록은 몇 건인가요?",
        sql="""
SELECT count(*) FILTER (WHERE r.{day} < op.observation_period_start_date) AS before_start,
       count(*) FILTER (WHERE r.{day} > op.observation_period_end_date) AS after_end
FROM {kind} AS r
JOIN observation_period AS op ON op.person_id = r.person_id""",
        values=kinds,
    ),
    Template(
        name="unused_concepts",
        category="data_quality",
        difficulty="medium",
        scope="none",
        en="Which concepts of the {domain} domain are used as the concept of no {kind} record? Show the"
        " concept id and the concept name.",
        ko="{domain} 도메인의 개념 가운데 어떤 {kind} 기록의 개념으로도 쓰이지 않은 것은 무엇인가요? 개념"
        " 번호와 개념 이름을 보여 주세요.",
        sql="""
SELECT c.concept_id, c.concept_name
FROM concept AS c
WHERE c.domain_id = '{domain}'
  AND NOT EXISTS (SELECT 1 FROM {kind} AS r WHERE r.{concept} = c.concept_id)""",
        values=kinds,
    ),
)
