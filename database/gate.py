"""The gate: which SQL may run at all, decided on DuckDB's own parse tree with allow lists.

    admit("SELECT now()", {"person"})   ->  Failure("refused", "reads the clock: now")
    admit("SELECT 1; SELECT 2", ())     ->  Failure("refused", "not one SELECT: 2 statements")

What may stand in a statement is decided in tree.py; words in literals, comments and aliases decide
nothing. Both the references of a benchmark and the answers of models pass here: a clock in one is a
problem of the item, in the other an outcome.

What is left to the engine's settings and the worker's limits: casts such as 'now'::TIMESTAMP (DuckDB 2
refuses them), types that do not exist, and everything that is merely too much work.
"""

import json
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from database.quoting import literal
from database.result import Failure
from database.tree import NOT_ALLOWED, Node, Refusal, Refused, Walk, folded

if TYPE_CHECKING:
    import duckdb

LONGEST = 20_000  # characters of a statement


def admit(sql: str, tables: Collection[str]) -> Failure | None:
    """Return why a statement may not run, or None. `tables` are the names it may read.

    Parses in this process and without a time limit, which some texts would need (`WITH a AS (`
    twenty times): what a model wrote goes to `Database.run`, whose worker asks the gate itself.
    """
    if isinstance(found := statement(Parser(_shared()), sql, tables), Refusal):
        return Failure("refused", str(found))
    return None


def unreadable(sql: str) -> Refusal | None:
    """Return what is wrong with a text before anything parses it."""
    if len(sql) > LONGEST:
        return Refusal("too long", f"{len(sql):,} characters, at most {LONGEST:,}")
    for character in sql:
        if (character < " " and character not in "\t\n\r\f\v") or character == "\x7f":
            return Refusal("control character", f"U+{ord(character):04X}")
        if "\ud800" <= character <= "\udfff":
            return Refusal("not Unicode text", f"U+{ord(character):04X}")
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

    def tree(self, sql: str) -> Node:
        """Return the tree of a text of SELECTs. Raises: duckdb.Error, RecursionError."""
        found = self.connection.execute(f"EXECUTE tree({literal(sql)})").fetchall()
        tree: Node = json.loads(found[0][0])
        return tree

    def knows(self, function: str) -> bool:
        """Tell whether DuckDB has a function of that name at all."""
        return bool(
            self.connection.execute(
                "SELECT 1 FROM duckdb_functions() WHERE lower(function_name) = ? LIMIT 1",
                [function],
            ).fetchall()
        )


def statement(parser: Parser, sql: str, tables: Collection[str]) -> "duckdb.Statement | Refusal":
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
            return Refusal("not one SELECT", f"a {kind} statement")
        Walk(frozenset(map(folded, tables))).document(parser.tree(sql))
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
