"""Questions whose difficulty is a clinical term: lay words, subtypes, ingredients, the vocabulary."""

from collections.abc import Iterator
from datetime import date

from database.engine import Database
from items.templates.base import Filling, Template, on_edges
from items.templates.terms import FAMILIES, INGREDIENTS, LAY_TERMS, drawn
from items.templates.times import Time, in_year


def lay_terms(database: Database, today: date) -> Iterator[Filling]:
    """Draw synonyms of conditions, each with days that had a case like the day before them."""
    sql = """
        SELECT s.concept_synonym_name, co.condition_start_date
        FROM concept_synonym AS s
        JOIN condition_occurrence AS co ON co.condition_concept_id = s.concept_id
        JOIN condition_occurrence AS eve
          ON eve.condition_concept_id = s.concept_id
          AND eve.condition_start_date = co.condition_start_date - 1
        GROUP BY ALL
        ORDER BY ALL"""
    rows = (({"term": term}, row[1]) for term, row in drawn(database, sql, LAY_TERMS))
    return on_edges("co.condition_start_date", rows)


# After `used` (ids with days): ancestors of several concepts, on days that follow one with a case.
FAMILY_DAYS = """
        , known AS (
            SELECT ca.ancestor_concept_id AS id
            FROM concept_ancestor AS ca
            JOIN concept AS c ON c.concept_id = ca.ancestor_concept_id
            WHERE ca.descendant_concept_id IN (SELECT id FROM used)
            GROUP BY ca.ancestor_concept_id
            HAVING count(*) > 1
        ), family AS (
            SELECT DISTINCT known.id, used.day
            FROM known
            JOIN concept_ancestor AS ca ON ca.ancestor_concept_id = known.id
            JOIN used ON used.id = ca.descendant_concept_id
        )
        SELECT f.id, f.day
        FROM family AS f
        JOIN family AS eve ON eve.id = f.id AND eve.day = f.day - 1
        ORDER BY ALL"""


def families(database: Database, today: date) -> Iterator[Filling]:
    """Draw conditions with a subtype that patients have, each with days that had a case."""
    used = """
        WITH used AS (
            SELECT DISTINCT condition_concept_id AS id, condition_start_date AS day
            FROM condition_occurrence
        )"""
    found = drawn(database, used + FAMILY_DAYS, FAMILIES)
    rows = (({"condition": condition}, row[1]) for condition, row in found)
    return on_edges("co.condition_start_date", rows)


def ingredients(database: Database, today: date) -> Iterator[Filling]:
    """Draw ingredients that come in more than one product, each with days like the day before them."""
    used = """
        WITH used AS (
            SELECT DISTINCT drug_concept_id AS id, drug_exposure_start_date AS day
            FROM drug_exposure
            WHERE drug_exposure_start_date >= DATE '1990-01-01'
        )"""
    found = drawn(database, used + FAMILY_DAYS, INGREDIENTS)
    rows = (({"drug": drug}, row[1]) for drug, row in found)
    return on_edges("de.drug_exposure_start_date", rows)


def years(today: date) -> tuple[Time, ...]:
    """Return single recent years."""
    return tuple(in_year(year) for year in range(today.year - 9, today.year))


TEMPLATES = (
    Template(
        name="lay_term",
        category="clinical_terms",
        difficulty="medium",
        scope="group",
        en="How many patients were diagnosed with a {term} {time}, and how many diagnosis records is that?",
        ko="{time} {term} 진단을 받은 환자는 몇 명이고, 그 진단 기록은 몇 건인가요?",
        sql="""
SELECT count(DISTINCT co.person_id) AS patients, count(*) AS records
FROM condition_occurrence AS co
WHERE co.condition_concept_id IN (
    SELECT s.concept_id FROM concept_synonym AS s WHERE s.concept_synonym_name = {term}
  )
  AND {time}""",
        values=lay_terms,
    ),
    Template(
        name="subtypes",
        category="clinical_terms",
        difficulty="hard",
        scope="group",
        en="How many patients were diagnosed with {condition} or any of its subtypes {time}?",
        ko="{time} {condition} 또는 그 하위 유형 가운데 하나라도 진단받은 환자는 몇 명인가요?",
        sql="""
SELECT count(DISTINCT co.person_id) AS patients
FROM condition_occurrence AS co
WHERE co.condition_concept_id IN (
    SELECT ca.descendant_concept_id FROM concept_ancestor AS ca WHERE ca.ancestor_concept_id = {condition}
  )
  AND {time}""",
        values=families,
    ),
    Template(
        name="ingredient",
        category="clinical_terms",
        difficulty="medium",
        scope="group",
        en="How many patients received a product containing {drug} {time}, and how many drug records is"
        " that?",
        ko="{time} {drug} 성분이 들어 있는 약을 받은 환자는 몇 명이고, 그 약물 기록은 몇 건인가요?",
        sql="""
SELECT count(DISTINCT de.person_id) AS patients, count(*) AS records
FROM drug_exposure AS de
WHERE de.drug_concept_id IN (
    SELECT ca.descendant_concept_id FROM concept_ancestor AS ca WHERE ca.ancestor_concept_id = {drug}
  )
  AND {time}""",
        values=ingredients,
    ),
    Template(
        name="most_common",
        category="clinical_terms",
        difficulty="medium",
        scope="group",
        en="Which {n} diagnoses were made in the most patients {time}? Show the name of the diagnosis and"
        " the number of patients, from the most patients to the fewest.",
        ko="{time} 가장 많은 환자가 진단받은 질환 {n}가지는 무엇인가요? 질환 이름과 환자 수를"
        " 환자가 많은 순서대로 보여 주세요.",
        sql="""
SELECT c.concept_name AS diagnosis, count(DISTINCT co.person_id) AS patients
FROM condition_occurrence AS co
JOIN concept AS c ON c.concept_id = co.condition_concept_id
WHERE {time}
GROUP BY c.concept_id, c.concept_name
ORDER BY patients DESC, diagnosis
LIMIT {n}""",
        operations={"n": (4, 5, 6)},
        times=years,
        column="co.condition_start_date",
        order_matters=True,
        guard="""
SELECT patients
FROM (
    SELECT count(DISTINCT co.person_id) AS patients
    FROM condition_occurrence AS co
    WHERE {time}
    GROUP BY co.condition_concept_id
    ORDER BY patients DESC
    LIMIT {n} + 1
)
GROUP BY patients
HAVING count(*) > 1""",
    ),
    Template(
        name="synonyms",
        category="clinical_terms",
        difficulty="medium",
        scope="none",
        en="Which concepts of the Condition domain have {n} or more synonyms in the vocabulary? Show the"
        " concept name and the number of synonyms, from the most synonyms to the fewest and then by name.",
        ko="어휘에 동의어가 {n}개 이상 등록된 Condition 도메인의 개념은 무엇인가요? 개념 이름과 동의어 수를"
        " 동의어가 많은 순서대로, 수가 같으면 이름 순서대로 보여 주세요.",
        sql="""
SELECT c.concept_name AS concept, count(*) AS synonyms
FROM concept AS c
JOIN concept_synonym AS s ON s.concept_id = c.concept_id
WHERE c.domain_id = 'Condition'
GROUP BY c.concept_id, c.concept_name
HAVING count(*) >= {n}
ORDER BY synonyms DESC, concept""",
        operations={"n": (5, 6, 7)},
        order_matters=True,
    ),
)
