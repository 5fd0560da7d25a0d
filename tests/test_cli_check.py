"""`benchtoward text2sql check`: what it prints, what it mends, how it exits."""

import json
import unicodedata

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.text2sql import app as text2sql
from items.questions import Question, QuestionFile, load_questions, save_questions
from items.settings import Settings, Waiver
from tests.gate import FIXTURE_TODAY, PLAIN, build_fixture, item

SOUND = item("SELECT count(*) AS patients FROM person", id="hard-001")
TIED = item(
    "SELECT visit_start_date FROM visit_occurrence GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "On which date did most visits start?",
    id="hard-002",
    question_ko="방문이 가장 많이 시작된 날짜는 언제인가요?",
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    build_fixture(tmp_path / "data" / "eunomia.duckdb")
    (tmp_path / "registry" / "tasks").mkdir(parents=True)
    return tmp_path


def file_of(folder, *items, settings=None):
    path = folder / "hard.yaml"
    questions = tuple(Question.of(one, "rule/test@1") for one in items)
    save_questions(
        path, QuestionFile("t", "hard", FIXTURE_TODAY, settings or Settings(), questions=questions)
    )
    return path


def run(folder, path, *options):
    assert app
    command = ["check", "--file", str(path), "--registry", str(folder / "registry")]
    return CliRunner().invoke(text2sql, [*command, "--data", str(folder / "data"), *options])


def test_a_sound_file_exits_with_0_and_is_remembered(folder):
    path = file_of(folder, SOUND)
    first, again = run(folder, path), run(folder, path)
    assert first.exit_code == again.exit_code == 0
    assert "1 items: 0 problems, 0 warnings" in first.stdout
    assert "(1 unchanged since the last check)" in again.stdout
    assert "the best constant answer (hard-001) is right for 1 of 1" in again.stdout


def test_a_problem_is_printed_with_its_evidence_and_exits_with_1(folder):
    told = run(folder, file_of(folder, SOUND, TIED))
    assert told.exit_code == 1
    assert "hard-002: problem: ties: rows 1 and 2 are equal" in told.stdout
    assert "kept" in told.stdout


def test_programs_get_one_json_document(folder):
    told = run(folder, file_of(folder, SOUND, TIED), "--json")
    document = json.loads(told.stdout)
    assert document["counts"]["problem"] >= 1
    assert document["items"]["hard-001"]["sha256"] == SOUND.sha256
    assert {"rule", "severity", "message", "evidence", "other"} == set(
        document["items"]["hard-002"]["findings"][0]
    )


def test_explain_shows_every_rule_and_what_it_looked_at(folder):
    told = run(folder, file_of(folder, SOUND, TIED), "--explain", "hard-002")
    assert told.exit_code == 0
    assert "[problem] ties:" in told.stdout
    assert "looked at ORDER BY" in told.stdout
    assert "[ok] clock:" in told.stdout


def test_explaining_an_item_that_is_not_there_says_so(folder):
    told = run(folder, file_of(folder, SOUND), "--explain", "hard-999")
    assert "no item 'hard-999' is kept here" in str(told.exception)


def test_a_waiver_in_the_file_lets_a_problem_stand(folder):
    waiver = Waiver("hard-002", "ties", "any one of the dates is meant", "Kim", TIED.sha256)
    path = file_of(folder, SOUND, TIED, settings=Settings(waivers=(waiver,)))
    told = json.loads(run(folder, path, "--json").stdout)
    said = [f for f in told["items"]["hard-002"]["findings"] if f["rule"] == "ties"]
    assert said[0]["severity"] == "note"
    assert "waived by Kim" in said[0]["message"]


def test_fix_mends_texts_and_nothing_else(folder):
    path = file_of(folder, SOUND)
    untidy = unicodedata.normalize("NFD", SOUND.question_ko)
    path.write_text(path.read_text().replace(SOUND.question_ko, untidy))
    assert run(folder, path).exit_code == 1
    told = run(folder, path, "--fix")
    assert "mended hard-001" in told.stdout
    assert load_questions(path).questions[0].item == SOUND
    assert told.exit_code == 0
    assert PLAIN.id


def test_a_missing_file_is_one_sentence(folder):
    told = run(folder, folder / "none.yaml")
    assert told.exit_code == 2
    said = "".join(told.output.replace("│", "").split())  # the box breaks lines anywhere
    assert "none.yaml'doesnotexist" in said
