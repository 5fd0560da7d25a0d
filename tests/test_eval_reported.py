"""The reported failures of comparing and abstaining, one test a case; none is forgotten."""

import random
import time
from pathlib import Path

import duckdb
import pytest
import yaml

from database.engine import open_database
from database.result import Failure, results_match
from eval.exam import OPEN
from eval.extract import read_reply
from eval.metrics import measures, score
from eval.outcomes import read
from eval.uncertainty import NoThreshold, two_means
from models.call import Answer
from tests.cells import cases, result
from tests.test_eval_metrics import scored, values

REPORTED = yaml.safe_load(
    (Path(__file__).parent / "cases" / "reported_failures.yaml").read_text(encoding="utf-8")
)
OF = {case["id"]: case for case in REPORTED["cases"]}
COMPARED = [case for case in OF.values() if case["area"] == "comparison" and "result1" in case]
FACTS_DECIDE = {"compare-date-timestamp": True}  # a DATE equals a TIMESTAMP at midnight (FACTS 2)


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: case["id"])
def test_results_are_compared_as_reported(case):
    equal = case.get("decide", {}).get("column_aware", case["right"] == "equal")
    left, right = (result(case[f"result{n}"], case["columns"][n - 1]) for n in (1, 2))
    wanted = FACTS_DECIDE.get(case["id"], equal)
    assert results_match(left, right, ordered=case["ordered"]) is wanted


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("reported") / "fixture.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(REPORTED["fixture_sql"])
    with open_database(path) as opened:
        yield opened


def test_a_comment_line_ends_at_its_line_end(database):
    case = OF["comparison-flattened-lines"]
    reply = f"```sql\n{case['input']}\n```"
    assert database.run(read_reply(reply, abstention=True).sql).rows == ((8,),)


def test_distinct_is_not_removed(database):
    assert OF["comparison-distinct-removed"]["right"] == "not equal"
    reference = database.run("SELECT COUNT(DISTINCT person_id) FROM visit_occurrence")
    prediction = database.run("SELECT COUNT(person_id) FROM visit_occurrence")
    assert not results_match(reference, prediction, ordered=False)


def test_wide_results_of_scrambled_flags_differ_in_well_under_a_second():
    assert OF["comparison-wide-result"]["right"].startswith("not equal")
    chance = random.Random(1)
    rows = [[chance.randint(0, 1) for _ in range(9)] for _ in range(10)]
    torn = [chance.sample(row, 9) for row in rows]
    start = time.process_time()
    assert not results_match(result(rows), result(torn), ordered=False)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    "sql",
    [
        OF["comparison-text-replacement"]["input"],
        *(case["sql"] for case in cases("post_process_sql.json")["cases"]),
    ],
)
def test_the_text_of_a_query_is_never_edited(sql):
    """Upstream folds lines, joins operators and replaces clocks; only line ends become \\n here."""
    kept = sql.replace("\r\n", "\n").strip()
    assert read_reply(f"```sql\n{sql}\n```", abstention=True).sql == (kept or None)


def test_a_failing_query_on_an_unanswerable_question_is_an_answer(database):
    case = OF["abstention-failed-sql-on-unanswerable"]
    assert isinstance(database.run(case["input"]), Failure)
    (row,) = scored([("sql_error", False)])
    assert score(row) == -1


def test_an_empty_result_is_no_abstention(database):
    assert database.run(OF["abstention-empty-is-not-abstain"]["input"]).rows == ()
    (row,) = scored([("wrong_result", False)])
    assert score(row) == -1


def test_a_route_that_failed_is_open_and_no_score():
    assert OF["abstention-infrastructure-failure"]["right"].startswith("report the count")
    assert {"api_error", "lost"} <= set(OPEN)


def test_a_truncated_reply_has_a_reason_of_its_own():
    assert OF["abstention-truncated-reply"]["right"].startswith("failed answer")
    found = read(Answer("", "length", output_tokens=64), abstention=True, max_tokens=64)
    assert found.kind == "cut_off"


def test_f1_has_no_value_when_nothing_was_answered():
    assert OF["abstention-zero-denominator"]["input"] == "10 abstentions on 10 answerable questions"
    found = values(measures(scored([("abstained", True)] * 10), {"hard": True}))
    assert (found["precision_ans"], found["f1_ans"], found["recall_ans"]) == (None, None, 0)


def test_equal_entropies_have_no_boundary():
    with pytest.raises(NoThreshold):
        two_means(yaml.safe_load(OF["abstention-kmeans-one-value"]["input"]))


ELSEWHERE = {  # the case and the test that holds it
    "comparison-positional-pairs": "tests/test_eval_predictions.py",
    "abstention-missing-prediction": "tests/test_eval_predictions.py",
    "abstention-all-null-column": "tests/test_items_checks.py",  # a witness (Agreements 10)
    "abstention-near-miss-schema": "tests/test_items_checks.py",
}


def test_no_case_is_forgotten():
    here = Path(__file__).read_text(encoding="utf-8")
    wanted = {
        case["id"]
        for case in OF.values()
        if case["area"] in ("comparison", "abstention") and case not in COMPARED
    }
    assert {id for id in wanted if f'"{id}"' not in here} == set()


AS_THE_ENGINE_GIVES_THEM = [
    ("1::HUGEINT", "1.0", True),
    (
        "170141183460469231731687303715884105727::HUGEINT",
        "170141183460469231731687303715884105726",
        False,
    ),
    ("1.5::DECIMAL(38, 10)", "1.5::DOUBLE", True),
    ("0.1::FLOAT", "0.1::DOUBLE", True),
    ("sum(0.1::DOUBLE)", "'0.1'", True),
    ("0.0005::DECIMAL(10, 4)", "0.0005::DOUBLE", True),
    ("'nan'::DOUBLE", "'nan'::FLOAT", True),
    ("DATE '2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00'", True),
    ("DATE '2020-01-01' + INTERVAL 1 DAY", "DATE '2020-01-02'", True),
    ("TIMESTAMPTZ '2020-01-01 09:00:00+09'", "TIMESTAMP '2020-01-01 00:00:00'", True),
    (
        "TIMESTAMP '2020-01-01 08:00:00.5'",
        "CAST(TIMESTAMP '2020-01-01 08:00:00.5' AS VARCHAR)",
        True,
    ),
    ("year(DATE '2020-01-01')", "strftime(DATE '2020-01-01', '%Y')", True),
    ("strftime(DATE '2020-01-01', '%m')", "'1'", False),
    ("INTERVAL 48 HOUR", "INTERVAL 2 DAY", True),
    ("DATE '2020-01-03' - DATE '2020-01-01'", "2", True),
    ("[1, 2]", "array_value(1, 2)", True),
    ("[1, 2]", "[2, 1]", False),
    ("{'a': 1}", "MAP {'a': 1}", True),
    ("'a'::ENUM('a', 'b')", "'a'", True),
    ("uuid '00000000-0000-0000-0000-000000000005'", "'00000000-0000-0000-0000-000000000005'", True),
    ("'ab'::BLOB", "'ab'", False),
    ("3 > 2", "1", True),
    ("count(*) > 5", "'true'", False),
    ("NULL", "''", False),
]


@pytest.mark.parametrize(("left", "right", "same"), AS_THE_ENGINE_GIVES_THEM)
def test_values_compare_as_the_engine_gives_them(database, left, right, same):
    ours, theirs = (database.run(f"SELECT {one} AS v FROM (SELECT 1)") for one in (left, right))
    assert results_match(ours, theirs, ordered=False) is same
