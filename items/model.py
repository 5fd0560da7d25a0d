"""An item: a question in two languages with its reference; its content hash is its identity.

`item_sha256` covers every key of the item: approvals rest on it. `tier_sha256` covers the fields that
S1-050 names, of the kept items sorted by id: a task version pins it.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from registry.canonical import sha256_json

Language = Literal["ko", "en"]
LANGUAGES: tuple[Language, ...] = ("ko", "en")
HASHED = (  # S1-050
    "id",
    "question_ko",
    "question_en",
    "reference_sql",
    "order_matters",
    "answerable",
    "category",
    "difficulty",
    "scope",
)


@dataclass(frozen=True)
class Item:
    """A question with its reference (S1-049).

    reference_sql: the gold SQL; None when the item is unanswerable.
    order_matters: the question asks for the rows in an order.
    scope:         patient, group or none (EHRSQL, S3-004).
    witness:       what makes it unanswerable: an empty table (`death`) or a column NULL in every
                   row (`measurement.value_as_number`); None when answerable.
    """

    id: str
    question_ko: str
    question_en: str
    reference_sql: str | None
    order_matters: bool
    answerable: bool
    category: str
    difficulty: str
    scope: str
    witness: str | None = None

    @property
    def sha256(self) -> str:
        """Return the hash of the item's content: every key, canonical JSON."""
        return sha256_json(asdict(self))

    def question(self, language: Language) -> str:
        """Return the question in Korean or in English."""
        return self.question_ko if language == "ko" else self.question_en


def tier_sha256(items: Iterable[Item]) -> str:
    """Return the sha256 of a tier: its kept items' S1-050 fields, sorted by id."""
    return sha256_json([hashed(item) for item in sorted(items, key=lambda item: item.id)])


def hashed(item: Item) -> dict[str, Any]:
    """Return the fields of an item that a tier's hash covers."""
    return {name: getattr(item, name) for name in HASHED}


def untidy(item: Item) -> list[str]:
    """Return the names of text fields that are not NFC or end in white space (Agreements 2)."""
    texts = ((f.name, getattr(item, f.name)) for f in fields(item))
    return [name for name, text in texts if isinstance(text, str) and text != tidy(text)]


def tidy(text: str) -> str:
    """Return a text in NFC without trailing white space on any line."""
    lines = unicodedata.normalize("NFC", text).split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip()
