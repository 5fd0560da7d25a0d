"""Ask one model one typed question: a reply that parses, after at most one re-ask, or NoReply.

The re-ask names what did not parse and shows the model its own reply. A failed call is NoReply as
well: data, which approves nothing and votes for nothing. Only a budget that is used up stops the work.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import prompts
from agents.replies import ReplyError
from agents.seats import NoReply
from models.budget import BudgetError
from models.call import Message, Model, ModelError, Request

T = TypeVar("T")


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A reply that parsed; `request` with its text appended is how the conversation goes on.

    calls: the ledger keys of the answers it rests on, in order, an unparseable one included.
    """

    value: T
    request: Request
    calls: tuple[str, ...]

    def then(self, words: str) -> Request:
        """Return the request that goes on with the user's next words."""
        return said(self.request, words)


async def ask(
    call: Model, request: Request, parse: Callable[[str], T], *, calls: tuple[str, ...] = ()
) -> Reply[T] | NoReply:
    """Return what `parse` makes of the model's reply, or why there is none.

    parse: text -> T; raises ReplyError, whose message goes back to the model once.
    calls: keys of the conversation so far, carried on.
    """
    problem = ""
    for _ in range(2):
        try:
            answer = await call(request)
        except BudgetError:
            raise
        except ModelError as error:
            return NoReply(f"no answer: {error}", request.model, calls)
        calls = (*calls, answer.key or request.key)
        heard = _heard(request, answer.text)
        try:
            return Reply(parse(answer.text), heard, calls)
        except ReplyError as error:
            problem = str(error)
            if answer.stop != "stop":
                problem = f"{problem} (the answer stopped: {answer.stop})"
        request = said(heard, prompts.render("shared/reask", problem=problem))
    return NoReply(f"not parsed after one re-ask: {problem}", request.model, calls)


def said(request: Request, words: str) -> Request:
    """Return the request with the user's next words appended."""
    return replace(request, messages=(*request.messages, Message("user", words)))


def _heard(request: Request, text: str) -> Request:
    # An empty assistant turn is refused by several providers.
    return replace(request, messages=(*request.messages, Message("assistant", text or "(empty)")))
