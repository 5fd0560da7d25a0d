"""Verification walks from replies to frozen hashes and names what does not follow."""

import json
import shutil
from dataclasses import replace

import pytest

from agents.rereading import reread
from items.evidence import Head, evidence_folder, load_receipt, save_receipt, save_replies
from items.questions import Question, load_questions, save_questions
from items.records import content_event, record_of
from items.rendered import write
from items.settings import Settings, Waiver
from items.spec import Setting, load_spec, save_spec, spec_path
from items.verify import Frozen, verify
from prompts import quoted
from registry.canonical import sha256_json
from registry.events import Event, append, head, load
from tests.frozen import (
    FIGURES,
    ITEMS,
    PANEL,
    ballot_about,
    findings,
    frozen_registry,
    judged,
)
from tests.test_items_questions import ITEM


@pytest.fixture
def registry(tmp_path):
    return frozen_registry(tmp_path)


def test_what_was_frozen_follows_from_its_replies(registry):
    assert findings(registry) == []


def test_without_replies_the_panel_is_unverifiable_and_not_broken(registry):
    receipt = load_receipt(registry, "demo@0")
    save_receipt(registry, replace(receipt, replies=()))
    found = findings(registry)
    assert len(found) == 9  # two items and one decision, three seats each
    assert all(line.startswith("unverifiable: ") for line in found)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("evidence/demo@0/*.jsonl.gz", "the receipt names these replies"),
        ("evidence/demo@0/receipt.yaml", "every freeze writes a receipt"),
        ("evidence/demo@0/*-evidence.yaml", "the receipt names this evidence of a vote"),
        ("records/demo-hard-v0.jsonl", "the spec pins this record"),
        ("drafts/demo-hard-v0.yaml", "the spec pins these questions"),
    ],
)
def test_a_pinned_file_that_is_gone_is_named_as_missing(registry, name, why):
    (path,) = registry.glob(name)
    path.unlink()
    assert findings(registry) == [f"missing: {path}: {why}"]


def test_without_its_evidence_folder_a_broken_task_does_not_become_unverifiable(registry):
    shutil.rmtree(registry / "evidence")
    assert findings(registry) == [
        f"missing: {registry}/evidence/demo@0/receipt.yaml: every freeze writes a receipt"
    ]


def lied(registry, change):
    """Rebuild the record with one event changed, its chain, pins and receipt put right again."""
    path = registry / "drafts" / "demo-hard-v0.yaml"
    record = record_of(path)
    events = [change(event) for event in load(record)]
    record.unlink()
    bare = [replace(event, seq=0, previous="0" * 64) for event in events]
    write(path, bare)
    receipt = load_receipt(registry, "demo@0")
    heads = (Head(record.stem, len(bare), head(record)),)
    spec = load_spec(spec_path(registry, "demo@0"))
    tier = replace(spec.pins.tiers["hard"], record="")
    spec = replace(spec, pins=replace(spec.pins, tiers={"hard": tier}))
    save_spec(spec_path(registry, "demo@0"), spec)
    save_receipt(registry, replace(receipt, records=heads, spec_sha256=spec.sha256))
    return findings(registry)


def in_body(kind, seat, **body):
    def change(event):
        if (event.kind, event.body.get("seat")) == (kind, seat):
            return replace(event, body={**event.body, **body})
        return event

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            in_body("verdict", 2, verdict="revise"),
            "three valid approvals of this content do not exist",
        ),
        (in_body("verdict", 2, valid=False), "three valid approvals of this content do not exist"),
        (in_body("ballot", 3, vote="rs0"), "the tally is '2 of 3', the ballots give '3 of 3'"),
        (in_body("ballot", 1, vote="ex"), "the tally is '2 of 3', the ballots give '1 of 3'"),
        (in_body("decided", None, option="ex"), "the tally is '2 of 3', the ballots give '1 of 3'"),
    ],
)
def test_a_rewritten_record_does_not_follow_even_with_a_whole_chain(registry, change, said):
    assert any(said in line for line in lied(registry, change))


def test_an_approval_that_its_reply_does_not_give_is_found(registry):
    """The record is whole and approves; the exported reply says revise."""
    folder = evidence_folder(registry, "demo@0")
    issue = {"kind": "boundary", "sentence": "The limit is open.", "evidence": ""}
    replies = [reply for item in ITEMS for reply, _ in judged(item)]
    replies[0]["answer"]["text"] = json.dumps({"issues": [issue], "verdict": "revise"})
    name = save_replies(folder, replies)
    save_receipt(registry, replace(load_receipt(registry, "demo@0"), replies=(name,)))
    found = findings(registry)
    assert "the record says 'approve', its reply 'revise'" in found[0]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("model", "zeta/z-9b", "is zeta/z-9b's"),
        ("draw", 7, "on seat 7"),
        ("messages", [], "another question"),
    ],
)
def test_a_reply_of_another_seat_or_question_is_no_evidence(registry, field, value, said):
    def change(event):
        key = changed["key"]
        first = event.kind == "verdict" and event.item == ITEM.id and event.body["seat"] == 1
        return replace(event, body={**event.body, "calls": [key]}) if first else event

    changed = next(judged(ITEM))[0]
    changed = {**changed, "request": {**changed["request"], field: value}}
    changed["key"] = sha256_json(changed["request"])
    replies = [reply for item in ITEMS for reply, _ in judged(item)]
    name = save_replies(evidence_folder(registry, "demo@0"), [*replies, changed])
    save_receipt(registry, replace(load_receipt(registry, "demo@0"), replies=(name,)))
    assert any(said in line for line in lied(registry, change))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"reference_sql": "SELECT count(*) + 1 AS patients FROM person"}, "another reference_sql"),
        (
            {"reference_sql": "SELECT count(*) AS patients FROM person WHERE year_of_birth > 1950"},
            "another reference_sql",
        ),
        ({"reference_sql": "SELECT count(*) AS patients FROM visit"}, "another reference_sql"),
        ({"question_en": f"{ITEM.question_en} Count only women."}, "another question"),
        ({"question_ko": f"{ITEM.question_ko} 여자만."}, "another question"),
        ({"category": "relative_time"}, "category"),
        ({"difficulty": "hard"}, "difficulty"),
        ({"scope": "group"}, "scope"),
    ],
    ids=str,
)
def test_an_approval_of_another_content_is_not_passed_off_for_this_one(tmp_path, other, said):
    def saw(item):
        return replace(item, **other) if item == ITEM else item

    found = findings(frozen_registry(tmp_path, saw))
    assert found[0].startswith("broken: hard/hard-001: ")
    assert said in found[0]
    assert not any("hard-002" in line for line in found)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (ballot_about(FIGURES, question="Which limit?"), "about another decision"),
        (ballot_about(FIGURES, options=("rs0: RS(0)", "ex: RS(5)")), "among other options"),
        (ballot_about(quoted("evidence", "figures: {a: 1}\n")), "on other evidence"),
    ],
)
def test_a_vote_on_something_else_is_no_ballot(tmp_path, asked, said):
    assert said in findings(frozen_registry(tmp_path, asked=asked))[0]


def test_evidence_that_changed_after_the_vote_is_named(registry):
    (evidence_folder(registry, "demo@0") / "2026-11-30-evidence.yaml").write_text(
        "figures: {a: 1}\n"
    )
    assert findings(registry) == [
        "broken: hard: decision headline_metric: the evidence "
        "evidence/demo@0/2026-11-30-evidence.yaml changed after the vote"
    ]


def test_a_setting_that_was_not_decided_so_is_named(registry):
    path = spec_path(registry, "demo@0")
    spec = replace(load_spec(path), primary_metric="hard_ex")
    save_spec(path, spec)
    save_receipt(registry, replace(load_receipt(registry, "demo@0"), spec_sha256=spec.sha256))
    assert findings(registry)[-1].endswith(
        "primary_metric is not what headline_metric decided (rs0)"
    )


def respecced(registry, **changes):
    """Change the spec and put the receipt right again."""
    path = spec_path(registry, "demo@0")
    spec = replace(load_spec(path), **changes)
    save_spec(path, spec)
    save_receipt(registry, replace(load_receipt(registry, "demo@0"), spec_sha256=spec.sha256))
    return findings(registry)


def test_a_decision_cannot_be_called_unvoted_or_set_another_key(registry):
    (setting,) = load_spec(spec_path(registry, "demo@0")).decisions
    unvoted = Setting("primary_metric", "unvoted", reason="so")
    assert "the spec says that nobody did" in respecced(registry, decisions=(unvoted,))[-1]
    elsewhere = replace(setting, key="request.max_tokens")
    found = respecced(registry, decisions=(elsewhere,))
    assert any("headline_metric decided primary_metric" in line for line in found)


def test_a_decision_whose_question_is_gone_is_missing(registry):
    path = registry / "decisions" / "headline_metric.yaml"
    path.unlink()
    assert any(line.startswith(f"missing: {path}") for line in findings(registry))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f"author: {PANEL[0]}", "author: somebody", "its author is"),
        ("verdict: approve", "verdict: reject", "it shows reviews that the record has not"),
        ("tally: 2 of 3", "tally: 3 of 3", "it shows decisions that the record has not"),
        ("task: demo", "task: other", "it is of other"),
    ],
)
def test_what_the_file_shows_is_what_the_record_says(registry, old, new, said):
    path = registry / "drafts" / "demo-hard-v0.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert any(said in finding.what for finding in verify(Frozen(registry, "demo@0", reread)))


def test_settings_that_the_record_has_not_are_named(registry):
    path = registry / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    waiver = Waiver(ITEM.id, "ties", "meant", "Mallory", ITEM.sha256)
    for changed in (Settings(waivers=(waiver,)), Settings(severities={"ties": "off"})):
        save_questions(path, replace(file, settings=changed))
        assert "settings (waivers, severities) are not the record's" in findings(registry)[0]
    save_questions(path, replace(file, rendered_to=1_000))
    assert "it shows event 1000" in findings(registry)[0]


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (
            Event("drop", "Mallory", {"reason": "so"}, item=ITEM.id, item_sha256=ITEM.sha256),
            "broken",
        ),
        (Event("problem", "rule/check", {"problems": ["x"]}, item=ITEM.id), "unverifiable"),
    ],
)
def test_what_came_after_the_freeze_is_named(registry, event, status):
    append(record_of(registry / "drafts" / "demo-hard-v0.yaml"), [event])
    (found,) = findings(registry)
    assert found.startswith(status)
    assert "after the freeze" in found


def test_an_item_dropped_from_the_file_is_named(registry):
    path = registry / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    save_questions(path, replace(file, questions=file.questions[:1]))
    assert "broken: hard/hard-002: the record keeps it, the file does not" in findings(registry)


@pytest.mark.parametrize("status", ["draft", "dropped"])
def test_an_item_that_the_record_never_had_is_named(registry, status):
    path = registry / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    new = replace(Question.of(replace(ITEM, id="hard-003"), PANEL[0]), status=status)
    save_questions(path, replace(file, questions=(*file.questions, new)))
    assert "broken: hard/hard-003: the record has no such item" in findings(registry)


def test_a_dropped_entry_that_was_rewritten_is_named(tmp_path):
    registry = frozen_registry(tmp_path)
    path = registry / "drafts" / "demo-hard-v0.yaml"
    dropped = Question.of(replace(ITEM, id="hard-003"), PANEL[0])
    write(
        path,
        [
            content_event("draft", dropped.item, PANEL[0]),
            Event("drop", "Kim", {"reason": "no"}, "hard-003"),
        ],
    )
    text = path.read_text()
    assert text.count("status: dropped") == 1
    head_, tail = text.split("id: hard-003", 1)
    path.write_text(head_ + "id: hard-003" + tail.replace("question_en: ", "question_en: Oh, ", 1))
    assert "broken: hard/hard-003: it was dropped with another content" in findings(registry)
