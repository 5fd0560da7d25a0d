"""What the format cost: a second reading of replies that hold neither SQL nor ABSTAIN by the rule.

It stands beside the score and never in it (FACTS 3). It reads what the rule leaves out, in this order:
a block with another tag (`duckdb`, `postgresql`, none), also of apostrophes; a label before the
statement or before ABSTAIN (`SQLQuery: SELECT ...`, `Answer: ABSTAIN`); a JSON object with the query;
inline code; a statement that begins with FROM. Tokens of chat templates (`<|im_end|>`) are dropped.
"""

import json
import re

from eval.code_blocks import blocks, is_abstain
from eval.extract import Extracted, drop_thinking, read_reply
from eval.statements import begins_statement, loose_statement, statement_end

_TEMPLATE = re.compile(r"<\|[^<>|]{1,40}\|>|</?s>|\[/?INST\]")
_LABEL = re.compile(r"^[ \t]*[*_#> \t]*[^\W\d][\w ]{0,30}[*_]*[ \t]*[:：][*_ \t]*", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FROM = re.compile(r"^[ \t]*from[ \t]+[\w\"(]", re.IGNORECASE)
LAST = 20  # blocks and pieces of inline code that are looked at, from the end
_KEYS = ("sql", "query", "sql_query", "answer")


def read_leniently(text: str, *, abstention: bool) -> Extracted:
    """Return what a reply may have meant: as the rule reads it, else with the format forgiven."""
    strict = read_reply(text, abstention=abstention)
    if strict.kind != "none" or strict.reason in ("abstain_not_offered", "empty", "only_thinking"):
        return strict
    shown = _TEMPLATE.sub("", drop_thinking(text.replace("\r\n", "\n"))[0])
    for candidate in _candidates(shown):
        if is_abstain(candidate):
            if abstention:
                return Extracted("abstain", unclosed_think=strict.unclosed_think)
        elif begins_statement(candidate) or _FROM.match(candidate):
            sql = statement_end(candidate).strip()
            return Extracted("sql", sql, strict.unclosed_think)
    return strict


def _candidates(shown: str) -> list[str]:
    """Return what might be the answer, likeliest first."""
    quoted = shown.replace("'''", "```")
    tagged = [block.text for block in blocks(quoted)[:-LAST:-1]]
    plain = _LABEL.sub("", shown)
    last = plain.rstrip().rpartition("\n")[2]
    loose = loose_statement(plain)
    froms = [plain[at:] for at in _line_starts(plain) if _FROM.match(plain, at)]
    inline = [found[1].strip() for found in _INLINE.finditer(shown)]
    return [
        *tagged,
        *_json_values(shown),
        last,
        *([loose] if loose else []),
        *inline[:-LAST:-1],
        *froms[:1],
    ]


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _json_values(shown: str) -> list[str]:
    """Return the query of a reply that is a JSON object."""
    inside = shown[shown.find("{") : shown.rfind("}") + 1]
    try:
        value = json.loads(inside)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    lower = {str(key).lower(): entry for key, entry in value.items()}
    return [lower[key].strip() for key in _KEYS if isinstance(lower.get(key), str)]
