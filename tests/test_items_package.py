"""A package holds the pinned items, in forms that others read, and nothing that is not ours to give."""

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml

from database.engine import open_database
from items.freeze import pins_of
from items.model import HASHED, tier_sha256
from items.neighbour import rebuilt
from items.package import COLUMNS, VERSION, build_package, package_items
from items.questions import Question, QuestionFile, load_questions
from items.recipes import recipes_of
from items.rules.facts import Facts
from items.spec import load_spec, spec_path
from registry.canonical import sha256_json
from registry.reader import FormatError
from tests.test_items_freeze import FROZEN, NOW, SPEC, WHEN
from tests.test_items_questions import ITEM
from tests.test_items_verify import frozen_registry

FILE = QuestionFile("demo", "hard", date(2019, 7, 3), questions=(Question.of(ITEM, "a"),))


@pytest.fixture
def package(tmp_path):
    return build_package(FROZEN, {"hard": FILE}, tmp_path / "khdp" / "demo-1.0.0", "1.0.0")


def test_from_package_to_items_to_the_pinned_hash(package):
    items = package_items(package)
    assert tier_sha256(items["hard"]) == FROZEN.pins.tiers["hard"].sha256


def test_a_stranger_gets_the_pinned_hash_from_the_jsonl_alone(package):
    rows = [json.loads(line) for line in (package / "data/hard.jsonl").read_text().splitlines()]
    rows = [{name: row[name] for name in HASHED} for row in sorted(rows, key=lambda row: row["id"])]
    assert sha256_json(rows) == FROZEN.pins.tiers["hard"].sha256


def test_a_frozen_registry_goes_round_too(tmp_path):
    registry = frozen_registry(tmp_path / "registry")
    spec = load_spec(spec_path(registry, "demo@0"))
    tiers = {"hard": load_questions(registry / spec.tiers["hard"].file)}
    items = package_items(build_package(spec, tiers, tmp_path / "package", "1.0.0"))
    assert tier_sha256(items["hard"]) == spec.pins.tiers["hard"].sha256


def test_a_changed_file_is_not_that_package(package):
    path = package / "data/hard.jsonl"
    path.write_text(path.read_text().replace("How many", "How few"))
    with pytest.raises(FormatError, match="not what SHA256SUMS says"):
        package_items(package)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib's, inside mlcroissant
def test_croissant_is_valid_and_yields_the_items(package):
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=str(package / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    (row,) = dataset.records("hard")
    assert row["hard/question_ko"].decode() == ITEM.question_ko
    assert row["hard/answerable"] is True
    assert {key.partition("/")[2] for key in row} == set(COLUMNS)


def test_the_citation_is_yaml_with_the_keys_of_cff(package):
    cited = yaml.safe_load((package / "CITATION.cff").read_text())
    assert {
        "cff-version",
        "message",
        "title",
        "authors",
        "version",
        "date-released",
    } <= cited.keys()
    assert cited["type"] == "dataset"


def test_the_card_says_licence_limitations_and_canary(package):
    card = (package / "README.md").read_text()
    for said in (FROZEN.license, *FROZEN.limitations, FROZEN.pins.canary, "- hard: 2019-07-03"):
        assert said in card


def test_nothing_of_the_machine_the_keys_or_the_concept_table_is_in_it(package):
    names = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert names == {
        *("README.md", "CITATION.cff", "ERRATA.md", "FORM.md", "SHA256SUMS", "croissant.json"),
        *("data/hard.jsonl", "data/hard.parquet"),
    }
    home = re.escape(str(Path.home()))
    leak = re.compile(
        rf"{home}|/tmp/|/home/|[A-Z]:\\|API_KEY|sk-[A-Za-z0-9]{{8}}|concept_code".encode()
    )
    for path in package.rglob("*"):
        if path.is_file():
            assert not leak.search(path.read_bytes()), path.name
            assert str(package.parent).encode() not in path.read_bytes()


def test_recipes_come_without_rows_and_give_the_same_rows_again(eunomia, tmp_path):
    """Issue 6: a package keeps recipe, seed, builder and fingerprint, never the neighbour's rows."""
    with open_database(eunomia) as database:
        recipes = {"hard": recipes_of(FILE.kept, Facts(database))}
        build_package(FROZEN, {"hard": FILE}, tmp_path, "1.0.0", recipes)
        (line,) = (tmp_path / "neighbours/hard.jsonl").read_text().splitlines()
        told = json.loads(line)
        assert (told["item"], told["source"]) == (ITEM.id, database.fingerprint.sha256)
        assert len(line) < 2_000
        assert rebuilt(recipes["hard"][0], Facts(database))
    assert package_items(tmp_path)["hard"] == (ITEM,)


def test_a_draft_and_other_items_are_not_packaged(tmp_path):
    with pytest.raises(FormatError, match="draft"):
        build_package(SPEC, {"hard": FILE}, tmp_path, "1.0.0")
    other = Question.of(replace(ITEM, difficulty="hard"), "a")
    with pytest.raises(FormatError, match="hard/hard-001: difficulty changed"):
        build_package(FROZEN, {"hard": replace(FILE, questions=(other,))}, tmp_path, "1.0.0")


def test_a_witness_that_is_not_the_pinned_one_is_not_packaged(tmp_path):
    """The tier's hash leaves the witness out; the item's own hash has it."""
    item = replace(ITEM, answerable=False, reference_sql=None, witness="death")
    tier = replace(NOW.tiers["hard"], items=(item,))
    spec = replace(SPEC, pins=pins_of(SPEC, replace(NOW, tiers={"hard": tier}), **WHEN))
    file = replace(FILE, questions=(Question.of(item, "a"),))
    assert build_package(spec, {"hard": file}, tmp_path / "right", "1.0.0")
    other = replace(file, questions=(replace(file.questions[0], witness="note"),))
    with pytest.raises(FormatError, match="hard/hard-001: witness changed"):
        build_package(spec, {"hard": other}, tmp_path / "wrong", "1.0.0")


def test_what_was_given_out_under_a_version_stays_as_it_was(package):
    with pytest.raises(FormatError, match="choose another --version"):
        build_package(FROZEN, {"hard": FILE}, package, "1.0.1")
    assert "Version 1.0.0" in (package / "README.md").read_text()


def test_a_file_that_no_sum_covers_is_none_of_the_package(package):
    (package / "data/easy.jsonl").write_bytes((package / "data/hard.jsonl").read_bytes())
    with pytest.raises(FormatError, match="does not list this file"):
        package_items(package)
    with pytest.raises(FormatError, match="belongs to another package"):
        build_package(FROZEN, {"hard": FILE}, package, "1.0.0")


@pytest.mark.parametrize(
    "version", ["../..", "1.0", "v1.0.0", "1.0.0/..", "01.0.0", "1.0.0\n", "١.0.0"]
)
def test_a_version_is_three_numbers(version):
    assert not VERSION.fullmatch(version)
    assert VERSION.fullmatch("10.0.3")


def test_equal_tasks_make_equal_packages(package, tmp_path):
    again = build_package(FROZEN, {"hard": FILE}, tmp_path / "again", "1.0.0")
    assert (again / "SHA256SUMS").read_bytes() == (package / "SHA256SUMS").read_bytes()
