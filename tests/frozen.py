"""A small frozen task with all its replies, to be harmed: two items, three models, one decision."""

import json
from dataclasses import replace
from datetime import date

from agents.opening import listed
from agents.rereading import reread
from agents.restyle import laid_out
from items.evidence import Head, Receipt, evidence_folder, save_receipt, save_replies
from items.freeze import Now, TierNow, freeze
from items.questions import Question, QuestionFile, save_questions
from items.records import content_event, record_of, verdict_event
from items.rendered import write
from items.spec import Setting, save_spec, spec_path
from items.verify import Frozen, verify
from prompts import quoted, render
from registry.canonical import sha256_json, sha256_text
from registry.events import Event, head, load
from tests.test_items_freeze import SPEC
from tests.test_items_questions import ITEM

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
