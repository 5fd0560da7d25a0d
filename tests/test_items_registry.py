"""What the repository ships: its specs, decisions and easy questions are sound."""

from pathlib import Path

import pytest

from agents.rules import REVIEWERS
from agents.seats import Briefing, ReviewTask
from database.engine import open_database
from items.checks import Ground, check
from items.decisions import load_decisions
from items.questions import CATEGORIES, load_questions
from items.spec import load_spec, spec_path

REGISTRY = Path(__file__).parent.parent / "registry"
DEMO, SOURCE = "eunomia-text2sql@0", "synthetic-snuh-text2sql@0"


@pytest.fixture(scope="module")
def easy():
    return load_questions(REGISTRY / "drafts" / "eunomia-text2sql-v0.yaml")


def test_the_decisions_are_the_sources():
    asked = {d.id: d.freeze for d in load_decisions(REGISTRY)}
    assert [id for id, freeze in asked.items() if not freeze] == [
        "headline_metric",
        "output_limit",
        "review_batch",
        "second_round",
    ]  # S1-032
    assert [id for id, freeze in asked.items() if freeze] == [
        "easy_tier_publication",
        "output_format",
        "reference_roster",
    ]  # S1-033


def test_a_decision_sets_a_key_that_the_spec_has():
    spec = load_spec(spec_path(REGISTRY, DEMO))
    for decision in load_decisions(REGISTRY):
        value = spec
        for key in decision.protocol.split("."):
            value = value[key] if isinstance(value, dict) else getattr(value, key)


def test_the_source_spec_is_a_draft_with_recorded_facts():
    spec = load_spec(spec_path(REGISTRY, SOURCE))
    assert (spec.pins, spec.preview, spec.primary_metric) == (None, False, "rs0")  # S1-002
    assert spec.request.max_tokens == 16_384  # S1-117
    assert spec.recorded["spec_hash"].startswith("ac017b1c")  # S1-003, a fact and not a pin
    assert len(spec.protocol.benchmark_made) == 10  # S1-125
    assert len(spec.deviations) == 12  # S1-124
    assert len(spec.limitations) == 6  # S1-128
    assert [s.commit and s.commit[:8] for s in spec.protocol.also_adopted] == [
        "e97acc54",
        "01241a3c",
        None,
        None,
    ]  # S1-126


def test_the_demo_is_a_preview():
    spec = load_spec(spec_path(REGISTRY, DEMO))
    assert (spec.preview, spec.request.max_tokens) == (True, 192)
    assert {name: tier.abstention for name, tier in spec.tiers.items()} == {
        "hard": True,
        "easy": False,
    }


def test_the_easy_questions_cover_the_easy_categories(easy):
    assert len(easy.questions) == 10
    assert {q.category for q in easy.questions} == set(CATEGORIES["easy"])  # S1-053
    assert all(q.answerable for q in easy.questions)  # S1-112


def test_the_easy_questions_pass_the_gate_and_the_rule_reviewers(easy, eunomia):
    with open_database(eunomia) as database:
        briefing = Briefing(database, "", "", easy.today, abstention=False)
        for item in easy.kept:
            found = check(item, Ground(database, easy.today))
            assert [f for f in found if f.severity != "note"] == [], item.id
            for rule in REVIEWERS.values():
                said = rule(ReviewTask(item, 1), briefing)
                assert (item.id, said.issues) == (item.id, ())
