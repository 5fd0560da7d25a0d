"""Reading a reply: the SQL, ABSTAIN, or neither (S1-077 to S1-081; FACTS 3). Never raises; linear time.

In this order:
1. `<think>...</think>` is dropped, also an unclosed one with all that follows, and also what stands
   before a `</think>` that nothing opened (a chat template may have opened it).
2. ABSTAIN alone in the last code block, or as the last line when there is no block: an abstention.
   In any case, inside emphasis or quotes, with final punctuation.
3. The last block tagged sql (any case), closed or not, is the SQL. An empty one is no SQL.
4. Without one, the text from the first line that begins a statement to the `;` that ends it, the next
   fence or the end.

Blocks are told in code_blocks.py, statements in statements.py. The text of the SQL is never edited; line
ends become \\n.
"""

import re
from dataclasses import dataclass
from typing import Literal

from eval.code_blocks import AROUND, Block, blocks, is_abstain
from eval.statements import loose_statement


@dataclass(frozen=True)
class Extracted:
    """What a reply says.

    sql:            the query where kind is `sql`, else None.
    unclosed_think: a think section was never closed: a sign that the reply was cut off.
    reason:         why there is neither: empty, only_thinking, empty_block, abstain_not_offered, prose.
    """

    kind: Literal["sql", "abstain", "none"]
    sql: str | None = None
    unclosed_think: bool = False
    reason: str = ""


def read_reply(text: str, *, abstention: bool) -> Extracted:
    """Return what a reply says.

    abstention: whether the tier offers ABSTAIN; where it does not, the word is no SQL (S1-081).
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    shown, unclosed = drop_thinking(plain)
    found = blocks(shown)
    if says_abstain(shown, found):
        if abstention:
            return Extracted("abstain", unclosed_think=unclosed)
        return Extracted("none", unclosed_think=unclosed, reason="abstain_not_offered")
    sql = _sql(shown, found)
    if sql:
        return Extracted("sql", sql, unclosed)
    return Extracted("none", unclosed_think=unclosed, reason=_why_none(text, shown, sql))


_THINK = re.compile(r"<(/?)think\s{0,9}>", re.IGNORECASE)


def drop_thinking(text: str) -> tuple[str, bool]:
    """Return a reply without its think sections, and whether the last one was left open."""
    shown: list[str] = []
    start, thinking = 0, False
    for tag in _THINK.finditer(text):
        closes = bool(tag[1])
        if closes and not thinking:
            shown.clear()  # the template opened it, or sections are nested: all so far was thinking
        elif not closes and not thinking:
            shown.append(text[start : tag.start()])
        if closes or not thinking:
            start, thinking = tag.end(), not closes
    if not thinking:
        shown.append(text[start:])
    return "".join(shown), thinking


def says_abstain(shown: str, found: list[Block]) -> bool:
    """Tell whether a reply abstains: in its last block, or without blocks in its last line."""
    if found:
        return is_abstain(found[-1].text)
    return is_abstain(_last_line(shown))


def _last_line(text: str) -> str:
    """Return the last line that holds more than quotes and emphasis."""
    return text.rstrip(AROUND).rpartition("\n")[2]


def _sql(shown: str, found: list[Block]) -> str | None:
    """Return the SQL; "" for an empty block, None without any."""
    tagged = [block.text for block in found if block.tag == "sql"]
    return tagged[-1] if tagged else loose_statement(shown)


def _why_none(text: str, shown: str, sql: str | None) -> str:
    if sql is not None:
        return "empty_block"
    if shown.strip():
        return "prose"
    return "only_thinking" if text.strip() else "empty"
