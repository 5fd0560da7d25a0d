"""The handed attack statements end as they must; legitimate analytic SQL passes."""

from pathlib import Path

import pytest
import yaml

from database.build import build
from database.copies import order_dependence
from database.engine import Limits, open_database
from database.gate import admit
from database.result import Failure, Result

CASES = Path(__file__).parent / "cases"
ATTACKS = yaml.safe_load((CASES / "attacks.yaml").read_text())
LEGITIMATE = yaml.safe_load((CASES / "legitimate.yaml").read_text())
MORE = yaml.safe_load((CASES / "attacks_more.yaml").read_text())
REPORTED = yaml.safe_load((CASES / "reported_failures.yaml").read_text())
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
        ("PIVOT person ON a", "not one SELECT: a PIVOT that does not list its columns: IN (…)"),
        ("SELECT * FROM secret", "no table of the database: secret"),
        ("SELECT random()", "draws at random: random"),
        ("SELECT dateadd(day, 1, x) FROM person", "no such function: dateadd"),
        ("SELECT bitstring('0', 2000000000)", "too much work: bitstring of 2,000,000,000"),
        ("SELECT version()", "calls a function that is not allowed: version"),
    ],
)
def test_a_refusal_names_the_rule_and_the_place(sql, message):
    refused = admit(sql, {"person"})
    assert refused is not None
    assert refused.message == message


@pytest.mark.parametrize("sql", [sql for group in LEGITIMATE.values() for sql in group])
def test_legitimate_analytic_sql_passes_and_runs(sql, database):
    outcome = database.run(sql)
    assert isinstance(outcome, Result), outcome


@pytest.mark.parametrize("sql", [sql for group in MORE.values() for sql in group])
def test_more_of_the_same_kinds_is_refused_by_the_gate(sql):
    refused = admit(sql, {"person", "concept", "condition_occurrence"})
    assert refused is not None
    assert refused.reason == "refused"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM eunomia.main.person",
        'SELECT count(*) FROM "Eunomia"."MAIN".Person AS p JOIN main.concept c ON p.person_id = c.concept_id',
        "SELECT eunomia.main.person.person_id FROM eunomia.main.person ORDER BY 1 LIMIT 1",
    ],
)
def test_a_query_may_name_the_database_it_runs_on(sql, database):
    """Also on the copies, whose files have its name."""
    assert isinstance(database.run(sql), Result)
    assert order_dependence(database, sql) is None


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("memory.main.person", "memory.main.person (write person or main.person)"),
        ("eunomia.temp.person", "eunomia.temp.person (write person or main.person)"),
        ("eunomia.person", "eunomia.person (write person or main.person)"),
        ("temp.person", "temp.person (write person or main.person)"),
        ("system.main.duckdb_settings", "system.main.duckdb_settings"),
        ("eunomia.main.duckdb_settings", "eunomia.main.duckdb_settings"),
        ("eunomia.main.x", "eunomia.main.x"),
    ],
)
def test_another_database_or_schema_is_refused_and_told_what_is_right(path, told, database):
    refused = database.run(f"WITH x AS (SELECT 1) SELECT * FROM {path}")
    assert (refused.reason, refused.message) == ("refused", f"no table of the database: {told}")


SCOPES = [
    pytest.param(
        "SELECT * FROM duckdb_settings, (WITH duckdb_settings AS (SELECT 1) SELECT 1)",
        id="a WITH name holds only where it stands",
    ),
    pytest.param(
        "WITH a AS (SELECT * FROM duckdb_settings), duckdb_settings AS (SELECT 1) SELECT * FROM a",
        id="and only after it",
    ),
    pytest.param(
        "WITH RECURSIVE duckdb_settings AS (SELECT name FROM duckdb_settings UNION ALL SELECT 'a') "
        "SELECT * FROM duckdb_settings",
        id="and in a recursion only in its second part",
    ),
    pytest.param(
        "WITH duckdb_settings AS (SELECT * FROM duckdb_settings) SELECT * FROM duckdb_settings",
        id="and not in itself",
    ),
    pytest.param(
        'WITH "du\u212adb_settings" AS (SELECT 1) SELECT * FROM duckdb_settings',
        id="letters fold as DuckDB folds them",
    ),
    pytest.param(
        "WITH x AS (SELECT 1) SELECT * FROM main.x", id="a schema means the catalogue, not WITH"
    ),
]


@pytest.mark.parametrize("sql", SCOPES)
def test_a_with_name_opens_no_table_of_the_catalogue(sql):
    refused = admit(sql, {"person"})
    assert refused is not None
    assert refused.message.startswith("no table of the database")


HIDDEN = [
    "SELECT 1 ORDER BY {}", "SELECT 1 LIMIT (SELECT {})", "VALUES ({})", "SELECT [{}]",
    "SELECT {{'a': {}}}", "SELECT count(*) FILTER (WHERE {} IS NULL)", "SELECT sum(1) OVER (ORDER BY {})",
    "SELECT lag(1, 1, {}) OVER ()", "SELECT [x FOR x IN [1] IF x > {}]", "SELECT * FROM unnest([{}])",
    "SELECT DISTINCT ON ({}) 1",
    "SELECT 1 GROUP BY GROUPING SETS (({}))", "SELECT string_agg('a' ORDER BY {})",
    "SELECT * REPLACE ({} AS person_id) FROM person", "FROM person p JOIN person q ON {} IS NOT NULL",
    "SELECT COLUMNS(lambda c: {} IS NULL) FROM person", "SELECT 1 QUALIFY {} IS NULL",
    "SELECT CASE WHEN {} IS NULL THEN 1 END", "SELECT 1 WHERE 1 IN (SELECT {})", "SELECT {} COLLATE nocase",
    "WITH x AS (SELECT {}) FROM x", "SELECT 1 UNION SELECT {}", "SELECT list_transform([1], lambda x: {})",
    "SELECT 1 BETWEEN {} AND 2", "SELECT {}::VARCHAR", "SELECT 1 HAVING {} IS NULL", "SELECT ({}).year",
    "SELECT sum(1) OVER (ROWS BETWEEN (SELECT {}) PRECEDING AND CURRENT ROW)", "SELECT MAP {{1: {}}}",
    "FROM range(1) t(x), LATERAL (SELECT {}) u", "SELECT {}.upper()",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT {} FROM t) FROM t",
    "SELECT * FROM (PIVOT person ON gender_concept_id IN (1) USING max({}))",
    "SELECT * FROM person a ASOF JOIN person b ON a.person_id >= {}",
]  # fmt: skip


@pytest.mark.parametrize("frame", HIDDEN)
def test_a_clock_is_found_wherever_it_hides(frame):
    for clock, place in (("now()", "now"), ("today()", "today")):
        refused = admit(frame.format(clock), {"person"})
        assert refused is not None, frame
        assert refused.message == f"reads the clock: {place}"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT current_date.year()", "reads the clock: current_date"),
        ("SELECT [1].list_transform(lambda x: localtimestamp.epoch())", "reads the clock: localtimestamp"),
        ("SELECT current_date.first() OVER () FROM person", "reads the clock: current_date"),
        ("SELECT current_user.upper()", "reads the session: current_user"),
        ("SELECT person.rowid.abs() FROM person", "reads the physical order: rowid"),
        ("SELECT 1 FROM person JOIN person q USING (ROWID)", "reads the physical order: rowid"),
        (
            "SELECT * FROM person PIVOT (count(*) FOR gender_concept_id IN (1) GROUP BY current_date)",
            "reads the clock: current_date",
        ),
        (
            "SELECT * FROM person PIVOT (count(*) FOR gender_concept_id IN (1) GROUP BY rowid)",
            "reads the physical order: rowid",
        ),
    ],
)  # fmt: skip
def test_a_word_that_stands_where_a_name_stands_is_read_as_one(sql, message):
    """Before a dot, in USING and in PIVOT's GROUP BY the tree holds bare texts, no column."""
    refused = admit(sql, {"person"})
    assert refused is not None
    assert refused.message == message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT person.person_id.abs(), gender_source_value.lower().upper() FROM person",
        "SELECT count(*) FROM person JOIN person q USING (person_id, gender_concept_id)",
        "SELECT * FROM person PIVOT (count(*) FOR gender_concept_id IN (1) GROUP BY year_of_birth)",
    ],
)
def test_other_names_stand_there_as_before(sql):
    assert admit(sql, {"person"}) is None


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """The small invented database of the reported failures."""
    path = tmp_path_factory.mktemp("reported") / "reported.duckdb"
    build(path, [REPORTED["fixture_sql"]])
    with open_database(path, limits=Limits(time_s=2)) as database:
        yield database


def cases(area):
    found = [case for case in REPORTED["cases"] if case["area"] == area]
    return [pytest.param(case, id=case["id"]) for case in found]


@pytest.mark.parametrize("case", cases("sandbox"))
def test_a_reported_failure_of_a_sandbox_does_not_happen_here(case, reported):
    outcome = reported.run(case["sql"])
    if case["right"] == "run":
        assert isinstance(outcome, Result), outcome
        shown = [list(row) for row in outcome.rows[: len(case["value"])]]
        assert shown == case["value"]
    elif case["right"] == "refuse":
        assert outcome.reason == "refused"
    elif case["right"] == "limit":
        assert outcome.reason in STOPPED
    else:
        assert outcome.reason in {"refused", "error", "memory"}


ORDERED = {
    "reproducibility-tie-and-threads", "reproducibility-limit-no-order", "reproducibility-window-tie",
    "reproducibility-string-agg-order",
}  # fmt: skip


@pytest.mark.parametrize("case", [c for c in cases("reproducibility") if c.id in ORDERED])
def test_a_reported_tie_is_found_on_the_copies(case, reported):
    assert order_dependence(reported, case["input"]) is not None


def test_a_reported_sample_is_refused(reported):
    sample = next(c for c in REPORTED["cases"] if c["id"] == "reproducibility-sample")
    assert reported.run(sample["input"]).message == "draws at random: a sample"


def test_the_time_zone_is_utc(reported):
    zone = next(c for c in REPORTED["cases"] if c["id"] == "reproducibility-time-zone")
    assert str(reported.run(zone["input"]).rows[0][0]) == "2020-02-29"
    local = reported.run("SELECT strftime(TIMESTAMPTZ '2020-02-29 23:30:00+00', '%d %Z')")
    assert local.rows == (("29 UTC",),)


def test_a_sum_of_doubles_is_the_same_in_every_run(reported):
    sql = "SELECT sum(1000000 + sin(i) / 7) FROM range(300000) t(i)"
    assert len({reported.run(sql).rows for _ in range(6)}) == 1
