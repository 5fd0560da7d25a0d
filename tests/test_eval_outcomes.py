"""From a reply to an outcome: the order of Agreements 7, on a real database."""

import asyncio

import pytest

from database.engine import Limits, QueryError, open_database
from eval.outcomes import CLASSES, read
from eval.spec import open_task
from eval.text2sql import Text2Sql
from models.call import Answer
from tests import small

LIMIT = 64
SQL = "```sql\nSELECT 1\n```"


@pytest.mark.parametrize(
    ("answer", "abstention", "kind", "reason"),
    [
        pytest.param(Answer(SQL, "length", output_tokens=64), True, "sql", "", id="SQL is never cut off"),
        pytest.param(Answer("ABSTAIN", "length"), True, "abstain", "", id="nor is ABSTAIN"),
        pytest.param(Answer(SQL, "content_filter"), True, "sql", "", id="nor is it refused"),
        pytest.param(
            Answer("", "content_filter", "content_filter"), True, "refused", "content_filter",
            id="a content filter is a refusal",
        ),
        pytest.param(
            Answer("", "length", refusal="I cannot"), True, "refused", "I cannot",
            id="a refusal comes before cut off",
        ),
        pytest.param(
            Answer("Let me think", "length"), True, "cut_off", "stop reason: length",
            id="cut off by its stop reason",
        ),
        pytest.param(
            Answer("Let me think", "stop", output_tokens=64), True, "cut_off", "used all 64 tokens",
            id="cut off by its tokens",
        ),
        pytest.param(
            Answer("<think>SELECT 1", "stop", output_tokens=9), True, "cut_off", "unclosed <think>",
            id="cut off by an unclosed think section",
        ),
        pytest.param(
            Answer("I do not know.", "stop", output_tokens=9), True, "no_sql", "prose", id="text is no SQL"
        ),
        pytest.param(
            Answer("ABSTAIN", "length"), False, "no_sql", "abstain_not_offered",
            id="ABSTAIN is no SQL where it is not offered",
        ),
    ],
)  # fmt: skip
def test_a_reply_is_read_in_one_order(answer, abstention, kind, reason):
    found = read(answer, abstention=abstention, max_tokens=LIMIT)
    assert (found.kind, found.reason) == (kind, reason)


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    registry, data = small.make(tmp_path_factory.mktemp("small"))
    limits = Limits(time_s=0.5, rows=50)
    with open_database(data / "eunomia.duckdb", limits=limits) as database:
        yield Text2Sql(open_task(registry, small.TASK, database, dry_run=True))


def outcome(exam, id, text):
    instance = exam.asked[id].instance
    prediction = exam.parse(instance, 0, Answer(text))
    (scored,) = asyncio.run(exam.outcomes([(instance, (prediction,))]))
    return scored


@pytest.mark.parametrize(
    ("id", "sql", "right"),
    [
        ("hard/h1-ko", "SELECT 4", "right"),
        ("hard/h1-en", "SELECT count(*) FROM visit", "wrong_result"),
        ("hard/h2-en", "SELECT gender, person_id FROM person WHERE year_of_birth < 1970", "right"),
        ("hard/h3-en", "SELECT person_id FROM visit ORDER BY day DESC", "wrong_result"),
        ("hard/h1-ko", "SELECT count(nobody) FROM person", "sql_error"),
        ("hard/h1-ko", "SELECT count(*) FROM nobody", "sql_error"),
        ("hard/h1-ko", "SELEC count(*) FROM person", "sql_error"),
        ("hard/h1-ko", "DELETE FROM person", "sql_refused"),
        ("hard/h1-ko", "SELECT count(*) FROM person WHERE current_date > '2000-01-01'", "sql_refused"),
        ("hard/h1-ko", "SELECT * FROM range(51)", "too_many_rows"),
        ("hard/h1-ko", "SELECT count(*) FROM range(100000) a, range(100000) b, range(99) c", "time_out"),
        ("hard/h4-ko", "SELECT count(*) FROM death", "wrong_result"),
    ],
    ids=[
        "the reference's rows", "other rows", "columns in another order",
        "rows out of order where it counts", "a column that is not there", "a table that is not there",
        "what does not parse", "not a SELECT", "the clock", "one row too many", "over the time limit",
        "any query on an unanswerable question",
    ],
)  # fmt: skip
def test_a_query_has_one_outcome(exam, id, sql, right):
    assert outcome(exam, id, f"```sql\n{sql}\n```").outcome == right


def test_an_abstention_is_told_apart_from_a_wrong_answer(exam):
    assert outcome(exam, "hard/h4-ko", "ABSTAIN").outcome == "abstained"
    assert outcome(exam, "easy/e1-ko", "ABSTAIN").outcome == "no_sql"


def test_every_outcome_is_one_of_the_known_classes(exam):
    replies = [SQL, "ABSTAIN", "prose", "```sql\nSELEC 1\n```", ""]
    assert {outcome(exam, "hard/h1-ko", text).outcome for text in replies} <= set(CLASSES)


def test_an_equal_query_runs_once_for_all_instances(exam):
    """The constant query of 12 instances is one query, and so is the reference of two languages."""
    ran = []
    database = exam.judge._database
    original = database.arun
    database.arun = lambda sql, **more: ran.append(sql) or original(sql, **more)
    try:
        sheet = [(i, (exam.parse(i, 0, Answer("SELECT 0")),)) for i in exam.instances()]
        fresh = Text2Sql(exam._task)
        asyncio.run(fresh.outcomes(sheet))
    finally:
        del database.arun
    assert ran.count("SELECT 0") == 1
    assert len(ran) == 6


def test_a_reference_that_does_not_run_stops_the_exam(tmp_path):
    """A broken setup is an error, never a score of 0."""
    registry, data = small.make(tmp_path)
    path = registry / "drafts" / "small-text2sql-v0.yaml"
    path.write_text(path.read_text().replace("FROM visit", "FROM gone"))
    with open_database(data / "eunomia.duckdb") as database:
        broken = Text2Sql(open_task(registry, small.TASK, database, dry_run=True))
        with pytest.raises(QueryError, match="the reference of e1 does not run"):
            outcome(broken, "easy/e1-ko", "SELECT 1")
