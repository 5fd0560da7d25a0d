"""Canonical JSON and its sha256: what every pin, ledger key and chained record rests on.

Canonical form (S1-004): keys sorted by code point, separators `,` and `:` without spaces, UTF-8,
no ASCII escapes, no newline at the end. `canonical({"b": 1, "a": "환자"})` is `{"a":"환자","b":1}`.
"""

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """Return the canonical JSON text of a JSON-like value.

    Raises: ValueError for NaN and infinity, which JSON cannot say; TypeError for other types.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def json_lines(text: str) -> list[str]:
    """Return the lines of a JSONL text. Only a newline ends one: texts in it may hold U+2028 or U+0085,
    at which `str.splitlines` would break them."""
    return [line for line in text.split("\n") if line]


def sha256_text(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_json(value: Any) -> str:
    """Return the sha256 of a value's canonical JSON, 64 hex digits."""
    return sha256_text(canonical(value))
