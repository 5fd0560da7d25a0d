"""Questions that this database cannot answer: what they need is an empty table or an all-NULL column.

Each names its witness, which `text2sql check` looks up (S1-060 to S1-062); a witness that the database
does not bear out draws nothing.
"""

from collections.abc import Callable, Iterator
from datetime import date

from database.engine import Database
from database.schema import empty_tables, null_columns
from items.templates.base import Filling, Template, Values
from items.templates.terms import CONDITIONS, PROCEDURES, TESTS, drawn

Source = Callable[[Database], Iterator[Filling]]


def conditions(database: Database) -> Iterator[Filling]:
    """Draw conditions that patients have, but not everybody."""
    sql = """
        SELECT condition_concept_id
        FROM condition_occurrence
        GROUP BY condition_concept_id
        HAVING count(DISTINCT person_id) BETWEEN 60 AND 1500
        ORDER BY condition_concept_id"""
    for condition, _ in drawn(database, sql, CONDITIONS):
        yield {"condition": condition}


def tests(database: Database) -> Iterator[Filling]:
    """Draw tests that were done."""
    sql = "SELECT DISTINCT measurement_concept_id FROM measurement ORDER BY measurement_concept_id"
    for test, _ in drawn(database, sql, TESTS):
        yield {"test": test}


def procedures(database: Database) -> Iterator[Filling]:
    """Draw procedures that were done."""
    sql = "SELECT DISTINCT procedure_concept_id FROM procedure_occurrence ORDER BY procedure_concept_id"
    for procedure, _ in drawn(database, sql, PROCEDURES):
        yield {"procedure": procedure}


def without(witness: str, source: Source) -> Values:
    """Return the values of a source, or none where the database does hold what `witness` names."""

    def values(database: Database, today: date) -> Iterator[Filling]:
        if witness in empty_tables(database) or witness in null_columns(database):
            yield from source(database)

    return values


def _template(name: str, witness: str, source: Source, scope: str, en: str, ko: str) -> Template:
    """Return a template without a reference."""
    days: dict[str, tuple[int, ...]] = {"n": (30, 60, 90, 180)} if "{n}" in en else {}
    return Template(
        name=name,
        category="unanswerable",
        difficulty="medium",
        scope=scope,
        en=en,
        ko=ko,
        values=without(witness, source),
        operations=days,
        witness=witness,
    )


TEMPLATES = (
    _template(
        "test_value",
        "measurement.value_as_number",
        tests,
        "group",
        "What is the average {test} value of all patients, rounded to one decimal place?",
        "전체 환자의 {test} 수치 평균은 얼마인가요? 소수 첫째 자리까지 반올림해 주세요.",
    ),
    _template(
        "death",
        "death",
        conditions,
        "group",
        "How many patients died within {n} days after their first diagnosis of {condition}?",
        "{condition:을/를} 처음 진단받은 뒤 {n}일 안에 사망한 환자는 몇 명인가요?",
    ),
    _template(
        "specialty",
        "provider",
        conditions,
        "group",
        "Which medical specialty's doctors diagnosed {condition} in the most patients?",
        "{condition:을/를} 가장 많은 환자에게 진단한 의사의 진료과는 어디인가요?",
    ),
    _template(
        "cost",
        "cost",
        procedures,
        "none",
        "What is the average cost of one {procedure} procedure?",
        "{procedure} 처치 한 번에 드는 평균 비용은 얼마인가요?",
    ),
    _template(
        "city",
        "location",
        conditions,
        "group",
        "In which city do the most patients diagnosed with {condition} live?",
        "{condition} 진단을 받은 환자가 가장 많이 사는 도시는 어디인가요?",
    ),
    _template(
        "above_range",
        "measurement.range_high",
        tests,
        "group",
        "How many patients have ever had a {test} result above the upper limit of the reference range?",
        "{test} 검사 결과가 참고치 상한을 넘은 적이 있는 환자는 몇 명인가요?",
    ),
    _template(
        "note",
        "note",
        conditions,
        "group",
        "In how many clinical notes of patients diagnosed with {condition} is smoking mentioned?",
        "{condition} 진단을 받은 환자의 진료 기록지 가운데 흡연이 언급된 것은 몇 건인가요?",
    ),
)
