"""The exam's commands from the outside: what they print and how they end."""

import json
from datetime import date

import pytest
import typer
from typer.testing import CliRunner

from cli import admin, exam, scoring
from items.questions import QuestionFile, draft_path, save_questions
from registry.reader import FormatError
from tests import small

app = typer.Typer()
app.command("eval-text2sql")(exam.eval_text2sql)
app.command("leaderboard")(scoring.leaderboard)
app.command("score")(scoring.score)
app.command("prompt")(admin.prompt)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    registry, data = small.make(folder)
    small.freeze(registry, data)
    return ["--registry", str(registry), "--data", str(data), "--runs", str(folder / "runs")]


def invoke(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_baselines_take_the_exam_and_stand_on_the_board(place):
    for model in ("benchtoward/prior", "benchtoward/oracle"):
        done = invoke("eval-text2sql", "--model", model, *place)
        assert done.exit_code == 0, done.output
        assert "asked 12, kept 0" in done.stdout
    again = invoke("eval-text2sql", "--model", "benchtoward/oracle", *place)
    assert "asked 0, kept 12" in again.stdout
    shown = invoke("leaderboard", *place)
    assert shown.exit_code == 0
    assert "small-text2sql@0 (preview)" in shown.stdout
    assert "RS(0)" in shown.stdout


def test_the_board_is_one_json_document(place):
    invoke("eval-text2sql", "--model", "benchtoward/oracle", *place)
    value = json.loads(invoke("leaderboard", "--json", *place).stdout)
    oracle = next(e for e in value["entries"] if e["model"] == "benchtoward/oracle")
    assert oracle["figures"]["hard_rs0"]["value"] == 1.0
    assert oracle["figures"]["hard_rs0[language=ko]"]["value"] == 1.0
    assert oracle["figures"]["easy_ex[category=aggregation]"]["value"] == 1.0
    assert oracle["counts"]["hard"] == {"right": 6, "abstained": 2}


def test_a_prompt_can_be_read_as_every_model_gets_it(place):
    registry_and_data = place[:4]
    shown = invoke("prompt", "hard/h1-ko", *registry_and_data)
    assert shown.stdout.startswith("--- system\n")
    assert shown.stdout.endswith("h1은 몇 개인가요?\n\n")


def test_an_unknown_instance_is_told_what_ids_look_like(place):
    done = invoke("prompt", "h1", *place[:4])
    assert done.exit_code == 2
    assert "easy/e1-en" in done.output


def test_no_task_is_one_clear_sentence(tmp_path):
    done = invoke("leaderboard", "--registry", tmp_path)
    assert isinstance(done.exception, FormatError)
    assert "which task?" in str(done.exception)


def test_an_empty_board_says_how_a_run_is_made(place, tmp_path):
    shown = invoke("leaderboard", *place[:4], "--runs", tmp_path)
    assert "no runs on small-text2sql@0; benchtoward eval-text2sql --model MODEL" in shown.stdout


def test_a_diagnostic_run_has_another_limit_and_stands_on_no_board(place, tmp_path):
    """S1-116."""
    where = [*place[:4], "--runs", tmp_path]
    done = invoke("eval-text2sql", "--model", "benchtoward/prior", "--max-tokens", 99, *where)
    assert done.exit_code == 0, done.output
    assert "(diagnostic)" in done.stdout
    assert (tmp_path / "diagnostic" / "small-text2sql@0-99" / "benchtoward--prior").is_dir()
    assert "no runs on" in invoke("leaderboard", *where).stdout


def test_a_limited_dry_run_of_a_draft_without_hard_items_has_no_bounds(tmp_path):
    registry, data = small.make(tmp_path)
    empty = QuestionFile("small-text2sql", "hard", date(2019, 7, 3), questions=())
    save_questions(draft_path(registry, "small-text2sql", 0, "hard"), empty)
    where = ["--registry", registry, "--data", data, "--runs", tmp_path / "runs"]
    done = invoke(
        "eval-text2sql", "--model", "benchtoward/prior", "--dry-run", "--limit", 1, *where
    )
    assert done.exit_code == 0, done.output
    (entry,) = json.loads(invoke("leaderboard", "--dry-run", "--json", *where).stdout)["entries"]
    assert (entry["open"], entry["bounds"], entry["rank"]) == (2, None, None)


@pytest.mark.parametrize("wrong", [("--limit", "0"), ("--limit", "-3"), ("--max-tokens", "0")])
def test_a_number_below_one_is_wrong_use(wrong):
    done = CliRunner().invoke(app, ["eval-text2sql", "--model", "benchtoward/prior", *wrong])
    assert done.exit_code == 2
