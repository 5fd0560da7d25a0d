"""A frozen task's next version keeps what stays, and says what it changed."""

from dataclasses import replace

import pytest

from items.approvals import approval
from items.decisions import Decision, Option
from items.freeze import freeze
from items.protocol import KEYS, lint
from items.questions import Decided, load_questions
from items.records import record_of
from items.spec import Setting, load_spec, spec_path
from items.versions import entry, start_next, write_entry
from registry.events import load
from registry.reader import FormatError
from tests.test_items_freeze import APPROVED, FROZEN, NOW, SPEC, WHEN, now_with
from tests.test_items_questions import ITEM
from tests.test_items_verify import frozen_registry


def test_the_next_version_is_a_draft_whose_items_stay_approved(tmp_path):
    registry = frozen_registry(tmp_path)
    before = spec_path(registry, "demo@0").read_bytes()
    start_next(registry, load_spec(spec_path(registry, "demo@0")))
    draft = load_spec(spec_path(registry, "demo@1"))
    path = registry / draft.tiers["hard"].file
    assert (draft.pins, path.name) == (None, "demo-hard-v1.yaml")
    events = load(record_of(path))
    assert all(approval(events, item).approved for item in load_questions(path).kept)
    assert spec_path(registry, "demo@0").read_bytes() == before


def test_it_is_started_once(tmp_path):
    registry = frozen_registry(tmp_path)
    spec = load_spec(spec_path(registry, "demo@0"))
    start_next(registry, spec)
    with pytest.raises(FormatError, match="started already"):
        start_next(registry, spec)


def test_an_entry_names_items_and_fields():
    changed = replace(ITEM, question_en="How many people are there?")
    events = {"hard": [replace(event, item_sha256=changed.sha256) for event in APPROVED["hard"]]}
    after = freeze(replace(SPEC, version=1), now_with(changed), events, **WHEN)
    assert entry(FROZEN, after) == ["hard/hard-001: question_en"]
    now = replace(NOW, database="e" * 64)
    assert entry(FROZEN, freeze(SPEC, now, APPROVED, **WHEN)) == [
        "database: cccccccccccc -> eeeeeeeeeeee"
    ]


def test_an_entry_is_written_once(tmp_path):
    for _ in range(2):
        path = write_entry(tmp_path, FROZEN, ["hard/hard-001: question_en"])
    assert path.read_text().count("## demo@0 (2026-11-30)") == 1


SET = tuple(Setting(key, "unvoted", reason="ours") for key in KEYS if not key.startswith("tiers"))
METRIC = Decision(
    "headline_metric",
    "?",
    "task",
    "primary_metric",
    (Option("rs0", "RS(0)", "rs0"), Option("ex", "EX", "hard_ex")),
)


def decided(option):
    return Decided("headline_metric", option, "2 of 3", "panel", "primary_metric", "2026-11-30")


def test_every_protocol_key_has_someone_who_answers_for_it():
    whole = {"review": {"batch": 1, "second_round": False}, "metrics": {"intervals": "bootstrap"}}
    spec = replace(SPEC, **whole, decisions=SET)
    assert lint(spec, [], []) == []
    assert lint(replace(spec, decisions=SET[1:]), [], [])[0].startswith(
        "primary_metric: nobody set it"
    )
    assert "is open" in lint(replace(spec, decisions=SET[1:]), [METRIC], [])[0]
    assert lint(replace(spec, decisions=SET[1:]), [METRIC], [decided("rs0")]) == []
    assert lint(replace(spec, decisions=SET[1:]), [METRIC], [decided("ex")]) == [
        "primary_metric is 'rs0'; headline_metric decided 'hard_ex' (2 of 3)"
    ]
