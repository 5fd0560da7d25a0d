"""Keys come from the environment, or from a file that it names (`OPENAI_API_KEY_FILE`); nowhere else.

What was read is remembered so that `scrub` knows it exactly, whatever it looks like.
"""

import os
import re
from pathlib import Path

from models.call import ModelError

_SHORTEST = 6  # characters; a shorter value would be struck out of ordinary words
_seen: dict[str, str] = {}


def key_of(name: str) -> str:
    """Return the key that a variable holds, or the file that `<name>_FILE` names; "" without one.

    Raises: ModelError when that file cannot be read.
    """
    value = os.environ.get(name, "")
    if not value and (path := os.environ.get(f"{name}_FILE")):
        try:
            value = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ModelError(
                f"{name}_FILE names a file that cannot be read: {error.strerror}"
            ) from None
    if len(value) >= _SHORTEST:
        _seen[value] = name
    return value


def struck_out(text: str) -> str:
    """Return a text with every known key replaced by its variable's name."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and re.search(r"KEY$|TOKEN|SECRET|PASSWORD", name, re.I):
            _seen[value] = name
    for value, name in _seen.items():
        text = text.replace(value, f"[{name}]")
    return text
