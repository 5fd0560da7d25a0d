"""SQL in running text: where a statement begins, and where it ends. Linear time, no parser.

A statement begins with SELECT, or with WITH name AS ( and WITH RECURSIVE name AS ( in DuckDB's forms; prose
such as "With this query" or "Select the people" does not. It ends at the first semicolon that no literal,
name or comment hides.
"""

import re

# Between WITH and AS may stand comments and line ends; AS is followed by ( in every statement, and by
# something else in prose ("With this query ...", "With age as the key ..."). Possessive: no backtracking.
_GAP = r"(?:\s|--[^\n]*+\n|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)"
_NAME = r'(?:[^\W\d][\w$]*+|"(?:[^"]|"")*+")'
_COLUMNS = rf"(?:{_GAP}*+\([^()]*+\))?+"
_STATEMENT = re.compile(
    rf"""[ \t]*+(?:
        select(?![\w$])
      | with{_GAP}++(?:recursive{_GAP}++)?+{_NAME}{_COLUMNS}
        (?:{_GAP}*+using{_GAP}++key{_COLUMNS})?+
        {_GAP}*+(?<![\w$])as{_GAP}*+(?:(?:not{_GAP}++)?+materialized{_GAP}*+)?+\(
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LINE = re.compile(r"^[ \t]*+(?:select|with)(?![\w$])", re.IGNORECASE | re.MULTILINE)
_PROSE = re.compile(
    r"[ \t]*+select(?:[ \t]++(?:the|those|these|each|every|only)[ \t]++[a-z]|[^\n]*:[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 2_000  # characters within which a WITH must show its AS: keeps many false starts cheap


def begins_statement(text: str) -> bool:
    """Tell whether a text begins with SELECT, or with WITH name AS ( or WITH RECURSIVE name AS (."""
    return _STATEMENT.match(text[:_HEAD]) is not None


def loose_statement(text: str) -> str | None:
    """Return the statement that stands in a text without a sql block, or None."""
    for line in _LINE.finditer(text):
        end = line.start() + _HEAD
        if _STATEMENT.match(text, line.start(), end) and not _PROSE.match(text, line.start(), end):
            return statement_end(_until_fence(text[line.start() :])).strip()
    return None


_FENCE = re.compile(r"```|^[ \t]*(?:~~~|'''[ \t]*$)", re.MULTILINE)


def _until_fence(text: str) -> str:
    fence = _FENCE.search(text)
    return text[: fence.start()] if fence else text


# What hides a semicolon: text, names, comments, dollar quotes. An unclosed one runs to the end.
_HIDES = re.compile(
    r"""(?P<end>;)
      | (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*+(?:'|\Z)
      | '[^']*+(?:'|\Z)
      | "[^"]*+(?:"|\Z)
      | --[^\n]*+
      | /\*
      | (?<![\w$])\$(?:[^\W\d]\w*+)?+\$""",
    re.VERBOSE | re.DOTALL,
)


def statement_end(text: str) -> str:
    """Return a text up to the semicolon that ends its first statement, or all of it."""
    at = 0
    while hides := _HIDES.search(text, at):
        if hides["end"]:
            return text[: hides.start()]
        at = hides.end()
        if hides[0] == "/*":
            at = _comment_end(text, at)
        elif hides[0].startswith("$"):
            closed = text.find(hides[0], at)
            at = closed + len(hides[0]) if closed >= 0 else len(text)
    return text


def _comment_end(text: str, at: int) -> int:
    """Return where a block comment ends: they nest."""
    depth = 1
    for mark in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    return len(text)
