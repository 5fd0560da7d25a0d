"""SQLite's date and time functions without its clock: `date('now')`, `date('n' || 'ow')`, `time()`.

SQLite reads the clock where a *value* says so, which no text shows. A query whose calls take literals
and columns only is read here and runs on SQLite's own functions. For any other one the functions are
replaced by guards that look at each value as it comes and hand it on to SQLite: right for every query,
and slower by a few microseconds a call.
"""

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from database.quoting import folded
from database.words import words

FUNCTIONS = words("date datetime julianday strftime time timediff unixepoch")
PRESENT = words(
    "now subsec subsecond txn"
)  # a time value that is one of these is the present moment
MOMENTS = {"strftime": (1,), "timediff": (0, 1)}  # where a function takes time values; others first
_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))
    |(?P<text>'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    |(?P<word>[^\W\d]\w*|\d[\w.]*)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
Token = tuple[str, str]  # the kind, and the text without its quotes


class ReadsClock(Exception):
    """A date function was about to take the present moment."""


def needs_guard(sql: str) -> bool:
    """Tell whether a query calls a date function with anything but literals and columns."""
    tokens = _tokens(sql)
    starts = [
        place + 2
        for place, (one, after) in enumerate(pairwise(tokens))
        if folded(one[1]) in FUNCTIONS and one[0] in ("name", "word", "text") and after[1] == "("
    ]
    return not all(_plain(tokens, start) for start in starts)


def guards(stop: Callable[[str], None]) -> dict[str, Callable[..., Any]]:
    """Return the functions that look at each value; `stop` is told why before one raises."""
    inner = sqlite3.connect(":memory:", check_same_thread=False)
    return {name: partial(_guarded, inner, stop, name) for name in FUNCTIONS}


def _guarded(
    inner: sqlite3.Connection, stop: Callable[[str], None], name: str, *arguments: Any
) -> Any:
    places = MOMENTS.get(name, (0,))
    if any(place >= len(arguments) or _is_present(arguments[place]) for place in places):
        stop("now")
        raise ReadsClock
    marks = ", ".join("?" * len(arguments))
    return inner.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]


def _is_present(value: object) -> bool:
    """SQLite reads a text up to its first NUL, and bytes as text."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    return isinstance(text, str) and folded(text.split("\0")[0].strip()) in PRESENT


def _tokens(sql: str) -> list[Token]:
    return [
        (kind, found.group() if kind in ("word", "sign") else found.group()[1:-1])
        for found in _TOKEN.finditer(sql)
        if (kind := found.lastgroup or "") != "space"
    ]


def _plain(tokens: list[Token], start: int) -> bool:
    """Tell whether arguments are literals other than the present, or columns, up to the `)`."""
    shape = ""
    for kind, text in tokens[start:]:
        if kind == "sign":
            if text == ")":
                return bool(re.fullmatch(r"v(?:\.v){0,2}(?:,v(?:\.v){0,2})*", shape))
            shape += text
        elif folded(text.strip()) in PRESENT:
            return False
        else:
            shape += "v"
    return False
