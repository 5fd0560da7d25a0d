"""Replies are read as FACTS 3 says: the SQL, ABSTAIN, or neither; never an exception, linear time."""

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.extract import read_reply
from eval.statements import begins_statement, statement_end

CASES = Path(__file__).parent / "cases" / "reported_failures.yaml"
REPORTED = [
    case
    for case in yaml.safe_load(CASES.read_text(encoding="utf-8"))["cases"]
    if case["area"] == "extraction"
]
COUNT = "SELECT COUNT(*) FROM person"


def read(reply):
    found = read_reply(reply, abstention=True)
    return found.sql if found.kind == "sql" else found.kind


@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["id"])
def test_reported_replies_are_read_right(case):
    right = case["right"]
    assert read(case["reply"]) == right.get("sql", right["kind"])


SQL = [
    ("the last sql block, not the last block", f"```sql\n{COUNT}\n```\n```text\n8\n```", COUNT),
    ("an abstaining block after it wins", f"```sql\n{COUNT}\n```\n```\nABSTAIN\n```", "abstain"),
    ("a query after an abstaining block wins", f"```\nABSTAIN\n```\n```sql\n{COUNT}\n```", COUNT),
    ("an upper-case tag", f"```SQL\n{COUNT}\n```", COUNT),
    ("a tag after a space", f"``` sql\n{COUNT}\n```", COUNT),
    ("a tag with more after it", f"```sql title=a\n{COUNT}\n```", COUNT),
    ("the statement on the line of the tag", f"```sql {COUNT}\nWHERE 1\n```", f"{COUNT}\nWHERE 1"),
    ("the whole block on one line", f"```sql {COUNT}```", COUNT),
    ("a block that begins inside a line", f"Here it is: ```sql\n{COUNT}\n```", COUNT),
    ("a mention of the fence is no block", f"As a ```sql block:\n\n```sql\n{COUNT}\n```", COUNT),
    ("a mention of it with dots", f"As ```sql ... ```:\n\n{COUNT}", COUNT),
    ("a closing fence at the end of the line", f"```sql\n{COUNT}```", COUNT),
    ("prose after the closing fence", f"```sql\n{COUNT}\n``` This counts.", COUNT),
    ("prose right after the query's fence", f"```sql\n{COUNT}``` counts people.", COUNT),
    ("four backticks", f"````sql\n{COUNT}\n````", COUNT),
    ("tildes", f"~~~sql\n{COUNT}\n~~~", COUNT),
    ("an indented fence", f"1. So:\n   ```sql\n   {COUNT}\n   ```", COUNT),
    (
        "its indentation is not the query's",
        f"- a\n\n  ```sql\n  {COUNT}\n    WHERE 1\n  ```",
        f"{COUNT}\n  WHERE 1",
    ),
    ("a fence in a list", f"- ```sql\n  {COUNT}\n  ```", COUNT),
    ("a fence in a quotation", f"> ```sql\n> {COUNT}\n> ```", COUNT),
    ("nested fences", f"````markdown\n```sql\n{COUNT}\n```\n````", COUNT),
    ("nested fences of one length", f"```markdown\n```sql\n{COUNT}\n```\n```", COUNT),
    ("a block never closed", f"So:\n```sql\n{COUNT}", COUNT),
    ("a block left open before the next", f"```sql\nSELECT 1\n```sql\n{COUNT}\n```", COUNT),
    ("Windows line ends", f"```sql\r\n{COUNT}\r\nWHERE 1\r\n```", f"{COUNT}\nWHERE 1"),
    ("a byte-order mark", f"\ufeff{COUNT}", COUNT),
    (
        "a block is kept as it is",
        "```sql\nSELECT 1; -- a\nSELECT 2;\n```",
        "SELECT 1; -- a\nSELECT 2;",
    ),
    ("an empty block", "```sql\n\n```", "none"),
    ("an empty block after a query", f"```sql\n{COUNT}\n```\n```sql\n```", "none"),
    ("a block with a comment alone is a query", "```sql\n-- none\n```", "-- none"),
    ("FROM first in a block", "```sql\nFROM person\n```", "FROM person"),
    ("no block, other tag", f"```duckdb\n{COUNT}\n```", COUNT),
    ("no block, tag in braces", f"```{{sql}}\n{COUNT};\n```", COUNT),
    ("a tag that only begins like sql", f"```sqlite\n{COUNT}\n```", COUNT),
    ("a line of apostrophes ends it", f"'''\n{COUNT}\n'''\nDone.", COUNT),
    ("tildes end it", f"{COUNT}\n~~~\nDone.", COUNT),
    ("a fence inside the line ends it", f"{COUNT}```\nDone.", COUNT),
    ("a semicolon ends it", f"{COUNT};\nThis counts.", COUNT),
    ("only the first statement", "SELECT 1;\nSELECT 2;", "SELECT 1"),
    ("not one in a text", "SELECT ';' FROM t;\nDone", "SELECT ';' FROM t"),
    ("not one after a doubled quote", "SELECT 'it''s; ' FROM t; b", "SELECT 'it''s; ' FROM t"),
    ("not one in a name", 'SELECT ";" FROM t; b', 'SELECT ";" FROM t'),
    ("not one in a comment", "SELECT 1 -- a; b\nFROM t; c", "SELECT 1 -- a; b\nFROM t"),
    ("not one in a block comment", "SELECT 1 /* a; ' */ FROM t; c", "SELECT 1 /* a; ' */ FROM t"),
    (
        "nor in a nested one",
        "SELECT 1 /* a /* b */ ; */ FROM t; c",
        "SELECT 1 /* a /* b */ ; */ FROM t",
    ),
    ("not one in dollar quotes", "SELECT $a$;'$a$ FROM t; c", "SELECT $a$;'$a$ FROM t"),
    ("not one in an escape text", r"SELECT E'\';' FROM t; c", r"SELECT E'\';' FROM t"),
    ("a lower-case statement", "so:\n  select 1", "select 1"),
    ("a word that begins with select", "Selected people:\n12", "none"),
    ("a statement inside a line is none", f"Use {COUNT}", "none"),
    (
        "WITH name AS",
        "WITH t AS (SELECT 1)\nSELECT * FROM t",
        "WITH t AS (SELECT 1)\nSELECT * FROM t",
    ),
    (
        "WITH alone on its line",
        "WITH\n  t AS (SELECT 1)\nSELECT 2",
        "WITH\n  t AS (SELECT 1)\nSELECT 2",
    ),
    (
        "WITH and a comment",
        "WITH -- a\n t AS (SELECT 1) SELECT 2",
        "WITH -- a\n t AS (SELECT 1) SELECT 2",
    ),
    ("WITH prose", f"With this query I count.\n\n{COUNT}", COUNT),
    ("SELECT prose", f"Select the people first.\n\n{COUNT}", COUNT),
    ("SELECT prose before a block", f"Select all people:\n```\n{COUNT}\n```", COUNT),
    ("WITH prose and as", f"With age as the key I count.\n\n{COUNT}", COUNT),
    ("WITH recursive prose", f"With recursive thinking:\n{COUNT}", COUNT),
    ("a think section", f"<think>\n```sql\nSELECT 1\n```\n</think>\n{COUNT}", COUNT),
    ("an upper-case one", f"<THINK>SELECT 1</Think>{COUNT}", COUNT),
    ("one never opened", f"I think\n```sql\nSELECT 1\n```\n</think>\n{COUNT}", COUNT),
    ("one never closed", f"<think>\n```sql\n{COUNT}\n```", "none"),
    ("one never closed after a query", f"{COUNT}\n<think>\nSELECT 1", COUNT),
    ("nested ones", f"<think>a<think>b</think>SELECT 1\n</think>{COUNT}", COUNT),
    ("a mention of the tag inside one", f"<think>a <think> tag</think>{COUNT}", COUNT),
    ("two of them", f"<think>a</think>\n<think>SELECT 1</think>\n{COUNT}", COUNT),
    ("another tag is no think section", f"<thinking>\nSELECT 1;\n</thinking>\n{COUNT}", "SELECT 1"),
    ("nothing", "", "none"),
    ("white space", " \n\t\n", "none"),
]


@pytest.mark.parametrize(("name", "reply", "right"), SQL, ids=[name for name, _, _ in SQL])
def test_the_query_is_found(name, reply, right):
    assert read(reply) == right


ABSTAINS = [
    "ABSTAIN",
    "abstain",
    "Abstain.",
    "**ABSTAIN**",
    "**ABSTAIN.**",
    "__ABSTAIN__!",
    '"ABSTAIN"',
    "'ABSTAIN'",
    "`ABSTAIN`",
    "“ABSTAIN”",
    "「ABSTAIN」",
    "```ABSTAIN```",
    "'''\nABSTAIN\n'''",
    "No cost is recorded.\n\nABSTAIN\n\n",
    "이 질문에는 답할 수 없습니다.\nABSTAIN",
    "이 질문에는 답할 수 없습니다.\n**ABSTAIN**。",
    "ABSTAIN\r\n",
    "```\nABSTAIN\n```",
    "```sql\nABSTAIN;\n```",
    "```sql\nabstain",
    "```sql ABSTAIN```",
    "```text\n**ABSTAIN**\n```\nThere is no such table.",
    "```sql\nSELECT 1\n```\nThis would be wrong.\n```\nABSTAIN\n```",
    "SELECT 1;\nNo, the table is empty.\nABSTAIN",
    "<think>SELECT 1</think>ABSTAIN",
    "<think>\n```sql\nSELECT 1\n```\n</think>\nABSTAIN",
    "I thought of\n```sql\nSELECT 1\n```\n</think>\nABSTAIN",
]


@pytest.mark.parametrize("reply", ABSTAINS)
def test_the_word_is_found(reply):
    assert read(reply) == "abstain"


@pytest.mark.parametrize("reply", ABSTAINS)
def test_a_tier_that_does_not_offer_it_sees_no_sql(reply):
    found = read_reply(reply, abstention=False)
    assert (found.kind, found.reason) == ("none", "abstain_not_offered")


ANSWERS = [
    ("ABSTAIN\n\nSELECT 1", "SELECT 1"),
    ("```sql\nSELECT 1\n```\nABSTAIN", "SELECT 1"),
    ("```text\n8\n```\nABSTAIN", "none"),
    ("I will not ABSTAIN", "none"),
    ("Answer: ABSTAIN", "none"),
    ("ABSTAIN 입니다", "none"),
    ("ABSTAINED", "none"),
    ("ABSTAIN because there is no table", "none"),
    ("<think>ABSTAIN", "none"),
    ("<think>ABSTAIN</think>", "none"),
    ("```sql\n-- no table\nABSTAIN\n```", "-- no table\nABSTAIN"),
    ("```sql\nABSTAIN\n```\n```text\nno table\n```", "ABSTAIN"),
]


@pytest.mark.parametrize(("reply", "right"), ANSWERS)
def test_the_word_counts_only_alone_and_last(reply, right):
    assert read(reply) == right


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("\n", "empty"),
        ("<think>a", "only_thinking"),
        ("<think>a</think>\n", "only_thinking"),
        ("```sql\n```", "empty_block"),
        ("I can not say.", "prose"),
    ],
)
def test_what_is_missing_has_a_reason(reply, reason):
    assert read_reply(reply, abstention=True).reason == reason


@pytest.mark.parametrize(
    ("reply", "unclosed"), [("<think>a", True), ("<think>a</think>", False), ("SELECT 1", False)]
)
def test_an_unclosed_think_section_is_told(reply, unclosed):
    assert read_reply(reply, abstention=True).unclosed_think is unclosed


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "select\n1",
        "WITH RECURSIVE t(n) AS (SELECT 1) SELECT 1",
        "with t(a, b) as materialized (select 1) select 1",
        "WITH t AS NOT MATERIALIZED (SELECT 1) SELECT 1",
        'WITH "my ""t" AS(SELECT 1) SELECT 1',
        "WITH 환자 AS (SELECT 1) SELECT 1",
        "WITH RECURSIVE t(a, b) USING KEY (a) AS (SELECT 1, 2) SELECT 1",
        "WITH /* ** a */ t AS (SELECT 1) SELECT 1",
    ],
)
def test_a_statement_is_known_by_its_beginning(statement):
    assert begins_statement(statement)


PIECES = st.sampled_from(
    ["```", "```sql", "~~~", "'''", "\n", "\r\n", " ", "<think>", "</think>", "SELECT 1", "WITH t AS (",
     "ABSTAIN", "**", ";", "'", '"', "--", "/*", "*/", "$a$", "> ", "- ", "환자", "\x00", "\ud800"]
)  # fmt: skip


@settings(max_examples=1_000, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=24).map("".join), st.booleans())
def test_reading_never_raises_and_gives_one_of_three(reply, abstention):
    found = read_reply(reply, abstention=abstention)
    assert (found.sql is not None) == (found.kind == "sql")
    assert bool(found.reason) == (found.kind == "none")
    assert found.sql is None or found.sql == found.sql.strip() != ""


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(["a", "'", "''", '"', ";", "--", "\n", "/*", "*/", "$$", " "])))
def test_a_statement_ends_at_a_semicolon_that_nothing_hides(pieces):
    text = "SELECT " + "".join(pieces)
    end = statement_end(text)
    assert end == text or text[len(end)] == ";"
    assert statement_end(end) == end


MEGABYTE = 1_000_000
HARD = {
    "backticks": "`" * MEGABYTE,
    "lines of backticks": "`\n" * (MEGABYTE // 2),
    "fences": "```\n" * (MEGABYTE // 4),
    "fences in one line": "``` " * (MEGABYTE // 4),
    "tags in one line": "```sql " * (MEGABYTE // 7),
    "tagged fences": "```sql\n" * (MEGABYTE // 7),
    "false starts": "WITH /*\n" * (MEGABYTE // 8),
    "false starts with a list": "with a(\n" * (MEGABYTE // 8),
    "quotes": "SELECT " + "'" * MEGABYTE,
    "open dollar quotes": "SELECT " + "".join(f"$a{n}$ " for n in range(MEGABYTE // 9)),
    "think tags": "<think>" * (MEGABYTE // 7),
    "closing think tags": "</think>" * (MEGABYTE // 8),
    "half think tags": "<think " * (MEGABYTE // 7),
    "comments": "SELECT " + "/*" * (MEGABYTE // 2),
    "line ends": "\n" * MEGABYTE,
    "quotation marks": "> " * (MEGABYTE // 2),
    "emphasis": "*" * MEGABYTE,
    "spaces": "with" + " " * MEGABYTE,
}


@pytest.mark.parametrize("name", HARD)
def test_a_megabyte_is_read_in_linear_time(name):
    reply = HARD[name]
    read_reply(reply[:1000], abstention=True)
    start = time.process_time()
    read_reply(reply, abstention=True)
    assert time.process_time() - start < 5.0  # a square law would take minutes
