"""A conversation in which a model may look at the data before it replies: read-only, a few times.

Every reply is one object with an `action`. `probe` runs its `sql` and shows the first rows; any other
action ends the conversation. The probes are kept with the reply.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import prompts
from agents.ask import Reply, ask
from agents.replies import ReplyError, Schema, read_object
from agents.seats import NoReply, Probe
from database.engine import Database
from database.result import Failure, Result
from models.call import Model, Request

PROBES = 3
ROWS_SHOWN = 20
CELL = 60  # characters of a value


@dataclass(frozen=True)
class Talk:
    """How a conversation ended: the last reply, and what was looked at on the way."""

    reply: Reply[dict[str, Any]]
    probes: tuple[Probe, ...]


async def talk(
    call: Model,
    request: Request,
    schema: Schema,
    check: Callable[[dict[str, Any]], None],
    database: Database,
    *,
    calls: tuple[str, ...] = (),
) -> Talk | NoReply:
    """Ask until the model replies with something else than a probe, at most PROBES probes.

    check: raises ReplyError for a reply that has the schema and yet cannot be used.
    """
    probes: tuple[Probe, ...] = ()
    while True:

        def parse(text: str, left: int = PROBES - len(probes)) -> dict[str, Any]:
            value = read_object(text, schema)
            if value["action"] != "probe":
                check(value)
            elif not left:
                raise ReplyError("no probes are left; reply with your final action now")
            elif not (value["sql"] or "").strip():
                raise ReplyError("a probe needs its query in `sql`")
            return value

        reply = await ask(call, request, parse, calls=calls)
        if isinstance(reply, NoReply):
            return reply
        if reply.value["action"] != "probe":
            return Talk(reply, probes)
        saw = shown(await database.arun(reply.value["sql"]))
        probes = (*probes, Probe(reply.value["sql"], saw))
        left = str(PROBES - len(probes))
        words = prompts.render("shared/probed", saw=prompts.quoted("rows", saw), left=left)
        calls, request = reply.calls, reply.then(words)


def shown(result: Result | Failure) -> str:
    """Return a result as a model reads it: column names, the first rows, how many there are."""
    if isinstance(result, Failure):
        return f"no rows: {result.reason}: {result.message}"
    lines = [" | ".join(result.columns)]
    lines += [" | ".join(map(_cell, row)) for row in result.rows[:ROWS_SHOWN]]
    more = len(result.rows) - ROWS_SHOWN
    lines.append(
        f"({len(result.rows)} rows{f', the first {ROWS_SHOWN} shown' if more > 0 else ''})"
    )
    return "\n".join(lines)


def _cell(value: Any) -> str:
    text = "NULL" if value is None else " ".join(str(value).split())
    return text if len(text) <= CELL else text[: CELL - 1] + "…"
