"""Names and texts as SQL writes them."""


def name(identifier: str) -> str:
    """Return an identifier in SQL quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return a text literal in SQL quotes."""
    return "'" + str(value).replace("'", "''") + "'"
