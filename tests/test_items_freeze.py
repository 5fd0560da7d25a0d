"""A freeze pins what was approved, and a change afterwards is refused by name (S1-052)."""

from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest

from items.freeze import Now, TierNow, differences, freeze, verify_pins
from items.model import Item
from items.records import verdict_event
from items.spec import (
    Check,
    Prompt,
    Protocol,
    Request,
    Roster,
    Setting,
    Spec,
    Tier,
    envelope,
    load_spec,
    save_spec,
    spec_path,
    thawed,
)
from registry.reader import FormatError
from registry.writer import to_yaml
from tests.test_items_questions import ITEM

SPEC = Spec(
    slug="demo",
    version=0,
    title="Demo",
    dataset="eunomia",
    kind="text2sql",
    primary_metric="rs0",
    preview=False,
    license="none",
    split="test-only",
    instance_id="<tier>/<question id>-<lang>",
    request=Request(max_tokens=192, answer="a", messages="m", thinking="t"),
    tiers={
        "hard": Tier("drafts/demo-hard-v0.yaml", True, ("data_quality",), Prompt("p0"), "headline")
    },
    metrics={"primary": "rs0"},
    baselines={"benchtoward/prior": "abstain"},
    check=Check(Roster(None, None), "hard", "10%", {"rs": "benchtoward/prior"}),
    protocol=Protocol("EHRSQL 2024", "Lee 2024", "ours", ("items",), ()),
    deviations=("d",),
    limitations=("l",),
    items_note="n",
)
NOW = Now(
    tiers={"hard": TierNow((ITEM,), date(2019, 7, 3), "a" * 64, "b" * 64)},
    protocol="1",
    duckdb="2.0.1",
    database="c" * 64,
    tables={"person": "d" * 64},
)
WHEN = {"by": "owner", "on": date(2026, 11, 30)}


def panel(*by):
    return [
        verdict_event(ITEM, who, seat=seat, round=1, verdict="approve", valid=True, issues=[])
        for seat, who in enumerate(by, 1)
    ]


APPROVED = {"hard": panel("a", "b", "c")}
FROZEN = freeze(SPEC, NOW, APPROVED, **WHEN)


def now_with(item):
    return replace(NOW, tiers={"hard": replace(NOW.tiers["hard"], items=(item,))})


def test_a_spec_is_the_same_after_writing_and_reading(tmp_path):
    path = spec_path(tmp_path, "demo@0")
    save_spec(path, FROZEN)
    assert load_spec(path) == FROZEN
    assert load_spec(path).sha256 == FROZEN.sha256


def test_the_spec_hash_covers_content_and_not_layout(tmp_path):
    path = spec_path(tmp_path, "demo@0")
    path.parent.mkdir()
    body = to_yaml(SPEC)
    head = "slug: demo\n"
    assert body.startswith(head)
    path.write_text("# a comment\n" + body.removeprefix(head) + "visibility: open\n" + head)
    assert load_spec(path).sha256 == SPEC.sha256
    assert replace(SPEC, license="other").sha256 != SPEC.sha256


def test_the_envelope_has_the_keys_of_the_registry():
    keys = "slug, version, dataset, title, kind, primary_metric, preview, spec_hash, spec"
    assert ", ".join(envelope(FROZEN)) == keys  # S1-001


def test_a_spec_has_every_key_of_the_source():
    """S1-129; `preview` stands in the envelope there."""
    keys = "baselines check dataset decisions deviations instance_id items_note items_release kind license"
    keys += " limitations metrics primary_metric protocol request slug split tiers title version visibility"
    assert set(keys.split()) <= {f.name for f in fields(Spec)}


def test_what_was_frozen_verifies(tmp_path):
    verify_pins(FROZEN, NOW, tmp_path)


def test_a_draft_does_not(tmp_path):
    with pytest.raises(FormatError, match="is a draft"):
        verify_pins(SPEC, NOW, tmp_path)


CHANGED = {
    "question_ko": "환자 수는?",
    "question_en": "How many?",
    "reference_sql": "SELECT 1",
    "order_matters": True,
    "answerable": False,
    "category": "relative_time",
    "difficulty": "hard",
    "scope": "group",
    "witness": "death",
}


@pytest.mark.parametrize("field", [f.name for f in fields(Item) if f.name != "id"])
def test_a_changed_item_is_refused_by_id_and_field(field, tmp_path):
    changed = replace(ITEM, **{field: CHANGED[field]})
    with pytest.raises(FormatError, match=f"hard/hard-001: {field} changed"):
        verify_pins(FROZEN, now_with(changed), tmp_path)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (now_with(replace(ITEM, id="hard-002")), "hard/hard-001 is missing"),
        (replace(NOW, tiers={}), "the hard tier is missing"),
        (replace(NOW, tables={"person": "e" * 64}), "table person is eeeeeeeeeeee"),
        (replace(NOW, database="e" * 64), "the database is eeeeeeeeeeee"),
        (replace(NOW, duckdb="2.0.2"), "the duckdb is 2.0.2, the spec pins 2.0.1"),
        (replace(NOW, protocol="2"), "the protocol is 2"),
    ],
)
def test_whatever_else_decides_a_score_is_named_too(now, said):
    assert any(said in line for line in differences(FROZEN, now))


@pytest.mark.parametrize("key", ["today", "prompt_sha256", "schema_sha256"])
def test_so_is_what_a_model_is_shown(key):
    other = date(2020, 1, 1) if key == "today" else "e" * 64
    now = replace(NOW, tiers={"hard": replace(NOW.tiers["hard"], **{key: other})})
    assert differences(FROZEN, now)[0].startswith(f"hard: {key} is ")


def test_an_unapproved_item_is_not_frozen():
    with pytest.raises(ValueError, match=r"hard/hard-001: 2 of 3 seats approve"):
        freeze(SPEC, NOW, {"hard": panel("a", "b")}, **WHEN)


@pytest.mark.parametrize("by", [("a", "b", "rule/lint@1"), ("a", "b", "a")])
def test_rules_and_one_model_in_two_seats_freeze_a_preview_only(by):
    events = {"hard": panel(*by)}
    with pytest.raises(ValueError, match="preview: true"):
        freeze(SPEC, NOW, events, **WHEN)
    assert freeze(replace(SPEC, preview=True), NOW, events, **WHEN).pins


def test_an_untidy_text_is_not_frozen():
    spaced = replace(ITEM, question_en="How many patients are there? ")
    events = [replace(event, item_sha256=spaced.sha256) for event in APPROVED["hard"]]
    with pytest.raises(ValueError, match="white space"):
        freeze(SPEC, now_with(spaced), {"hard": events}, **WHEN)


def test_a_frozen_spec_is_not_frozen_again():
    with pytest.raises(ValueError, match="thaw"):
        freeze(FROZEN, NOW, APPROVED, **WHEN)


def test_equal_freezes_have_equal_pins():
    assert freeze(SPEC, NOW, APPROVED, **WHEN) == FROZEN


def test_a_thawed_spec_is_a_draft_without_the_panels_settings(tmp_path):
    voted = Setting("request.max_tokens", "panel", "output_limit", "2 of 3", date(2026, 11, 30))
    owner = Setting("license", "owner", reason="the data's own")
    path = spec_path(tmp_path, "demo@0")
    save_spec(path, replace(FROZEN, decisions=(voted, owner)))
    Path(path).write_text(thawed(path))
    draft = load_spec(path)
    assert (draft.pins, draft.decisions) == (None, (owner,))
