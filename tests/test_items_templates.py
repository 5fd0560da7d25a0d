"""Items written by rule: valid, different, in both languages, and the same on every machine."""

import re
from collections import Counter
from datetime import date

import pytest

from database.engine import open_database
from database.eunomia import TODAY
from database.schema import empty_tables, null_columns
from items.checks import Ground, check
from items.model import tier_sha256
from items.templates import TEMPLATES, VERSION, plan, write
from items.templates.base import fillings
from items.templates.telling import near_misses, told_apart
from items.templates.times import before_day, last_days, last_years, month_of_last_year, months_ago

TIER_20 = "d76d5918dc0fc952e358c6e669e8cc8073b3e3040557fe801d187ad3e7ef22a1"


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia) as opened:
        yield opened


@pytest.fixture(scope="module")
def tier(database):
    return [write(slot, database, TODAY) for slot in plan(20)]


def test_the_same_database_gives_the_same_tier(tier):
    """The demo freezes this hash; a change to a template is a new VERSION."""
    assert (VERSION, tier_sha256(tier)) == (1, TIER_20)


def test_there_are_enough_templates_of_every_category():
    counts = {category: len(templates) for category, templates in TEMPLATES.items()}
    assert sum(n for category, n in counts.items() if category != "unanswerable") >= 12
    assert min(counts.values()) >= 4


def test_twenty_places_hold_twenty_questions_of_five_categories(tier):
    assert (
        len({item.question_en for item in tier}) == len({item.question_ko for item in tier}) == 20
    )
    assert set(Counter(item.category for item in tier).values()) == {4}
    assert {item.scope for item in tier} == {"group", "patient", "none"}


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(r"before [A-Z][a-z]+ \d+, \d{4}", id="absolute, until"),
        pytest.param(r"since [A-Z][a-z]+ \d+, \d{4}", id="absolute, since"),
        pytest.param(r"in \d{4}", id="absolute, in"),
        pytest.param(r"in the last \d+ days", id="relative, since"),
        pytest.param(r"\d+ months ago", id="relative, a point"),
        pytest.param(r"in [A-Z][a-z]+ of last year", id="mixed, in"),
        pytest.param(r"within \d+ days after their first", id="within an event"),
        pytest.param(r"most recently", id="an exact point"),
    ],
)
def test_the_tier_asks_for_time_in_every_way_of_ehrsql(said, tier):
    """S3-006."""
    assert any(re.search(said, item.question_en) for item in tier if item.answerable)


def test_the_tier_passes_the_gate(tier, database):
    ground = Ground(database, TODAY)
    found = {item.id: [f for f in check(item, ground) if f.severity == "problem"] for item in tier}
    assert {id: problems for id, problems in found.items() if problems} == {}


@pytest.mark.parametrize("category", TEMPLATES)
def test_every_template_writes_an_item(category, database):
    for turn, template in enumerate(TEMPLATES[category]):
        slot = next(s for s in plan(5 * (turn + 1)) if (s.category, s.turn) == (category, turn))
        item = write(slot, database, TODAY)
        assert item is not None, template.name
        assert "{" not in item.question_ko + item.question_en + (item.reference_sql or "")


def test_an_unanswerable_question_names_a_true_witness(tier, database):
    missing = {*empty_tables(database), *null_columns(database)}
    unanswerable = [item for item in tier if not item.answerable]
    assert len(unanswerable) == 4
    assert {item.witness for item in unanswerable} <= missing


def test_both_languages_say_the_same_numbers(tier):
    for item in tier:
        english = {int(n) for n in re.findall(r"\d+", item.question_en)}
        korean = {int(n) for n in re.findall(r"\d+", item.question_ko)}
        months = {n for n in korean - english if n <= 12}  # a month has a name in English
        assert korean - months == english - months, item.id


def test_most_references_tell_every_near_miss_apart(tier, database):
    told = [told_apart(item.reference_sql, database) for item in tier if item.reference_sql]
    assert sum(share == 1.0 for share in told) >= 12
    assert min(told) >= 0.4


def test_a_larger_plan_begins_with_the_smaller_one():
    assert plan(40)[:20] == plan(20)


def test_a_template_gives_more_than_one_item(database):
    slots = [slot for slot in plan(60) if slot.category == "unanswerable"]
    questions = [write(slot, database, TODAY).question_en for slot in slots]
    assert len(set(questions)) == len(questions)


def test_fillings_come_in_one_fixed_order(database):
    template = TEMPLATES["cohort_definition"][0]
    assert fillings(template, database, TODAY) == fillings(template, database, TODAY)


@pytest.mark.parametrize(
    ("time", "sql"),
    [
        (before_day(date(1979, 5, 25)), "{column} < DATE '1979-05-25'"),
        (
            last_days(90, TODAY),
            "{column} >= DATE '2019-04-04'\n  AND {column} <= DATE '2019-07-03'",
        ),
        (
            last_years(2, TODAY),
            "{column} >= DATE '2017-07-03'\n  AND {column} <= DATE '2019-07-03'",
        ),
        (months_ago(7, TODAY), "{column} >= DATE '2018-12-01'\n  AND {column} < DATE '2019-01-01'"),
        (
            month_of_last_year(12, TODAY),
            "{column} >= DATE '2018-12-01'\n  AND {column} < DATE '2019-01-01'",
        ),
    ],
)
def test_a_time_counts_from_the_fixed_today(time, sql):
    assert time.sql == sql


def test_near_misses_change_one_thing():
    sql = "SELECT count(DISTINCT a) FROM t WHERE d >= DATE '2019-01-01' HAVING count(*) >= 3"
    assert "SELECT count(a) FROM t WHERE d >= DATE '2019-01-01' HAVING count(*) >= 3" in set(
        near_misses(sql)
    )
    assert len(list(near_misses(sql))) == 2 + 2 + 2 + 1
