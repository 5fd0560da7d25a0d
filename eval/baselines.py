"""Baselines are Models: the same code asks, reads, runs and scores them (S1-008 to S1-016).

    benchtoward/prior                    ABSTAIN to everything: the input-blind prior of RS
    benchtoward/text2sql-constant-query  SELECT 0 to everything: the input-blind prior of EX
    benchtoward/oracle                   the reference itself; scores exactly 1, or something is broken

The first two look at nothing. SELECT 0 scores 0 on RS(0) and EX by the reference rules, but -5 on RS(5)
and -N on RS(N): every one of its answers is wrong.
"""

from collections.abc import Mapping

from models.call import Answer, Message, ModelError, Request

PRIOR = "benchtoward/prior"
CONSTANT_QUERY = "benchtoward/text2sql-constant-query"
ORACLE = "benchtoward/oracle"


class Constant:
    """Gives one reply to every request."""

    def __init__(self, reply: str) -> None:
        self._reply = reply

    async def __call__(self, request: Request) -> Answer:
        return Answer(self._reply, key=request.key)


class Known:
    """Gives the reply that belongs to a request's messages."""

    def __init__(self, replies: Mapping[tuple[Message, ...], str]) -> None:
        self._replies = replies

    async def __call__(self, request: Request) -> Answer:
        if request.messages not in self._replies:
            raise ModelError(f"{request.model} knows no answer to this request")
        return Answer(self._replies[request.messages], key=request.key)


def fenced(sql: str | None) -> str:
    """Return a reply that gives this query, or abstains for None."""
    return f"```sql\n{sql}\n```" if sql is not None else "ABSTAIN"
