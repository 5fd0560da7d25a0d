"""SQLite databases stand under the same rules, through the same interface."""

import sqlite3

import pytest

from database.copies import order_dependence
from database.ehrsql import FUNCTIONS, function_problem, with_current_time
from database.engine import Limits, open_database
from database.result import Result
from database.schema import empty_tables, null_columns, schema_text, tables
from database.sqlite_clock import needs_guard

REFUSED = {
    "SELECT * FROM sqlite_master": "no table of the database: sqlite_master",
    "SELECT count(*) FROM sqlite_master": "no table of the database: sqlite_master",
    "SELECT * FROM pragma_table_info('patients')": "no table of the database",
    "SELECT * FROM json_each('[1]')": "no table of the database",
    "SELECT * FROM dbstat": "no table of the database",
    "ATTACH 'x.db' AS x": "not one SELECT",
    "PRAGMA query_only = 0": "not one SELECT",
    "EXPLAIN SELECT 1": "not one SELECT",
    "/* hidden */ EXPLAIN QUERY PLAN SELECT 1": "not one SELECT",
    "CREATE TEMP TABLE t (a)": "not one SELECT",
    "CREATE TEMP VIEW patients AS SELECT 1": "not one SELECT",
    "INSERT INTO patients VALUES (1)": "not one SELECT",
    "DELETE FROM patients": "not one SELECT",
    "WITH d AS (SELECT 1) DELETE FROM patients": "not one SELECT",
    "WITH d AS (SELECT 1) INSERT INTO patients SELECT * FROM patients": "not one SELECT",
    "VACUUM INTO 'x.db'": "not one SELECT",
    "BEGIN": "not one SELECT",
    "SELECT 1; SELECT 2": "not one SELECT: several statements",
    "SELECT 1; DROP TABLE patients": "not one SELECT: several statements",
    "": "not one SELECT: 0 statements",
    "-- nothing": "not one SELECT: 0 statements",
    "/* never closed": "not one SELECT: 0 statements",
    ";": "not one SELECT: 0 statements",
    "SELECT load_extension('x.so')": "calls a function that is not allowed: load_extension",
    "SELECT fts3_tokenizer('x')": "calls a function that is not allowed",
    "SELECT sqlite_version()": "calls a function that is not allowed",
    "SELECT last_insert_rowid()": "calls a function that is not allowed",
    "SELECT zeroblob(1000000000)": "calls a function that is not allowed",
    "SELECT random()": "draws at random: random",
    "SELECT * FROM patients ORDER BY random()": "draws at random: random",
    "SELECT current_timestamp": "reads the clock: current_timestamp",
    "SELECT CURRENT_DATE": "reads the clock: current_date",
    "SELECT datetime('now')": "reads the clock: now",
    "SELECT strftime('%Y', 'NOW', '-1 day')": "reads the clock: now",
    "SELECT date()": "reads the clock: now",
    "SELECT julianday( )": "reads the clock: now",
    "SELECT date('n' || 'ow')": "reads the clock: now",
    "SELECT julianday(char(110, 111, 119))": "reads the clock: now",
    "SELECT unixepoch('subsec')": "reads the clock: now",
    "SELECT datetime(lower('SUBSEC') || 'ond')": "reads the clock: now",
    "SELECT datetime(x'6e6f77')": "reads the clock: now",
    "SELECT \"date\"(substr('know', 2))": "reads the clock: now",
    "SELECT [time] /* */ (trim(' now '))": "reads the clock: now",
    "SELECT strftime('%s' || '')": "reads the clock: now",
    "SELECT strftime('%Y', d) FROM (SELECT replace('xow', 'x', 'n') || '' AS d) WHERE date(d || '') > 1": (
        "reads the clock: now"
    ),
    "SELECT timediff('2105-01-01', 'no' || 'w')": "reads the clock: now",
    "WITH t(w) AS (SELECT 'no' UNION SELECT 'x') SELECT max(date(w || 'w')) FROM t": (
        "reads the clock: now"
    ),
    "SELECT rowid FROM admissions": "reads the physical order: rowid",
    "SELECT 1\0; DROP TABLE patients": "control character: U+0000",
    "SELECT " + "1, " * 9999 + "1": "too long: 30,005 characters, at most 20,000",
}
RUN = [
    "SELECT count(*) FROM patients",
    "select gender, count(*) from patients group by gender having count(*) > 1 order by 2 desc",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT count(*) FROM t",
    "WITH a AS (SELECT 1 AS x), b AS NOT MATERIALIZED (SELECT 2 AS y) SELECT count(*) FROM a, b",
    "SELECT strftime('%Y', dob), date(dob, 'start of month', '-1 month') FROM patients LIMIT 1",
    "SELECT sum(row_id) OVER (PARTITION BY gender ORDER BY row_id) FROM patients LIMIT 2",
    "SELECT CASE WHEN dob < '2010-01-01' THEN 1 ELSE 0 END AS b FROM patients LIMIT 1",
    "SELECT * FROM patients WHERE subject_id IN (SELECT subject_id FROM admissions) LIMIT 1",
    "SELECT 'delete; drop table' AS \"update\" -- insert\n;",
    "/* all */ SELECT(1)",
    "VALUES (1), (2)",
    "SELECT strftime('%J', '2105-12-31 23:59:00') - strftime('%J', patients.dob) FROM patients LIMIT 1",
    "SELECT strftime('%Y', max(dob)), date(date(dob), '-' || row_id || ' days') FROM patients",
    "SELECT datetime('2105-12-31', 'subsec'), datetime(1092941466, 'auto'), date(-1), date(NULL)",
    "WITH date(x) AS (SELECT 1) SELECT x FROM date",
    "SELECT 1 EXCEPT SELECT 2",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("ehrsql") / "mimic.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE patients (
                row_id INTEGER PRIMARY KEY, subject_id INT, gender TEXT, dob TEXT, dod TEXT
            );
            CREATE TABLE admissions (subject_id INT, admittime TEXT);
            CREATE TABLE callout (a INT);
        """)
        rows = [(n, n * 7 % 101, "mf"[n % 2], f"20{n % 90 + 10}-01-01", None) for n in range(500)]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", rows)
        admitted = [(n % 101, "2105-01-01 00:00:00") for n in range(2000)]
        connection.executemany("INSERT INTO admissions VALUES (?, ?)", admitted)
    connection.close()
    return path


@pytest.fixture(scope="module")
def database(path):
    with open_database(path, limits=Limits(time_s=1)) as database:
        yield database


@pytest.mark.parametrize(("sql", "message"), REFUSED.items(), ids=[*list(REFUSED)[:-1], "too long"])
def test_what_is_no_select_over_its_tables_is_refused(sql, message, database):
    refused = database.run(sql)
    assert refused.reason == "refused"
    assert refused.message.startswith(message)


@pytest.mark.parametrize("sql", RUN)
def test_a_select_runs(sql, database):
    assert isinstance(database.run(sql), Result)


@pytest.mark.parametrize(
    ("sql", "needed"),
    [
        ("SELECT date(dob, 'start of month', '-1 month') FROM p", False),
        ("SELECT strftime('%Y', p.\"dob\"), a.date, 'date(1 + 1)' FROM p -- date(1 + 1)", False),
        ("SELECT date(dob || '') FROM p", True),
        ("SELECT datetime(date(dob)) FROM p", True),
        ("SELECT `time`\n(NOW)", True),
    ],
)
def test_only_calls_with_computed_arguments_are_guarded(sql, needed):
    assert needs_guard(sql) is needed


def test_a_guarded_query_gives_what_sqlite_gives(database):
    plain = (
        "strftime('%Y %j', dob, '+1 day'), date(dob, 'weekday 1'), julianday(dob), unixepoch(dob)"
    )
    guarded = plain.replace("dob", "(dob || '')")
    here, there = (
        database.run(f"SELECT {columns} FROM patients ORDER BY row_id")
        for columns in (plain, guarded)
    )
    assert here.rows == there.rows


@pytest.mark.parametrize(
    ("sql", "reasons"),
    [
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
            {"time_out"},
        ),
        ("SELECT count(*) FROM admissions a, admissions b, admissions c", {"time_out"}),
        ("SELECT printf('%.*c', 1000000000, 'x')", {"time_out", "error", "memory"}),
        ("SELECT * FROM admissions a, admissions b", {"too_many_rows"}),
        (
            "SELECT group_concat(hex(a.admittime || b.admittime)) FROM admissions a, admissions b",
            {"time_out", "error", "memory"},
        ),
    ],
)
def test_too_much_work_is_stopped_and_the_next_query_runs(sql, reasons, database):
    assert database.run(sql).reason in reasons
    assert database.run("SELECT 1").rows == ((1,),)


def test_errors_name_the_querys_own_words(database):
    assert database.run("SELECT nope FROM patients").message == "SQLite: no such column: nope"


def test_the_schema_is_told_as_for_duckdb(database):
    assert tables(database)["patients"]["row_id"] == "INTEGER"
    assert empty_tables(database) == ("callout",)
    assert null_columns(database) == ("patients.dod",)
    text = schema_text(database, null_columns=True)
    assert "CREATE TABLE admissions (subject_id INT, admittime TEXT);\n/* 3 of 2,000 rows:" in text


def test_the_fingerprint_is_of_the_content_not_of_the_file(database, path, tmp_path):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as source, sqlite3.connect(other) as copy:
        source.backup(copy)
        copy.execute("VACUUM")
    with open_database(other) as same:
        assert same.fingerprint == database.fingerprint
    copy.execute("UPDATE admissions SET admittime = 'x' WHERE rowid = 7")
    copy.commit()
    source.close()
    copy.close()
    with open_database(other) as changed:
        assert [
            line.split(":")[0] for line in changed.fingerprint.difference(database.fingerprint)
        ] == ["table admissions"]


def test_a_query_that_depends_on_the_order_of_rows_is_told(database):
    assert order_dependence(database, "SELECT subject_id FROM admissions LIMIT 3") is not None
    assert order_dependence(database, "SELECT gender, count(*) FROM patients GROUP BY 1") is None


def test_the_fixed_present_replaces_the_word_and_no_literal():
    """S3-010, S3-017."""
    sql = "SELECT strftime('%J', current_time), 'current_time', current_times FROM t"
    assert with_current_time(sql) == (
        "SELECT strftime('%J', '2105-12-31 23:59:00'), 'current_time', current_times FROM t"
    )


def test_a_function_that_is_not_allowed_is_refused():
    with sqlite3.connect(":memory:") as connection:
        known = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    connection.close()
    assert all(function_problem(name) for name in known - FUNCTIONS)
    assert {"random", "load_extension", "current_time", "sqlite_version"} <= known - FUNCTIONS
