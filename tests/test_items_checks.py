"""The gate: the source's rules, and the reported errors of published benchmarks with their right twins."""

import unicodedata
from dataclasses import replace
from datetime import date

import pytest

from database.engine import open_database
from items.checks import RULES, Ground, check, explain
from items.settings import Settings, Waiver
from tests.gate import (
    FIXTURE_TODAY,
    PLAIN,
    TODAY,
    build_fixture,
    eunomia_items,
    item,
    reference_cases,
    strong,
    twin,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = build_fixture(tmp_path_factory.mktemp("gate") / "fixture.duckdb")
    with open_database(path) as database:
        yield Ground(database, FIXTURE_TODAY)


@pytest.fixture(scope="module")
def hospital(eunomia):
    with open_database(eunomia) as database:
        yield Ground(database, TODAY)


def test_a_sound_item_has_no_problem(hospital):
    assert strong(check(PLAIN, hospital)) == set()


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        pytest.param("SELECT 1; SELECT 2", "runs", id="S1-057 two statements"),
        pytest.param("DELETE FROM person", "runs", id="S1-057 no SELECT"),
        pytest.param("-- nothing", "runs", id="S1-057 a comment alone"),
        pytest.param("WITH x AS (COPY person TO 'f') SELECT 1", "runs", id="S1-057 a writing CTE"),
        pytest.param(
            "SELECT person_id FROM person WHERE false", "returns_rows", id="S1-058 no row"
        ),
        pytest.param("SELECT person_id FROM person", "returns_rows", id="S1-058 over 1,000 rows"),
        pytest.param("SELECT 0", "returns_rows", id="S1-011 SELECT 0"),
        pytest.param("SELECT 0.0004", "returns_rows", id="S1-017 zero once rounded"),
        pytest.param(
            "SELECT false, NULL, '0.0'", "returns_rows", id="S1-017 false, NULL, text zero"
        ),
        pytest.param(
            "SELECT current_date - DATE '2019-01-01'", "clock", id="S1-059 a bare keyword"
        ),
        pytest.param("SELECT year(now())", "clock", id="S1-059 a function"),
        pytest.param("SELECT 'today'::DATE", "clock", id="S1-059 a text that is a clock"),
        pytest.param(
            "SELECT year(age(birth_datetime)) FROM person LIMIT 1", "clock", id="S1-059 age(x)"
        ),
        pytest.param("SELECT random() > 2, 5", "clock", id="dice"),
    ],
)
def test_the_sources_rules_refuse(sql, rule, hospital):
    found = {f.rule for f in check(item(sql), hospital) if f.severity == "problem"}
    assert rule in found


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT 0, 1", id="one value that is not zero is enough (S1-058)"),
        pytest.param("SELECT 0.0006", id="0.001 once rounded is not zero (S1-017)"),
        pytest.param("SELECT 'no'", id="a text is not zero"),
        pytest.param("SELECT 'x' AS today", id="a name is no clock"),
    ],
)
def test_the_sources_rules_let_pass(sql, hospital):
    assert {"returns_rows", "clock", "runs"} & {f.rule for f in check(item(sql), hospital)} == set()


@pytest.mark.parametrize(
    ("witness", "problem"),
    [
        pytest.param("death", None, id="S1-062 an empty table"),
        pytest.param("measurement.value_as_number", None, id="S1-062 a column NULL in every row"),
        pytest.param("death.cause_concept_id", None, id="a column of an empty table"),
        pytest.param("person", "not empty", id="a table with rows"),
        pytest.param("person.gender_concept_id", "holds values", id="a column with values"),
        pytest.param("measurement.value_as_concept_id", "holds values", id="a column constant 0"),
        pytest.param("person.blood_group", "no column", id="no such column"),
        pytest.param("genome", "no table", id="no such table"),
        pytest.param(None, "no witness", id="none"),
    ],
)
def test_a_witness_must_be_true(witness, problem, hospital):
    unanswerable = item(None, "What was the blood pressure?", answerable=False, witness=witness)
    said = [f.message for f in check(unanswerable, hospital) if f.rule == "witness"]
    assert bool(said) == bool(problem)
    assert problem is None or problem in said[0]


def test_an_unanswerable_item_has_no_reference(hospital):  # S1-060
    both = item("SELECT 1", answerable=False, witness="death")
    assert "complete" in strong(check(both, hospital))


def test_texts_are_nfc_without_white_space_at_the_end(hospital):
    korean = unicodedata.normalize("NFD", PLAIN.question_ko)
    decomposed = replace(PLAIN, question_ko=korean, question_en="How many patients? ")
    found = [f for f in check(decomposed, hospital) if f.rule == "tidy_texts"]
    assert "question_ko, question_en" in found[0].message


def test_a_rule_has_a_reason_a_severity_and_a_source():
    assert all(r.reason and r.severity and r.source for r in RULES)
    assert len({r.name for r in RULES}) == len(RULES)


def test_explain_tells_every_rule_and_what_it_looked_at(hospital):
    told = explain(PLAIN, hospital)
    assert [one.rule for one in told] == list(RULES)
    assert any("1 rows" in line for one in told for line in one.looked)


def test_a_waiver_with_a_name_makes_a_note_of_a_problem(hospital):
    waiver = Waiver(PLAIN.id, "returns_rows", "an empty answer is meant", "Kim")
    empty = item("SELECT person_id FROM person WHERE false")
    ground = replace(hospital, settings=Settings(waivers=(waiver,)))
    found = [f for f in check(empty, ground) if f.rule == "returns_rows"]
    assert [f.severity for f in found] == ["note"]
    assert "waived by Kim" in found[0].message


def test_a_waiver_for_other_content_covers_nothing(hospital):
    waiver = Waiver(PLAIN.id, "returns_rows", "meant", "Kim", item_sha256="0" * 64)
    ground = replace(hospital, settings=Settings(waivers=(waiver,)))
    assert "returns_rows" in strong(check(item("SELECT 0"), ground))


def test_settings_set_a_rules_severity(hospital):
    ground = replace(
        hospital, settings=Settings(severities={"returns_rows": "note", "runs": "off"})
    )
    assert strong(check(item("SELECT 0"), ground)) == set()
    assert all(f.rule != "runs" for f in check(item("SELEC"), ground))


EMPTY_BY_DESIGN = {"reference-wall-clock", "reference-empty-reference"}


@pytest.mark.parametrize("case", reference_cases(), ids=lambda case: case["id"])
def test_a_reported_error_is_caught_and_its_right_twin_is_not(case, small):
    wrong, right = check(twin(case, "wrong"), small), check(twin(case, "right"), small)
    assert strong(wrong) - strong(right)
    if (
        case["id"] in EMPTY_BY_DESIGN
    ):  # the fixture's right answer is 0 or no row: S1-058 refuses it
        assert strong(right) <= {"returns_rows", "absent_constant"}
    else:
        assert strong(right) == set()


@pytest.mark.parametrize("pair", eunomia_items(), ids=lambda pair: pair[0].id)
def test_a_real_question_passes_and_its_wrong_variant_does_not(pair, hospital):
    right, wrong = pair
    found = check(right, hospital)
    assert [f for f in found if f.severity == "problem"] == []
    if wrong is not None:
        assert strong(check(wrong, hospital)) - strong(found)


def test_today_moves_with_the_tier(hospital):
    recent = item(
        "SELECT count(*) AS visits FROM visit_occurrence WHERE visit_start_date >= DATE '2019-04-04'",
        "How many hospital stays began in the last 90 days?",
    )
    assert "pinned_today" not in strong(check(recent, hospital))
    assert "pinned_today" in strong(check(recent, replace(hospital, today=date(2021, 1, 1))))
