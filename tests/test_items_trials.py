"""Catch trials: a good item with one seeded error that changes what it asks or answers."""

from datetime import date

import pytest

from database.engine import open_database
from database.result import Failure, results_match
from items.checks import Ground
from items.trials import seeded
from tests.making import COUNT, DEATHS, WOMEN, gate

ITEMS = (COUNT, WOMEN, DEATHS)


@pytest.fixture(scope="module")
def trials(eunomia):
    """A dozen trials made of three items, and the database."""
    with open_database(eunomia) as database:
        ground = Ground(database, date(2019, 7, 3))
        yield seeded(ITEMS, ground, 12, gate=gate), database


def test_each_trial_says_what_was_changed_in_which_item(trials):
    made, _ = trials
    assert {trial.of for trial in made} <= {item.id for item in ITEMS}
    assert all(trial.change for trial in made)
    assert {"languages", "unanswerable"} <= {trial.error for trial in made}


def test_an_error_in_the_sql_changes_the_result(trials):
    made, database = trials
    right = {item.id: item for item in ITEMS}
    wrong = [trial for trial in made if trial.item.answerable and trial.error != "languages"]
    assert wrong
    for trial in wrong:
        own = database.run(trial.item.reference_sql)
        reference = database.run(right[trial.of].reference_sql)
        assert not isinstance(own, Failure)
        assert not results_match(reference, own, ordered=False)


def test_an_error_in_the_korean_leaves_the_english_as_it_is(trials):
    made, _ = trials
    right = {item.id: item for item in ITEMS}
    for trial in (trial for trial in made if trial.error == "languages"):
        assert trial.item.question_en == right[trial.of].question_en
        assert trial.item.question_ko != right[trial.of].question_ko
        assert trial.item.reference_sql == right[trial.of].reference_sql


def test_a_trial_has_an_id_like_the_others_and_none_of_theirs(trials):
    made, _ = trials
    ids = [trial.item.id for trial in made]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {item.id for item in ITEMS}
    assert all(id.startswith("hard-") and id[5:].isdigit() for id in ids)


def test_every_trial_passes_the_gate(trials):
    made, database = trials
    assert not [found for trial in made for found in gate(trial.item, Ground(database))]


def test_the_same_items_give_the_same_trials(trials):
    made, database = trials
    assert seeded(ITEMS, Ground(database, date(2019, 7, 3)), 12, gate=gate) == made
