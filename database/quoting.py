"""Names and texts as SQL writes them, and how names compare."""

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def name(identifier: str) -> str:
    """Return an identifier in SQL quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return a text literal in SQL quotes."""
    return "'" + str(value).replace("'", "''") + "'"


def folded(identifier: str) -> str:
    """Lower case as DuckDB and SQLite compare identifiers: ASCII letters only."""
    return identifier.lower() if identifier.isascii() else identifier.translate(_LOWER)
