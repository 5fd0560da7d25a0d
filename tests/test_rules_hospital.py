"""Questions on the real hospital data: silent on the right reference, awake to the wrong one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from database.engine import open_database
from items.checks import RULES, Ground, found_alone
from items.model import Item
from tests.gate import FIXTURE_TODAY, TODAY, build_fixture, item, strong

PAIRS = yaml.safe_load((Path(__file__).parent / "cases" / "hospital_pairs.yaml").read_text())


@pytest.fixture(scope="module")
def grounds(eunomia, tmp_path_factory):
    """The real hospital, and the small one of the reported errors (`small: true`)."""
    fixture = build_fixture(tmp_path_factory.mktemp("small") / "fixture.duckdb")
    with open_database(eunomia) as hospital, open_database(fixture) as small:
        yield {False: Ground(hospital, TODAY), True: Ground(small, FIXTURE_TODAY)}


@pytest.fixture(autouse=True)
def light(monkeypatch):
    """Without the two rules that build databases: nothing here is about them, and they take the time."""
    heavy = ("hidden_mistakes", "order_dependence")
    monkeypatch.setattr("items.checks.RULES", tuple(r for r in RULES if r.name not in heavy))


def right(pair: dict[str, Any]) -> Item:
    made = item(pair["right"].strip(), pair["question_en"], question_ko=pair["question_ko"])
    return replace(made, order_matters=pair.get("order_matters", False))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_a_right_reference_is_left_alone(pair, grounds):
    assert strong(found_alone(right(pair), grounds["small" in pair])) == set()


@pytest.mark.parametrize("pair", [p for p in PAIRS if "rule" in p], ids=lambda pair: pair["id"])
def test_a_mistake_is_seen_by_its_rule(pair, grounds):
    wrong = replace(
        right(pair),
        reference_sql=pair.get("wrong", pair["right"]).strip(),
        question_ko=pair.get("wrong_question_ko", pair["question_ko"]),
    )
    assert pair["rule"] in strong(found_alone(wrong, grounds["small" in pair]))
