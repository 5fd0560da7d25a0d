"""Questions that define a group of patients: after, never, repeatedly, in which order, how old."""

from collections.abc import Iterator
from datetime import date

from database.engine import Database
from items.templates.base import Filling, Template, on_edges
from items.templates.terms import CONDITIONS, INGREDIENTS, Term, drawn


def repeated_conditions(database: Database, today: date) -> Iterator[Filling]:
    """Draw conditions that patients have more than once, but not everybody."""
    sql = """
        SELECT condition_concept_id
        FROM condition_occurrence
        GROUP BY condition_concept_id
        HAVING count(*) > 1.05 * count(DISTINCT person_id) AND count(DISTINCT person_id) < 2600
        ORDER BY condition_concept_id"""
    for condition, _ in drawn(database, sql, CONDITIONS):
        yield {"condition": condition}


def edges(database: Database, today: date) -> Iterator[Filling]:
    """Draw conditions that patients have repeatedly, each with days that had a case."""
    sql = """
        SELECT co.condition_concept_id, co.condition_start_date
        FROM condition_occurrence AS co
        JOIN condition_occurrence AS eve
          ON eve.condition_concept_id = co.condition_concept_id
          AND eve.condition_start_date = co.condition_start_date - 1
        JOIN condition_occurrence AS again
          ON again.condition_concept_id = co.condition_concept_id
          AND again.person_id = co.person_id
          AND again.condition_start_date <> co.condition_start_date
        GROUP BY ALL
        ORDER BY ALL"""
    rows = (
        ({"condition": condition}, row[1]) for condition, row in drawn(database, sql, CONDITIONS)
    )
    return on_edges("condition_start_date", rows)


def treated(database: Database, today: date) -> Iterator[Filling]:
    """Draw a condition with an ingredient that many patients got soon after their first diagnosis."""
    sql = """
        WITH first_diagnosis AS (
            SELECT person_id, condition_concept_id, min(condition_start_date) AS diagnosed_on
            FROM condition_occurrence
            GROUP BY person_id, condition_concept_id
        )
        SELECT f.condition_concept_id, de.drug_concept_id
        FROM first_diagnosis AS f
        JOIN drug_era AS de ON de.person_id = f.person_id
        WHERE de.drug_era_start_date BETWEEN f.diagnosed_on AND f.diagnosed_on + 60
        GROUP BY f.condition_concept_id, de.drug_concept_id
        HAVING count(DISTINCT f.person_id) BETWEEN 40 AND 1500
        ORDER BY f.condition_concept_id, de.drug_concept_id"""
    for condition, row in drawn(database, sql, CONDITIONS):
        if row[1] in INGREDIENTS:
            en, ko = INGREDIENTS[row[1]]
            yield {"condition": condition, "drug": Term(en, ko, str(row[1]))}


def pairs(database: Database, today: date) -> Iterator[Filling]:
    """Draw two conditions that patients have in both orders, the first one repeatedly."""
    sql = """
        WITH first_diagnosis AS (
            SELECT person_id, condition_concept_id, min(condition_start_date) AS diagnosed_on,
                   count(*) AS times
            FROM condition_occurrence
            GROUP BY person_id, condition_concept_id
        )
        SELECT a.condition_concept_id, b.condition_concept_id
        FROM first_diagnosis AS a
        JOIN first_diagnosis AS b ON b.person_id = a.person_id
        WHERE a.condition_concept_id <> b.condition_concept_id
        GROUP BY ALL
        HAVING count(*) BETWEEN 60 AND 800 AND max(a.times) > 1
           AND count(*) FILTER (WHERE a.diagnosed_on = b.diagnosed_on) > 0
        ORDER BY ALL"""
    for condition, row in drawn(database, sql, CONDITIONS):
        if row[1] in CONDITIONS:
            en, ko = CONDITIONS[row[1]]
            yield {"condition": condition, "other": Term(en, ko, str(row[1]))}


TEMPLATES = (
    Template(
        name="treated_after",
        category="cohort_definition",
        difficulty="hard",
        scope="group",
        en="How many patients received a product containing {drug} within {n} days after their first"
        " diagnosis of {condition}, the day of that diagnosis included?",
        ko="{condition:을/를} 처음 진단받은 날부터 {n}일 안에(진단 당일 포함) {drug} 성분이 들어 있는 약을"
        " 받은 환자는 몇 명인가요?",
        sql="""
WITH first_diagnosis AS (
  SELECT person_id, min(condition_start_date) AS diagnosed_on
  FROM condition_occurrence
  WHERE condition_concept_id = {condition}
  GROUP BY person_id
)
SELECT count(DISTINCT f.person_id) AS patients
FROM first_diagnosis AS f
JOIN drug_exposure AS de ON de.person_id = f.person_id
WHERE de.drug_concept_id IN (
    SELECT ca.descendant_concept_id FROM concept_ancestor AS ca WHERE ca.ancestor_concept_id = {drug}
  )
  AND de.drug_exposure_start_date >= f.diagnosed_on
  AND de.drug_exposure_start_date <= f.diagnosed_on + {n}""",
        values=treated,
        operations={"n": (3, 5, 7, 10, 14, 30)},
    ),
    Template(
        name="never",
        category="cohort_definition",
        difficulty="medium",
        scope="group",
        en="How many patients have been diagnosed with {condition} but never with {other}?",
        ko="{condition} 진단은 받았지만 {other} 진단은 한 번도 받지 않은 환자는 몇 명인가요?",
        sql="""
SELECT count(DISTINCT co.person_id) AS patients
FROM condition_occurrence AS co
WHERE co.condition_concept_id = {condition}
  AND NOT EXISTS (
    SELECT 1
    FROM condition_occurrence AS other
    WHERE other.person_id = co.person_id
      AND other.condition_concept_id = {other}
  )""",
        values=pairs,
    ),
    Template(
        name="repeated",
        category="cohort_definition",
        difficulty="medium",
        scope="group",
        en="How many patients were diagnosed with {condition} at least {n} times {time}?",
        ko="{time} {condition} 진단을 {n}번 이상 받은 환자는 몇 명인가요?",
        sql="""
SELECT count(*) AS patients
FROM (
  SELECT person_id
  FROM condition_occurrence
  WHERE condition_concept_id = {condition}
    AND {time}
  GROUP BY person_id
  HAVING count(*) >= {n}
) AS repeated""",
        values=edges,
        operations={"n": (2, 3, 4)},
    ),
    Template(
        name="first_before",
        category="cohort_definition",
        difficulty="hard",
        scope="group",
        en="How many patients were first diagnosed with {condition} on an earlier day than they were first"
        " diagnosed with {other}? Count only patients who have had both diagnoses.",
        ko="{condition:을/를} 처음 진단받은 날이 {other:을/를} 처음 진단받은 날보다 앞서는 환자는 몇"
        " 명인가요? 두 진단을 모두 받은 환자만 세어 주세요.",
        sql="""
WITH earlier AS (
  SELECT person_id, min(condition_start_date) AS diagnosed_on
  FROM condition_occurrence
  WHERE condition_concept_id = {condition}
  GROUP BY person_id
), later AS (
  SELECT person_id, min(condition_start_date) AS diagnosed_on
  FROM condition_occurrence
  WHERE condition_concept_id = {other}
  GROUP BY person_id
)
SELECT count(*) AS patients
FROM earlier AS e
JOIN later AS l ON l.person_id = e.person_id
WHERE e.diagnosed_on < l.diagnosed_on""",
        values=pairs,
    ),
    Template(
        name="age_at_first",
        category="cohort_definition",
        difficulty="hard",
        scope="group",
        en="How many patients were younger than {n} years, in completed years of age, on the day of their"
        " first diagnosis of {condition}?",
        ko="{condition:을/를} 처음 진단받은 날에 만 나이로 {n}세 미만이었던 환자는 몇 명인가요?",
        sql="""
WITH first_diagnosis AS (
  SELECT person_id, min(condition_start_date) AS diagnosed_on
  FROM condition_occurrence
  WHERE condition_concept_id = {condition}
  GROUP BY person_id
)
SELECT count(*) AS patients
FROM first_diagnosis AS f
JOIN person AS p ON p.person_id = f.person_id
WHERE date_sub('year', p.birth_datetime, f.diagnosed_on) < {n}""",
        values=repeated_conditions,
        operations={"n": (10, 18, 30, 40)},
    ),
    Template(
        name="share_by_sex",
        category="cohort_definition",
        difficulty="medium",
        scope="group",
        en="For each sex as recorded in the source (F, M), how many patients have ever been diagnosed with"
        " {condition}, and what percentage of all patients of that sex is that, rounded to one decimal"
        " place? Show sex, patients and percentage.",
        ko="원천 자료에 기록된 성별(F, M)마다 {condition} 진단을 한 번이라도 받은 환자는 몇 명이고, 그 성별의"
        " 전체 환자 가운데 몇 퍼센트(소수 첫째 자리까지 반올림)인가요? 성별, 환자 수, 퍼센트를 보여 주세요.",
        sql="""
SELECT p.gender_source_value AS sex,
       count(DISTINCT co.person_id) AS patients,
       round(100.0 * count(DISTINCT co.person_id) / count(DISTINCT p.person_id), 1) AS percentage
FROM person AS p
LEFT JOIN condition_occurrence AS co
  ON co.person_id = p.person_id
  AND co.condition_concept_id = {condition}
GROUP BY p.gender_source_value""",
        values=repeated_conditions,
    ),
)
