"""Checking a file: on all cores, from memory where nothing changed, with every item told."""

from dataclasses import replace

import pytest

from database.engine import open_database
from items import checking, memory
from items.checking import check_items
from items.checks import Ground, check
from items.settings import Settings
from tests.gate import FIXTURE_TODAY, build_fixture, item, reference_cases, strong, twin


@pytest.fixture
def small(tmp_path):
    with open_database(build_fixture(tmp_path / "fixture.duckdb")) as database:
        yield Ground(database, FIXTURE_TODAY)


def some(count):
    return [twin(case, "wrong") for case in reference_cases()[:count]]


def silent(_name):
    return None


def test_two_processes_find_what_one_finds(small, tmp_path):
    work = [(one, small) for one in some(6)]
    shared = check_items(work, silent, processes=2)
    assert [one.findings for one in shared] == [
        tuple(check(one, replace(small, database=small.database))) for one, _ in work
    ]
    assert not any(one.remembered for one in shared)


def test_an_unchanged_item_is_remembered_and_a_changed_one_is_not(small):
    first, second = some(2)
    check_items([(first, small), (second, small)], silent)
    changed = replace(second, question_en=second.question_en + " Please.")
    told = check_items([(first, small), (changed, small)], silent)
    assert [one.remembered for one in told] == [True, False]


def test_memory_outlives_the_process_and_settings_need_no_second_look(small, monkeypatch):
    (one,) = some(1)
    before = check(one, small)
    memory.memory_of.cache_clear()
    monkeypatch.setattr("items.checks._found", lambda *_: pytest.fail("it looked again"))
    quiet = replace(small, settings=Settings(severities={"sum_of_distinct": "note"}))
    assert {f.rule for f in check(one, quiet)} == {f.rule for f in before}
    assert strong(check(one, quiet)) == set()


@pytest.mark.parametrize("what", ["today", "thresholds", "others"])
def test_what_decides_a_finding_is_in_the_key(small, what):
    one = item("SELECT count(*) FROM person")
    other = {
        "today": replace(small, today=None),
        "thresholds": replace(small, settings=Settings(thresholds={"mutation_score": 1.0})),
        "others": replace(small, others=(item("SELECT 1"),)),
    }[what]
    same = memory.key_of(one, small, across=True) == memory.key_of(one, other, across=True)
    assert not same


def test_a_half_written_line_of_memory_is_ignored(small):
    (one,) = some(1)
    before = check(one, small)
    path = memory.memory_of(small.database).path
    with path.open("a") as out:
        out.write('["half')
    memory.memory_of.cache_clear()
    assert check(one, small) == before


def test_every_item_is_told_once(small):
    told = []
    check_items([(one, small) for one in some(5)], told.append, processes=2)
    assert sorted(told) == sorted(one.id for one in some(5))
    assert checking.FEW <= 5
