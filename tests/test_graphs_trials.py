"""Catch trials and retests in a review: among the items, in the record, never in the file."""

import asyncio
from dataclasses import replace

from graphs import minutes, pipeline, sitting
from graphs.trials import open_trials, trial_events
from items.questions import load_questions
from items.records import record_of
from models.scripted import Scripted
from registry.events import load
from tests.making import (
    APPROVE,
    COUNT,
    ITEMS,
    PANEL,
    WOMEN,
    file_of,
    gate,
    ready,
    reviewed,
    says,
)


def tried(folder, eunomia, script, count=4):
    """Review three items with trials among them; returns the file's path and the model."""
    path = folder / "registry" / "drafts" / "demo-hard-v0.yaml"
    if not path.exists():
        file_of(folder)
    model, runs = Scripted(dict.fromkeys(PANEL, script)), folder / "runs"
    with (
        ready(path, eunomia, model) as context,
        open_trials(runs, context.book, context.ground, count, gate=gate) as (book, trials),
    ):
        mixed = replace(context, book=book)
        work = [(context, item.id) for item in ITEMS] + [(mixed, t.item.id) for t in trials]
        work = [(c, id) for c, id in work if sitting.open_work(c, id, fixing=False)]
        asyncio.run(pipeline.review_items(work, runs, panel="p", rounds=0, step=lambda _: None))
        context.book.write(*trial_events(book, trials))
    return path, model


def test_what_each_seat_said_of_a_trial_stands_in_the_record(tmp_path, eunomia):
    path, _ = tried(tmp_path, eunomia, says(APPROVE, COUNT.reference_sql))
    said = [event for event in load(record_of(path)) if event.kind == "trial"]
    assert len(said) == 4 * 3
    assert {event.body["verdict"] for event in said} == {"approve"}
    assert all(event.body["error"] and event.body["of"] and event.item is None for event in said)


def test_no_trial_enters_the_question_file(tmp_path, eunomia):
    path, _ = tried(tmp_path, eunomia, says(APPROVE, COUNT.reference_sql))
    assert {question.id for question in load_questions(path).questions} == {i.id for i in ITEMS}
    assert "trial" not in path.read_text()


def test_a_request_about_a_trial_looks_like_any_other(tmp_path, eunomia):
    _, model = tried(tmp_path, eunomia, says(APPROVE, COUNT.reference_sql))
    shown = "".join(m.content for request in model.asked for m in request.messages)
    assert "trial" not in shown.lower()
    assert len(model.asked) == (3 + 4) * 3 * 2


def test_running_again_asks_no_trial_twice_and_records_nothing_new(tmp_path, eunomia):
    path, _ = tried(tmp_path, eunomia, says(APPROVE, COUNT.reference_sql))
    before = load(record_of(path))
    _, model = tried(tmp_path, eunomia, says(APPROVE, COUNT.reference_sql))
    assert model.asked == []
    assert load(record_of(path)) == before


def test_a_retest_is_another_call_and_never_an_approval(tmp_path, eunomia):
    script = dict.fromkeys(PANEL, says(APPROVE, WOMEN.reference_sql))
    file, model = reviewed(tmp_path, eunomia, script, items=(WOMEN,), retest=1.0)
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    verdicts = [event for event in load(record_of(path)) if event.kind == "verdict"]
    assert sorted(event.body.get("repeat", 0) for event in verdicts) == [0, 0, 0, 1, 1, 1]
    assert len({request.key for request in model.asked}) == 12
    assert len(file.questions[0].reviews) == 3
    _, model = reviewed(tmp_path, eunomia, {}, items=(WOMEN,), retest=1.0)
    assert model.asked == []


def test_about_one_item_in_twenty_is_retested(tmp_path, eunomia):
    file_of(tmp_path, tuple(replace(COUNT, id=f"hard-{n:03d}") for n in range(400)))
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    with ready(path, eunomia, Scripted({})) as context:
        book, seats = context.book, context.reviewers
        chosen = [q.id for q in book.questions if minutes.untested(book, seats, q.id, 0.05)]
    assert 8 <= len(chosen) <= 36
