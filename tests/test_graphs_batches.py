"""The groups of a batched review: an order for each seat, and the same ones after a kill."""

from dataclasses import replace

from agents.seats import ReviewTask
from graphs.batches import groups
from tests.making import COUNT

TASKS = [ReviewTask(replace(COUNT, id=f"hard-{n:03d}"), 1) for n in range(12)]
ALL = [task.item.sha256 for task in TASKS]


def made(path, tasks=TASKS, waiting=ALL, seat="trial/1/a", size=5):
    """The groups of a seat, as item ids."""
    found = groups(path, tasks, waiting, seat=seat, size=size)
    return [[task.item.id for task in group] for group in found]


def test_every_item_stands_in_one_group_of_the_voted_size(tmp_path):
    found = made(tmp_path / "b.json")
    assert [len(group) for group in found] == [5, 5, 2]
    assert sorted(id for group in found for id in group) == [task.item.id for task in TASKS]


def test_each_seat_has_an_order_of_its_own(tmp_path):
    path = tmp_path / "b.json"
    assert made(path) != made(path, seat="trial/2/b")


def test_a_killed_run_finds_its_groups_again_whatever_was_judged_since(tmp_path):
    path = tmp_path / "b.json"
    before = made(path)
    assert made(path, waiting=ALL[:3]) == before


def test_a_group_with_an_edited_item_is_made_anew_from_what_waits(tmp_path):
    path = tmp_path / "b.json"
    before = made(path)
    gone = next(task for task in TASKS if task.item.id == before[0][0])
    edited = replace(gone, item=replace(gone.item, question_en="Another question?"))
    tasks = [edited if task is gone else task for task in TASKS]
    waiting = [task.item.sha256 for task in tasks]
    after = made(path, tasks=tasks, waiting=waiting)
    assert after[:2] == before[1:]
    assert sorted(after[2]) == sorted(before[0])


def test_what_was_judged_before_the_vote_is_not_grouped(tmp_path):
    assert made(tmp_path / "b.json", waiting=[]) == []
