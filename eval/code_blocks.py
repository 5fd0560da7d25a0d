"""The code blocks of a reply, and the word ABSTAIN alone.

Markdown's fences, read as models write them: a block begins with a line of ``` or ~~~ (after a list or
quote mark too), or with ```sql inside a line when SQL follows. It ends at the next ```, which no SQL
holds, at a fence with a tag, or with the reply. A block keeps its text; the indentation of its fence and
its quote marks are not part of it.
"""

import re
from dataclasses import dataclass

from eval.statements import begins_statement


@dataclass(frozen=True)
class Block:
    """A code block: its tag in lower case, and its text."""

    tag: str
    text: str


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
        self.indent = 0
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
            self._open(opens, line[opens.end() :])
            return
        for at in _tags_inside(line):
            if self._open_inside(line[at + len("```sql") :]):
                return

    def _open(self, opens: re.Match[str], rest: str) -> None:
        tag = _TAG.match(rest)
        assert tag is not None  # it matches nothing too
        after = rest[tag.end() :].strip()
        if opens["fence"][0] == "`" and "`" in rest:  # closed on the line: `code`, or a whole block
            if tag[1].lower() == "sql":
                self._open_inside(after)
            return
        self._begin(opens["fence"], tag[1].lower(), opens["quote"].strip(), opens.start("fence"))
        if begins_statement(after) or is_abstain(after):
            self.lines = [after]
        elif is_abstain(tag[1]):
            self.tag, self.lines = "", [tag[1]]

    def _open_inside(self, rest: str) -> bool:
        """Open ```sql inside a line, if nothing, a statement or the word follows."""
        code, closed, _ = rest.partition("```")
        if not (begins_statement(code) or is_abstain(code) or (not code.strip() and not closed)):
            return False
        self._begin("```", "sql")
        self.lines = [code]
        if closed:
            self._close()
        return True

    def _begin(self, fence: str, tag: str, quote: str = "", indent: int = 0) -> None:
        self.fence, self.tag, self.quote, self.indent, self.lines = fence, tag, quote, indent, []

    def _inside(self, line: str) -> None:
        opens = _OPENS.match(line)
        if opens and _is_tag(line[opens.end() :]):
            self._close()  # a tagged fence begins a block, wherever it stands
            self._open(opens, line[opens.end() :])
        elif opens and opens["fence"].startswith(self.fence):
            self._close()
        elif self.fence[0] == "`" and not opens and "```" in line:
            self.lines.append(line.partition("```")[0])
            self._close()
        else:
            self.lines.append(line)

    def _close(self) -> None:
        text = "\n".join(self._content(line) for line in self.lines)
        self.done.append(Block(self.tag, text.strip()))
        self.fence = ""

    def _content(self, line: str) -> str:
        """Return a line without the quote mark and the indentation that its fence has too."""
        if self.quote:
            line = line.lstrip().removeprefix(">")
        return line[min(self.indent, len(line) - len(line.lstrip(" \t"))) :]


def _is_tag(rest: str) -> bool:
    """Tell whether what follows a fence is a tag, and not prose after a closing fence."""
    words = rest.split(None, 1)
    return bool(words) and "`" not in rest and (len(words) == 1 or words[0].lower() == "sql")


def _tags_inside(line: str) -> list[int]:
    return [found.start() for found in re.finditer(r"```sql(?![\w-])", line, re.IGNORECASE)]


AROUND = " \t\n*_`\"'“”‘’«»「」『』《》〈〉()[]{}<>#"
_FINAL = ".,;:!?。．，、；：！？…"


def is_abstain(text: str) -> bool:
    """Tell whether a text is the word ABSTAIN alone: any case, emphasis, quotes, final punctuation."""
    return text.strip().lstrip(AROUND).rstrip(AROUND + _FINAL).lower() == "abstain"
