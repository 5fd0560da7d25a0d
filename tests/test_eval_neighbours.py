"""Right by luck: an answer that the task's data cannot tell from the reference, and a neighbour can."""

import asyncio
import json
from dataclasses import replace

import pytest

from database.engine import QueryError, open_database
from eval.neighbours import on_neighbours, save
from eval.spec import open_task
from eval.take import Options, take
from eval.text2sql import Text2Sql
from items.recipes import Recipes, recipes_of
from items.rules.facts import Facts
from tests import small

LUCKY = (
    "SELECT person_id, gender FROM person WHERE year_of_birth <= 1960"  # nobody is born in 1961-69
)
ANSWERS = {
    "hard/h1": "SELECT count(*) FROM person",
    "hard/h2": LUCKY,
    "hard/h3": "SELECT person_id FROM visit ORDER BY day",
    "hard/h4": None,
    "easy/e1": "SELECT 3",  # the number itself
    "easy/e2": "SELECT gender, count(person_id) FROM person, (SELECT count(*) FROM visit) GROUP BY gender",
}


@pytest.fixture(scope="module")
def sat(tmp_path_factory):
    """The exam with a run whose every answer is right, its database open."""
    folder = tmp_path_factory.mktemp("neighbours")
    registry, data = small.make(folder)
    small.freeze(registry, data)
    file = folder / "a.json"
    file.write_text(
        json.dumps({f"{q}-{lang}": sql for q, sql in ANSWERS.items() for lang in ("ko", "en")})
    )
    with open_database(data / "eunomia.duckdb") as database:
        exam = Text2Sql(open_task(registry, small.TASK, database))
        run = asyncio.run(take(exam, registry, folder, Options("x/a-1b", predictions=file))).run
        assert {row.outcome for row in run.scored} == {"right", "abstained"}
        yield exam, run


@pytest.fixture(scope="module")
def found(sat):
    return asyncio.run(on_neighbours(*sat))


@pytest.fixture(scope="module")
def recipes(sat, tmp_path_factory):
    exam, _ = sat
    items = {asked.item.id: asked.item for asked in exam.asked.values()}
    made = recipes_of(items.values(), Facts(exam.database))
    path = tmp_path_factory.mktemp("recipes") / "kept.jsonl"
    return Recipes(path, {recipe.item: recipe for recipe in made})


def test_kept_recipes_give_the_same_neighbours(sat, found, recipes):
    assert asyncio.run(on_neighbours(*sat, recipes=recipes)) == found


def test_recipes_of_another_database_are_refused(sat, recipes):
    other = {id: replace(one, source="0" * 64) for id, one in recipes.by_item.items()}
    with pytest.raises(QueryError, match="stands on database"):
        asyncio.run(on_neighbours(*sat, recipes=Recipes(recipes.path, other)))


def verdicts(found):
    return {a.instance: a.verdict for a in found.answers if a.instance.endswith("-en")}


def test_a_limit_that_the_data_cannot_tell_is_luck(found):
    assert verdicts(found)["hard/h2-en"] == "luck"


def test_the_answer_as_a_constant_is_luck(found):
    assert verdicts(found)["easy/e1-en"] == "luck"


def test_the_reference_itself_holds(found):
    assert verdicts(found)["hard/h1-en"] == "holds"
    assert verdicts(found)["hard/h3-en"] == "holds"


def test_an_answer_that_reads_other_facts_is_not_told(found):
    assert verdicts(found)["easy/e2-en"] == "not_told"


def test_the_headline_stays_and_the_other_figure_stands_beside_it(found):
    was, now = found.figures["hard_rs0"]
    assert (was.value, now.value) == (1.0, 0.75)
    assert found.count("luck") == 4


def test_what_was_found_is_kept_with_the_hash_of_the_rows(found, tmp_path):
    save(tmp_path / "neighbours.jsonl", found)
    rows = [json.loads(line) for line in (tmp_path / "neighbours.jsonl").read_text().splitlines()]
    assert len(rows) == 10
    assert {len(row["rows_sha256"]) for row in rows if row["verdict"] != "not_told"} == {64}
