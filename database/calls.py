"""Which function a tree's node calls, and whether it may (the names are in functions.py)."""

from typing import Any

from database import functions
from database.quoting import folded
from database.refusal import Refused

NOT_ALLOWED = "calls a function that is not allowed"
SCHEMAS = frozenset({"main", "system", "temp", "pg_catalog", "information_schema"})
Node = dict[str, Any]


def path_of(function: Node) -> list[str]:
    """Return the call's name, with what stands before it: a column (`name.upper()`).

    Raises: Refused when a schema stands before it.
    """
    path = [folded(part) for part in function["qualified_name"]["path"]]
    if len(path) > 1 and SCHEMAS & set(path[:-1]):
        raise Refused("names a schema", ".".join(path))
    return path


def check_call(called: str, function: Node) -> None:
    """Raises: Refused when a scalar, aggregate or window function may not be called so."""
    if called not in functions.ALLOWED:
        raise _not_allowed(called)
    arguments = _arguments(function)
    if called == "age" and len(arguments) != 2:
        raise Refused("reads the clock", "age with one argument")
    if called in functions.NAMING:
        _check_named(called, arguments)
    if called in functions.SIZED:
        _check_size(called, arguments)


def check_table_function(called: str) -> None:
    """Raises: Refused when a table function is not one of the few that make rows of constants."""
    if called not in functions.TABLE_FUNCTIONS:
        raise Refused("calls a table function", called)


def check_column(path: list[str]) -> None:
    """Raises: Refused when a name is no column: the row's place on disk, a clock, the session."""
    last = folded(path[-1])
    if last == "rowid":
        raise Refused("reads the physical order", "rowid")
    if len(path) == 1 and last in functions.WORDS_CLOCK:
        raise Refused("reads the clock", last)
    if len(path) == 1 and last in functions.WORDS_SESSION:
        raise Refused("reads the session", last)


def _arguments(function: Node) -> list[Node]:
    """Return the arguments as expressions; a column before the name (`l.list_sum()`) is the first."""
    given = [argument["expression"] for argument in function["arguments"]]
    before = function["qualified_name"]["path"][:-1]
    return [{"class": "COLUMN_REF"}, *given] if before else given


def _not_allowed(called: str) -> Refused:
    if called in functions.CLOCK:
        return Refused("reads the clock", called)
    if called in functions.RANDOM:
        return Refused("draws at random", called)
    return Refused(NOT_ALLOWED, called)


def _check_named(called: str, arguments: list[Node]) -> None:
    """`list_aggregate(l, 'sum')`: the text must be a constant and an allowed aggregate."""
    named = arguments[1] if len(arguments) > 1 else {}
    text = folded(str(named.get("literal", {}).get("text", ""))) if named else ""
    if named.get("class") != "CONSTANT" or text not in functions.AGGREGATES:
        raise Refused(NOT_ALLOWED, f"{called} with {text or '?'!r}")


def _check_size(called: str, arguments: list[Node]) -> None:
    for argument in arguments:
        text = argument.get("literal", {}).get("text", "")
        if text.isdigit() and int(text) > functions.LARGEST:
            raise Refused("too much work", f"{called} of {int(text):,}")
