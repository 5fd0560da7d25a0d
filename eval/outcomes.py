"""What becomes of an answer: reading it, running it, comparing it (Agreements 7, in this order).

1. A reply with SQL, or with ABSTAIN where the tier offers it, is never cut off, however it stopped.
2. Without either: refused by the provider, else cut off (by any sign), else no SQL (a format failure).
   ABSTAIN on a tier without abstention is no SQL.
3. SQL is run: refused by the gate, an error, a time-out, over the row or byte limit; or its rows are
   compared with the reference's. On an unanswerable question no query is right. What does not parse and
   what names a table that is not there is an error, although the gate stops it: refused is what the gate
   forbids.

The classes are exclusive and sum to N. `lost` (our worker failed, not the query) is open: no score.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from database.engine import Database, QueryError, near_limit
from database.result import Failure, Result, results_match
from eval.exam import Instance, Prediction, Scored
from eval.extract import read_reply
from items.model import Item
from models.call import Answer

CLASSES = (
    "right",
    "abstained",
    "wrong_result",
    "sql_refused",
    "sql_error",
    "time_out",
    "too_many_rows",
    "too_large",
    "no_sql",
    "cut_off",
    "refused",
    "api_error",
    "lost",
    "not_asked",
)
FAILED = {  # what a Failure's reason is called as an outcome
    "refused": "sql_refused",
    "error": "sql_error",
    "time_out": "time_out",
    "too_many_rows": "too_many_rows",
    "too_large": "too_large",
    "memory": "too_large",
    "lost": "lost",
}
ERRORS = (
    "does not parse",
    "no table of the database",
    "no such function",
)  # rules of the gate, as its messages begin
AT_ONCE = 8  # queries waiting for a worker; the database runs as many as it has workers


class Asked(Protocol):
    """An instance with the item it asks."""

    @property
    def instance(self) -> Instance: ...
    @property
    def item(self) -> Item: ...


@dataclass(frozen=True)
class Ran:
    """One query against one reference."""

    outcome: str
    reason: str
    rows: int | None
    elapsed_s: float


def read(answer: Answer, *, abstention: bool, max_tokens: int) -> Prediction:
    """Return a reply as a prediction: sql, abstain, refused, cut_off or no_sql."""
    found = read_reply(answer.text, abstention=abstention)
    if found.kind != "none":
        return Prediction(found.kind, found.sql)
    if found.reason == "abstain_not_offered":
        return Prediction("no_sql", reason=found.reason)
    if answer.refusal or answer.stop in ("content_filter", "refusal"):
        return Prediction("refused", reason=answer.refusal or answer.native_stop or answer.stop)
    if sign := cut_off(answer, max_tokens, unclosed_think=found.unclosed_think):
        return Prediction("cut_off", reason=sign)
    return Prediction("no_sql", reason=found.reason)


def cut_off(answer: Answer, max_tokens: int, *, unclosed_think: bool) -> str:
    """Return the sign by which an answer was cut off at the output limit, or ""."""
    if answer.stop == "length":
        return "stop reason: length"
    if answer.output_tokens is not None and answer.output_tokens >= max_tokens:
        return f"used all {max_tokens} tokens"
    return "unclosed <think>" if unclosed_think else ""


def assumed(asked: Asked, *, right: bool) -> Scored:
    """Return the best or the worst that could become of an open instance."""
    best = "right" if asked.item.answerable else "abstained"
    return Scored(asked.instance, best if right else "wrong_result", "assumed: no answer")


class Judge:
    """Runs and compares on one database; a reference runs once, and so does every distinct query."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._references: dict[str, Result] = {}

    async def outcomes(self, given: Sequence[tuple[Asked, Prediction]]) -> list[Scored]:
        """Return what became of each; a query that timed out is run once more, alone.

        Raises: QueryError when a reference does not run: a broken setup is never a score.
        """
        queries = [p.text for _, p in given if p.kind == "sql" and p.text is not None]
        await self._run_references([asked.item for asked, _ in given])
        pairs = [(a, p.text) for a, p in given if p.kind == "sql" and p.text is not None]
        found = await self._run_queries(pairs, list(dict.fromkeys(queries)))
        return [_scored(asked, prediction, found) for asked, prediction in given]

    async def reference(self, item: Item) -> Result:
        """Return the rows of an answerable item's reference. Raises: QueryError."""
        await self._run_references([item])
        return self._references[str(item.reference_sql)]

    async def _run_references(self, items: Sequence[Item]) -> None:
        wanted = {
            i.reference_sql: i for i in items if i.reference_sql not in (None, *self._references)
        }

        async def run(item: Item) -> None:
            sql = str(item.reference_sql)
            result = await self._database.arun(sql)
            if isinstance(result, Failure):
                raise QueryError(f"the reference of {item.id} does not run: {result.message}")
            self._references[sql] = result

        await limited([run(item) for item in wanted.values()])

    async def _run_queries(
        self, pairs: Sequence[tuple[Asked, str]], queries: Sequence[str]
    ) -> dict[tuple[str, str | None, bool], Ran]:
        """Return what each query gives against each reference it answers.

        A result is compared and let go: references stay in memory, predictions do not.
        """
        asked_of: dict[str, dict[tuple[str | None, bool], Item]] = {}
        for asked, sql in pairs:
            asked_of.setdefault(sql, {})[_reference_key(asked.item)] = asked.item
        found: dict[tuple[str, str | None, bool], Ran] = {}

        def note(sql: str, result: Result | Failure) -> None:
            for key, item in asked_of[sql].items():
                found[(sql, *key)] = self._compare(item, result)

        async def run(sql: str) -> None:
            known = self._references.get(sql)  # a prediction that is a reference's own text
            note(sql, known or await self._database.arun(sql))

        await limited([run(sql) for sql in queries])
        for sql in queries:
            again = {found[(sql, *key)].outcome for key in asked_of[sql]} & {"time_out", "lost"}
            if again:  # nothing else competes for the processor now
                note(sql, await self._database.arun_again_alone(sql))
        return found

    def _compare(self, item: Item, result: Result | Failure) -> Ran:
        if isinstance(result, Failure):
            return Ran(_failed(result), result.message, None, result.elapsed_s)
        rows, elapsed_s = len(result.rows), result.elapsed_s
        if item.reference_sql is None:
            return Ran("wrong_result", "the question is unanswerable", rows, elapsed_s)
        reference = self._references[item.reference_sql]
        same = results_match(reference, result, ordered=item.order_matters)
        return Ran("right" if same else "wrong_result", "", rows, elapsed_s)


def _scored(
    asked: Asked, prediction: Prediction, found: dict[tuple[str, str | None, bool], Ran]
) -> Scored:
    if prediction.kind == "abstain":
        return Scored(asked.instance, "abstained")
    if prediction.kind != "sql":
        return Scored(asked.instance, prediction.kind, prediction.reason)
    ran = found[(str(prediction.text), *_reference_key(asked.item))]
    facts: dict[str, Any] = {"sql": prediction.text, "elapsed_s": round(ran.elapsed_s, 3)}
    if ran.rows is not None:
        facts["rows"] = ran.rows
    if near_limit(ran.elapsed_s):
        facts["near_limit"] = True
    return Scored(asked.instance, ran.outcome, ran.reason, facts)


def _failed(failure: Failure) -> str:
    invalid = failure.reason == "refused" and failure.message.startswith(ERRORS)
    return "sql_error" if invalid else FAILED[failure.reason]


def _reference_key(item: Item) -> tuple[str | None, bool]:
    return (item.reference_sql, item.order_matters)


async def limited(works: Sequence[Any]) -> None:
    """Await all, a few at a time: queries wait here for a worker, not in it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(work: Any) -> None:
        async with gate:
            await work

    await asyncio.gather(*(one(work) for work in works))
