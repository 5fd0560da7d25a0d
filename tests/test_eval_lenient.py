"""The lenient re-reading forgives the format, agrees with the rule where the rule reads, never raises."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.extract import read_reply
from eval.lenient import read_leniently
from tests.test_eval_extract import PIECES

COUNT = "SELECT COUNT(*) FROM person"


def read(reply):
    found = read_leniently(reply, abstention=True)
    return found.sql if found.kind == "sql" else found.kind


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        pytest.param(f"SQLQuery: {COUNT}", COUNT, id="a label"),
        pytest.param(f"**Final answer:** {COUNT};", COUNT, id="a label in bold"),
        pytest.param(f"답: {COUNT}", COUNT, id="a Korean label"),
        pytest.param(f"Use `{COUNT}` for this.", COUNT, id="inline code"),
        pytest.param("FROM person SELECT COUNT(*)", "FROM person SELECT COUNT(*)", id="FROM first"),
        pytest.param("```duckdb\nFROM person\n```", "FROM person", id="another tag, FROM first"),
        pytest.param("'''\nFROM person\n'''", "FROM person", id="apostrophes"),
        pytest.param(f'{{"sql": "{COUNT};"}}', COUNT, id="JSON"),
        pytest.param(f'```json\n{{"Query": "{COUNT}"}}\n```', COUNT, id="JSON in a block"),
        pytest.param(f"Query: `{COUNT}`<|im_end|>", COUNT, id="a template token"),
        pytest.param("Answer: ABSTAIN", "abstain", id="a labelled ABSTAIN"),
        pytest.param("답: **ABSTAIN**", "abstain", id="a Korean one"),
        pytest.param("ABSTAIN<|im_end|>", "abstain", id="ABSTAIN with a template token"),
        pytest.param('{"answer": "ABSTAIN"}', "abstain", id="ABSTAIN in JSON"),
        pytest.param("I cannot answer this.", "none", id="prose"),
        pytest.param("The people are from Seoul.", "none", id="prose with from"),
        pytest.param("", "none", id="nothing"),
        pytest.param(f"<think>{COUNT}", "none", id="only thinking"),
    ],
)
def test_the_format_is_forgiven(reply, right):
    assert read(reply) == right


def test_an_abstention_stays_none_where_it_is_not_offered():
    assert read_leniently("Answer: ABSTAIN", abstention=False).kind == "none"


@settings(max_examples=800, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=24).map("".join), st.booleans())
def test_it_never_raises_and_never_overrules_the_rule(reply, abstention):
    strict = read_reply(reply, abstention=abstention)
    lenient = read_leniently(reply, abstention=abstention)
    assert strict.kind == "none" or lenient == strict


@pytest.mark.parametrize(
    "piece", ["`a` ", "a: ", "{", "<|", "from \n", "* * ", "'''\n", "```\n", '{"a":']
)
def test_a_megabyte_is_read_in_linear_time(piece):
    reply = piece * (1_000_000 // len(piece))
    start = time.process_time()
    read_leniently(reply, abstention=True)
    assert time.process_time() - start < 10.0
