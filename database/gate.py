"""The gate: which SQL may run at all, decided on DuckDB's own parse tree with allow lists.

    admit("SELECT now()", {"person"})   ->  Failure("refused", "reads the clock: now")
    admit("SELECT 1; SELECT 2", ())     ->  Failure("refused", "not one SELECT: 2 statements")

What may stand in a statement is decided in tree.py, expressions.py and calls.py, on DuckDB's own tree;
words in literals, comments and aliases decide nothing. Both the references of a benchmark and the
answers of models pass here: a clock in one is a problem of the item, in the other an outcome.

What is left to the engine's settings and the worker's limits: casts such as 'now'::TIMESTAMP (DuckDB 2
refuses them), types that do not exist, and everything that is merely too much work.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from database.calls import NOT_ALLOWED
from database.quoting import folded, literal
from database.refusal import Refusal, Refused
from database.result import Failure
from database.tree import Known, check_tree

if TYPE_CHECKING:
    import duckdb

LONGEST = 20_000  # characters of a statement
_KINDS = {"MULTI": "a PIVOT that does not list its columns: IN (…)"}
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


def admit(sql: str, tables: Collection[str], catalog: str = "") -> Failure | None:
    """Return why a statement may not run, or None. `tables` are the names it may read.

    Parses in this process and without a time limit, which some texts would need (`WITH a AS (`
    twenty times): what a model wrote goes to `Database.run`, whose worker asks the gate itself.
    """
    known = Known(frozenset(map(folded, tables)), folded(catalog))
    if isinstance(found := statement(Parser(_shared()), sql, known), Refusal):
        return Failure("refused", str(found))
    return None


def unreadable(sql: str) -> Refusal | None:
    """Return what is wrong with a text before anything parses it."""
    if len(sql) > LONGEST:
        return Refusal("too long", f"{len(sql):,} characters, at most {LONGEST:,}")
    if found := _UNREADABLE.search(sql):
        rule = "control character" if found.group() < "\x80" else "not Unicode text"
        return Refusal(rule, f"U+{ord(found.group()):04X}")
    return None


class Parser:
    """DuckDB's parser: a connection of its own beside the one that queries run on.

    The tree comes as JSON from a prepared statement without the optimizer, at half the cost.
    """

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self.connection = connection.cursor()
        self.connection.execute("PRAGMA disable_optimizer")
        self.connection.execute("PREPARE tree AS SELECT json_serialize_sql($1::VARCHAR)")

    def statements(self, sql: str) -> "list[duckdb.Statement]":
        """Return the statements of a text. Raises: duckdb.Error."""
        return self.connection.extract_statements(sql)

    def tree(self, sql: str) -> str:
        """Return the tree of a text of SELECTs, in JSON. Raises: duckdb.Error."""
        found = self.connection.execute(f"EXECUTE tree({literal(sql)})").fetchall()
        return str(found[0][0])

    def knows(self, function: str) -> bool:
        """Tell whether DuckDB has a function of that name at all."""
        return bool(
            self.connection.execute(
                "SELECT 1 FROM duckdb_functions() WHERE lower(function_name) = ? LIMIT 1",
                [function],
            ).fetchall()
        )


def statement(parser: Parser, sql: str, known: Known) -> "duckdb.Statement | Refusal":
    """Return the one SELECT of a text, parsed and admitted, or why there is none."""
    import duckdb

    if refusal := unreadable(sql):
        return refusal
    try:
        parsed = parser.statements(sql)
        if len(parsed) != 1:
            return Refusal("not one SELECT", f"{len(parsed)} statements")
        kind = _kind(parsed[0])
        if kind != "SELECT":
            return Refusal("not one SELECT", _KINDS.get(kind, f"a {kind} statement"))
        check_tree(parser.tree(sql), known)
    except Refused as refused:
        return _named(refused.refusal, parser)
    except (LookupError, TypeError, ValueError):
        return Refusal("unknown construct", "a tree of another shape than the gate knows")
    except RecursionError:
        return Refusal("too deep", "nested beyond what the gate reads")
    except duckdb.Error as error:
        from database.masking import masked

        return Refusal("does not parse", masked("Parser", str(error), sql))
    return parsed[0]


def _named(refusal: Refusal, parser: Parser) -> Refusal:
    """A function that DuckDB does not have is a mistake of its own kind, and told as one."""
    if (
        refusal.rule == NOT_ALLOWED
        and refusal.place.isidentifier()
        and not parser.knows(refusal.place)
    ):
        return Refusal("no such function", refusal.place)
    return refusal


def _kind(parsed: "duckdb.Statement") -> str:
    """The statement's type; DuckDB has some that its Python enumeration does not know."""
    try:
        return parsed.type.name
    except ValueError:
        return "non-SELECT"


@cache
def _shared() -> "duckdb.DuckDBPyConnection":
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET GLOBAL max_expression_depth = 500")
    connection.execute("SET GLOBAL enable_external_access = false")
    return connection
