"""A frozen task is refused when anything it pins has changed, by the name of what changed (S1-052)."""

from dataclasses import replace

import duckdb
import pytest

from database.engine import open_database
from eval.spec import find_task, open_task, read_task
from eval.text2sql import Text2Sql
from items.evidence import Receipt, save_receipt
from items.spec import load_spec, save_spec, spec_path
from registry.reader import FormatError
from tests import small


@pytest.fixture
def place(tmp_path):
    return small.make(tmp_path)


def opened(place, **more):
    registry, data = place
    with open_database(data / "eunomia.duckdb") as database:
        return open_task(registry, small.TASK, database, **more)


def test_a_draft_can_only_be_dry_run(place):
    with pytest.raises(FormatError, match="small-text2sql@0 is a draft: add --dry-run"):
        opened(place)
    assert not opened(place, dry_run=True).frozen


def test_a_frozen_task_opens_as_it_was_frozen(place):
    small.freeze(*place)
    assert opened(place).frozen


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "small-text2sql-hard-v0.yaml",
            "FROM visit ORDER",
            "FROM  visit ORDER",
            "hard/h3: reference_sql",
        ),
        (
            "small-text2sql-hard-v0.yaml",
            "How many are h1?",
            "How many is h1?",
            "hard/h1: question_en",
        ),
        (
            "small-text2sql-v0.yaml",
            "e2은 몇 개인가요?",
            "e2는 몇 개인가요?",
            "easy/e2: question_ko",
        ),
        ("small-text2sql-hard-v0.yaml", "2019-07-03", "2019-07-04", "hard: (prompt_sha256|today)"),
        ("small-text2sql-hard-v0.yaml", "witness: death", "witness: visit", "hard/h4: witness"),
    ],
    ids=["a reference", "an English question", "a Korean question", "today", "a witness"],
)
def test_a_changed_item_is_refused_by_item_and_field(place, file, old, new, said):
    small.freeze(*place)
    path = place[0] / "drafts" / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(FormatError, match=said):
        opened(place)


def test_a_dropped_item_is_refused(place):
    small.freeze(*place)
    path = place[0] / "drafts" / "small-text2sql-v0.yaml"
    head, mark, rest = path.read_text().partition("author: rule/small@1")
    path.write_text(f"{head}{mark}\n  status: dropped{rest}")
    with pytest.raises(FormatError, match="easy/e1 is missing"):
        opened(place)


def test_a_changed_database_is_refused_by_table(place):
    small.freeze(*place)
    with duckdb.connect(place[1] / "eunomia.duckdb") as connection:
        connection.execute("UPDATE visit SET day = '2019-01-03' WHERE visit_id = 1")
    with pytest.raises(FormatError, match="table visit"):
        opened(place)


def test_a_tier_without_pins_is_refused(place):
    small.freeze(*place)
    path = spec_path(place[0], small.TASK)
    spec = load_spec(path)
    assert spec.pins is not None
    pins = replace(spec.pins, tiers={"hard": spec.pins.tiers["hard"]})
    save_spec(path, replace(spec, pins=pins))
    with pytest.raises(FormatError, match="the easy tier has no pins"):
        opened(place)


def test_a_spec_changed_after_its_receipt_is_refused(place):
    """No pin covers the output limit; the receipt's hash does."""
    small.freeze(*place)
    path = spec_path(place[0], small.TASK)
    spec = load_spec(path)
    assert spec.pins is not None
    receipt = Receipt(spec.task, spec.sha256, spec.pins.frozen, "owner", ())
    save_receipt(place[0], receipt)
    assert opened(place).frozen
    assert read_task(place[0], small.TASK).frozen
    changed = replace(spec.request, max_tokens=spec.request.max_tokens + 1)
    save_spec(path, replace(spec, request=changed))
    with pytest.raises(FormatError, match="the spec changed since its receipt"):
        opened(place)
    with pytest.raises(FormatError, match="the spec changed since its receipt"):
        read_task(place[0], small.TASK)


def test_an_unknown_prompt_is_refused_by_name(place):
    path = place[0] / "tasks" / f"{small.TASK}.yaml"
    path.write_text(path.read_text().replace("id: text2sql-omop-p0", "id: p9"))
    with pytest.raises(FormatError, match="prompt 'p9'"):
        opened(place, dry_run=True)


def test_a_task_is_found_by_name_by_slug_or_because_it_is_the_only_one(place):
    registry = place[0]
    assert find_task(registry, None) == find_task(registry, "small-text2sql") == small.TASK
    assert find_task(registry, small.TASK) == small.TASK
    with pytest.raises(FormatError, match="small-text2sql@0"):
        find_task(registry, "other")


def test_the_question_stands_last_and_the_schema_first(place):
    """Everything before the question is the same for a tier: a provider's prompt cache holds it."""
    exam = Text2Sql(opened(place, dry_run=True))
    texts = {i.id: exam.next_request(i, ()).messages for i in exam.instances()}
    system, user = texts["hard/h2-ko"]
    assert user.content.endswith("# Question\n\nh2은 몇 개인가요?\n")
    assert "Today is 2019-07-03" in system.content
    assert "ABSTAIN" in system.content
    assert "ABSTAIN" not in texts["easy/e1-ko"][0].content
    prefix = user.content.removesuffix("h2은 몇 개인가요?\n")
    assert texts["hard/h1-en"][1].content.startswith(prefix)
    assert "CREATE TABLE person" in prefix


def test_an_instance_is_named_by_tier_question_and_language(place):
    """S1-006."""
    exam = Text2Sql(opened(place, dry_run=True))
    ids = [instance.id for instance in exam.instances()]
    assert len(ids) == 12
    assert ids[0] == "easy/e1-en"
    assert ids[-1] == "hard/h4-ko"
