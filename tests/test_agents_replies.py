"""A model's JSON reply is found in its text and held to its schema."""

import pytest

from agents.replies import ReplyError, maybe, one_of, read_object, record, words

SCHEMA = record(
    verdict=one_of("approve", "reject"),
    reason=words(20),
    sql=maybe(words()),
    tags={"type": "array", "items": words(5), "maxItems": 2},
    sure={"type": "boolean"},
)
GOOD = '{"verdict": "approve", "reason": "환자", "sql": null, "tags": ["a"], "sure": true}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="alone"),
        pytest.param(f"Here it is:\n```json\n{GOOD}\n```\nDone.", id="in a fence"),
        pytest.param(f"I think {GOOD} is right", id="in prose"),
        pytest.param(f'<think>{{"verdict": "reject"}}</think>{GOOD}', id="after thinking"),
        pytest.param(f"```\n{{}}\n```\n```\n{GOOD}\n```", id="the last fence counts"),
    ],
)
def test_the_object_is_found(text):
    assert read_object(text, SCHEMA)["verdict"] == "approve"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no JSON object"),
        ("I approve.", "there is no JSON object"),
        ("<think>" + GOOD, "there is no JSON object"),
        (GOOD[:-5], "the JSON is broken"),
        ('{"a":' * 100_000, "the JSON is broken"),
        (GOOD.replace('"approve"', '"maybe"'), "'verdict' is 'maybe'; expected one of approve"),
        (GOOD.replace('"approve"', "true"), "'verdict' is True; expected text"),
        (GOOD.replace('"환자"', '"' + "x" * 21 + '"'), "'reason' has 21 characters; at most 20"),
        (GOOD.replace("null", "3"), "'sql' is 3; expected text"),
        (GOOD.replace('["a"]', '["a", "b", "c"]'), "'tags' has 3 entries; at most 2"),
        (GOOD.replace("true", '"yes"'), "'sure' is 'yes'; expected true or false"),
        (GOOD.replace(', "sure": true', ""), "the object lacks 'sure'"),
        (GOOD.replace("}", ', "vote": 1}'), "the object has unknown 'vote'"),
        (GOOD.replace("환자", "\\ud800"), "half a character"),
    ],
)
def test_what_does_not_fit_says_what_would(text, problem):
    with pytest.raises(ReplyError, match=problem):
        read_object(text, SCHEMA)
