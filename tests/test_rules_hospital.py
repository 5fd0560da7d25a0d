"""Questions on the real hospital data: silent on the right reference, awake to the wrong one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from database.engine import open_database
from items.checks import Ground, check
from items.model import Item
from tests.gate import TODAY, item, strong

PAIRS = yaml.safe_load((Path(__file__).parent / "cases" / "hospital_pairs.yaml").read_text())


@pytest.fixture(scope="module")
def hospital(eunomia):
    with open_database(eunomia) as database:
        yield Ground(database, TODAY)


def right(pair: dict[str, Any]) -> Item:
    made = item(pair["right"].strip(), pair["question_en"], question_ko=pair["question_ko"])
    return replace(made, order_matters=pair.get("order_matters", False))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_a_right_reference_is_left_alone(pair, hospital):
    assert strong(check(right(pair), hospital)) == set()


@pytest.mark.parametrize("pair", [p for p in PAIRS if "rule" in p], ids=lambda pair: pair["id"])
def test_a_mistake_is_seen_by_its_rule(pair, hospital):
    wrong = replace(
        right(pair),
        reference_sql=pair.get("wrong", pair["right"]).strip(),
        question_ko=pair.get("wrong_question_ko", pair["question_ko"]),
    )
    assert pair["rule"] in strong(check(wrong, hospital))
