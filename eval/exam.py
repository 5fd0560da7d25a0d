"""A kind of exam: what the runner, the bootstrap and the leaderboard ask of one (Agreements 5).

An exam gives its instances; each is asked in one or more turns, and what a later turn asks may rest
on the replies before. The runner knows nothing else of a kind:

    instances()                     what is scored, and which question (cluster) each belongs to
    next_request(instance, answers) the next turn, or None when the instance is through
    parse(instance, turn, answer)   the reply as the exam reads it
    outcomes(...)                   what became of the instances that are through
    assume(instance, right)         the outcome an open instance would have at best and at worst
    measures(scored)                every metric as sums over clusters (Agreements 8)

A new kind is one file and one line in EXAMS; `run.py` and `leaderboard.py` do not change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from models.call import Answer, Model, Request

if TYPE_CHECKING:
    from eval.spec import Task

OPEN = ("api_error", "not_asked", "lost")


@dataclass(frozen=True)
class Instance:
    """One thing that is scored.

    id:      `<tier>/<question id>-<lang>` (S1-006), or what the kind uses.
    cluster: the question it belongs to: its instances are resampled together.
    labels:  what breakdowns go by: language, category, difficulty, ...
    """

    id: str
    cluster: str
    tier: str
    split: str = "test"
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Prediction:
    """A reply as the exam reads it.

    kind:   sql, abstain or none for text2sql; another kind of exam has its own.
    text:   the SQL, the letter, ...
    reason: why there is none.
    """

    kind: str
    text: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class Scored:
    """What became of one instance.

    outcome: its class; the classes of a kind are exclusive, so that they sum to N. Those of OPEN
             are no scores.
    facts:   what a reader may ask for: the SQL, why it failed, elapsed seconds, ...
    """

    instance: Instance
    outcome: str
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def open(self) -> bool:
        """Tell whether there is no score: the route or our worker failed, or nobody asked."""
        return self.outcome in OPEN


@dataclass(frozen=True)
class Measure:
    """A metric of one run as a ratio of two sums over a tier's clusters.

    numerators, denominators: one number a cluster of the tier, in order of their ids.
    best: 1 where more is better, -1 where less is, 0 for a description.
    """

    name: str
    tier: str
    numerators: tuple[float, ...]
    denominators: tuple[float, ...]
    best: int = 1


class Exam(Protocol):
    """One task, ready to be asked and scored.

    task:        `slug@version`.
    primary:     the measure that ranks.
    temperature: and `max_tokens` (thinking included): the same for every model (S1-117).
    pins:        what a score names: protocol version, engine version, database fingerprint, items.
    abstention:  tier -> whether it offers to abstain.
    """

    @property
    def kind(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def primary(self) -> str: ...
    @property
    def preview(self) -> bool: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def abstention(self) -> Mapping[str, bool]: ...
    @property
    def pins(self) -> Mapping[str, Any]: ...

    def instances(self) -> tuple[Instance, ...]: ...

    def next_request(self, instance: Instance, answers: Sequence[Answer]) -> Request | None: ...

    def parts(self, request: Request) -> dict[str, str]:
        """Return the sha256 of each named part of a request: `--why` tells which one differs."""
        ...

    def parse(self, instance: Instance, turn: int, answer: Answer) -> Prediction: ...

    def given(self, instance: Instance, value: str | None, *, missing: bool) -> Prediction:
        """Return a prediction that was made elsewhere; None abstains, `missing` is no query."""
        ...

    async def outcomes(
        self, answered: Sequence[tuple[Instance, tuple[Prediction, ...]]]
    ) -> list[Scored]: ...

    def assume(self, instance: Instance, *, right: bool) -> Scored: ...

    def measures(self, scored: Sequence[Scored]) -> tuple[Measure, ...]: ...

    def breakdowns(self, scored: Sequence[Scored]) -> tuple[Measure, ...]:
        """Return the measures of parts of a tier, over the same clusters, e.g. `rs0[language=ko]`."""
        ...

    def baselines(self) -> Mapping[str, Model]: ...


def _text2sql(task: "Task") -> Exam:
    from eval.text2sql import open_text2sql

    return open_text2sql(task)


EXAMS: dict[str, Callable[["Task"], Exam]] = {"text2sql": _text2sql}
