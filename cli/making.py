"""What the making commands open before they begin, and close when they end."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.reader import FormatError

if TYPE_CHECKING:
    from datetime import date

    from agents.panel import Limits
    from agents.seats import Briefing
    from database.engine import Database
    from graphs.workbook import Workbook
    from items.checks import Ground
    from items.model import Item
    from items.spec import Spec
    from models.gateway import Gateway
    from models.roster import ModelCard, Roster, Seat

RosterOption = Annotated[
    str, typer.Option("--roster", help="Who sits where: registry/rosters.yaml.", metavar="NAME")
]
BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", min=0.0, help="USD that this command may spend; exit 3 before more."),
]
PlanOption = Annotated[
    bool,
    typer.Option("--plan", help="Say what would be asked and what it costs at most; ask nothing."),
]
TierName = Literal["hard", "easy"]
ROSTER = "source"


@dataclass(frozen=True)
class Setting:
    """Where a command works: the task, the tier's question file, and who sits where."""

    registry: Path
    runs: Path
    data: Path
    task: "Spec"
    tier: TierName
    roster: "Roster"

    @property
    def path(self) -> Path:
        """Return the tier's question file."""
        return self.registry / self.task.tiers[self.tier].file


@dataclass(frozen=True)
class Bench:
    """A setting with everything open: the file, the database, the models' door."""

    setting: Setting
    book: "Workbook"
    database: "Database"
    gateway: "Gateway"
    briefing: "Briefing"
    ground: "Ground"
    limits: "Limits"


def setting(
    registry: Path, runs: Path, data: Path, task: str | None, tier: TierName, roster: str
) -> Setting:
    """Return where a command works. Raises: FormatError (no such task, tier or roster)."""
    from eval.spec import find_task
    from items.spec import load_spec, spec_path
    from models.roster import load_roster

    path = spec_path(registry, find_task(registry, task))
    spec = load_spec(path)
    if tier not in spec.tiers:
        have = ", ".join(spec.tiers)
        raise FormatError(path, None, f"{spec.task} has no {tier} tier; it has {have}")
    return Setting(registry, runs, data, spec, tier, load_roster(registry, roster))


def unfrozen(where: Setting) -> None:
    """Refuse to change the items of a frozen task. Raises: FormatError."""
    from items.spec import spec_path

    if where.task.pins is not None:
        path = spec_path(where.registry, where.task.task)
        raise FormatError(
            path, None, f"{where.task.task} is frozen; `text2sql thaw` starts the next version"
        )


def begin_file(where: Setting) -> None:
    """Make a tier's question file, empty, where there is none."""
    from items.questions import QuestionFile, save_questions

    if not where.path.exists():
        today = today_of(where.task.dataset)
        save_questions(where.path, QuestionFile(where.task.slug, where.tier, today))


def today_of(dataset: str) -> "date | None":
    """Return a dataset's fixed current date, or None where it has none."""
    from datetime import date

    from database.eunomia import TODAY

    return {"eunomia": TODAY, "synthetic-snuh": date(2025, 12, 31)}.get(dataset)


@contextmanager
def opened_database(where: Setting) -> Iterator["Database"]:
    """Hold the task's database open. Raises: QueryError (missing: says which command makes it)."""
    from database.engine import open_database

    with open_database(where.data / f"{where.task.dataset}.duckdb", workers=2) as database:
        yield database


@asynccontextmanager
async def bench(
    where: Setting, command: str, models: tuple[str, ...], budget: float | None
) -> AsyncIterator[Bench]:
    """Hold everything open that a making command needs. Raises: FormatError, QueryError, ModelError."""
    from graphs.workbook import open_workbook
    from models.gateway import open_gateway

    with opened_database(where) as database, open_workbook(where.path) as book:
        async with open_gateway(
            where.registry,
            where.runs,
            budget_usd=budget,
            budgets=where.roster.budgets,
            command=command,
            models=models,
        ) as gateway:
            yield Bench(
                where,
                book,
                database,
                gateway,
                briefing_of(where, book, database),
                ground_of(where, book, database),
                limits_of(gateway),
            )
            for model, reason in gateway.down.items():
                print(
                    f"{model} is down ({reason}); its work is open: run this again", file=sys.stderr
                )


def briefing_of(where: Setting, book: "Workbook", database: "Database") -> "Briefing":
    """Return what every seat is told of the tier: the exam's own schema text and note."""
    from agents.seats import Briefing
    from database.schema import schema_text
    from eval.spec import database_note

    abstention = where.task.tiers[where.tier].abstention
    schema = schema_text(database, null_columns=abstention)
    note = database_note(where.task.dataset)
    return Briefing(database, schema, note, book.file.today, abstention)


def ground_of(where: Setting, book: "Workbook", database: "Database") -> "Ground":
    """Return what the tier's items are checked against, with the items of the task's other tiers."""
    from items.checks import Ground

    return Ground(database, book.file.today, book.file.settings, others_of(where))


def others_of(where: Setting) -> tuple["Item", ...]:
    """Return the kept items of the task's other tiers."""
    from items.questions import load_questions

    paths = [
        where.registry / tier.file for name, tier in where.task.tiers.items() if name != where.tier
    ]
    return tuple(item for path in paths if path.exists() for item in load_questions(path).kept)


def limits_of(gateway: "Gateway") -> dict[str, int]:
    """Return how much each model may write in one reply."""
    from agents.opening import MAX_TOKENS

    # A small context is shared by prompt and reply: the reply gets a quarter of it.
    return {
        id: min(MAX_TOKENS, card.output_limit, card.context // 4)
        for id, card in gateway.cards.items()
    }


def voted(where: Setting, key: str) -> Any:
    """Return what a key of the protocol was decided to be, else what the spec says; None without either."""
    from items.decisions import load_decisions
    from items.questions import load_questions

    hard = where.registry / where.task.tiers["hard"].file if "hard" in where.task.tiers else None
    decided = (
        {d.id: d.option for d in load_questions(hard).decisions} if hard and hard.exists() else {}
    )
    for decision in load_decisions(where.registry):
        option = decided.get(decision.id)
        if decision.protocol == key and option is not None:
            return decision.option(option).value
    part, _, name = key.partition(".")
    return getattr(where.task, part, {}).get(name)


def models_in(*seats: tuple["Seat", ...]) -> tuple[str, ...]:
    """Return the models in seats, each once: they are checked before anything is asked."""
    return tuple(dict.fromkeys(seat.model for panel in seats for seat in panel if seat.model))


def single_model(panel: tuple["Seat", ...], cards: "dict[str, ModelCard]") -> bool:
    """Tell whether one model holds two seats, under one id or under two (Agreements 1)."""
    from models.roster import canonical_ids

    names = canonical_ids(cards)
    return len({names.get(seat.name, seat.name) for seat in panel}) < len(panel)
