"""Error texts carry the class and a masked message, and no value of the data."""

import pytest

from database.engine import open_database
from database.masking import masked
from database.result import Failure

LEAKY = [
    "CAST(c AS INTEGER)", "c::DATE", "c::TIMESTAMP", "c::DECIMAL(5, 2)", "c::BOOLEAN", "c::INTERVAL",
    "c::JSON", "c::TIME", "c::ENUM ('a')", "c::INTEGER[]", "c::STRUCT(a INTEGER)", "c::BIT",
    "strptime(c, '%Y')", "regexp_matches('a', c || '(')", "date_part(c, DATE '2019-01-01')",
    "date_trunc(c, DATE '2019-01-01')", "from_hex(c)", "timezone(c, TIMESTAMP '2019-01-01')",
    "json_extract(c, '$.a')", "from_json(c, '[\"INT\"]')", "n::TINYINT", "make_date(n, 13, 1)",
    "chr(n::INTEGER)", "n * 9223372036854775807", "(c || 'x')::UUID", "INTERVAL (c) DAY",
    "format('{:d}', c)", "unhex(c)", "from_base64(c)", "list_value(n)::INTEGER[5]::INTEGER[]",
    "repeat(c, 1000)::INTEGER",
]  # fmt: skip


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia) as database:
        yield database


@pytest.mark.parametrize("expression", LEAKY)
def test_a_failing_expression_does_not_print_the_value(expression, database):
    value, number = "Secretum Pro-Band:77 'q'", 35208414
    rows = f"(SELECT '{value.replace(chr(39), chr(39) * 2)}' || '' AS c, {number} + 0 AS n)"
    hidden = "SELECT concept_name AS c, concept_id AS n FROM concept WHERE concept_id = 35208414"
    for source in (rows, f"({hidden})"):
        outcome = database.run(f"SELECT {expression} FROM {source}")
        if isinstance(outcome, Failure):
            assert outcome.reason == "error"
            assert ": " in outcome.message
            for part in ("Secretum", "Pro-Band", "77", "Gastro", "hemorrhage", "35208414"):
                assert part not in outcome.message, outcome.message


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT nope FROM person", 'Binder: Referenced column "nope" not found in FROM clause!'),
        ("SELECT concept_name + 1 FROM concept", "Binder: No function matches the given name"),
        (
            "SELECT CAST(person_source_value AS INTEGER) FROM person",
            "Conversion: Could not convert string '…' to INT32 when casting from source column "
            "person_source_value",
        ),
    ],
)
def test_what_is_left_still_tells_what_to_do(sql, message, database):
    assert database.run(sql).message.startswith(message)


def test_a_word_of_the_query_stays_and_a_literal_of_it_does_not():
    told = masked("Conversion", "Could not convert string 'Bob' from x", "SELECT x::INT, 'Bob'")
    assert told == "Conversion: Could not convert string '…' from x"


def test_a_huge_message_is_short():
    assert len(masked("Conversion", "value " + "x" * 10_000_000, "")) < 330
