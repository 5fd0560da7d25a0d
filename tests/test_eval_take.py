"""Baselines, predictions and models take the exam of a small frozen task, by the same code."""

import asyncio
import json

import pytest

from database.engine import open_database
from eval.baselines import CONSTANT_QUERY, ORACLE, PRIOR
from eval.leaderboard import board
from eval.spec import open_task
from eval.take import Options, take
from eval.text2sql import Text2Sql
from registry.reader import FormatError
from tests import small

UNANSWERABLE = 1 / 4


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    registry, data = small.make(tmp_path_factory.mktemp("small"))
    small.freeze(registry, data)
    return registry, data


@pytest.fixture(scope="module")
def exam(place):
    registry, data = place
    with open_database(data / "eunomia.duckdb", workers=2) as database:
        yield Text2Sql(open_task(registry, small.TASK, database))


@pytest.fixture
def taken(exam, place, tmp_path):
    return lambda model, **more: asyncio.run(take(exam, place[0], tmp_path, Options(model, **more)))


def figures(exam, taken):
    (entry,) = board(exam, [taken.run]).entries
    return {f"{tier}_{name}": figure.value for (tier, name), figure in entry.figures.items()}


def test_the_oracle_scores_exactly_1_on_everything(exam, taken):
    found = figures(exam, taken(ORACLE))
    names = ("hard_rs0", "hard_rs5", "hard_rs10", "hard_rsN", "hard_ex", "easy_ex")
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1.0)


def test_abstaining_everywhere_scores_the_unanswerable_share(exam, taken):
    """S1-009; on the easy tier it is no answer."""
    found = figures(exam, taken(PRIOR))
    for name in ("hard_rs0", "hard_rs5", "hard_rsN"):
        assert found[name] == UNANSWERABLE
    assert (found["hard_ex"], found["easy_ex"]) == (0.0, 0.0)
    assert (found["hard_abstained_answerable"], found["hard_abstained_unanswerable"]) == (1.0, 1.0)


def test_select_0_scores_0_but_is_wrong_everywhere(exam, taken):
    """S1-016: -5 W/N on RS(5) and -W on RS(N), with W = N."""
    found = figures(exam, taken(CONSTANT_QUERY))
    assert (found["hard_rs0"], found["hard_ex"], found["easy_ex"]) == (0.0, 0.0, 0.0)
    assert (found["hard_rs5"], found["hard_rsN"]) == (-5.0, -8.0)


def test_what_a_score_names_is_in_its_file(exam, taken):
    folder = taken(PRIOR).folder
    head = json.loads((folder.path / "scored.jsonl").read_text().splitlines()[0])
    assert set(head["pins"]) == {"protocol", "duckdb", "database", "tiers"}
    assert head["baseline"] is True
    assert head["task"] == small.TASK


def test_a_predictions_file_is_scored_like_any_run(exam, taken, tmp_path):
    path = tmp_path / "mine.json"
    answers = {
        i.id: None if i.tier == "hard" else "SELECT count(*) FROM visit" for i in exam.instances()
    }
    path.write_text(json.dumps(answers))
    done = taken("someone/else-7b", predictions=path)
    found = figures(exam, done)
    assert found["hard_rs0"] == UNANSWERABLE
    assert found["easy_ex"] == 0.5
    assert done.folder.header()["predictions"]["file"] == "mine.json"


def test_a_partial_predictions_file_counts_the_missing_as_missing_queries(exam, taken, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"hard/h1-en": "SELECT 4"}')
    done = taken("someone/else-7b", predictions=path, partial=True)
    (entry,) = board(exam, [done.run]).entries
    assert entry.counts["hard"] == {"right": 1, "no_sql": 7}
    assert entry.figures[("hard", "rs5")].value == (1 - 5 * 7) / 8


def test_predictions_never_mix_with_asked_answers(taken, tmp_path):
    taken(PRIOR)
    path = tmp_path / "mine.json"
    path.write_text("{}")
    with pytest.raises(FormatError, match="holds a model's answers"):
        taken(PRIOR, predictions=path, partial=True)


def test_a_limited_run_has_bounds_and_no_rank(exam, taken):
    run = taken(ORACLE, limit=2).run
    (entry,) = board(exam, [run]).entries
    assert (entry.rank, entry.figures, entry.open) == (None, {}, 4)
    assert entry.bounds == (0.5, 1.0)
    assert "incomplete" in entry.marks


def test_runs_are_ranked_by_rs0_and_baselines_are_not(exam, taken, tmp_path):
    right = {i.id: None for i in exam.instances()}
    (tmp_path / "a.json").write_text(json.dumps(right))
    (tmp_path / "b.json").write_text(json.dumps({**right, "hard/h1-en": "SELECT 4"}))
    names = ("x/a-1b", "x/b-1b", "x/c-1b")
    files = ("a.json", "b.json", "a.json")
    runs = [taken(n, predictions=tmp_path / f).run for n, f in zip(names, files, strict=True)]
    shown = board(exam, [taken(PRIOR).run, *runs], makers={"x/b-1b": "reviewer"})
    assert [(e.model, e.rank) for e in shown.entries] == [
        ("x/b-1b", 1), ("x/a-1b", 2), ("x/c-1b", 2), (PRIOR, None)
    ]  # fmt: skip
    assert shown.entries[0].marks == ("reviewer",)
    assert shown.preview
