"""Questions ask; they do not instruct the reader, and they hide nothing."""

import re
from collections.abc import Iterator

from items.rules.base import Case, Found, rule

INSTRUCTIONS = (
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|above|prior|all|instructions?|rules?)",
    r"\b(?:you are|act as|pretend to be|as) (?:an? |the )?(?:ai|assistant|language model|reviewer|system)",
    r"\bsystem prompt\b|\bprompt injection\b|</?(?:system|user|assistant|instructions?)>",
    r"\b(?:approve|reject|accept) (?:this|the) (?:item|question|reference|query|draft)",
    r"\b(?:respond|reply|answer|output|return) (?:only )?(?:with )?[\"'`]?(?:approve|abstain|yes to all)",
    r"\b(?:verdict|score)\s*[:=]\s*\S+|```",
    r"(?:이전|위의|모든)\s*(?:지시|명령|규칙).{0,10}(?:무시|잊)|승인해\s*(?:주세요|라)|시스템\s*프롬프트",
)
HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad\U000e0000-\U000e007f]"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@rule("problem", source="attacks on LLM judges (prompt injection in data)")
def instructs(case: Case) -> Iterator[Found | str]:
    """No text of an item tries to instruct the model or the reviewer who reads it."""
    texts = {"question_en": case.item.question_en, "question_ko": case.item.question_ko}
    comments = re.findall(r"--[^\n]*|/\*.*?\*/", case.item.reference_sql or "", re.S)
    texts["reference_sql"] = "\n".join(comments)
    yield "both questions and the comments of the reference"
    for name, text in texts.items():
        for pattern in INSTRUCTIONS:
            found = re.search(pattern, text, re.I | re.S)
            if found:
                yield Found(f"{name} instructs its reader: {found.group(0)[:80]!r}")
                break


@rule("problem", source="Trojan Source (CVE-2021-42574); Unicode tag characters")
def hidden_characters(case: Case) -> Iterator[Found | str]:
    """No invisible, direction-changing or control characters in any text."""
    for name in ("question_en", "question_ko", "reference_sql"):
        text = getattr(case.item, name) or ""
        found = HIDDEN.search(text) or CONTROL.search(text)
        yield name
        if found:
            yield Found(f"{name} holds U+{ord(found.group(0)):04X} at character {found.start()}")
