"""Predictions made elsewhere: nothing is guessed, nothing is dropped silently."""

import pytest

from eval.exam import Instance
from eval.predictions import load_predictions
from registry.reader import FormatError

INSTANCES = tuple(Instance(f"hard/h{n}-en", f"h{n}", "hard") for n in (1, 2, 3))
ALL = '{"hard/h1-en": "SELECT 1", "hard/h2-en": null, "hard/h3-en": "null"}'


def load(tmp_path, text, **more):
    path = tmp_path / "predictions.json"
    path.write_text(text)
    return load_predictions(path, INSTANCES, **more)


def test_null_and_the_text_null_abstain(tmp_path):
    """S1-079."""
    found = load(tmp_path, ALL).given
    assert found == {"hard/h1-en": "SELECT 1", "hard/h2-en": None, "hard/h3-en": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALL.replace('"SELECT 1"', '"nan"'), 'hard/h1-en: "nan" is no prediction; write null'),
        (ALL.replace('"SELECT 1"', "NaN"), 'hard/h1-en: "nan" is no prediction; write null'),
        (ALL.replace('"SELECT 1"', "1"), "hard/h1-en: 1 is neither SQL nor null"),
        (ALL.replace('"hard/h1-en": "SELECT 1", ', ""), "1 of 3 instances are missing"),
        (ALL.replace("h3-en", "h9-en"), "1 ids are unknown .'hard/h9-en'"),
        (ALL.replace("h3-en", "h2-en"), "'hard/h2-en' stands twice"),
        (
            ALL.replace("SELECT 1", "SELECT '\\ud800'"),
            "hard/h1-en: the text holds half a character",
        ),
        ("[1, 2]", "expected one JSON object"),
        ("{", "not JSON"),
        ("[" * 200_000, "nested too deeply"),
    ],
    ids=[
        "nan",
        "NaN",
        "a number",
        "missing",
        "unknown",
        "twice",
        "half a character",
        "a list",
        "broken",
        "deep",
    ],
)
def test_what_is_no_prediction_is_refused_by_name(tmp_path, text, said):
    with pytest.raises(FormatError, match=said):
        load(tmp_path, text)


def test_a_partial_file_counts_what_is_missing_and_unknown(tmp_path):
    text = '{"hard/h1-en": "SELECT 1", "hard/h9-en": "SELECT 2"}'
    found = load(tmp_path, text, partial=True)
    assert (found.missing, found.unknown) == (("hard/h2-en", "hard/h3-en"), ("hard/h9-en",))
    assert found.given == {"hard/h1-en": "SELECT 1"}
