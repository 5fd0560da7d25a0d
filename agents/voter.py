"""The voter: one option of one decision, with a reason that rests on the evidence shown."""

from typing import Any

import prompts
from agents.ask import ask
from agents.opening import Holder, listed
from agents.replies import ReplyError, one_of, read_object, record, words
from agents.seats import Ask, BallotTask, NoReply, Vote
from models.call import Message


def voter(holder: Holder) -> Ask[BallotTask, Vote]:
    """Return the seat of a model that votes."""
    prompt = prompts.sha256("decide/ballot", "decide/reasons", "shared/reask")

    async def vote(task: BallotTask) -> Vote | NoReply:
        schema = record(reason=words(1_500), option=one_of(*(option.id for option in task.options)))

        def parse(text: str) -> dict[str, Any]:
            value = read_object(text, schema)
            if not value["reason"].strip():
                raise ReplyError("`reason` is empty; a vote needs one")
            return value

        messages = (Message("user", _words(task)),)
        request = holder.request(messages, schema, task.draw, "voter")
        reply = await ask(holder.line, request, parse)
        if isinstance(reply, NoReply):
            return NoReply(reply.problem, holder.model, reply.calls, prompt)
        value = reply.value
        return Vote(value["option"], value["reason"].strip(), holder.model, reply.calls, prompt)

    return vote


def _words(task: BallotTask) -> str:
    reasons = prompts.text("decide/no_reasons")
    if task.ballot > 1:
        reasons = prompts.render("decide/reasons", reasons=listed("reasons", task.reasons))
    return prompts.render(
        "decide/ballot",
        evidence=prompts.quoted("evidence", task.evidence),
        question=task.question,
        options=listed("options", tuple(f"{option.id}: {option.text}" for option in task.options)),
        reasons=reasons.strip(),
    ).strip()
