"""Mutants and neighbours: the mistakes that a database hides show beside it."""

from dataclasses import replace

import pytest

from database.engine import QueryError, open_database
from database.result import Result, results_match
from database.scratch import scratch
from items.checks import Ground
from items.mutants import mutants
from items.neighbour import made_of, rebuilt, recipe_of, rows_sha256, sealed, statements_of
from items.neighbour_boundary import boundary
from items.recipes import load_recipes, recipes_of, recipes_path, save_recipes
from items.rules.base import Case
from items.rules.facts import Facts, facts_of
from items.rules.mutation import mutation_score
from items.rules.sql import read_query
from registry.reader import FormatError
from tests.gate import TODAY, build_fixture, eunomia_items, item

TABLES = {
    "person": {"person_id": "BIGINT", "year_of_birth": "INTEGER"},
    "visit_occurrence": {
        "visit_occurrence_id": "BIGINT",
        "person_id": "BIGINT",
        "visit_start_date": "DATE",
        "visit_end_date": "DATE",
    },
}


@pytest.fixture(scope="module")
def facts(eunomia):
    with open_database(eunomia) as database:
        yield Facts(database)


@pytest.mark.parametrize(
    ("sql", "kind", "change"),
    [
        pytest.param(
            "SELECT count(*) FROM person WHERE year_of_birth > 1950 AND person_id = 7",
            "predicate",
            "person.year_of_birth > 1950 became TRUE",
            id="a condition left out",
        ),
        pytest.param(
            "SELECT count(*) FROM person WHERE year_of_birth >= 1950",
            "comparator",
            "person.year_of_birth >= 1950 became person.year_of_birth > 1950",
            id="a comparison moved by its limit",
        ),
        pytest.param(
            "SELECT count(*) FROM person WHERE year_of_birth > 1950 OR person_id < 9",
            "and_or",
            "person.year_of_birth > 1950 OR person.person_id < 9 became "
            "person.year_of_birth > 1950 AND person.person_id < 9",
            id="AND for OR",
        ),
        pytest.param(
            "SELECT count(*) FROM person WHERE year_of_birth > 1950",
            "number",
            "1950 became 1951",
            id="a number one more",
        ),
        pytest.param(
            "SELECT count(*) FROM visit_occurrence",
            "count",
            "COUNT(*) became COUNT(DISTINCT visit_occurrence.person_id)",
            id="people for records",
        ),
        pytest.param(
            "SELECT max(visit_start_date) FROM visit_occurrence",
            "extreme",
            "MAX(visit_occurrence.visit_start_date) became MIN(visit_occurrence.visit_start_date)",
            id="the other end",
        ),
        pytest.param(
            "SELECT max(visit_start_date) FROM visit_occurrence",
            "column",
            "visit_occurrence.visit_start_date became visit_occurrence.visit_end_date",
            id="a column that looks like it",
        ),
        pytest.param(
            "SELECT count(*) FROM person WHERE person_id IN (1, 2)",
            "list",
            "person.person_id IN (1, 2) became person.person_id IN (2)",
            id="a list shortened",
        ),
        pytest.param(
            "SELECT count(*) FROM visit_occurrence WHERE visit_end_date IS NULL",
            "guard",
            "WHERE visit_occurrence.visit_end_date IS NULL became nothing",
            id="a guard dropped",
        ),
        pytest.param(
            "SELECT count(*) FROM visit_occurrence v JOIN person p ON p.person_id = v.person_id",
            "join",
            "JOIN person AS p ON p.person_id = v.person_id became "
            "LEFT JOIN person AS p ON p.person_id = v.person_id",
            id="an outer join",
        ),
    ],
)
def test_a_mutant_is_one_small_mistake(sql, kind, change):
    made = mutants(read_query(sql, TABLES), TABLES)
    assert (kind, change) in {(mutant.kind, mutant.change) for mutant in made}


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(
            "SELECT count(*) FROM visit_occurrence v JOIN person p ON p.person_id = v.person_id "
            "WHERE p.year_of_birth > 1950",
            id="an outer join that WHERE undoes",
        ),
        pytest.param(
            "SELECT 'a', count(*) FROM person UNION SELECT 'b', 1", id="UNION of one row each"
        ),
    ],
)
def test_what_is_the_same_query_is_no_mutant(sql):
    kinds = {m.kind for m in mutants(read_query(sql, TABLES), TABLES)}
    assert not kinds & {"join", "distinct"}


def test_every_mutant_differs_from_the_reference_and_from_the_others(facts):
    for one, _ in eunomia_items():
        if one.answerable:
            query = read_query(one.reference_sql, facts.tables)
            texts = [mutant.sql for mutant in mutants(query, facts.tables)]
            assert len(texts) == len({*texts} - {query.sql})


def recipe(one, facts):
    return recipe_of(one, read_query(one.reference_sql, facts.tables), facts)


def question(id):
    return next(one for one, _ in eunomia_items() if one.id == id)


def test_a_recipe_names_limits_offsets_concepts_and_the_patient(facts):
    cohort, patient = recipe(question("cd1"), facts), recipe(question("rt5"), facts)
    assert 30 in cohort.offsets
    assert cohort.levels["drug_era.drug_concept_id"] == ("1118084",)
    assert patient.levels["drug_exposure.person_id"] == ("1382",)
    limits = patient.levels["drug_exposure.drug_exposure_start_date"]
    assert sorted(limits) == ["2018-07-03", "2019-07-03"]


def test_a_recipe_gives_the_same_rows_again_and_another_seed_others(facts):
    one = recipe(question("rt3"), facts)
    assert rows_sha256(made_of(one, facts)) == rows_sha256(made_of(one, Facts(facts.database)))
    assert rows_sha256(made_of(replace(one, seed=1), facts)) != rows_sha256(made_of(one, facts))


@pytest.mark.parametrize("id", ["ct3", "cd1", "dq1", "rt3", "rt5"])
def test_the_reference_runs_on_its_neighbour(id, facts):
    one = question(id)
    with scratch(statements_of(made_of(recipe(one, facts), facts), facts)) as ask:
        result = ask(one.reference_sql)
    assert isinstance(result, Result)
    assert result.rows


def test_neighbours_tell_most_hidden_mistakes_apart(eunomia):
    """Issue 6: at least 65 % over the 12 references (measured: 54 of 55)."""
    with open_database(eunomia) as database:
        ground = Ground(database, TODAY)
        scores = [mutation_score(Case(one, ground)) for one, _ in eunomia_items() if one.answerable]
    told = sum(len(score.told_apart) for score in scores)
    hidden = told + sum(len(score.alike) for score in scores)
    assert hidden >= 40
    assert told / hidden >= 0.65


@pytest.mark.parametrize("sought", ["provider_id = NULL", "provider_id <> 1e1", "quantity IS NULL"])
def test_a_number_compared_with_no_plain_number_has_a_neighbour(sought, tmp_path):
    table = "person" if "provider" in sought else "drug_exposure"
    with open_database(build_fixture(tmp_path / "fixture.duckdb")) as database:
        facts = facts_of(database)
        one = item(f"SELECT count(*) FROM {table} WHERE {sought}")
        query = read_query(one.reference_sql, facts.tables)
        assert statements_of(made_of(recipe_of(one, query, facts), facts), facts)


@pytest.mark.parametrize(
    ("condition", "change", "rows"),
    [
        pytest.param(
            "visit_start_date >= DATE '2010-01-01'",
            "became visit_occurrence.visit_start_date > CAST",
            "visit_start_date 2010-01-01",
            id="the limit itself",
        ),
        pytest.param(
            "person_id IN (SELECT person_id FROM visit_occurrence GROUP BY person_id "
            "HAVING count(*) >= 3)",
            "became COUNT(*) > 3",
            "count_star() 3",
            id="a group at its limit",
        ),
        pytest.param(
            "visit_end_date IS NULL OR visit_end_date > DATE '2010-01-01'",
            "became visit_occurrence.visit_end_date > CAST",
            "visit_end_date NULL",
            id="a row without a value",
        ),
        pytest.param(
            "visit_concept_id = 9201", "became COUNT(DISTINCT", "", id="none for another count"
        ),
    ],
)
def test_boundary_rows_stand_where_a_mutant_decides_otherwise(condition, change, rows, facts):
    one = item(f"SELECT count(*) FROM visit_occurrence WHERE {condition}")
    query = read_query(one.reference_sql, facts.tables)
    made = mutants(query, facts.tables)
    mutant = next(m for m in made if change in m.change)
    with scratch(statements_of(made_of(recipe(one, facts), facts), facts)) as ask:
        told = boundary(query, mutant, ask)
    assert rows in told
    assert bool(told) is bool(rows)


def test_a_sealed_recipe_is_rebuilt_from_the_same_database_only(facts, tmp_path):
    one = sealed(recipe(question("rt3"), facts), facts)
    made = rebuilt(one, facts)
    assert rows_sha256(made) == one.rows_sha256
    with pytest.raises(QueryError, match="builder 99"):
        rebuilt(replace(one, builder=99), facts)
    with pytest.raises(QueryError, match="other rows"):
        rebuilt(replace(one, seed=1), facts)
    other = build_fixture(tmp_path / "other.duckdb")
    with open_database(other) as database, pytest.raises(QueryError, match="stands on database"):
        rebuilt(one, facts_of(database))


def test_recipes_are_kept_without_rows_and_read_back(facts, tmp_path):
    path = tmp_path / "neighbours.jsonl"
    asked = [question("rt3"), question("ua1")]
    save_recipes(path, recipes_of(asked, facts))
    kept = load_recipes(path)
    assert kept is not None
    assert set(kept.by_item) == {"rt3"}
    assert kept.of(asked[0]) == sealed(recipe(asked[0], facts), facts)
    with pytest.raises(FormatError, match="a recipe for"):
        kept.of(replace(asked[0], question_en="Changed?"))
    with pytest.raises(FormatError, match="no recipe"):
        kept.of(asked[1])


def test_a_task_without_kept_recipes_has_none(tmp_path):
    assert load_recipes(recipes_path(tmp_path, "demo@0")) is None


def test_a_broken_recipe_names_its_line(tmp_path):
    path = tmp_path / "neighbours.jsonl"
    path.write_text('{"item": "x"}\n')
    with pytest.raises(FormatError, match=r"neighbours.jsonl:1"):
        load_recipes(path)


def test_a_scratch_database_ends_what_takes_too_long():
    endless = "SELECT count(*) FROM range(100000) a, range(100000) b WHERE a.range + b.range = 7"
    with scratch([], time_s=0.2) as ask:
        assert not isinstance(ask(endless), Result)
        again = ask("SELECT 1")
    assert isinstance(again, Result)
    assert results_match(again, again, ordered=True)
    assert item("SELECT 1").answerable
