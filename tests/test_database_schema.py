"""The schema text, the fingerprint and Eunomia itself: the same wherever the content is the same."""

import os
import shutil
import time

import duckdb
import pytest

from database import eunomia as source
from database.build import QueryError, build
from database.cdm import cdm_type
from database.engine import open_database
from database.schema import empty_tables, null_columns, schema_text, tables
from registry.canonical import sha256_text


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia) as database:
        yield database


def test_eunomia_holds_what_it_should(database, eunomia):
    """FACTS §4: 37 CDM tables, 19 of them empty, row counts and content as pinned."""
    assert source.check(eunomia) == []
    assert set(database.tables) == set(source.TABLES)
    assert empty_tables(database) == tuple(sorted(source.EMPTY))
    assert database.fingerprint.sha256 == source.SHA256


def test_eunomias_columns_are_lower_case_and_typed_as_the_cdm_says(database):
    for table, columns in tables(database).items():
        for column, kind in columns.items():
            assert column == column.lower()
            kept = {("TIMESTAMP", "DATE"), ("DOUBLE", "BIGINT")}
            assert kind == cdm_type(column) or (cdm_type(column), kind) in kept, (table, column)


def test_no_header_line_is_left_as_a_row(database):
    assert database.read("SELECT count(*) FROM death").rows == ((0,),)
    assert "ontime" not in database.tables
    assert "column0" not in str(tables(database))


def test_nothing_happened_after_today(database):
    last = database.read("SELECT max(drug_exposure_end_date) FROM drug_exposure").rows[0][0]
    assert last < source.TODAY


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        ("DELETE FROM person WHERE person_id = 1", "table person has 2693 rows, expected 2694"),
        ("DROP TABLE death", "table death has no rows, expected 0"),
        ("CREATE TABLE extra (a INT)", "table extra has 0 rows, expected no table"),
        (
            "UPDATE person SET year_of_birth = 1900 WHERE person_id = 1",
            "the content's fingerprint is",
        ),
    ],
)
def test_a_changed_eunomia_is_found(spoil, problem, eunomia, tmp_path):
    path = shutil.copy(eunomia, tmp_path / "eunomia.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(spoil)
    assert problem in "; ".join(source.check(path))


def test_a_changed_eunomia_is_made_again(tmp_path):
    path = build(tmp_path / "eunomia.duckdb", ["CREATE TABLE person (person_id BIGINT)"])
    assert source.fetch(path) is True
    assert source.check(path) == []


def test_the_schema_text_is_the_same_from_a_database_whose_rows_lie_otherwise(database):
    """S1-072; its sha256 is what a freeze pins."""
    for hard in (False, True):
        texts = {
            schema_text(copy, null_columns=hard) for copy in (database, *database.copies.values())
        }
        assert len(texts) == 1
    assert sha256_text(schema_text(database, null_columns=True)) == (
        sha256_text(schema_text(database, null_columns=True))
    )


def test_the_schema_text_says_what_a_model_needs(database):
    """S1-063 to S1-066: tables with three rows, empty ones named, concepts counted, NULL columns."""
    text = schema_text(database, null_columns=True)
    assert "CREATE TABLE person (person_id BIGINT, gender_concept_id BIGINT, " in text
    assert "/* 3 of 2,694 rows:\n1|8507|" in text or "/* 3 of 2,694 rows:\n1|8532|" in text
    assert "Tables without any row: care_site, cohort, " in text
    assert "Condition|SNOMED|84" in text
    assert "Diastolic" not in text  # no concept rows (S1-064)
    assert "; measurement (value_as_number, " in text.splitlines()[-1]
    assert "NULL in every row" not in schema_text(database, null_columns=False)
    assert len(text) < 12_500  # about 4,000 tokens


def test_null_columns_are_those_of_tables_with_rows(database):
    found = null_columns(database)
    assert "measurement.value_as_number" in found
    assert not [name for name in found if name.split(".")[0] in source.EMPTY]
    assert "drug_exposure.lot_number" not in found  # constant 0 is no NULL (Agreements 10)


def test_a_fingerprint_does_not_depend_on_the_order_of_rows(database):
    for copy in database.copies.values():
        assert copy.fingerprint == database.fingerprint


def test_a_fingerprint_differs_by_name_of_table(tmp_path):
    base = ["CREATE TABLE a (x INT, y VARCHAR)", "CREATE TABLE b (x INT)"]
    rows = "INSERT INTO a VALUES (1, NULL), (1, NULL), (2, '')"
    first = build(tmp_path / "first.duckdb", [*base, rows])
    variants = {
        "a repeated row more": [*base, rows, "INSERT INTO a VALUES (1, NULL)"],
        "an empty text for a NULL": [*base, rows.replace("''", "NULL")],
        "another type": ["CREATE TABLE a (x BIGINT, y VARCHAR)", base[1], rows],
        "another name": ["CREATE TABLE a (x INT, z VARCHAR)", base[1], rows],
        "text across columns": [*base, "INSERT INTO a VALUES (1, NULL), (1, NULL), (NULL, '2')"],
    }
    with open_database(first) as database:
        pinned = database.fingerprint
    for name, statements in variants.items():
        path = build(tmp_path / "other.duckdb", statements)
        with open_database(path) as other:
            found = other.fingerprint.difference(pinned)
            assert [line.split(":")[0] for line in found] == ["table a"], name


def test_a_fingerprint_is_kept_beside_the_file_until_something_touches_it(eunomia, tmp_path):
    path = tmp_path / "eunomia.duckdb"
    shutil.copy(eunomia, path)
    with open_database(path) as database:
        first = database.fingerprint
    kept = path.with_name(".eunomia.duckdb.fingerprint.json")
    assert kept.exists()
    with open_database(path) as database:
        started = time.perf_counter()
        assert database.fingerprint == first
        assert time.perf_counter() - started < 0.1
    stat = path.stat()
    build(tmp_path / "other.duckdb", ["CREATE TABLE t AS SELECT 1 AS a"])
    path.write_bytes((tmp_path / "other.duckdb").read_bytes())
    os.truncate(path, max(stat.st_size, path.stat().st_size))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # the ctime still tells
    with open_database(path) as database:
        assert list(database.fingerprint.tables) == ["t"]


def test_a_broken_kept_fingerprint_is_computed_again(eunomia, tmp_path):
    path = tmp_path / "eunomia.duckdb"
    shutil.copy(eunomia, path)
    path.with_name(".eunomia.duckdb.fingerprint.json").write_text('{"stamp": ')
    with open_database(path) as database:
        assert database.fingerprint.sha256 == source.SHA256


def test_what_a_killed_process_left_half_built_is_removed(tmp_path):
    (tmp_path / ".x.duckdb-1.building").mkdir()
    (tmp_path / ".x.duckdb-1.building" / "new.duckdb").write_text("half")
    assert build(tmp_path / "x.duckdb", ["CREATE TABLE t (a INT)"]).exists()
    assert not list(tmp_path.glob(".*.building"))


def test_a_statement_that_does_not_build_leaves_no_file(tmp_path):
    with pytest.raises(QueryError, match=r"x\.duckdb: Parser Error: (.|\n)*in: CREATE nonsense"):
        build(tmp_path / "x.duckdb", ["CREATE TABLE t (a INT)", "CREATE nonsense"])
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
