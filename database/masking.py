"""Error texts without data: what a prompt, a log or a page may carry.

    Conversion: Could not convert string … to INT32 when casting from source column person_source_value

An engine puts values into its errors, in quotes, in brackets or bare (`missing ): <the value>`), so
nothing is kept because of how it looks. Errors raised before any row is read (syntax, unknown names,
types that do not fit) hold the query's own words only and stay as they are. Of the others only words
stay that the engine's own sentences are made of (WORDS), or that the query says outside its literals;
everything else, and every number, becomes `…`.
"""

import re

from database.words import words

LONGEST = 300
BEFORE_ROWS = frozenset({"Binder", "Catalog", "Parser", "Syntax"})
WORDS = words("""
    a according an and as at argument array be because by byte can cannot cast cast casting character
    characters codepoint column conversion convert could data date day days depth destination digit
    digits division does double duplicate element elements empty end enum epoch error exceeded exist
    such complex big
    expected exponent expression factorial field floor for format formatting from function hex hour hours
    in index input int integer interval into invalid is it json key keys large larger last length less
    limit list lists literal logarithm low malformed map maximum memory minute minutes missing modulo month
    months more must nan negative no not null number numbers numeric of on one only operation or out
    overflow parse parsing pattern positive power precision query range raised recognized regex regular
    returned returns root row rows scalar scale second seconds set single size source specifier square
    string strings struct subquery subqueries subtraction multiplication addition sum supported than the
    time timestamp timezone to too type types undefined unexpected unicode unimplemented union unique
    unknown unnamed used utf8 valid value values varchar when while width with year years zero zone
    can't doesn't exceeds greater equal small smaller step argument arguments parameter fmod
    bigint bit blob bool boolean decimal float hugeint int8 int16 int32 int64 int128 smallint tinyint
    ubigint uhugeint uint8 uint16 uint32 uint64 usmallint utinyint uuid
""")
_TOKEN = re.compile(r"[A-Za-z_]\w*(?:'t\b)?|\d[\w.:+-]*|\s+|.", re.DOTALL)
_LITERAL = re.compile(r"'(?:[^']|'')*'?|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_CLASS = re.compile(r"^[A-Z][A-Za-z ]* Error: ")
_GAP = re.compile(r"…(?:[\s.,:;()\[\]{}\"'/*+<>=%&|@#^~!?…-]*…)?")


def masked(kind: str, message: str, sql: str) -> str:
    """Return `<class>: <first line of the message>` without what may be a value of the data."""
    line = message[: LONGEST * 10].strip().split("\n", 1)[0]
    line = _CLASS.sub("", line)  # the engine's own "Conversion Error: "
    if kind not in BEFORE_ROWS:
        line = _without_values(line, sql)
    return f"{kind}: {line[:LONGEST]}".rstrip()


def _without_values(line: str, sql: str) -> str:
    own = {word.lower() for word in _TOKEN.findall(_LITERAL.sub(" ", sql)) if word[0].isalpha()}
    kept = [token if _plain(token, own) else "…" for token in _TOKEN.findall(line)]
    return _GAP.sub("…", "".join(kept))


def _plain(text: str, own: set[str]) -> bool:
    if text[0].isalpha() or text[0] == "_":
        return text.lower() in WORDS or text.lower() in own
    return text.isspace() or text in ".,:;()[]\"'-"
