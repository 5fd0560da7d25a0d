"""The handed attack statements end as they must; legitimate analytic SQL passes."""

from pathlib import Path

import pytest
import yaml

from database.engine import Limits, open_database
from database.gate import admit
from database.result import Failure, Result

CASES = Path(__file__).parent / "cases"
ATTACKS = yaml.safe_load((CASES / "attacks.yaml").read_text())
STOPPED = {"time_out", "memory", "too_many_rows", "too_large"}


def sql_of(case, path=Path("x.duckdb")):
    sql = case.get("sql") or "".join(text * times for text, times in case["sql_parts"])
    return sql.replace("{db}", str(path))


def outcome(found):
    """The handed file's word for an outcome."""
    if isinstance(found, Result):
        return "ok"
    return "timeout" if found.reason in STOPPED else "rejected"


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia, limits=Limits(time_s=2)) as database:
        yield database


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case["name"])
def test_a_statement_ends_as_it_must(case, database, eunomia):
    expected = "ok" if case["expected"] == "unstable" else case["expected"]
    found = database.run(sql_of(case, eunomia))
    assert outcome(found) in {expected, *case.get("also_accepted", [])}, found


@pytest.mark.parametrize(
    "case",
    [case for case in ATTACKS if case["expected"] == "rejected" and case["stage"] == "static"],
    ids=lambda case: case["name"],
)
def test_what_is_refused_is_refused_by_the_gate_and_never_reaches_the_engine(case, database):
    refused = admit(sql_of(case), database.tables)
    assert isinstance(refused, Failure)
    assert refused.reason == "refused"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT current_date", "reads the clock: current_date"),
        ("SELECT now()", "reads the clock: now"),
        ("SELECT 1; SELECT 2", "not one SELECT: 2 statements"),
        ("-- nothing", "not one SELECT: 0 statements"),
        ("DROP TABLE person", "not one SELECT: a DROP statement"),
        ("SELECT * FROM secret", "no table of the database: secret"),
        ("SELECT random()", "draws at random: random"),
    ],
)
def test_a_refusal_names_the_rule_and_the_place(sql, message):
    refused = admit(sql, {"person"})
    assert refused is not None
    assert refused.message == message
