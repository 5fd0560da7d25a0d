"""Two hands write one query; a reviewer sees one text."""

import pytest

from agents.restyle import restyled
from database.engine import open_database
from database.result import results_match

TWO_HANDS = (
    "select COUNT(*) as n from person where year_of_birth<1960 -- mine",
    "SELECT count(*) AS n\nFROM person\nWHERE person.year_of_birth < 1960",
)


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia) as opened:
        yield opened


def test_style_and_comments_are_gone(database):
    first, second = (restyled(sql, database) for sql in TWO_HANDS)
    assert first == second
    assert "mine" not in first


def test_it_stays_the_same_query(database):
    shown = database.run(restyled(TWO_HANDS[0], database))
    assert results_match(database.run(TWO_HANDS[0]), shown, ordered=False)


def test_what_cannot_be_read_is_shown_as_it_is(database):
    assert restyled("SELEKT 1", database) == "SELEKT 1"
