"""`benchtoward doctor` says what is missing, and where a file of the registry is broken."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.text2sql import app as text2sql

ROOT = Path(__file__).parent.parent


@pytest.fixture
def registry(tmp_path):
    return shutil.copytree(ROOT / "registry", tmp_path / "registry")


def doctor(registry):
    words = ["doctor", "--registry", str(registry), "--data", str(registry.parent / "data")]
    return CliRunner().invoke(app, [*words, "--runs", str(registry.parent / "runs")])


def test_the_committed_registry_is_sound_and_only_the_database_is_missing(registry):
    told = doctor(registry)
    assert told.exit_code == 1
    missing = [line for line in told.stdout.splitlines() if line.startswith("MISS")]
    assert ["fetch eunomia" in line for line in missing] == [True]
    assert "ok    tasks: eunomia-text2sql@0 (frozen)" in told.stdout


@pytest.mark.parametrize(
    "name",
    [
        "datasets.yaml",
        "models.yaml",
        "decisions/output_limit.yaml",
        "tasks/eunomia-text2sql@0.yaml",
    ],
)
def test_a_broken_file_is_named_with_its_line_and_exits_with_2(registry, name):
    path = registry / name
    lines = path.read_text().count("\n")
    path.write_text(path.read_text() + "titel: wrong\n")
    told = doctor(registry)
    assert told.exit_code == 2
    assert f"{path}:{lines + 1}: unknown key 'titel'" in told.stdout


def test_check_names_a_broken_datasets_file_before_it_opens_a_database(registry):
    path = registry / "datasets.yaml"
    lines = path.read_text().count("\n")
    path.write_text(path.read_text() + "titel: wrong\n")
    words = ["check", "--registry", str(registry), "--task", "eunomia-text2sql"]
    told = CliRunner().invoke(text2sql, [*words, "--data", str(registry.parent / "data")])
    assert f"{path}:{lines + 1}: unknown key 'titel'" in str(told.exception)
