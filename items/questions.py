"""Question files: registry/drafts/<name>.yaml, one file a tier.

    task: eunomia-text2sql
    tier: hard                    # hard: abstention allowed; easy: every question is answerable
    today: 2019-07-03             # the tier's fixed current date (S1-065)
    settings:
      thresholds: {mutation_score: 0.6}
      severities: {ties: warning}
      waivers:
        - {item: hard-001, rule: ties, reason: equal counts share a rank, by: Kim}
    questions:
      - id: hard-001              # unique in the file, never reused
        question_ko: 환자는 모두 몇 명인가요?
        question_en: How many patients are there?
        reference_sql: SELECT count(*) AS patients FROM person
        category: data_quality
        difficulty: easy
        scope: none
        author: rule/templates@1

`order_matters` defaults to false, `answerable` to true; an unanswerable question has no reference_sql
and a `witness`: the table that is empty or the column that is NULL in every row. `status: dropped`
keeps an item out (S1-045); draft, approved and frozen are not written but derived (items/records.py).
`reviews`, `history`, `decisions` and `rendered_to` are rendered from the record and never read back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

from items.model import Item
from items.settings import Settings
from registry import files
from registry.reader import FormatError, read
from registry.writer import to_yaml

Tier = Literal["hard", "easy"]
CATEGORIES: dict[str, tuple[str, ...]] = {
    "easy": (  # S1-053
        "patient_lookup",
        "cohort_count",
        "aggregation",
        "temporal",
        "multi_domain_join",
        "vocabulary_lookup",
    ),
    "hard": (  # S1-054
        "clinical_terms",
        "cohort_definition",
        "data_quality",
        "relative_time",
        "unanswerable",
    ),
}


@dataclass(frozen=True)
class Review:
    """One seat's verdict as the file shows it; the record holds the whole of it."""

    round: int
    seat: int
    by: str
    verdict: str
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """One entry of a question file: an item's fields, flat, and what became of it."""

    id: str
    question_ko: str
    question_en: str
    reference_sql: str | None = None
    order_matters: bool = False
    answerable: bool = True
    category: str
    difficulty: Literal["easy", "medium", "hard"]
    scope: Literal["patient", "group", "none"]
    witness: str | None = None
    author: str
    status: Literal["draft", "dropped"] = "draft"
    reviews: tuple[Review, ...] = ()
    history: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.answerable == (self.reference_sql is None):
            raise ValueError(
                f"{self.id}: an answerable question has a reference_sql, an unanswerable one none"
            )
        if self.answerable != (self.witness is None):
            raise ValueError(
                f"{self.id}: an unanswerable question names its witness, an answerable one none"
            )

    @property
    def item(self) -> Item:
        """Return the item: what is hashed, reviewed and asked."""
        return Item(**{f.name: getattr(self, f.name) for f in fields(Item)})

    @classmethod
    def of(cls, item: Item, author: str, **rest: Any) -> "Question":
        """Return the file's entry of an item. Raises: ValueError."""
        return cls(**{f.name: getattr(item, f.name) for f in fields(Item)}, author=author, **rest)


@dataclass(frozen=True)
class Ballot:
    """One seat's vote as the file shows it; `vote` is None where no valid reply came."""

    ballot: int
    seat: int
    by: str
    vote: str | None
    reason: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decided:
    """A decision with its votes: who decided what, on which evidence (S1-036 to S1-040).

    tally:    "2 of 3": votes for the option, of the seats (not of the replies).
    by:       panel, owner, or undecided.
    evidence: "<file> <sha256>" of each file that the voters saw.
    """

    id: str
    option: str | None
    tally: str
    by: Literal["panel", "owner", "undecided"]
    protocol: str
    when: str
    reason: str = ""
    evidence: tuple[str, ...] = ()
    votes: tuple[Ballot, ...] = ()


@dataclass(frozen=True)
class QuestionFile:
    """A tier's questions with the settings of its gate and the decisions taken on it.

    rendered_to: the number of the record's last event that this text shows (items/records.py).
    """

    task: str
    tier: Tier
    today: date | None = None
    settings: Settings = field(default_factory=Settings)
    rendered_to: int = 0
    questions: tuple[Question, ...] = ()
    decisions: tuple[Decided, ...] = ()

    def __post_init__(self) -> None:
        for question in self.questions:
            if question.category not in CATEGORIES[self.tier]:
                known = ", ".join(CATEGORIES[self.tier])
                raise ValueError(
                    f"{question.id}: category {question.category!r} is none of the {self.tier} tier's: "
                    f"{known}"
                )

    @property
    def kept(self) -> tuple[Item, ...]:
        """Return the items that were not dropped, by id."""
        kept = (question.item for question in self.questions if question.status != "dropped")
        return tuple(sorted(kept, key=lambda item: item.id))

    def question(self, id: str) -> Question:
        """Return one entry. Raises: KeyError."""
        return next(iter(q for q in self.questions if q.id == id), None) or _unknown(id)

    def with_questions(self, questions: Iterable[Question]) -> "QuestionFile":
        """Return the file with entries replaced by id, new ones at the end. Raises: ValueError."""
        entries = {question.id: question for question in self.questions}
        entries |= {question.id: question for question in questions}
        return replace(self, questions=tuple(entries.values()))


def load_questions(path: Path) -> QuestionFile:
    """Return a question file. Raises: FormatError with file:line, OSError (no such file)."""
    if not path.exists():
        raise FormatError(path, None, "no such question file; `text2sql hard-generate` makes one")
    return read(path, QuestionFile)


def save_questions(path: Path, file: QuestionFile) -> None:
    """Write a question file whole; the old one stays if that fails. Raises: OSError."""
    files.replace(path, to_yaml(file))


def unreviewed(path: Path) -> str:
    """Return a question file's text as it was before any review: for a registry that starts anew."""
    file = load_questions(path)
    fresh = [replace(q, reviews=(), history=(), status="draft") for q in file.questions]
    return to_yaml(replace(file, rendered_to=0, decisions=(), questions=tuple(fresh)))


def draft_path(registry: Path, task: str, version: int, tier: Tier) -> Path:
    """Return where a tier's question file lies (S1-048)."""
    hard = "-hard" if tier == "hard" else ""
    return registry / "drafts" / f"{task}{hard}-v{version}.yaml"


def _unknown(id: str) -> Question:
    raise KeyError(id)
