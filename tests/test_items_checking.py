"""Checking a file: on all cores, from memory where nothing changed, with every item told."""

import threading
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import replace

import pytest

from database.copies import Unanswered, order_dependence
from database.engine import Database, open_database
from items import checking, memory
from items.checking import check_items
from items.checks import Ground, check
from items.rules import basics, determinism
from items.rules.base import Case, Found, rule
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


@contextmanager
def killing(databases: Iterable[Database]):
    """Kill every worker of these databases, also the new ones, until the block ends."""
    begun, done = threading.Event(), threading.Event()

    def kill():
        while not done.wait(0.01):
            for database in databases:
                for worker in list(database._pool._living):
                    worker.process.kill()
            begun.set()

    killer = threading.Thread(target=kill)
    killer.start()
    begun.wait()
    try:
        yield
    finally:
        done.set()
        killer.join()


SLOW = "SELECT count(*) FROM range(30000) a, range(3000) b WHERE (a.range + b.range) % 7 = 1"
COUNT = f"SELECT count(*) AS patients FROM person WHERE ({SLOW}) > 0"  # a kill comes in time


def test_a_killed_worker_of_a_copy_is_no_difference(small):
    copies = small.database.copies
    with killing(copies.values()), pytest.raises(Unanswered, match="copy reversed: lost"):
        order_dependence(small.database, COUNT)
    assert order_dependence(small.database, COUNT) is None


def test_what_a_killed_worker_left_open_blocks_and_is_checked_again(small, monkeypatch):
    one = item(COUNT)
    monkeypatch.setattr("items.checks.RULES", (determinism.order_dependence, basics.answered))
    with killing(small.database.copies.values()):
        (lost,) = [f for f in check(one, small) if f.severity == "problem"]
    assert (lost.rule, lost.message) == ("answered", "could not be checked: run the check again")
    assert "copy reversed: lost" in lost.evidence
    memory.memory_of.cache_clear()
    assert not [f for f in check(one, small) if f.severity == "problem"]


def test_a_reference_whose_own_worker_is_killed_has_no_fault_and_runs_next_time(small):
    case = Case(item(COUNT), small)
    with killing([small.database]):
        assert case.rows is None
    assert [found.severity for found in basics.runs.look(case) if isinstance(found, Found)] == []
    (told,) = [found for found in basics.answered.look(case) if isinstance(found, Found)]
    assert told.evidence.startswith("lost: ")
    assert Case(case.item, small).rows is not None


def test_a_rule_that_fails_blocks_the_item_and_ends_no_check(small, monkeypatch):
    @rule("warning", source="ours")
    def clumsy(case):
        """Trips over everything."""
        yield str(1 / 0)

    monkeypatch.setattr("items.checks.RULES", (clumsy, basics.answered))
    memory.memory_of.cache_clear()
    (found,) = [f for f in check(item("SELECT 4 AS patients"), small) if f.severity == "problem"]
    assert found.rule == "answered"
    assert found.evidence == "clumsy failed: ZeroDivisionError: division by zero"


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
