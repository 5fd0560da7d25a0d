"""Every function that DuckDB has was decided upon, and what is not allowed is refused."""

import duckdb
import pytest

from database import functions
from database.gate import admit
from database.quoting import folded
from database.words import words

# Decided against. Internal ones (`__…`, `icu_…`, `collate_…`) are refused as a family.
REFUSED = (
    functions.CLOCK
    | functions.RANDOM
    # the session, the catalogue, the machine
    | words("""
        current_catalog current_connection_id current_database current_query current_query_id
        current_role current_schema current_schemas current_setting current_transaction_id current_user
        session_user user txid_current version getvariable in_search_path stats get_block_size
        col_description obj_description shobj_description format_type format_pg_type map_to_pg_oid
        map_type_id_to_pg_oid vector_type alias index_key
    """)
    # side effects, errors that carry a value, waiting
    | words("write_log error assert_true sleep_ms invoke parse_duckdb_log_message")
    # SQL from text, types from values, states of aggregates, sort keys, physical encodings
    | words("""
        json_serialize_sql json_serialize_plan json_deserialize_sql can_cast_implicitly cast_to_type
        make_type get_type replace_type combine combine_aggr finalize to_aggregate_state create_sort_key
        bitstring_byte_comparable timetz_byte_comparable remap_struct hive_partition_component
        json_copy_strftime_if_date json_copy_strftime_if_timestamp vertex_extract
    """)
)
FAMILIES = ("__", "icu_", "collate_", "pg_", "has_", "inet_", "st_", "variant_")
WORDS = {"is distinct from", "is not distinct from"}  # written with words, never as a call


def known():
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() "
            "WHERE function_type IN ('scalar', 'aggregate', 'macro', 'window')"
        ).fetchall()
    return {folded(name) for (name,) in found} - WORDS


def test_every_function_of_this_duckdb_is_allowed_or_refused_on_purpose():
    open_ones = known() - functions.ALLOWED - REFUSED
    assert {name for name in open_ones if not name.startswith(FAMILIES)} == set()


def test_no_function_is_both():
    assert set() == functions.ALLOWED & REFUSED
    assert not [name for name in functions.ALLOWED if name.startswith(FAMILIES)]


def test_what_is_allowed_exists():
    """But for what the parser itself turns into something else."""
    parsed = {
        "!",
        "coalesce",
        "grouping",
        "grouping_id",
        "ifnull",
        "percentile_cont",
        "percentile_disc",
        "unlist",
        "unnest",
    }
    assert functions.ALLOWED - known() == parsed


@pytest.mark.parametrize("name", sorted(known() - functions.ALLOWED))
def test_a_function_that_is_not_allowed_is_refused(name):
    refused = admit(f'SELECT "{name}"(1)', ())
    assert refused is not None


@pytest.mark.parametrize("name", sorted(functions.WORDS_CLOCK | functions.WORDS_SESSION))
def test_a_clock_or_session_word_without_parentheses_is_refused(name):
    for sql in (f"SELECT {name}", f'SELECT "{name.upper()}"', f"SELECT 1 ORDER BY {name}"):
        refused = admit(sql, ())
        assert refused is not None
        assert name in refused.message


def test_no_other_word_without_parentheses_calls_a_function():
    """What binds as a column without a table is a function in disguise."""
    found = set()
    with duckdb.connect() as connection:
        for name in known() | functions.CLOCK | functions.WORDS_SESSION:
            if name.replace("_", "").isalnum():
                try:
                    connection.execute(f'SELECT "{name}"')
                except duckdb.Error:
                    continue
                found.add(name)
    assert found == functions.WORDS_CLOCK | functions.WORDS_SESSION


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT list_aggregate([1, 2], 'approx_count_distinct')",
        "SELECT [1, 2].list_aggr('reservoir_quantile', 0.5)",
        "SELECT list_aggregate([1, 2], lower('SUM'))",
        "SELECT aggregate([1, 2])",
    ],
)
def test_an_aggregate_named_by_a_text_must_be_an_allowed_constant(sql):
    assert admit(sql, ()) is not None


def test_an_allowed_aggregate_named_by_a_text_passes():
    assert admit("SELECT list_aggregate([1, 2], 'sum'), list_aggr([1], 'Max')", ()) is None
