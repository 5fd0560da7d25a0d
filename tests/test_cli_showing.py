"""`text2sql status` and `show` on the committed task: what a maintainer sees at a glance."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app

ROOT = Path(__file__).parent.parent
TASK = "eunomia-text2sql"


@pytest.fixture
def registry(tmp_path):
    return shutil.copytree(ROOT / "registry", tmp_path / "registry")


def told(*words: str, registry: Path, fails: int = 0) -> str:
    where = ["--task", TASK, "--registry", str(registry), "--runs", str(registry.parent / "runs")]
    result = CliRunner().invoke(app, ["text2sql", *words, *where])
    assert result.exit_code == fails, result.output
    return result.output if not fails else str(result.exception)


def test_an_intact_frozen_task_is_ready_for_the_exam(registry):
    shown = told("status", registry=registry)
    assert "changed" not in shown
    assert "next: eval-text2sql" in shown


def test_a_frozen_task_that_was_edited_names_the_field_and_the_way_back(registry):
    path = registry / "drafts" / f"{TASK}-hard-v0.yaml"
    text = path.read_text()
    path.write_text(text.replace("question_en: ", "question_en: Please, ", 1))
    shown = told("status", registry=registry)
    assert "changed: hard/hard-001: question_en changed" in shown
    assert "next: verify" in shown


def test_show_names_the_calls_and_the_ids_there_are(registry):
    assert "1 20" in told("show", "hard-001", registry=registry)
    said = told("show", "hard-999", registry=registry, fails=1)
    assert "hard hard-001 to hard-020" in said
    assert "easy easy-001 to easy-010" in said
