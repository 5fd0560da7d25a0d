"""How every conversation of the making opens: one system message, the same to the byte for all roles.

It holds the schema text, the database note, today and the dialect, so that a provider's prompt cache
(or a local server's kept prefix) serves author, reviewers and fixer alike; the role and the question
come after it.
"""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Protocol

import prompts
from agents.replies import Schema
from agents.seats import Briefing, Issue
from items.model import Item
from models.call import Answer, Message, Request
from registry.canonical import canonical

MAX_TOKENS = 16_384  # of one reply, thinking included
SHARED = ("shared/database", "shared/pitfalls", "shared/reask", "shared/probed")


class Line(Protocol):
    """What a seat asks through: the gateway, or a script that makes requests the same way."""

    async def __call__(self, request: Request) -> Answer: ...

    def request(
        self,
        model: str,
        messages: tuple[Message, ...],
        /,
        *,
        max_tokens: int,
        schema: str | None = None,
        draw: int = 0,
        role: str = "",
    ) -> Request: ...


@dataclass(frozen=True)
class Holder:
    """A model in a seat: its registry id, how it is reached, and how much it may write."""

    model: str
    line: Line
    max_tokens: int = MAX_TOKENS

    def request(
        self, messages: tuple[Message, ...], schema: Schema, draw: int, role: str
    ) -> Request:
        """Return a request of this holder, its schema as canonical JSON."""
        return self.line.request(
            self.model,
            messages,
            max_tokens=self.max_tokens,
            schema=canonical(schema),
            draw=draw,
            role=role,
        )


def opening(briefing: Briefing, words: str) -> tuple[Message, ...]:
    """Return the messages of a first turn: the shared system message, then the role's words."""
    system = prompts.render(
        "shared/database",
        schema_text=briefing.schema_text.strip(),
        note=briefing.note.strip() or "(none)",
        today=_today(briefing.today),
    )
    return Message("system", system.strip()), Message("user", words.strip())


def _today(day: date | None) -> str:
    if day is None:
        return "No current date is set; questions name their dates."
    said = f"It is {day.isoformat()} (DATE '{day.isoformat()}')."
    return f'{said} Every "today", "now" and "ago" counts from it.'


def tier_rules(briefing: Briefing) -> str:
    """Return what the tier says about questions that cannot be answered."""
    return prompts.text(tier_prompt(briefing)).strip()


def tier_prompt(briefing: Briefing) -> str:
    """Return the name of the prompt file with the tier's rule on abstention."""
    return "shared/abstention" if briefing.abstention else "shared/no_abstention"


def pitfalls() -> str:
    """Return the list of errors that execution does not show."""
    return prompts.text("shared/pitfalls").strip()


def item_text(item: Item) -> str:
    """Return an item as a fixer or author reads it: its content fields, delimited."""
    names = (
        "question_ko",
        "question_en",
        "reference_sql",
        "order_matters",
        "answerable",
        "witness",
    )
    fields: dict[str, Any] = {name: asdict(item)[name] for name in names}
    lines = [f"{name}: {'null' if value is None else value}" for name, value in fields.items()]
    return prompts.quoted("item", "\n".join(lines))


def issues_text(issues: tuple[Issue, ...]) -> str:
    """Return objections without names, one a line, delimited."""
    lines = [
        f"- {i.kind}: {i.sentence}" + (f" [{i.evidence}]" if i.evidence else "") for i in issues
    ]
    return prompts.quoted("objections", "\n".join(lines) or "(none)")


def listed(tag: str, lines: tuple[str, ...]) -> str:
    """Return lines as a delimited list."""
    return prompts.quoted(tag, "\n".join(f"- {line}" for line in lines) or "(none)")
