"""Whatever the gate admits changes nothing, even on a connection without any other protection.

Statements are made from the handed attacks and the legitimate ones: cut and spliced, nested into each
other, joined, commented. What is admitted runs on a plain read-only connection (files allowed, nothing
locked), and then the database file, the working folder and the connection's catalogue are as before.
"""

import contextlib
import hashlib
import json
import os
import re
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from database.gate import Parser, statement
from database.quoting import folded
from database.refusal import Refusal
from database.tree import Known, parts

CASES = Path(__file__).parent / "cases"
TOKEN = re.compile(r"'[^']*'|\w+|\s+|.", re.DOTALL)


def corpus():
    attacks = yaml.safe_load((CASES / "attacks.yaml").read_text())
    short = [
        case["sql"]
        for case in attacks
        if "sql" in case and not case["kind"].startswith("resource") and "sleep" not in case["name"]
    ]
    legitimate = yaml.safe_load((CASES / "legitimate.yaml").read_text())
    return short + [sql for group in legitimate.values() for sql in group]


CORPUS = corpus()
FRAMES = [
    "SELECT * FROM ({a}) t", "WITH x AS ({a}) SELECT * FROM x", "WITH x AS ({a}), y AS ({b}) FROM x, y",
    "({a}) UNION ALL ({b})", "{a}; {b}", "{b} -- {a}", "/* {a} */ {b}", "SELECT ({a})",
    "SELECT EXISTS ({a})", "SELECT 1 WHERE 1 IN ({a})", "FROM ({a})", "SELECT * FROM ({a}) t, ({b}) u",
    "SELECT * FROM person, LATERAL ({a}) l", "WITH RECURSIVE x AS (SELECT 1 UNION ALL ({a})) FROM x",
    "SELECT 1 ORDER BY ({a})", "SELECT 1 LIMIT ({a})", "PIVOT ({a}) ON 1 USING count(*)", "{a} {b}",
    "SELECT * FROM (SUMMARIZE {a})", "EXPLAIN {a}", "CREATE TEMP VIEW v AS {a}", "COPY ({a}) TO 'x.csv'",
    "SELECT list_transform([1], lambda x: ({a}))", "SELECT sum(1) OVER (ORDER BY ({a})) FROM person",
    "WITH x AS (COPY ({a}) TO 'x.csv') {b}", "SELECT CASE WHEN ({a}) THEN ({b}) END",
]  # fmt: skip


@st.composite
def statements(draw):
    """A statement made of two others."""
    a, b = draw(st.sampled_from(CORPUS)), draw(st.sampled_from(CORPUS))
    if draw(st.booleans()):
        left, right = TOKEN.findall(a), TOKEN.findall(b)
        cut, glue = draw(st.integers(0, len(left))), draw(st.integers(0, len(right)))
        return "".join(left[:cut] + right[glue:])
    bare = [text.strip().rstrip(";") for text in (a, b)]
    return draw(st.sampled_from(FRAMES)).replace("{a}", bare[0]).replace("{b}", bare[1])


def catalogue(connection):
    """Everything that a connection knows besides the data."""
    return connection.execute(
        "SELECT (SELECT list(t ORDER BY t) FROM (SELECT schema_name || table_name t FROM duckdb_tables())),"
        " (SELECT count(*) FROM duckdb_views()), (SELECT count(*) FROM duckdb_functions()),"
        " (SELECT count(*) FROM duckdb_sequences()), (SELECT count(*) FROM duckdb_types()),"
        " (SELECT list(database_name ORDER BY 1) FROM duckdb_databases()),"
        " (SELECT count(*) FROM duckdb_prepared_statements()), (SELECT count(*) FROM duckdb_variables()),"
        " (SELECT list(name || coalesce(value, '') ORDER BY name) FROM duckdb_settings()"
        "  WHERE name <> 'allowed_paths')"
    ).fetchall()


def run(cursor, admitted):
    """Run a statement for a moment; that it fails is no matter."""
    cursor.execute("SET max_execution_time = 300")
    with contextlib.suppress(duckdb.Error):
        cursor.execute(admitted).fetchmany(10)
    cursor.execute("SET max_execution_time = 0")


def names():
    return [path.name for path in Path().iterdir()]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def plain(eunomia, tmp_path_factory):
    """A read-only connection with nothing locked, in an empty working folder."""
    home = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("folder"))
    Path("canary.csv").write_text("a\n1\n")
    with duckdb.connect(str(eunomia), read_only=True) as connection:
        connection.execute("SET GLOBAL threads = 1")
        connection.execute("SET GLOBAL max_expression_depth = 500")
        found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        known = Known(frozenset(folded(name) for (name,) in found), eunomia.stem)
        yield connection, Parser(connection), known, catalogue(connection.cursor())
    os.chdir(home)


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(sql=statements())
def test_what_is_admitted_changes_nothing(sql, plain, eunomia):
    connection, parser, known, before = plain
    cursor = connection.cursor()
    admitted = statement(parser, sql, known)
    if isinstance(admitted, Refusal):
        return
    stat = eunomia.stat()
    run(cursor, admitted)
    assert catalogue(cursor) == before
    assert names() == ["canary.csv"]
    assert (eunomia.stat().st_mtime_ns, eunomia.stat().st_size) == (stat.st_mtime_ns, stat.st_size)
    cursor.close()


@pytest.mark.parametrize("sql", CORPUS)
def test_what_is_admitted_of_the_corpus_leaves_the_files_bytes(sql, plain, eunomia):
    connection, parser, known, _ = plain
    cursor = connection.cursor()
    admitted = statement(parser, sql, known)
    if not isinstance(admitted, Refusal):
        before = sha256(eunomia)
        run(cursor, admitted)
        assert sha256(eunomia) == before
    assert names() == ["canary.csv"]


def test_a_part_of_a_statement_that_nobody_walks_is_counted():
    """The gate compares what it has walked with everything that there is in the tree."""
    new = [{"class": "FUNCTION"}, {"class": "X"}, {"type": "BASE_TABLE", "sample": None}]
    tree = {"statements": [{"type": "SELECT_NODE", "cte_map": {}, "sample": None, "new": new}]}
    assert parts(json.dumps(tree, separators=(",", ":"))) == 5


def test_a_text_of_the_query_never_counts_as_a_part():
    """A document's own keys are the only ones in plain quotes."""
    texts = ['"class":', '"cte_map":', '"sample":', "\\", '\\"class":']
    assert parts(json.dumps(texts)) == 0
