"""What tests of the making stand on: three items on Eunomia, a panel of scripted models, one registry."""

import asyncio
import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

from agents.panel import fixers, reviewers
from agents.seats import Briefing
from database.engine import open_database
from graphs import pipeline
from graphs.sitting import Context
from graphs.workbook import open_workbook
from items.checks import Finding, Ground
from items.model import Item
from items.questions import Question, QuestionFile, load_questions, save_questions
from items.rules import basics, unanswerable
from items.rules.base import Case, Found
from models.roster import Seat
from models.scripted import Scripted

TODAY = date(2019, 7, 3)
PANEL = ("acme/a-1b", "bolt/b-2b", "cora/c-3b")
COUNT = Item(
    id="hard-001",
    question_ko="1960년 이전에 태어난 환자는 모두 몇 명인가요?",
    question_en="How many patients were born before 1960?",
    reference_sql="SELECT count(*) AS patients FROM person WHERE year_of_birth < 1960",
    order_matters=False,
    answerable=True,
    category="cohort_definition",
    difficulty="medium",
    scope="group",
)
WOMEN = replace(
    COUNT,
    id="hard-002",
    question_ko="여성 환자는 모두 몇 명인가요?",
    question_en="How many female patients are there?",
    reference_sql="SELECT count(*) AS patients FROM person WHERE gender_concept_id = 8532",
)
DEATHS = replace(
    COUNT,
    id="hard-003",
    question_ko="2010년에 사망한 환자는 모두 몇 명인가요?",
    question_en="How many patients died in 2010?",
    reference_sql=None,
    answerable=False,
    category="unanswerable",
    witness="death",
)
ITEMS = (COUNT, WOMEN, DEATHS)


def words(value) -> str:
    """A reply in JSON."""
    return json.dumps(value, ensure_ascii=False)


def answer(sql: str | None) -> str:
    """A reviewer's own answer, before it sees the reference."""
    action = "abstain" if sql is None else "answer"
    return words({"action": action, "sql": sql or "", "reading": "As it is written."})


APPROVE = words({"issues": [], "verdict": "approve"})
OBJECTION = {
    "kind": "boundary",
    "sentence": "Whether 1960 counts is open.",
    "evidence": "before 1960",
}
REVISE = words({"issues": [OBJECTION], "verdict": "revise"})
REJECT = words({"issues": [OBJECTION], "verdict": "reject"})


def first_pass(request) -> bool:
    """Tell whether a reviewer is asked for its own answer (no reference shown yet)."""
    return "# The reference" not in request.messages[-1].content


def says(verdict: str, sql: str | None = "SELECT 1"):
    """A reviewer that answers `sql` and always gives the same verdict."""
    return lambda request: answer(sql) if first_pass(request) else verdict


def submits(item: Item, reason: str = "The limit is plain now."):
    """A fixer's reply: a whole new version."""
    names = (
        "question_en",
        "question_ko",
        "answerable",
        "reference_sql",
        "order_matters",
        "witness",
    )
    content = {name: getattr(item, name) for name in names}
    return words({"action": "submit", "sql": None, "reason": reason, "item": content})


def file_of(folder: Path, items=ITEMS, tier="hard") -> Path:
    """Write a question file in a registry of its own."""
    path = folder / "registry" / "drafts" / f"demo-{tier}-v0.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    questions = tuple(Question.of(item, "acme/a-1b") for item in items)
    save_questions(path, QuestionFile("demo", tier, TODAY, questions=questions))
    return path


def gate(item: Item, ground: Ground):
    """Three of the source's own rules: these tests are about who does what, not about the rules."""
    case = Case(item, ground)
    return [
        Finding(rule.name, "problem", found.message)
        for rule in (basics.runs, basics.returns_rows, unanswerable.witness)
        for found in rule.look(case)
        if isinstance(found, Found)
    ]


@contextmanager
def ready(path: Path, eunomia: Path, model, **options):
    """A workbook and a review context over a scripted model in three seats and as the fixer."""
    seats = tuple(Seat(model=id) for id in options.pop("panel", PANEL))
    with open_database(eunomia) as database, open_workbook(path) as book:
        briefing = Briefing(database, "CREATE TABLE person (...);", "A note.", TODAY, True)
        yield Context(
            book,
            Ground(database, TODAY, book.file.settings),
            reviewers(seats, model, briefing, {}),
            fixers((Seat(model="fixer/f-1b"),), model, briefing, {}),
            **{"gate": gate, **options},
        )


def reviewed(
    folder: Path, eunomia: Path, scripts, *, items=(COUNT,), rounds=0, answers=None, **options
):
    """Run a review over items; returns the file as it is left and the model with what it was asked."""
    path = folder / "registry" / "drafts" / "demo-hard-v0.yaml"
    if not path.exists():
        file_of(folder, items)
    model = scripts if isinstance(scripts, Scripted) else Scripted(scripts)
    with ready(path, eunomia, model, **options) as context:
        work = [(context, item.id) for item in items]
        run = pipeline.review_items(
            work,
            folder / "runs",
            panel="test",
            rounds=rounds,
            step=lambda _: None,
            answers=answers,
        )
        asyncio.run(run)
    return load_questions(path), model
