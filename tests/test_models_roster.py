"""Models and rosters: the shipped files load, and a mistake names itself."""

import re
from datetime import date
from pathlib import Path

import pytest

from models.call import ModelError
from models.roster import Price, Route, Seat, canonical_ids, card_of, load_models, load_roster
from registry.reader import FormatError

REGISTRY = Path(__file__).parent.parent / "registry"
SAMPLES = Path(__file__).parent.parent / "models" / "roster.py"


@pytest.fixture
def sample(tmp_path):
    """A registry made of the two samples in the docstring."""
    docstring = SAMPLES.read_text().split('"""')[1]
    for name in ("models", "rosters"):
        block = re.search(rf"registry/{name}\.yaml:\n\n((?:    .*\n|\n)+)", docstring)
        lines = [line[4:] for line in block[1].splitlines()]
        (tmp_path / f"{name}.yaml").write_text("\n".join(lines))
    return tmp_path


def test_the_docstring_samples_load(sample):
    assert load_roster(sample, "trial").models == ("acme/reader-7b",)
    assert load_models(sample)["acme/reader-7b"].route.key == "ACME_API_KEY"


def test_the_source_roster_seats_its_three_vendors_and_its_reference_pair():
    """S1-020, S1-042, S1-131."""
    source = load_roster(REGISTRY, "source")
    assert len({load_models(REGISTRY)[model].vendor for model in source.models}) == 3
    assert source.reference.strong == "deepseek/deepseek-v4.1-flash-552b-a16b"
    assert source.reference.weak == "openai/gpt-oss-20b"
    assert not source.preview_only


@pytest.mark.parametrize("name", ["embedded", "local"])
def test_a_panel_of_rules_or_of_one_model_freezes_previews_only(name):
    assert load_roster(REGISTRY, name).preview_only


def test_every_exam_candidate_is_an_open_model_with_the_output_limit_of_the_source():
    """S1-113: 16,384 output tokens; the embedded model runs only the demo, at 192."""
    cards = load_models(REGISTRY)
    for model in load_roster(REGISTRY, "source").exam:
        assert cards[model].open
        assert cards[model].output_limit >= 16_384


def test_a_seat_with_an_unknown_model_is_refused(sample):
    rosters = sample / "rosters.yaml"
    rosters.write_text(rosters.read_text().replace("acme/reader-7b", "acme/unheard-of"))
    with pytest.raises(FormatError, match="'trial' seats 'acme/unheard-of'"):
        load_roster(sample, "trial")


def test_an_unknown_roster_lists_the_known_ones(sample):
    with pytest.raises(FormatError, match="no roster 'none'; there are trial"):
        load_roster(sample, "none")


def test_an_unknown_model_lists_the_known_ones(sample):
    with pytest.raises(ModelError, match=r"knows acme/reader-7b"):
        card_of(load_models(sample), "acme/other")


def test_a_seat_is_held_by_a_model_or_a_rule_and_not_by_both():
    with pytest.raises(ValueError, match="either"):
        Seat(model="a/b", rule="lint")


def test_a_price_holds_from_its_day_on_and_is_unknown_before():
    old = Price(since=date(2026, 1, 1), source="x", input=1.0, output=2.0)
    new = Price(since=date(2026, 6, 1), source="x", input=3.0, output=4.0)
    route = Route(name="r", litellm="openai/m", prices=(new, old))
    assert route.price(date(2025, 12, 31)) is None
    assert route.price(date(2026, 5, 31)) is old
    assert route.price(date(2026, 6, 1)) is new


def test_two_ids_of_one_route_are_one_model():
    card = load_models(REGISTRY)["openai/gpt-oss-20b"]
    cards = {"a/one": card, "a/two": card, **load_models(REGISTRY)}
    assert canonical_ids(cards)["a/two"] == "a/one"
    assert len(set(canonical_ids(load_models(REGISTRY)).values())) == len(load_models(REGISTRY))
