"""A walk over DuckDB's parse tree with allow lists: the decision behind the gate.

A tree holds a handful of shapes: query nodes and table references (here), expressions (expressions.py),
calls (calls.py). Every shape, every table and every function must be on a list; whatever a new DuckDB
adds is refused until it is decided upon.
"""

import json
from dataclasses import dataclass

from database.calls import Node, check_column, check_table_function
from database.expressions import Expressions, Scope
from database.quoting import folded
from database.refusal import Refused

MAIN = "main"  # the schema of a database's own tables
_NOTHING: Scope = frozenset()
# One of these keys stands in every expression, every query node, and every table and SELECT.
_KEYS = ('"class":', '"cte_map":', '"sample":')


@dataclass(frozen=True)
class Known:
    """What a statement may read. Names in lower case.

    tables:  the database's tables and views.
    catalog: the database's own name in `catalog.main.table`; empty when it has none to be told by.
    """

    tables: frozenset[str]
    catalog: str = ""

    def has(self, path: list[str]) -> bool:
        """Tell whether `table`, `main.table` or `catalog.main.table` is one of its tables."""
        before, table = path[:-1], path[-1]
        plain = not before or before == [MAIN] or before == [self.catalog, MAIN]
        return plain and table in self.tables

    def told(self, path: list[str]) -> str:
        """Return a path that is none of its tables, and the right one where it can be told."""
        found = ".".join(path)
        if len(path) == 1 or path[-1] not in self.tables:
            return found
        return f"{found} (write {path[-1]} or {MAIN}.{path[-1]})"


def check_tree(document: str, known: Known) -> None:
    """Decide on a statement's tree, as DuckDB writes it in JSON.

    Raises: Refused; LookupError, TypeError or ValueError when it is no tree that we know;
    RecursionError when it is too deep.
    """
    tree = json.loads(document)
    if tree.get("error"):
        raise Refused("does not parse", tree.get("error_type", "unknown"))
    statements = tree["statements"]
    if len(statements) != 1:
        raise Refused("not one SELECT", f"{len(statements)} statements")
    walk = Walk(known)
    walk.select(statements[0], _NOTHING)
    if walk.seen != parts(document):  # something hangs where the walk does not look
        raise Refused("unknown construct", "a part of the statement that the gate does not know")


def parts(document: str) -> int:
    """Count the parts of a tree, wherever they hang: the walk must have seen as many.

    A key stands in the document in quotes that no text of the query can hold (JSON escapes them).
    """
    return sum(map(document.count, _KEYS))


class Walk(Expressions):
    """One statement's tree. Scopes are the names of the common table expressions one can see."""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self.known = known

    def select(self, select: Node, scope: Scope) -> None:
        if select["named_param_map"]:
            raise Refused("has a parameter", "a query is complete in itself")
        self.node(select["node"], scope)

    # Query nodes

    def node(self, node: Node, scope: Scope) -> None:
        self.seen += 1
        scope = self.ctes(node["cte_map"]["map"], scope)
        for modifier in node["modifiers"]:
            self.modifier(modifier, scope)
        match node["type"]:
            case "SELECT_NODE":
                self.select_node(node, scope)
            case "SET_OPERATION_NODE":
                for child in node["children"] or [node["left"], node["right"]]:
                    self.node(child, scope)
            case "RECURSIVE_CTE_NODE":
                self.node(node["left"], scope)
                self.node(node["right"], scope | {folded(node["cte_name"])})
                self.expressions(node["key_targets"], scope)
            case other:
                raise Refused("not one SELECT", f"{_plain(other)} inside the statement")

    def ctes(self, entries: list[Node], scope: Scope) -> Scope:
        """Walk the WITH list; each sees those before it. Returns what the query itself sees."""
        for entry in entries:
            self.node(entry["value"]["query_node"], scope)
            self.expressions(entry["value"]["key_targets"], scope)
            self.expressions(entry["value"]["payload_aggregates"], scope)
            scope |= {folded(entry["key"])}
        return scope

    def select_node(self, node: Node, scope: Scope) -> None:
        self.not_sampled(node)
        self.table(node["from_table"], scope)
        self.expressions(node["select_list"], scope)
        self.expressions(node["group_expressions"], scope)
        self.expressions([node["where_clause"], node["having"], node["qualify"]], scope)

    def modifier(self, modifier: Node, scope: Scope) -> None:
        match modifier["type"]:
            case "ORDER_MODIFIER":
                self.orders(modifier["orders"], scope)
            case "LIMIT_MODIFIER" | "LIMIT_PERCENT_MODIFIER":
                self.expressions([modifier["limit"], modifier["offset"]], scope)
            case "DISTINCT_MODIFIER":
                self.expressions(modifier["distinct_on_targets"], scope)
            case other:
                raise Refused("unknown construct", other)

    def not_sampled(self, part: Node) -> None:
        """Look at the sample that a SELECT or a table may have: a part of its own in the count."""
        self.seen += 1
        if part["sample"] is not None:
            raise Refused("draws at random", "a sample")

    # Table references

    def table(self, table: Node | None, scope: Scope) -> None:
        if table is None:
            return
        self.not_sampled(table)
        match table["type"]:
            case "EMPTY":
                pass
            case "BASE_TABLE":
                self.base_table(table, scope)
            case "SUBQUERY":
                self.select(table["subquery"], scope)
            case "JOIN":
                self.join(table, scope)
            case "EXPRESSION_LIST":
                for row in table["values"]:
                    self.expressions(row, scope)
            case "TABLE_FUNCTION":
                self.table_function(table["function"], scope)
            case "PIVOT":
                self.pivot(table, scope)
            case other:
                raise Refused("no table of the database", _plain(other))

    def base_table(self, table: Node, scope: Scope) -> None:
        path = [folded(part) for part in table["qualified_name"]["path"]]
        if table["at_clause"] is not None:
            raise Refused("reads another version", ".".join(path))
        if len(path) == 1 and path[0] in scope:
            return
        if not self.known.has(path):
            raise Refused("no table of the database", self.known.told(path))

    def join(self, table: Node, scope: Scope) -> None:
        self.table(table["left"], scope)
        self.table(table["right"], scope)
        self.expressions([table["condition"], table["ranking_expression"]], scope)
        self.named(table["using_columns"])

    def table_function(self, function: Node, scope: Scope) -> None:
        if function.get("class") != "FUNCTION":
            raise Refused("unknown construct", "a table function that is none")
        self.seen += 1
        check_table_function(self.called(function))
        self.arguments(function, scope)

    def pivot(self, table: Node, scope: Scope) -> None:
        self.table(table["source"], scope)
        self.expressions(table["aggregates"], scope)
        self.named(table["groups"])
        for pivot in table["pivots"]:
            if pivot["pivot_enum"]:
                raise Refused("unknown construct", "PIVOT over a type")
            self.expressions(pivot["pivot_expressions"], scope)
            for entry in pivot["entries"]:
                self.expressions([entry["star_expr"]], scope)

    def named(self, names: list[str]) -> None:
        """Columns that stand in the tree as bare texts: USING (rowid), PIVOT ... GROUP BY current_date."""
        for name in names:
            check_column([name])


def _plain(kind: str) -> str:
    return kind.removesuffix("_QUERY_NODE").removesuffix("_NODE").removesuffix("_REF").lower()
