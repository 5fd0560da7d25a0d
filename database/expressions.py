"""The expressions of a parse tree: every class is on the list here, every part of it is looked at.

Scopes are the names of the common table expressions that one can see from where one stands; an
expression hands them on to the queries inside it.
"""

from database.calls import Node, check_call, check_column, path_of
from database.refusal import Refused

Scope = frozenset[str]


class Expressions:
    """The walk's part for expressions. `seen` counts what was looked at, for the count in tree.py."""

    def __init__(self) -> None:
        self.seen = 0

    def select(self, select: Node, scope: Scope) -> None:
        """Look at a query inside an expression. Raises: Refused."""
        raise NotImplementedError

    def expressions(self, many: list[Node | None], scope: Scope) -> None:
        """Look at each expression that is there. Raises: Refused."""
        for expression in many:
            if expression is not None:
                self.expression(expression, scope)

    def expression(self, expression: Node, scope: Scope) -> None:
        """Look at one expression. Raises: Refused."""
        self.seen += 1
        match expression["class"]:
            case "COLUMN_REF":
                check_column(expression["column_names"])
            case "CONSTANT" | "POSITIONAL_REFERENCE":
                pass
            case "FUNCTION":
                self.function(expression, scope)
            case "COMPARISON":
                self.expressions([expression["left"], expression["right"]], scope)
            case "CONJUNCTION" | "OPERATOR":
                self.expressions(expression["children"], scope)
            case "CAST":
                self.expressions([expression["child"], expression["type_expr"]], scope)
            case "TYPE":
                self.type(expression, scope)
            case "WINDOW":
                self.window(expression, scope)
            case "SUBQUERY":
                self.select(expression["subquery"], scope)
                self.expressions([expression["child"]], scope)
            case "BETWEEN":
                self.expressions([expression[key] for key in ("input", "lower", "upper")], scope)
            case "CASE":
                for check in expression["case_checks"]:
                    self.expressions([check["when_expr"], check["then_expr"]], scope)
                self.expressions([expression["else_expr"]], scope)
            case "COLLATE":
                self.expressions([expression["child"]], scope)
            case "LAMBDA":
                self.expressions([expression["lhs"], expression["expr"]], scope)
            case "STAR":
                self.star(expression, scope)
            case "PARAMETER":
                raise Refused("has a parameter", expression["identifier"])
            case other:
                raise Refused("unknown construct", other)

    def star(self, star: Node, scope: Scope) -> None:
        self.expressions([star["expr"]], scope)
        for replaced in star["replace_list"]:
            self.expression(replaced["value"], scope)

    def type(self, kind: Node, scope: Scope) -> None:
        path = kind["qualified_name"]["path"]
        if len(path) != 1:
            raise Refused("names a schema", ".".join(path))
        self.expressions(kind["children"], scope)

    def function(self, function: Node, scope: Scope) -> None:
        check_call(self.called(function), function)
        if function["export_state"]:
            raise Refused("unknown construct", "EXPORT_STATE")
        self.arguments(function, scope)
        self.orders(function["order_bys"]["orders"], scope)
        self.expressions([function["filter"]], scope)

    def window(self, window: Node, scope: Scope) -> None:
        check_call(self.called(window), window)
        self.arguments(window, scope)
        self.expressions(window["partitions"], scope)
        self.orders(window["orders"] + window["arg_orders"], scope)
        edges = ("start_expr", "end_expr", "offset_expr", "default_expr", "filter_expr")
        self.expressions([window[edge] for edge in edges], scope)

    def called(self, function: Node) -> str:
        """Return the plain name of the function that is called; look at the column before it."""
        path = path_of(function)
        if len(path) > 1:
            check_column(path[:-1])
        return path[-1]

    def arguments(self, function: Node, scope: Scope) -> None:
        for argument in function["arguments"]:
            self.expressions([argument["expression"]], scope)

    def orders(self, orders: list[Node], scope: Scope) -> None:
        for order in orders:
            self.expressions([order["expression"]], scope)
