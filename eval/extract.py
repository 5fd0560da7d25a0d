"""Reading a reply: the SQL, ABSTAIN, or neither (S1-077 to S1-081; FACTS 3). Never raises; linear time.

In this order:
1. `<think>...</think>` is dropped, also an unclosed one with all that follows, and also what stands
   before a `</think>` that nothing opened (a chat template may have opened it).
2. ABSTAIN alone in the last code block, or as the last line when there is no block: an abstention.
   In any case, inside emphasis or quotes, with final punctuation.
3. The last block tagged sql (any case), closed or not, is the SQL. An empty one is no SQL.
4. Without one, the text from the first line that begins a statement to the `;` that ends it, the next
   fence or the end.

A block begins with a line of ``` or ~~~, or with ```sql inside a line when SQL follows. It ends at the
next ```, which no SQL holds. The text of the SQL is never edited; line ends become \\n.
"""

import re
from dataclasses import dataclass
from typing import Literal


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


@dataclass(frozen=True)
class Block:
    """A code block: its tag in lower case, and its text."""

    tag: str
    text: str


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


# What may stand before a fence: indentation, list marks, quote marks.
_OPENS = re.compile(
    r"^[ \t]*(?P<quote>(?:>[ \t]*)*)(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})"
)
_TAG = re.compile(r"[ \t]*([^\s`~]*)")


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a reply in order; one that is left open ends with the reply."""
    return _Blocks().read(text)


class _Blocks:
    """A walk over lines: outside a block, or inside one with its fence, tag and lines so far."""

    def __init__(self) -> None:
        self.done: list[Block] = []
        self.fence = self.tag = self.quote = ""
        self.lines: list[str] = []

    def read(self, text: str) -> list[Block]:
        for line in text.split("\n"):
            if self.fence:
                self._inside(line)
            else:
                self._outside(line)
        if self.fence and (self.tag == "sql" or any(line.strip() for line in self.lines)):
            self._close()  # a stray fence at the end begins no block
        return self.done

    def _outside(self, line: str) -> None:
        if opens := _OPENS.match(line):
            self._open(opens["fence"], opens["quote"], line[opens.end() :])
            return
        for at in _tags_inside(line):
            if self._open_inside(line[at + len("```sql") :]):
                return

    def _open(self, fence: str, quote: str, rest: str) -> None:
        tag = _TAG.match(rest)
        assert tag is not None  # it matches nothing too
        after = rest[tag.end() :].strip()
        if (
            fence[0] == "`" and "`" in rest
        ):  # opened and closed on one line: `code`, or a whole block
            if tag[1].lower() == "sql":
                self._open_inside(after)
            return
        self.fence, self.tag, self.quote, self.lines = fence, tag[1].lower(), quote.strip(), []
        if begins_statement(after) or is_abstain(after):
            self.lines.append(after)
        elif is_abstain(tag[1]):
            self.tag, self.lines = "", [tag[1]]

    def _open_inside(self, rest: str) -> bool:
        """Open ```sql inside a line, if nothing, a statement or the word follows."""
        code, closed, _ = rest.partition("```")
        if not (begins_statement(code) or is_abstain(code) or (not code.strip() and not closed)):
            return False
        self.fence, self.tag, self.quote, self.lines = "```", "sql", "", [code]
        if closed:
            self._close()
        return True

    def _inside(self, line: str) -> None:
        opens = _OPENS.match(line)
        if opens and _is_tag(line[opens.end() :]):
            self._close()  # a tagged fence begins a block, wherever it stands
            self._open(opens["fence"], opens["quote"], line[opens.end() :])
        elif opens and opens["fence"].startswith(self.fence):
            self._close()
        elif self.fence[0] == "`" and not opens and "```" in line:
            self.lines.append(line.partition("```")[0])
            self._close()
        else:
            self.lines.append(line)

    def _close(self) -> None:
        lines = (
            [line.lstrip().removeprefix(">") for line in self.lines] if self.quote else self.lines
        )
        self.done.append(Block(self.tag, "\n".join(lines).strip()))
        self.fence = ""


def _is_tag(rest: str) -> bool:
    """Tell whether what follows a fence is a tag, and not prose after a closing fence."""
    words = rest.split(None, 1)
    return bool(words) and "`" not in rest and (len(words) == 1 or words[0].lower() == "sql")


def _tags_inside(line: str) -> list[int]:
    return [found.start() for found in re.finditer(r"```sql(?![\w-])", line, re.IGNORECASE)]


_AROUND = " \t\n*_`\"'“”‘’«»「」『』《》〈〉()[]{}<>#"
_FINAL = ".,;:!?。．，、；：！？…"


def is_abstain(text: str) -> bool:
    """Tell whether a text is the word ABSTAIN alone: any case, emphasis, quotes, final punctuation."""
    return text.strip().lstrip(_AROUND).rstrip(_AROUND + _FINAL).lower() == "abstain"


def says_abstain(shown: str, found: list[Block]) -> bool:
    """Tell whether a reply abstains: in its last block, or without blocks in its last line."""
    if found:
        return is_abstain(found[-1].text)
    return is_abstain(_last_line(shown))


def _last_line(text: str) -> str:
    """Return the last line that holds more than quotes and emphasis."""
    return text.rstrip(_AROUND).rpartition("\n")[2]


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
