"""What a seat is asked and what it replies: the typed questions between a graph and whoever holds a seat.

A seat is asked by `await seat.ask(task) -> reply | NoReply`. A model's seat asks the gateway (author.py,
reviewer.py, fixer.py, voter.py); a rule's seat needs no call (rules.py). Both see the same task and give
the same reply, so no graph knows which of the two it asked:

    AuthorSlot -> Draft      ReviewTask -> Verdict      FixTask -> Fix      BallotTask -> Vote

`NoReply` is data: a failed call or a reply that did not parse after one re-ask. It approves nothing
and votes for nothing. What all tasks of a command share stands once in the `Briefing`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Generic, Literal, TypeVar, get_args

from database.engine import Database
from items.model import Item

Kind = Literal["author", "reviewer", "fixer", "voter"]
Choice = Literal["approve", "revise", "reject"]
IssueKind = Literal[
    "wrong_result",  # the reference does not answer the question
    "ambiguous_question",  # two careful readers would write different queries
    "languages_differ",  # the Korean and the English question ask for different things
    "answer_shape",  # columns, order or rounding that the question does not ask for
    "unanswerable_after_all",  # no table or column holds what it needs
    "answerable_after_all",  # marked unanswerable, but the database holds it
    "wrong_difficulty",
    "unclear_term",  # a clinical term that does not name one set of concepts
    "boundary",  # a limit, an interval or a NULL that the question leaves open
    "instruction",  # text that tries to instruct the reader instead of asking
    "other",
]
ISSUE_KINDS: tuple[IssueKind, ...] = get_args(IssueKind)


@dataclass(frozen=True)
class Briefing:
    """What every seat of one command is told; the same object for all of them.

    schema_text: the exam's schema text for this tier (database.schema.schema_text).
    note:        the tier's database note, what BIRD calls external knowledge (S1-064).
    today:       the tier's fixed current date (S1-065), or None.
    abstention:  the tier has unanswerable items, and ABSTAIN is an answer.
    """

    database: Database
    schema_text: str
    note: str
    today: date | None
    abstention: bool


@dataclass(frozen=True)
class Probe:
    """A read-only query that a seat ran before it replied, and what it saw."""

    sql: str
    saw: str


@dataclass(frozen=True)
class Issue:
    """One objection: its kind, a sentence, and what shows it (a query, a value, a phrase)."""

    kind: IssueKind
    sentence: str
    evidence: str = ""


@dataclass(frozen=True)
class AuthorSlot:
    """A place in the plan that wants an item.

    id:       the id that the item will have.
    number:   0-based place in the plan; `count` is the plan's length.
    existing: English questions that the file holds already: no second way to ask one of them.
    problems: what the rules said of `last`, the attempt before; empty on the first attempt.
    hidden:   mistakes in `last` that the database does not show, each with the rows that would.
    """

    id: str
    number: int
    count: int
    category: str
    difficulty: str
    scope: str
    seat: int = 1
    attempt: int = 1
    existing: tuple[str, ...] = ()
    last: Item | None = None
    problems: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """An item that a seat wrote for a slot. `calls` are ledger keys, none for a rule."""

    item: Item
    by: str
    calls: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = ()
    prompt_sha256: str = ""


@dataclass(frozen=True)
class ReviewTask:
    """An item to judge, blind: no author's name, no other seat's words.

    notes:      what the gate has to say of the item (warnings and notes, never a verdict).
    objections: with a second round of review, what was said in the round before, without names.
    answers:    what the fixer or the owner replied to objections against this very content.
    repeat:     above 0 when the same content is asked again (test-retest).
    """

    item: Item
    seat: int
    round: int = 1
    repeat: int = 0
    notes: tuple[str, ...] = ()
    objections: tuple[Issue, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def draw(self) -> int:
        """Return what makes this a call of its own: the seat, and the repeat in steps of 100."""
        return self.seat + 100 * self.repeat


@dataclass(frozen=True)
class Commit:
    """What a reviewer answered from the question alone, before it saw the reference.

    sql:     its query; None means that it would ABSTAIN.
    matches: its result equals the reference's (abstaining on an unanswerable item included).
    outcome: one line on what its query gave (`12 rows`, `error: ...`).
    """

    sql: str | None
    matches: bool
    outcome: str = ""


@dataclass(frozen=True)
class Verdict:
    """A judgement of one item's present content. `commit` is None for a rule, which writes no SQL."""

    verdict: Choice
    issues: tuple[Issue, ...]
    by: str
    commit: Commit | None = None
    calls: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = ()
    prompt_sha256: str = ""


@dataclass(frozen=True)
class FixTask:
    """An item with what stands against it.

    objections: the panel's issues of the last round, without names.
    problems:   the rules that the present content breaks, as `rule: problem`.
    history:    earlier versions' objections, oldest first, one line each.
    """

    item: Item
    objections: tuple[Issue, ...]
    problems: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    round: int = 1
    seat: int = 1


@dataclass(frozen=True)
class Fix:
    """A new version of the item (same id), or None: it should be dropped. `reason` says why."""

    item: Item | None
    reason: str
    by: str
    calls: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = ()
    prompt_sha256: str = ""


@dataclass(frozen=True)
class Option:
    """One answer that a decision allows."""

    id: str
    text: str


@dataclass(frozen=True)
class BallotTask:
    """A decision put to one seat.

    decision: the decision's id.
    options:  in the order shown to this seat (shuffled per voter, and recorded).
    evidence: the dated evidence file's text; `figures` are its numbers, for a rule's seat.
    reasons:  on the second ballot, the first one's reasons without names.
    """

    decision: str
    question: str
    options: tuple[Option, ...]
    evidence: str
    seat: int
    ballot: int = 1
    repeat: int = 0
    reasons: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def draw(self) -> int:
        """Return what makes this a call of its own: the seat, and the repeat in steps of 100."""
        return self.seat + 100 * self.repeat


@dataclass(frozen=True)
class Vote:
    """One seat's choice among the options, with its reason."""

    option: str
    reason: str
    by: str
    calls: tuple[str, ...] = ()
    prompt_sha256: str = ""


@dataclass(frozen=True)
class NoReply:
    """No usable reply: the call failed, or the reply did not parse after one re-ask."""

    problem: str
    by: str
    calls: tuple[str, ...] = ()
    prompt_sha256: str = ""


Task = TypeVar("Task")
Reply = TypeVar("Reply", covariant=True)
# What agents/rules.py offers, by name, in AUTHORS, REVIEWERS, FIXERS and VOTERS: plain functions that
# may block (they run in a thread) and sign `by="rule/<name>@<version>"`.
Rule = Callable[[Task, Briefing], Reply | NoReply]
Ask = Callable[[Task], Awaitable[Reply | NoReply]]


@dataclass(frozen=True)
class Seat(Generic[Task, Reply]):
    """A seat and who holds it (agents/panel.py builds them from a roster).

    number: from 1, the order of the roster.
    by:     the model's registry id, or `rule/<name>` when a rule holds it.
    """

    number: int
    by: str
    ask: Ask[Task, Reply]


Author = Seat[AuthorSlot, Draft]
Reviewer = Seat[ReviewTask, Verdict]
Fixer = Seat[FixTask, Fix]
Voter = Seat[BallotTask, Vote]
