"""What the answer format cost a run: its format failures read once more, leniently (FACTS 3).

Never part of a score: it tells a reader whether a model could not answer, or only not in the form that
was asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.exam import Exam, Prediction, Scored
from eval.lenient import read_leniently
from eval.rows import RunFolder
from eval.score import Run, Sheet, sheets
from eval.statistics import Figure, figures


@dataclass(frozen=True)
class Forgiven:
    """A format failure that a lenient reader makes sense of: what it would have become."""

    instance: str
    outcome: str
    sql: str | None


@dataclass(frozen=True)
class FormatCost:
    """A run's figures as they stand, beside those with the format forgiven; by (tier, metric)."""

    forgiven: tuple[Forgiven, ...]
    strict: Mapping[tuple[str, str], Figure]
    lenient: Mapping[tuple[str, str], Figure]


async def format_cost(exam: Exam, folder: RunFolder, run: Run) -> FormatCost:
    """Return what a scored run's format failures cost. Raises: QueryError, FormatError, OSError."""
    read = {sheet.instance.id: _forgiven(exam, sheet) for sheet in sheets(exam, folder)}
    wanted = [(r.instance, (one,)) for r in run.scored if (one := read[r.instance.id])]
    outcomes = {row.instance.id: row for row in await exam.outcomes(wanted)}
    lenient = [outcomes.get(row.instance.id, row) for row in run.scored]
    strict, forgiven = figures(
        [exam.measures(_closed(exam, rows)) for rows in (run.scored, lenient)]
    )
    told = [Forgiven(i, row.outcome, row.facts.get("sql")) for i, row in outcomes.items()]
    return FormatCost(tuple(told), strict, forgiven)


def _forgiven(exam: Exam, sheet: Sheet) -> Prediction | None:
    """Return the lenient reading of a format failure, or None where there is nothing to forgive."""
    if not sheet.through or sheet.predictions[-1].kind != "no_sql" or not sheet.rows[-1].answer:
        return None
    offered = exam.abstention[sheet.instance.tier]
    found = read_leniently(sheet.rows[-1].answer.text, abstention=offered)
    return None if found.kind == "none" else Prediction(found.kind, found.sql)


def _closed(exam: Exam, rows: Sequence[Scored]) -> list[Scored]:
    return [exam.assume(row.instance, right=False) if row.open else row for row in rows]
