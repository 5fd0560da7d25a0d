"""What a request showed of an item or of a decision, read back: is a recorded reply about this very one?

A request shows a stranger's text between tags that such a text cannot write (prompts.quoted), so whatever
stands outside of them is ours. A reviewer saw the questions in the first pass, and in the second the
reference in one style with what the item says of itself; a voter saw the decision, its options and the
evidence. The reference is printed again from the item, by the schema that the request itself tells.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import prompts
from agents.opening import listed
from agents.restyle import laid_out, sources
from items.frozen import Motion
from items.model import Item

Messages = Sequence[Mapping[str, str]]
_QUOTED = re.compile(r"^<([a-z_]+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)
_ASKED = re.compile(r"^(?:## Question (\d+)\n\n)?\x00(\d+)\x00\n\n\x00(\d+)\x00$", re.MULTILINE)
_CASES = re.compile(
    r"^# Item (?P<n>\d+)$"
    r"|^# The reference\n\n(?:\x00(?P<sql>\d+)\x00|None: .*)$"
    r"|^# The item says of itself\n\n(?P<says>.*)$",
    re.MULTILINE,
)
_COLUMN = re.compile(r"(?:^|, )(\w+) [A-Z]")
_TABLE = re.compile(r"^CREATE TABLE (\w+) \((.*)\);$", re.MULTILINE)
SAYS = ("order_matters", "answerable", "category", "difficulty", "scope", "witness")


@dataclass(frozen=True)
class Case:
    """What a second pass showed of one item: the reference (None: unanswerable), its own words."""

    sql: str | None
    says: Mapping[str, str]


def other_item(messages: Messages, item: Item) -> str | None:
    """Return how a review's request is about another item than this one, or None."""
    text, quotes = _masked(messages)
    number = _number(text, quotes, item)
    if number is None:
        return "the reply is about another question"
    case = _cases(text, quotes).get(number)
    if case is None:
        return "the reply was given before the reference was shown"
    if not _same_sql(case.sql, item.reference_sql, messages):
        return "the reply is about another reference_sql"
    for name, value in _says(item).items():
        if case.says.get(name) != value:
            return f"the reply is about an item with {name} {case.says.get(name)!r}, not {value!r}"
    return None


def number_of(messages: Messages, item: Item) -> int | None:
    """Return the number under which a request asks an item's questions: 0 where it asks them alone."""
    return _number(*_masked(messages), item)


def other_motion(messages: Messages, motion: Motion, shown: Sequence[str] | None) -> str | None:
    """Return how a ballot's request is about another decision, other options or other evidence.

    shown: the ids of the options in the order in which this voter saw them, as the record has it.
    """
    text, quotes = _masked(messages)
    order = shown if shown is not None else list(motion.options)
    if f"# The decision\n\n{motion.question.strip()}\n" not in text:
        return "the reply is about another decision"
    lines = tuple(f"{id}: {motion.options[id]}" for id in order if id in motion.options)
    if len(lines) < len(motion.options) or listed("options", lines) not in quotes:
        return "the reply chose among other options"
    if motion.evidence and prompts.quoted("evidence", motion.evidence) not in quotes:
        return "the reply was given on other evidence"
    return None


def _masked(messages: Messages) -> tuple[str, list[str]]:
    """Return what our side said, each quotation exchanged for its number, and the quotations."""
    quotes: list[str] = []

    def mask(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f"\x00{len(quotes) - 1}\x00"

    ours = [m["content"].replace("\x00", "?") for m in messages if m["role"] == "user"]
    return _QUOTED.sub(mask, "\n\n".join(ours)), quotes


def _number(text: str, quotes: Sequence[str], item: Item) -> int | None:
    korean = prompts.quoted("question_ko", item.question_ko)
    english = prompts.quoted("question_en", item.question_en)
    for number, first, second in _ASKED.findall(text):
        if (quotes[int(first)], quotes[int(second)]) == (korean, english):
            return int(number or 0)
    return None


def _cases(text: str, quotes: Sequence[str]) -> dict[int, Case]:
    """Return the cases by the number of their item; 0 where a request shows one alone."""
    found: dict[int, Case] = {}
    number, sql = 0, None
    for part in _CASES.finditer(text):
        if part["n"]:
            number = int(part["n"])
        elif part["says"] is None:
            sql = None if part["sql"] is None else quotes[int(part["sql"])]
        else:
            said = dict(one.partition(": ")[::2] for one in part["says"].split(" · "))
            found.setdefault(number, Case(sql, said))
    return found


def _says(item: Item) -> dict[str, str]:
    values = {name: getattr(item, name) for name in SAYS}
    return {
        name: str(value).lower() if isinstance(value, bool) else value or "none"
        for name, value in values.items()
    }


def _same_sql(shown: str | None, sql: str | None, messages: Messages) -> bool:
    """Tell whether a reference is the one that was shown, whichever release printed it."""
    if shown is None or sql is None:
        return shown is sql
    text = shown.removeprefix("<sql>\n").removesuffix("\n</sql>")
    if prompts.quoted("sql", sql) == shown:
        return True
    tables = _tables(messages, text)
    ours = laid_out(sql, tables)
    return shown == prompts.quoted("sql", ours) or laid_out(text.replace("‹", "<"), tables) == ours


def _tables(messages: Messages, sql: str) -> dict[str, dict[str, str]]:
    """Return the columns that the request's schema text tells, and those that its SQL names."""
    told = "\n".join(message["content"] for message in messages if message["role"] == "system")
    found = {
        table.lower(): dict.fromkeys(map(str.lower, _COLUMN.findall(columns)), "VARCHAR")
        for table, columns in _TABLE.findall(told)
    }
    for table, columns in sources(sql).items():
        found[table] = found.get(table) or dict.fromkeys(columns, "VARCHAR")
    return found
