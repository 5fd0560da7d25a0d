"""A published leaderboard follows from the replies beside it, or the first thing that does not is named."""

import asyncio
import gzip
import json

import pytest

from database.engine import open_database
from eval.baselines import ORACLE, PRIOR
from eval.leaderboard import board
from eval.published import check_published, publish, results_path
from eval.spec import open_task, read_task
from eval.take import Options, take
from eval.text2sql import Text2Sql
from items.evidence import evidence_folder
from registry.reader import FormatError
from tests import small

FROM_A_FILE = "x/a-1b: its predictions come from a file, not from replies: unverifiable"


@pytest.fixture
def place(tmp_path):
    registry, data = small.make(tmp_path)
    small.freeze(registry, data)
    with open_database(data / "eunomia.duckdb") as database:
        exam = Text2Sql(open_task(registry, small.TASK, database))
        path = tmp_path / "mine.json"
        path.write_text(json.dumps({i.id: None for i in exam.instances()}))
        options = (Options(PRIOR), Options(ORACLE), Options("x/a-1b", predictions=path))
        taken = [asyncio.run(take(exam, registry, tmp_path / "runs", o)) for o in options]
        runs = [(t.run, t.folder) for t in taken]
        publish(registry, exam, board(exam, [run for run, _ in runs]), runs)
    return registry, data


def alone(registry):
    exam = Text2Sql(read_task(registry, small.TASK))
    return asyncio.run(check_published(registry, exam, database=False))


def with_database(registry, data):
    with open_database(data / "eunomia.duckdb") as database:
        exam = Text2Sql(open_task(registry, small.TASK, database))
        return asyncio.run(check_published(registry, exam, database=True))


def change(registry, edit):
    path = results_path(registry, small.TASK)
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value))


def run_of(value, model):
    return next(run for run in value["runs"] if run["model"] == model)


def test_what_was_published_follows_from_the_registry_alone_and_from_the_database(place):
    assert alone(place[0]) == [FROM_A_FILE]
    assert with_database(*place) == [FROM_A_FILE]


def test_a_better_outcome_than_the_reply_has_is_found(place):
    def edit(value):
        run_of(value, PRIOR)["rows"]["hard/h1-ko"]["outcome"] = "right"

    change(place[0], edit)
    assert f"{PRIOR} hard/h1-ko: the reply reads as abstained, the row says right" in alone(
        place[0]
    )


def test_a_wrong_query_called_right_is_found_where_the_database_is(place):
    def edit(value):
        run_of(value, ORACLE)["rows"]["hard/h1-ko"]["outcome"] = "wrong_result"

    change(place[0], edit)
    assert f"{ORACLE} hard/h1-ko: right when run again, the row says wrong_result" in with_database(
        *place
    )


def test_a_prediction_called_right_is_found_where_the_database_is(place):
    def edit(value):
        run_of(value, "x/a-1b")["rows"]["hard/h4-ko"]["outcome"] = "no_sql"

    change(place[0], edit)
    assert "x/a-1b hard/h4-ko: the prediction reads as abstained, the row says no_sql" in alone(
        place[0]
    )
    assert "x/a-1b hard/h4-ko: abstained when run again, the row says no_sql" in with_database(
        *place
    )


def test_a_run_that_was_taken_off_the_board_is_found(place):
    change(place[0], lambda value: value["board"]["entries"].pop(0))
    assert [line for line in alone(place[0]) if "does not stand on the board" in line]


def test_a_figure_that_does_not_follow_is_found(place):
    def edit(value):
        entry = next(e for e in value["board"]["entries"] if e["model"] == "x/a-1b")
        entry["figures"]["hard_rs0"]["value"] = 0.9

    change(place[0], edit)
    assert "x/a-1b: its figures do not follow from its outcomes" in alone(place[0])


def test_a_swapped_reply_is_found(place):
    def edit(value):
        rows = run_of(value, ORACLE)["rows"]
        rows["hard/h1-ko"]["key"] = rows["hard/h2-ko"]["key"]

    change(place[0], edit)
    assert f"{ORACLE} hard/h1-ko: the reply answers another question" in alone(place[0])


def test_an_outcome_that_names_no_reply_is_found(place):
    def edit(value):
        row = run_of(value, PRIOR)["rows"]["hard/h1-ko"]
        row |= {"key": "", "outcome": "right"}

    change(place[0], edit)
    said = f"{PRIOR} hard/h1-ko: right, and no reply in the evidence says so"
    assert said in alone(place[0])


def test_a_run_without_its_replies_is_found(place):
    change(place[0], lambda value: run_of(value, ORACLE).update(replies=None))
    assert f"{ORACLE} hard/h1-ko: right, and no reply in the evidence says so" in alone(place[0])


def test_a_run_under_another_models_name_is_found(place):
    change(place[0], lambda value: run_of(value, ORACLE).update(model="x/best-9b"))
    assert f"x/best-9b: its answers are {ORACLE}'s" in alone(place[0])


def test_a_changed_byte_of_the_replies_is_found(place):
    path = sorted(evidence_folder(place[0], small.TASK).glob("*.jsonl.gz"))[0]
    path.write_bytes(
        gzip.compress(gzip.decompress(path.read_bytes()).replace(b"ABSTAIN", b"SELECT0", 1))
    )
    with pytest.raises(FormatError, match="a byte changed"):
        alone(place[0])


def test_a_dry_run_is_not_published(place, tmp_path):
    registry, data = place
    with open_database(data / "eunomia.duckdb") as database:
        exam = Text2Sql(open_task(registry, small.TASK, database))
        with pytest.raises(FormatError, match="only exams on a frozen task"):
            publish(registry, exam, board(exam, [], label="dry"), [])
