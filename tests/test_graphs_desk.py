"""The owner's desk: what the panel cannot agree on waits, through any number of restarts."""

import asyncio
from dataclasses import asdict, replace

import pytest

from graphs import minutes
from graphs.pipeline import at_desk
from items.approvals import approval
from items.checks import Finding
from items.questions import load_questions, save_questions
from items.records import record_of
from items.settings import Waiver
from registry.events import append, load
from registry.reader import FormatError
from tests.making import (
    APPROVE,
    COUNT,
    PANEL,
    REVISE,
    answer,
    first_pass,
    reviewed,
    says,
    submits,
)

GOLD = COUNT.reference_sql
WORD = {"by": "Kim", "reason": "The limit is the source's own."}
SPLIT = dict.fromkeys(PANEL, says(APPROVE, GOLD)) | {
    PANEL[1]: says(REVISE, GOLD),
    "fixer/f-1b": lambda request: submits(COUNT, "The wording is right as it is."),
}


def waiting(folder):
    return asyncio.run(at_desk(folder / "runs", "demo-hard-v0"))


def events(folder):
    return load(record_of(folder / "registry" / "drafts" / "demo-hard-v0.yaml"))


def split(folder, eunomia):
    """Leave one item on the desk: seat 2 objects, and the fixer sees nothing to mend."""
    return reviewed(folder, eunomia, SPLIT, rounds=1, unsettled="owner")


def settled(folder, eunomia, word, scripts=SPLIT):
    """Give the owner's word on it."""
    told = {COUNT.id: {**WORD, **word}}
    return reviewed(folder, eunomia, scripts, rounds=1, unsettled="owner", answers=told)


def test_a_split_panel_waits_for_the_owner(tmp_path, eunomia):
    file, _ = split(tmp_path, eunomia)
    assert file.questions[0].status == "draft"
    (shown,) = waiting(tmp_path)
    assert (shown["item"], shown["panel"]) == (COUNT.id, "test")
    assert shown["said"] == ["seat 1: approve", "seat 2: revise", "seat 3: approve"]


def test_it_still_waits_when_the_command_runs_again_and_nobody_is_asked(tmp_path, eunomia):
    split(tmp_path, eunomia)
    before = events(tmp_path)
    _, model = split(tmp_path, eunomia)
    assert model.asked == []
    assert events(tmp_path) == before
    assert len(waiting(tmp_path)) == 1


def test_a_seat_that_objected_is_shown_what_the_fixer_replied(tmp_path, eunomia):
    _, model = split(tmp_path, eunomia)
    second = [r for r in model.asked if "right as it is" in r.messages[-1].content]
    assert {request.model for request in second} == {PANEL[1]}


def test_the_owner_drops_with_a_name_and_a_reason(tmp_path, eunomia):
    split(tmp_path, eunomia)
    file, model = settled(tmp_path, eunomia, {"act": "drop"})
    assert file.questions[0].status == "dropped"
    assert [(e.kind, e.by) for e in events(tmp_path)][-2:] == [("owner", "Kim"), ("drop", "Kim")]
    assert (model.asked, waiting(tmp_path)) == ([], [])


def test_the_owners_approval_is_no_seats_verdict(tmp_path, eunomia):
    split(tmp_path, eunomia)
    settled(tmp_path, eunomia, {"act": "approve"})
    assert not approval(events(tmp_path), COUNT).approved
    assert len(waiting(tmp_path)) == 1


def test_what_the_owner_sends_back_is_shown_to_the_seats_that_objected(tmp_path, eunomia):
    split(tmp_path, eunomia)

    def convinced(request):
        if first_pass(request):
            return answer(GOLD)
        return APPROVE if WORD["reason"] in request.messages[-1].content else REVISE

    scripts = SPLIT | {PANEL[1]: convinced}
    _, model = settled(tmp_path, eunomia, {"act": "approve"}, scripts)
    assert {request.model for request in model.asked} == {PANEL[1]}
    assert approval(events(tmp_path), COUNT).approved
    assert waiting(tmp_path) == []


def test_what_the_owner_edits_is_judged_anew_by_all_three(tmp_path, eunomia):
    split(tmp_path, eunomia)
    edited = replace(COUNT, question_en="How many patients were born in 1959 or earlier?")
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD))
    settled(tmp_path, eunomia, {"act": "edit", "item": asdict(edited)}, scripts)
    assert approval(events(tmp_path), edited).approved
    assert not approval(events(tmp_path), COUNT).approved


def test_editing_the_file_by_hand_does_the_same(tmp_path, eunomia):
    split(tmp_path, eunomia)
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    edited = replace(file.questions[0], question_en="How many patients were born by 1959?")
    save_questions(path, replace(file, questions=(edited,)))
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD))
    reviewed(tmp_path, eunomia, scripts, rounds=1, unsettled="owner")
    assert approval(events(tmp_path), edited.item).approved
    assert waiting(tmp_path) == []


WILLING = dict.fromkeys(PANEL, says(APPROVE, GOLD))
TIES = "ties: two dates share the last place"


def strict(*rules):
    """A gate that finds these rules broken until they are waived."""

    def found(item, ground):
        waived = [r for r in rules if ground.settings.waiver(item.id, item.sha256, r)]
        message = TIES.partition(": ")[2]
        return [Finding(rule, "problem", message) for rule in rules if rule not in waived]

    return found


def stopped(folder, eunomia, *rules, word=None, scripts=WILLING, **options):
    """Review one item that the gate stops, with the owner's word on it."""
    answers = {COUNT.id: {**WORD, **word}} if word else None
    return reviewed(folder, eunomia, scripts, gate=strict(*rules), answers=answers, **options)


def test_an_item_that_breaks_a_rule_waits_before_anyone_is_asked(tmp_path, eunomia):
    _, model = stopped(tmp_path, eunomia, "ties")
    (shown,) = waiting(tmp_path)
    assert (shown["kind"], shown["item"], shown["command"]) == ("waiver", COUNT.id, "review")
    assert shown["problems"] == [TIES]
    assert model.asked == []
    _, model = stopped(tmp_path, eunomia, "ties")
    assert (model.asked, len(waiting(tmp_path))) == ([], 1)


def test_a_waiver_stands_in_file_and_record_and_the_panel_judges_the_item(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties")
    file, _ = stopped(tmp_path, eunomia, "ties", word={"act": "waive", "rule": "ties"})
    assert file.settings.waivers == (
        Waiver(COUNT.id, "ties", WORD["reason"], "Kim", item_sha256=COUNT.sha256),
    )
    said = [e for e in events(tmp_path) if e.kind in ("owner", "waiver")]
    assert [(e.kind, e.by, e.item_sha256) for e in said] == [
        ("owner", "Kim", COUNT.sha256),
        ("waiver", "Kim", COUNT.sha256),
    ]
    assert approval(events(tmp_path), COUNT).approved
    assert waiting(tmp_path) == []


def test_each_broken_rule_needs_a_waiver_of_its_own(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties", "nulls")
    for rule, left in (("ties", 1), ("nulls", 0)):
        stopped(tmp_path, eunomia, "ties", "nulls", word={"act": "waive", "rule": rule})
        assert len(waiting(tmp_path)) == left
    waived = [e.body["rule"] for e in events(tmp_path) if e.kind == "waiver"]
    assert waived == ["ties", "nulls"]
    assert approval(events(tmp_path), COUNT).approved


def test_a_waiver_typed_into_the_file_lets_the_waiting_item_go_on(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties")
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    waiver = Waiver(COUNT.id, "ties", "meant", "Lee", COUNT.sha256)
    save_questions(path, replace(file, settings=replace(file.settings, waivers=(waiver,))))
    stopped(tmp_path, eunomia, "ties")
    assert approval(events(tmp_path), COUNT).approved
    assert waiting(tmp_path) == []


def test_what_a_fixer_cannot_mend_waits_for_a_waiver_too(tmp_path, eunomia):
    same = WILLING | {"fixer/f-1b": lambda request: submits(COUNT, "The ties are meant.")}
    options = {"scripts": same, "rounds": 1, "unsettled": "owner"}
    stopped(tmp_path, eunomia, "ties", **options)
    (shown,) = waiting(tmp_path)
    assert (shown["kind"], shown["command"]) == ("waiver", "fix")
    stopped(tmp_path, eunomia, "ties", word={"act": "waive", "rule": "ties"}, **options)
    assert approval(events(tmp_path), COUNT).approved


def test_an_item_that_breaks_a_rule_can_be_dropped_or_edited_at_the_desk(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties")
    edited = replace(COUNT, question_en="How many patients were born in 1959 or earlier?")
    word = {"act": "edit", "item": asdict(edited)}
    stopped(tmp_path, eunomia, "ties", word=word)
    (shown,) = waiting(tmp_path)
    assert shown["item_sha256"] == edited.sha256  # the edit breaks it too
    file, _ = stopped(tmp_path, eunomia, "ties", word={"act": "drop"})
    assert file.questions[0].status == "dropped"


def test_a_rule_that_is_set_otherwise_since_stops_nothing(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties")
    stopped(tmp_path, eunomia)  # the rule is off now
    assert approval(events(tmp_path), COUNT).approved
    assert waiting(tmp_path) == []


def test_a_drop_that_was_killed_before_the_file_was_rendered_stays_a_drop(tmp_path, eunomia):
    split(tmp_path, eunomia)
    word = {**WORD, "act": "drop"}
    record = record_of(tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml")
    append(record, minutes.owner_events(COUNT, 2, word))
    file, model = settled(tmp_path, eunomia, word)
    assert (file.questions[0].status, model.asked, waiting(tmp_path)) == ("dropped", [], [])
    assert [e.kind for e in events(tmp_path)][-2:] == ["owner", "drop"]


def test_a_word_on_content_that_was_changed_since_is_not_taken(tmp_path, eunomia):
    split(tmp_path, eunomia)
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    edited = replace(file.questions[0], question_en="How many patients were born by 1959?")
    save_questions(path, replace(file, questions=(edited,)))
    with pytest.raises(FormatError, match="hard-001 was changed since it was shown"):
        settled(tmp_path, eunomia, {"act": "drop"})
    assert [e.kind for e in events(tmp_path)][-1] == "edit"


def test_a_rule_broken_again_after_an_edit_back_is_told_again(tmp_path, eunomia):
    stopped(tmp_path, eunomia, "ties")
    stopped(tmp_path, eunomia, "ties", word={"act": "edit", "item": asdict(COUNT)})
    last = events(tmp_path)[-1]
    assert (last.kind, last.item_sha256) == ("problem", COUNT.sha256)
    stopped(tmp_path, eunomia, "ties")
    assert events(tmp_path)[-1].seq == last.seq
