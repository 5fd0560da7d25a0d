"""The text2sql exam: one turn, a question in Korean or English, answered by a query or by ABSTAIN.

Messages (S1-066): the tier's system prompt; then schema text, database note and, last, the question, so
that a provider's prompt cache holds everything before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import prompts
from database.engine import Database, QueryError
from eval.baselines import CONSTANT_QUERY, ORACLE, PRIOR, Constant, Known, fenced
from eval.exam import Instance, Measure, Prediction, Scored
from eval.metrics import breakdowns, measures
from eval.outcomes import Judge, assumed, read
from eval.spec import Task, Tier
from items.model import LANGUAGES, Item, Language, tier_sha256
from models.call import Answer, Message, Model, Request
from registry.canonical import sha256_text

LABELS = ("category", "difficulty", "scope")


@dataclass(frozen=True)
class Asked:
    """An instance with what it is made of."""

    instance: Instance
    item: Item
    tier: Tier
    language: Language


class Text2Sql:
    """One text2sql task (an `Exam`)."""

    kind = "text2sql"

    def __init__(self, task: Task) -> None:
        self._task = task
        self.spec = task.spec
        self.task = task.spec.task
        self.primary = task.spec.primary_metric
        self.preview = task.spec.preview
        self.max_tokens = task.spec.request.max_tokens
        self.abstention = {name: tier.abstention for name, tier in task.tiers.items()}

    @property
    def database(self) -> Database:
        """Return the task's database. Raises: QueryError when the task was opened without it."""
        if self._task.database is None:
            raise QueryError(f"{self.task} was opened without its database")
        return self._task.database

    @cached_property
    def judge(self) -> Judge:
        """Return what runs and compares on the task's database."""
        return Judge(self.database)

    @cached_property
    def asked(self) -> dict[str, Asked]:
        """Return every instance by id, hard tier and easy tier, in id order."""
        of_task = [
            _asked(tier, item, language)
            for tier in self._task.tiers.values()
            for item in tier.items
            for language in LANGUAGES
        ]
        return {a.instance.id: a for a in sorted(of_task, key=lambda a: a.instance.id)}

    @cached_property
    def pins(self) -> dict[str, Any]:
        """Return what a score names: protocol, engine, database, and each tier's items (Agreements 9)."""
        now = self._task.now
        tiers = {
            name: {
                "items": tier_sha256(tier.items),
                "prompt": tier.now.prompt_sha256,
                "schema": tier.now.schema_sha256,
            }
            for name, tier in self._task.tiers.items()
        }
        return {
            "protocol": now.protocol,
            "duckdb": now.duckdb,
            "database": now.database,
            "tiers": tiers,
        }

    def instances(self) -> tuple[Instance, ...]:
        return tuple(asked.instance for asked in self.asked.values())

    def next_request(self, instance: Instance, answers: Sequence[Answer]) -> Request | None:
        if answers:
            return None
        asked = self.asked[instance.id]
        question = asked.item.question(asked.language)
        user = prompts.render(
            "exam/user", schema_text=asked.tier.schema, note=asked.tier.note, question=question
        )
        messages = (Message("system", asked.tier.system), Message("user", user))
        return Request(
            "",
            messages,
            self.max_tokens,
            temperature=self._task.spec.request.temperature,
            role="exam",
        )

    def parts(self, request: Request) -> dict[str, str]:
        system, user = (message.content for message in request.messages)
        before, _, question = user.rpartition("# Question\n\n")
        return {
            "system prompt": sha256_text(system),
            "schema and note": sha256_text(before),
            "question": sha256_text(question),
        }

    def parse(self, instance: Instance, turn: int, answer: Answer) -> Prediction:
        tier = self.asked[instance.id].tier
        return read(answer, abstention=tier.abstention, max_tokens=self.max_tokens)

    def given(self, instance: Instance, value: str | None, *, missing: bool) -> Prediction:
        if missing:
            return Prediction("no_sql", reason="missing")
        if value is not None:
            return (
                Prediction("sql", value) if value.strip() else Prediction("no_sql", reason="empty")
            )
        offered = self.asked[instance.id].tier.abstention
        return (
            Prediction("abstain") if offered else Prediction("no_sql", reason="abstain_not_offered")
        )

    async def outcomes(
        self, answered: Sequence[tuple[Instance, tuple[Prediction, ...]]]
    ) -> list[Scored]:
        return await self.judge.outcomes([(self.asked[i.id], read_[0]) for i, read_ in answered])

    def assume(self, instance: Instance, *, right: bool) -> Scored:
        return assumed(self.asked[instance.id], right=right)

    def measures(self, scored: Sequence[Scored]) -> tuple[Measure, ...]:
        return measures(scored, self.abstention)

    def breakdowns(self, scored: Sequence[Scored]) -> tuple[Measure, ...]:
        return breakdowns(scored, self.abstention)

    def baselines(self) -> Mapping[str, Model]:
        return {
            PRIOR: Constant(fenced(None)),
            CONSTANT_QUERY: Constant(fenced("SELECT 0")),
            ORACLE: Known(self._references()),
        }

    def _references(self) -> dict[tuple[Message, ...], str]:
        requests = {id: self.next_request(asked.instance, ()) for id, asked in self.asked.items()}
        return {
            request.messages: fenced(self.asked[id].item.reference_sql)
            for id, request in requests.items()
            if request
        }


def open_text2sql(task: Task, *, max_tokens: int | None = None) -> Text2Sql:
    """Return the exam of a text2sql task.

    max_tokens: a diagnostic run's output limit; such an exam has a name of its own and is no exam of
                the task (S1-116).
    """
    exam = Text2Sql(task)
    if max_tokens is not None:
        exam.max_tokens, exam.task = max_tokens, f"{exam.task}-{max_tokens}"
    return exam


def _asked(tier: Tier, item: Item, language: Language) -> Asked:
    labels = {"language": language, **{name: getattr(item, name) for name in LABELS}}
    labels["author"] = tier.authors[item.id]
    labels["answerable"] = "yes" if item.answerable else "no"
    id = f"{tier.name}/{item.id}-{language}"
    return Asked(Instance(id, item.id, tier.name, labels=labels), item, tier, language)
