"""Verification walks from replies to frozen hashes and names what does not follow."""

import json
import random
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.opening import listed
from agents.rereading import reread
from agents.restyle import laid_out
from items.evidence import Head, Receipt, evidence_folder, load_receipt, save_receipt, save_replies
from items.freeze import Now, TierNow, freeze
from items.questions import Question, QuestionFile, load_questions, save_questions
from items.records import content_event, record_of, verdict_event
from items.rendered import write
from items.settings import Settings, Waiver
from items.spec import Setting, Spec, load_spec, save_spec, spec_path
from items.verify import Frozen, verify
from prompts import quoted, render
from registry.canonical import sha256_json, sha256_text
from registry.events import Event, append, head, load
from registry.reader import FormatError, read
from tests.test_items_freeze import SPEC
from tests.test_items_questions import ITEM

COMMITTED = Path(__file__).parent.parent / "registry"
PANEL = ("acme/a-1b", "blue/b-2b", "core/c-3b")
OTHER = replace(
    ITEM, id="hard-002", question_en="How many visits are there?", question_ko="방문은 몇 건인가요?"
)
ITEMS = (ITEM, OTHER)
FIGURES = quoted("evidence", "figures: {}\n")
DECISION = """id: headline_metric
question: Which score?
scope: task
protocol: primary_metric
options:
- {id: rs0, text: RS(0), value: rs0}
- {id: ex, text: EX, value: hard_ex}
"""


SCHEMA = "CREATE TABLE person (person_id BIGINT, year_of_birth BIGINT);"


def review_of(item):
    """The conversation in which a reviewer judged an item, as its second request holds it."""
    rows = {"own_result": "<rows>\n1\n</rows>", "reference_result": "<rows>\n1\n</rows>"}
    sql = quoted("sql", laid_out(item.reference_sql, {"person": {"person_id": "BIGINT"}}))
    says = {"order_matters": "false", "answerable": "true", "witness": item.witness or "none"}
    says |= {name: getattr(item, name) for name in ("category", "difficulty", "scope")}
    shown = {"reference_sql": sql, "own_sql": sql, "matches": "yes", "notes": "", "objections": ""}
    questions = quoted("question_ko", item.question_ko), quoted("question_en", item.question_en)
    return [
        {"role": "system", "content": SCHEMA},
        {"role": "user", "content": "# The question\n\n" + "\n\n".join(questions)},
        {"role": "assistant", "content": "# The reference\n\n<sql>\nSELECT 2\n</sql>"},
        {"role": "user", "content": render("review/case", **rows, **shown, **says)},
    ]


def ballot_about(evidence, question="Which score?", options=("rs0: RS(0)", "ex: EX")):
    """The request in which a voter was asked."""
    asked = {"question": question, "options": listed("options", options), "reasons": ""}
    return [{"role": "user", "content": render("decide/ballot", evidence=evidence, **asked)}]


def reply(model, seat, messages, said):
    request = {"model": model, "draw": seat, "messages": messages, "temperature": 0.0}
    answer = {"text": json.dumps(said), "stop": "stop", "route": "r"}
    return {"key": sha256_json(request), "request": request, "answer": answer}


def judged(item, saw=lambda item: item):
    """The panel's replies to an item, and the verdicts that rest on them; `saw`: what it was shown."""
    for seat, model in enumerate(PANEL, 1):
        said = reply(model, seat, review_of(saw(item)), {"issues": [], "verdict": "approve"})
        body = {"seat": seat, "round": 1, "verdict": "approve", "valid": True, "issues": []}
        yield said, verdict_event(item, model, calls=[said["key"]], **body)


def voted(evidence, asked):
    for seat, model in enumerate(PANEL, 1):
        option = "rs0" if seat < 3 else "ex"
        said = reply(model, seat, asked, {"reason": "so", "option": option})
        body = {"decision": "headline_metric", "ballot": 1, "seat": seat, "valid": True}
        body |= {"vote": option, "reason": "so", "evidence": [evidence], "calls": [said["key"]]}
        yield said, Event("ballot", model, body)


@pytest.fixture
def registry(tmp_path):
    return frozen_registry(tmp_path)


def frozen_registry(registry, saw=lambda item: item, asked=None):
    """A registry with one frozen task: two items, three models, one decision, all replies.

    saw: what reviewers were shown in an item's place; asked: the request of the voters.
    """
    path = registry / "drafts" / "demo-hard-v0.yaml"
    questions = tuple(Question.of(item, PANEL[0]) for item in ITEMS)
    save_questions(path, QuestionFile("demo", "hard", date(2019, 7, 3), questions=questions))
    folder = evidence_folder(registry, "demo@0")
    folder.mkdir(parents=True)
    (folder / "2026-11-30-evidence.yaml").write_text("figures: {}\n")
    evidence = f"evidence/demo@0/2026-11-30-evidence.yaml {sha256_text('figures: {}' + chr(10))}"
    (registry / "decisions").mkdir()
    (registry / "decisions" / "headline_metric.yaml").write_text(DECISION)
    said = [pair for item in ITEMS for pair in judged(item, saw)]
    said += voted(evidence, asked or ballot_about(FIGURES))
    decided = {"decision": "headline_metric", "option": "rs0", "tally": "2 of 3", "by": "panel"}
    decided |= {"ballot": 1, "protocol": "primary_metric", "evidence": [evidence]}
    drafts = [content_event("draft", item, PANEL[0]) for item in ITEMS]
    write(path, [*drafts, *(event for _, event in said), Event("decided", "panel", decided)])
    record = record_of(path)
    setting = Setting("primary_metric", "panel", "headline_metric", "2 of 3", date(2026, 11, 30))
    now = Now(
        {"hard": TierNow(ITEMS, date(2019, 7, 3), "a" * 64, "b" * 64, head(record))},
        "1",
        "2.0.1",
        "c" * 64,
        {"person": "d" * 64},
    )
    spec = freeze(
        replace(SPEC, decisions=(setting,)),
        now,
        {"hard": load(record)},
        by="owner",
        on=date(2026, 11, 30),
    )
    write(path, [Event("freeze", "owner", {"task": "demo@0"})])
    names = (save_replies(folder, [reply for reply, _ in said]),)
    heads = (Head(record.stem, len(load(record)), head(record)),)
    seen = {evidence.partition(" ")[0]: evidence.partition(" ")[2]}
    save_receipt(
        registry, Receipt("demo@0", spec.sha256, date(2026, 11, 30), "owner", heads, names, seen)
    )
    save_spec(spec_path(registry, "demo@0"), spec)
    return registry


def findings(registry):
    return [str(finding) for finding in verify(Frozen(registry, "demo@0", reread))]


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


VICTIMS = (
    "records/demo-hard-v0.jsonl",
    "evidence",
    "drafts/demo-hard-v0.yaml",
    "tasks/demo@0.yaml",
)
HASHED = ("question_ko:", "question_en:", "  id: hard", "sha256:", "hard-00")


def spans(path: Path, data: bytes) -> list[tuple[int, int]]:
    """Where a change must be found: the whole of records and replies, the hashed values of YAML."""
    if path.suffix != ".yaml":
        return [(0, len(data))]
    found = []
    for name in HASHED:
        start = data.find(name.encode())
        while start >= 0:
            begin, end = start + len(name.encode()) + 1, data.find(b"\n", start)
            if end > begin:
                found.append((begin, end))
            start = data.find(name.encode(), end)
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return frozen_registry(tmp_path_factory.mktemp("registry"))


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(draw=st.data())
def test_a_flipped_or_deleted_byte_is_always_found(shared, draw):
    victim = shared / draw.draw(st.sampled_from(VICTIMS), label="file")
    if victim.is_dir():
        victim = next(victim.rglob("*.jsonl.gz"))
    whole = victim.read_bytes()
    begin, end = draw.draw(st.sampled_from(spans(victim, whole)), label="span")
    place = draw.draw(st.integers(begin, end - 1), label="place")
    byte = draw.draw(st.none() | st.integers(0, 255), label="byte")
    changed = whole[:place] + (b"" if byte is None else bytes([byte])) + whole[place + 1 :]
    if changed == whole:
        return
    try:
        victim.write_bytes(changed)
        assert any(not line.startswith("unverifiable: ") for line in findings(shared))
    finally:
        victim.write_bytes(whole)


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    return shutil.copytree(COMMITTED, tmp_path_factory.mktemp("committed") / "registry")


def held(path):
    """What a file says when it is read, or None where it cannot be."""
    try:
        if path.suffix == ".jsonl":
            return path.read_bytes()
        return read(path, {"drafts": QuestionFile, "tasks": Spec}.get(path.parent.name, Receipt))
    except FormatError:
        return None


def harmed(data: bytes, chance: random.Random) -> bytes:
    """A byte flipped, a bit flipped, some bytes deleted, or one doubled."""
    at = chance.randrange(len(data))
    return chance.choice(
        (
            data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
            data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :],
            data[:at] + data[at + chance.choice((1, 6, 60)) :],
            data[: at + 1] + data[at:],
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "records/eunomia-text2sql-hard-v0.jsonl",
        "records/eunomia-text2sql-v0.jsonl",
        "drafts/eunomia-text2sql-hard-v0.yaml",
        "drafts/eunomia-text2sql-v0.yaml",
        "tasks/eunomia-text2sql@0.yaml",
        "evidence/eunomia-text2sql@0/receipt.yaml",
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_the_committed_task_does_not_follow_once_a_byte_of_it_is_harmed(committed, name, seed):
    """Whole files, not only what is hashed: nothing that a file says can change unseen."""
    path = committed / name
    whole, before = path.read_bytes(), held(path)
    try:
        path.write_bytes(harmed(whole, random.Random(f"{name} {seed}")))
        failing = (f for f in verify(Frozen(committed, "eunomia-text2sql@0", reread)) if f.fails)
        assert next(failing, None) or held(path) == before
    finally:
        path.write_bytes(whole)
