"""`benchtoward fetch`: each database is made or checked, and a bad one is refused in a sentence."""

import gzip
import hashlib
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.fetch import app
from database.build import QueryError, build
from database.cdm import TABLES
from database.datasets import load_datasets
from database.engine import open_database
from registry.reader import FormatError

ROOT = Path(__file__).parent.parent


def fetch(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def release(tmp_path):
    """A release folder as S1-073 describes it: 16 CDM tables, MD5 sums, rows in the README."""
    folder = tmp_path / "release"
    folder.mkdir()
    names = sorted(TABLES)[:16]
    for place, table in enumerate(names):
        text = "Person_ID,start_date,value\n" + "1,2025-01-01,a\n" * place
        if place % 2:
            (folder / f"{table}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            (folder / f"{table.upper()}.csv").write_text(text)
    sums = [
        f"{hashlib.md5(file.read_bytes()).hexdigest()}  ./{file.name}"
        for file in sorted(folder.iterdir())
    ]
    (folder / "MD5SUMS.txt").write_text("\n".join(sums) + "\n")
    rows = [f"| {table} | {place:,} |" for place, table in enumerate(names)]
    (folder / "README.md").write_text("| Table | Rows |\n|---|---|\n" + "\n".join(rows) + "\n")
    return folder


def test_eunomia_is_made_once_and_then_found_good(tmp_path):
    first, second = fetch("eunomia", "--data", tmp_path), fetch("eunomia", "--data", tmp_path)
    assert "made; 37 tables, 4" in first.output
    assert "good, nothing to do" in second.output
    assert first.output.splitlines()[1] == second.output.splitlines()[1]


def test_a_synthetic_snuh_release_is_loaded_with_cdm_types(release, tmp_path):
    """S1-073, S1-074."""
    found = fetch("synthetic-snuh", "--from", release, "--data", tmp_path)
    assert found.exit_code == 0, found.exception
    with open_database(tmp_path / "synthetic-snuh.duckdb") as database:
        assert len(database.tables) == 16
        assert sum(rows for rows, _ in database.fingerprint.tables.values()) == sum(range(16))
        types = database.read(f"SELECT * FROM {sorted(TABLES)[3]} LIMIT 1").types
    assert types == ("BIGINT", "DATE", "VARCHAR")


def spoil_file(folder):
    (folder / f"{sorted(TABLES)[0].upper()}.csv").write_text("Person_ID\n9\n")


def spoil_rows(folder):
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("| 7 |", "| 8 |"))


def drop_table(folder):
    (folder / f"{sorted(TABLES)[0].upper()}.csv").unlink()


def drop_sums(folder):
    (folder / "MD5SUMS.txt").unlink()


def drop_readme(folder):
    (folder / "README.md").write_text("nothing")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        pytest.param(spoil_file, "the release says", id="a file that is not the release's"),
        pytest.param(spoil_rows, "7 instead of 8", id="rows that are not the README's"),
        pytest.param(drop_table, "15 tables of the OMOP CDM found, expected 16", id="a table less"),
        pytest.param(drop_sums, "no file of MD5 sums", id="no sums"),
        pytest.param(drop_readme, "states no row count for", id="no row counts"),
    ],
)
def test_a_release_that_does_not_match_is_refused_and_nothing_is_left(
    spoil, told, release, tmp_path
):
    spoil(release)
    found = fetch("synthetic-snuh", "--from", release, "--data", tmp_path / "data")
    assert isinstance(found.exception, QueryError)
    assert told in str(found.exception)
    assert not list((tmp_path / "data").glob("**/*.duckdb"))


def test_a_syn_snuh_file_with_another_sha256_is_refused(tmp_path):
    """S2-041, S2-042."""
    other = build(tmp_path / "other.duckdb", ["CREATE TABLE t AS SELECT 1 AS a"])
    found = fetch("syn-snuh", "--from", other, "--data", tmp_path / "data")
    assert isinstance(found.exception, QueryError)
    assert "the pin is fd2056b31cc7" in str(found.exception)


def test_a_syn_snuh_file_with_the_pinned_sha256_is_copied(tmp_path):
    other = build(tmp_path / "other.duckdb", ["CREATE TABLE t AS SELECT 1 AS a"])
    registry = tmp_path / "registry"
    registry.mkdir()
    text = (ROOT / "registry" / "datasets.yaml").read_text()
    pin = load_datasets(ROOT / "registry")["syn-snuh"].sha256
    mine = hashlib.sha256(other.read_bytes()).hexdigest()
    (registry / "datasets.yaml").write_text(text.replace(pin, mine))
    found = fetch("syn-snuh", "--from", other, "--data", tmp_path / "data", "--registry", registry)
    assert found.exit_code == 0, found.exception
    assert (tmp_path / "data" / "syn-snuh.duckdb").read_bytes() == other.read_bytes()


def test_an_ehrsql_database_is_copied_and_described(tmp_path):
    file = tmp_path / "mimic_iii.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE patients AS SELECT 1 AS subject_id")
    connection.close()
    found = fetch("ehrsql", "--from", file, "--data", tmp_path / "data")
    assert found.exit_code == 0, found.exception
    assert "1 tables, 1 rows" in found.output


def test_the_sample_of_the_docstring_loads(tmp_path):
    import database.datasets

    text = "\n".join((database.datasets.__doc__ or "").split("\n")[2:-1])
    (tmp_path / "datasets.yaml").write_text(text)
    assert list(load_datasets(tmp_path)) == ["eunomia"]


def test_an_unknown_dataset_names_the_known_ones():
    from database.datasets import dataset

    with pytest.raises(FormatError, match="no dataset 'x'; known: eunomia, synthetic-snuh"):
        dataset(ROOT / "registry", "x")


def test_every_command_shows_an_example():
    assert "Example: benchtoward fetch eunomia" in fetch("eunomia", "--help").output
