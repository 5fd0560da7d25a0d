"""A walk over DuckDB's parse tree with allow lists: the decision behind the gate.

A tree holds a handful of shapes (query nodes, table references, expressions). Every shape, every table
and every function must be on a list here; whatever a new DuckDB adds is refused until it is decided
upon. Scopes are the names of the common table expressions that one can see from where one stands.
"""

from dataclasses import dataclass
from typing import Any

from database import functions

NOT_ALLOWED = "calls a function that is not allowed"
SCHEMAS = frozenset({"main", "system", "temp", "pg_catalog", "information_schema"})
Node = dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """The rule that a statement broke, and the place in it."""

    rule: str
    place: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.place}"


class Refused(Exception):
    """Raised inside the walk, caught in `statement`."""

    def __init__(self, rule: str, place: object) -> None:
        self.refusal = Refusal(rule, " ".join(str(place).split())[:120])
        super().__init__(str(self.refusal))


def folded(name: str) -> str:
    """Lower case as DuckDB compares identifiers: ASCII letters only."""
    return name.translate(_LOWER)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Walk:
    """One statement's tree. Scopes are the names of the common table expressions one can see."""

    def __init__(self, tables: frozenset[str]) -> None:
        self.tables = tables
        self.seen = 0

    def document(self, tree: Node) -> None:
        if tree.get("error"):
            raise Refused("does not parse", tree.get("error_type", "unknown"))
        statements = tree["statements"]
        if len(statements) != 1:
            raise Refused("not one SELECT", f"{len(statements)} statements")
        self.select(statements[0], frozenset())
        if self.seen != shapes(statements):  # something hangs where this walk does not look
            raise Refused(
                "unknown construct", "a part of the statement that the gate does not know"
            )

    def select(self, select: Node, scope: frozenset[str]) -> None:
        if select["named_param_map"]:
            raise Refused("has a parameter", "a query is complete in itself")
        self.node(select["node"], scope)

    # Query nodes

    def node(self, node: Node, scope: frozenset[str]) -> None:
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

    def ctes(self, entries: list[Node], scope: frozenset[str]) -> frozenset[str]:
        """Walk the WITH list; each sees those before it. Returns what the query itself sees."""
        for entry in entries:
            self.node(entry["value"]["query_node"], scope)
            self.expressions(entry["value"]["key_targets"], scope)
            self.expressions(entry["value"]["payload_aggregates"], scope)
            scope |= {folded(entry["key"])}
        return scope

    def select_node(self, node: Node, scope: frozenset[str]) -> None:
        if node["sample"] is not None:
            raise Refused("draws at random", "a sample")
        self.table(node["from_table"], scope)
        self.expressions(node["select_list"], scope)
        self.expressions(node["group_expressions"], scope)
        self.expressions([node["where_clause"], node["having"], node["qualify"]], scope)

    def modifier(self, modifier: Node, scope: frozenset[str]) -> None:
        match modifier["type"]:
            case "ORDER_MODIFIER":
                self.orders(modifier["orders"], scope)
            case "LIMIT_MODIFIER" | "LIMIT_PERCENT_MODIFIER":
                self.expressions([modifier["limit"], modifier["offset"]], scope)
            case "DISTINCT_MODIFIER":
                self.expressions(modifier["distinct_on_targets"], scope)
            case other:
                raise Refused("unknown construct", other)

    # Table references

    def table(self, table: Node | None, scope: frozenset[str]) -> None:
        if table is None:
            return
        self.seen += 1
        if table["sample"] is not None:
            raise Refused("draws at random", "a sample")
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

    def base_table(self, table: Node, scope: frozenset[str]) -> None:
        path = [folded(part) for part in table["qualified_name"]["path"]]
        if table["at_clause"] is not None:
            raise Refused("reads another version", ".".join(path))
        alone = path[0] if len(path) == 1 else None
        if alone is not None and (alone in scope or alone in self.tables):
            return
        if len(path) == 2 and path[0] == "main" and path[1] in self.tables:
            return
        raise Refused("no table of the database", ".".join(path))

    def join(self, table: Node, scope: frozenset[str]) -> None:
        self.table(table["left"], scope)
        self.table(table["right"], scope)
        self.expressions([table["condition"], table["ranking_expression"]], scope)
        self.named(table["using_columns"])

    def table_function(self, function: Node, scope: frozenset[str]) -> None:
        if function.get("class") != "FUNCTION":
            raise Refused("unknown construct", "a table function that is none")
        self.seen += 1
        called = self.called(function)
        if called not in functions.TABLE_FUNCTIONS:
            raise Refused("calls a table function", called)
        self.arguments(function, scope)

    def pivot(self, table: Node, scope: frozenset[str]) -> None:
        self.table(table["source"], scope)
        self.expressions(table["aggregates"], scope)
        self.named(table["groups"])
        for pivot in table["pivots"]:
            if pivot["pivot_enum"]:
                raise Refused("unknown construct", "PIVOT over a type")
            self.expressions(pivot["pivot_expressions"], scope)
            for entry in pivot["entries"]:
                self.expressions([entry["star_expr"]], scope)

    # Expressions

    def expressions(self, many: list[Node | None], scope: frozenset[str]) -> None:
        for expression in many:
            if expression is not None:
                self.expression(expression, scope)

    def expression(self, expression: Node, scope: frozenset[str]) -> None:
        self.seen += 1
        match expression["class"]:
            case "COLUMN_REF":
                self.column(expression["column_names"])
            case "CONSTANT" | "POSITIONAL_REFERENCE":
                pass
            case "FUNCTION":
                self.function(expression, scope)
            case "WINDOW":
                self.window(expression, scope)
            case "COMPARISON":
                self.expressions([expression["left"], expression["right"]], scope)
            case "CONJUNCTION" | "OPERATOR":
                self.expressions(expression["children"], scope)
            case "BETWEEN":
                self.expressions([expression[key] for key in ("input", "lower", "upper")], scope)
            case "CASE":
                for check in expression["case_checks"]:
                    self.expressions([check["when_expr"], check["then_expr"]], scope)
                self.expressions([expression["else_expr"]], scope)
            case "CAST":
                self.expressions([expression["child"], expression["type_expr"]], scope)
            case "TYPE":
                self.type(expression, scope)
            case "COLLATE":
                self.expressions([expression["child"]], scope)
            case "LAMBDA":
                self.expressions([expression["lhs"], expression["expr"]], scope)
            case "SUBQUERY":
                self.select(expression["subquery"], scope)
                self.expressions([expression["child"]], scope)
            case "STAR":
                self.star(expression, scope)
            case "PARAMETER":
                raise Refused("has a parameter", expression["identifier"])
            case other:
                raise Refused("unknown construct", other)

    def column(self, path: list[str]) -> None:
        last = folded(path[-1])
        if last == "rowid":
            raise Refused("reads the physical order", "rowid")
        if len(path) == 1 and last in functions.WORDS_CLOCK:
            raise Refused("reads the clock", last)
        if len(path) == 1 and last in functions.WORDS_SESSION:
            raise Refused("reads the session", last)

    def named(self, names: list[str]) -> None:
        """Columns that stand in the tree as bare texts: USING (rowid), PIVOT ... GROUP BY current_date."""
        for name in names:
            self.column([name])

    def star(self, star: Node, scope: frozenset[str]) -> None:
        self.expressions([star["expr"]], scope)
        for replaced in star["replace_list"]:
            self.expression(replaced["value"], scope)

    def type(self, kind: Node, scope: frozenset[str]) -> None:
        path = kind["qualified_name"]["path"]
        if len(path) != 1:
            raise Refused("names a schema", ".".join(path))
        self.expressions(kind["children"], scope)

    def called(self, function: Node) -> str:
        """Return the plain name of the function that is called."""
        path = [folded(part) for part in function["qualified_name"]["path"]]
        if SCHEMAS & set(path[:-1]):
            raise Refused("names a schema", ".".join(path))
        if len(path) > 1:  # what stands before it is a column: `concept_name.upper()`
            self.column(path[:-1])
        return path[-1]

    def function(self, function: Node, scope: frozenset[str]) -> None:
        called = self.called(function)
        self.allowed(called, function)
        if function["export_state"]:
            raise Refused("unknown construct", "EXPORT_STATE")
        self.arguments(function, scope)
        self.orders(function["order_bys"]["orders"], scope)
        self.expressions([function["filter"]], scope)

    def window(self, window: Node, scope: frozenset[str]) -> None:
        self.allowed(self.called(window), window)
        self.arguments(window, scope)
        self.expressions(window["partitions"], scope)
        self.orders(window["orders"] + window["arg_orders"], scope)
        edges = ("start_expr", "end_expr", "offset_expr", "default_expr", "filter_expr")
        self.expressions([window[edge] for edge in edges], scope)

    def allowed(self, called: str, function: Node) -> None:
        if called in functions.CLOCK:
            raise Refused("reads the clock", called)
        if called in functions.RANDOM:
            raise Refused("draws at random", called)
        if called not in functions.ALLOWED:
            raise Refused(NOT_ALLOWED, called)
        if called == "age" and len(function["arguments"]) != 2:
            raise Refused("reads the clock", "age with one argument")
        if called in functions.NAMING:
            self.names_aggregate(called, function["arguments"])
        if called in functions.SIZED:
            self.sized(called, function["arguments"])

    def names_aggregate(self, called: str, arguments: list[Node]) -> None:
        """`list_aggregate(l, 'sum')`: the text must be a constant and an allowed aggregate."""
        named = arguments[1]["expression"] if len(arguments) > 1 else {}
        text = folded(str(named.get("literal", {}).get("text", ""))) if named else ""
        if named.get("class") != "CONSTANT" or text not in functions.AGGREGATES:
            raise Refused(NOT_ALLOWED, f"{called} with {text or '?'!r}")

    def sized(self, called: str, arguments: list[Node]) -> None:
        for argument in arguments:
            text = argument["expression"].get("literal", {}).get("text", "")
            if text.isdigit() and int(text) > functions.LARGEST:
                raise Refused("too much work", f"{called} of {int(text):,}")

    def arguments(self, function: Node, scope: frozenset[str]) -> None:
        self.expressions([argument["expression"] for argument in function["arguments"]], scope)

    def orders(self, orders: list[Node], scope: frozenset[str]) -> None:
        self.expressions([order["expression"] for order in orders], scope)


def shapes(tree: Any) -> int:
    """Count every query node, table and expression in a tree, wherever it hangs."""
    if isinstance(tree, list):
        return sum(map(shapes, tree))
    if not isinstance(tree, dict):
        return 0
    counted = "class" in tree or ("type" in tree and ("cte_map" in tree or "sample" in tree))
    return counted + sum(map(shapes, tree.values()))


def _plain(kind: str) -> str:
    return kind.removesuffix("_QUERY_NODE").removesuffix("_NODE").removesuffix("_REF").lower()
