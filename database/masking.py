"""Error texts without data: what a prompt, a log or a page may carry.

An engine quotes values in its errors: `Could not convert string 'A17-…' to INT32` prints a patient's
identifier. Kept are the class, and of the message its first line with everything that may be a value
(text in quotes, numbers) replaced by `…`; names of columns, tables and functions in the query itself
are the query's own words and stay where the engine quotes them with double quotes.
"""

import re

_LIMIT = 300
_SINGLE = re.compile(r"'(?:[^']|'')*'?")
_NUMBER = re.compile(r"(?<![\w\"])[-+]?\d[\w.:+-]*")


def masked(kind: str, message: str) -> str:
    """Return `<class>: <first line of the message, values masked>`."""
    line = message.strip().split("\n", 1)[0]
    line = line.split(": ", 1)[1] if ": " in line else line
    line = _NUMBER.sub("…", _SINGLE.sub("'…'", line))
    return f"{kind}: {line[:_LIMIT]}"
