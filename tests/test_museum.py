"""The museum: the rule speaks up on each published kind of error and is silent on its right twin."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from database.engine import open_database
from database.result import Result, results_match
from items.checks import Ground, check
from items.model import Item
from items.questions import load_questions
from registry.reader import FormatError
from tests.gate import FIXTURE_TODAY, PLAIN, build_fixture, eunomia_items, item, reported
from tests.museum.table import HANDED, HERE, errors, page

KEYS = {"question_en", "question_ko", "answerable", "witness", "order_matters"}
DOCS = Path(__file__).parent.parent / "docs" / "museum.md"


@pytest.fixture(scope="module")
def museum(tmp_path_factory):
    path = build_fixture(tmp_path_factory.mktemp("museum") / "hospital.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute((HERE / "hospital.sql").read_text())
    with open_database(path) as database:
        yield database


def exhibit(error: dict[str, Any], which: str) -> Item:
    """One twin of an exhibit as an item."""
    values = {key: error[key] for key in KEYS & error.keys()}
    values |= {key: error[f"{which}_{key}"] for key in KEYS if f"{which}_{key}" in error}
    return item(error.get(which, "").strip() or None, values.pop("question_en"), **values)


def others(error: dict[str, Any]) -> tuple[Item, ...]:
    """The other item of a tier, where the error needs one."""
    if "other" not in error:
        return ()
    told = error["other"]
    return (item(told["sql"], told["question_en"], question_ko=told["question_ko"], id="other"),)


@pytest.mark.parametrize("error", errors(), ids=lambda error: error["kind"])
def test_a_published_error_is_caught_by_its_rule(error, museum):
    ground = Ground(museum, FIXTURE_TODAY, others=others(error))
    found = check(exhibit(error, "wrong"), ground)
    assert error["rule"] in {f.rule for f in found if f.severity != "note"}


@pytest.mark.parametrize("error", errors(), ids=lambda error: error["kind"])
def test_the_right_twin_breaks_no_rule(error, museum):
    ground = Ground(museum, FIXTURE_TODAY, others=others(error))
    found = check(exhibit(error, "right"), ground)
    assert [f for f in found if f.severity != "note"] == []


def test_the_museum_has_at_least_forty_kinds():
    assert len(HANDED) + len(errors()) >= 40


def test_the_docs_show_the_table():
    assert DOCS.read_text() == page(), "python -m tests.museum.table > docs/museum.md"


def test_two_items_of_one_id_are_refused_when_the_file_is_read(tmp_path):
    entry = "  - {id: '137', question_ko: 가, question_en: a, reference_sql: SELECT 1,"
    entry += " category: data_quality, difficulty: easy, scope: none, author: rule/x@1}\n"
    path = tmp_path / "hard.yaml"
    path.write_text("task: t\ntier: hard\nquestions:\n" + entry * 2)
    with pytest.raises(FormatError, match="137"):
        load_questions(path)


def test_every_reference_answers_itself(eunomia):
    with open_database(eunomia) as database:
        for one, _ in eunomia_items():
            if one.reference_sql:
                first, second = database.run(one.reference_sql), database.run(one.reference_sql)
                assert isinstance(first, Result)
                assert isinstance(second, Result)
                assert results_match(first, second, ordered=one.order_matters)


def test_a_window_of_the_clock_is_refused_although_it_runs(museum):
    case = next(c for c in reported()["cases"] if c["id"] == "reference-clock-window-empty")
    found = check(item(case["input"], "How many visits began in the last 30 days?"), Ground(museum))
    assert {"clock"} <= {f.rule for f in found if f.severity == "problem"}
    assert PLAIN.id
