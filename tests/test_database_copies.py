"""A reference whose result depends on the order of rows on disk is found, and no other."""

from pathlib import Path

import pytest
import yaml

from database.copies import difference, order_dependence
from database.engine import open_database
from database.result import Result

CASES = Path(__file__).parent / "cases"
ATTACKS = yaml.safe_load((CASES / "attacks.yaml").read_text())
DEPENDENT = yaml.safe_load((CASES / "order_dependent.yaml").read_text())
REFERENCES = yaml.safe_load((CASES / "eunomia_questions.yaml").read_text())["questions"]


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia) as database:
        yield database


@pytest.mark.parametrize(
    "case", [c for c in ATTACKS if c["expected"] == "unstable"], ids=lambda case: case["name"]
)
def test_a_query_that_depends_on_the_order_of_rows_is_told_with_the_rows(case, database):
    told = order_dependence(database, case["sql"])
    assert told is not None
    assert "only there" in told


@pytest.mark.parametrize(
    "case",
    [c for c in ATTACKS if c["kind"].startswith(("legit", "nondet_float"))],
    ids=lambda case: case["name"],
)
def test_a_query_that_does_not_is_left_alone(case, database):
    assert order_dependence(database, case["sql"]) is None


@pytest.mark.parametrize("sql", DEPENDENT)
def test_more_queries_that_depend_on_the_order_of_rows_are_found(sql, database):
    assert order_dependence(database, sql) is not None


@pytest.mark.parametrize("question", REFERENCES, ids=lambda question: question["id"])
def test_correct_references_raise_no_false_alarm(question, database):
    if question.get("reference_sql"):
        assert order_dependence(database, question["reference_sql"]) is None


def test_a_tie_is_a_difference_only_where_the_order_counts(database):
    sql = "SELECT year_of_birth, person_id FROM person ORDER BY year_of_birth"
    assert order_dependence(database, sql) is None
    told = order_dependence(database, sql, ordered=True)
    assert told is not None
    assert "row 1 is" in told


def test_the_copies_are_made_once(database, eunomia):
    database.copies  # noqa: B018 (the first look makes them)
    made = {
        path: path.stat().st_mtime_ns for path in (eunomia.parent / "copies").glob("*/*.duckdb")
    }
    with open_database(eunomia) as again:
        assert {name.split(",")[0] for name in again.copies} == {"reversed", "shuffled"}
    kept = {
        path: path.stat().st_mtime_ns for path in (eunomia.parent / "copies").glob("*/*.duckdb")
    }
    assert made == kept


def result(*rows):
    return Result(("a",) * len(rows[0]), ("DOUBLE",) * len(rows[0]), rows)


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        pytest.param([(1.0,)], [(1.0 + 1e-13,)], True, id="the last digits of a sum are no matter"),
        pytest.param([(0.1234567895,)], [(0.12345678949999,)], True, id="nor a rounding edge"),
        pytest.param([(1.0,)], [(1.00001,)], False, id="the fifth decimal is"),
        pytest.param([(float("nan"),)], [(float("nan"),)], True, id="NaN is itself"),
        pytest.param([(1,), (1,)], [(1,), (2,)], False, id="how often a row comes counts"),
        pytest.param([([1, 2],)], [([2, 1],)], False, id="a list has an order"),
        pytest.param([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], True, id="rows have none"),
    ],
)
def test_two_results_are_the_same(here, there, same):
    assert (difference(result(*here), result(*there), ordered=False) is None) is same
