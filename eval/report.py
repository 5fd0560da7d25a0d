"""One run as one HTML file: it opens from disk, without network and without a script.

Everything that a model or a database said is data: escaped by the template, control and direction
characters shown as what they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from eval.exam import Measure, Scored
from eval.format_cost import format_cost
from eval.metrics import BREAKDOWNS, breakdowns, counts, curve
from eval.rows import RunFolder
from eval.score import Run, Sheet, sheets
from eval.sides import Sides, cell, plain, sides
from eval.statistics import Figure, figures
from eval.text2sql import Asked, Text2Sql

TEMPLATES = Path(__file__).parent / "templates"
PENALTIES = (0, 1, 2, 5, 10, 20, 50, 100)
REPLY = 4_000  # characters of a reply


@dataclass(frozen=True)
class Part:
    """One line of a breakdown: `category=relative_time`, how many instances, its figure."""

    label: str
    name: str
    instances: int
    metric: str
    figure: Figure


@dataclass(frozen=True)
class Answered:
    """One instance as the page shows it."""

    asked: Asked
    scored: Scored
    sides: Sides
    reply: str


async def report(exam: Text2Sql, folder: RunFolder, run: Run) -> str:
    """Return a scored run as an HTML page. Raises: FormatError, OSError."""
    asked = [(exam.asked[row.instance.id].item, row) for row in run.scored]
    of_sides = await sides(exam.database, asked)
    replies = {sheet.instance.id: _reply(sheet) for sheet in sheets(exam, folder)}
    answered = [
        Answered(exam.asked[row.instance.id], row, side, replies[row.instance.id])
        for row, side in zip(run.scored, of_sides, strict=True)
    ]
    of, order = (
        counts(run.scored),
        sorted(exam.abstention, key=lambda tier: not exam.abstention[tier]),
    )
    answered.sort(
        key=lambda one: order.index(one.asked.tier.name)
    )  # the tier that ranks comes first
    return render(
        exam=exam,
        run=run,
        spec=exam.spec,
        scores=scores(exam, run),
        counts={tier: {k: n for k, n in of[tier].items() if n} for tier in order},
        parts=parts(exam, run),
        curves=curves(exam, run),
        near=[row for row in run.scored if row.facts.get("near_limit")],
        open=[row for row in run.scored if row.open],
        cost=await format_cost(exam, folder, run),
        items=by_item(answered),
    )


def render(**values: Any) -> str:
    """Return the page filled in; a name without a value is an error."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": cell, "plain": plain, "number": number}
    return environment.get_template("report.html").render(**values)


def scores(exam: Text2Sql, run: Run) -> dict[str, dict[str, Figure]]:
    """Return tier -> metric -> figure; open instances count as wrong, and the page says so."""
    found: dict[str, dict[str, Figure]] = {}
    for (tier, name), figure in figures([exam.measures(_closed(exam, run))])[0].items():
        found.setdefault(tier, {})[name] = figure
    return found


def parts(exam: Text2Sql, run: Run) -> dict[str, list[Part]]:
    """Return tier -> the lines of its breakdowns, on the metric that heads the tier."""
    rows = _closed(exam, run)
    measured = breakdowns(rows, exam.abstention)
    found: dict[str, list[Part]] = {}
    for (tier, name), figure in figures([measured])[0].items():
        metric, _, part = name.rstrip("]").partition("[")
        label, _, value = part.partition("=")
        if metric != ("rs0" if exam.abstention[tier] else "ex") or label not in BREAKDOWNS:
            continue
        size = sum(r.instance.tier == tier and r.instance.labels[label] == value for r in rows)
        found.setdefault(tier, []).append(Part(label, value, size, metric, figure))
    return found


def curves(exam: Text2Sql, run: Run) -> dict[str, list[tuple[int, float]]]:
    """Return tier -> RS(c) for growing penalties, for tiers with abstention."""
    rows = _closed(exam, run)
    return {
        tier: [(c, _value(m)) for c, m in zip(PENALTIES, curve(rows, tier, PENALTIES), strict=True)]
        for tier, offered in exam.abstention.items()
        if offered
    }


def by_item(answered: Sequence[Answered]) -> list[list[Answered]]:
    """Return the instances of each question together, in task order."""
    found: dict[tuple[str, str], list[Answered]] = {}
    for one in answered:
        found.setdefault((one.asked.tier.name, one.asked.item.id), []).append(one)
    return list(found.values())


def number(value: float | None) -> str:
    """Return a figure's number with 3 decimals, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def _closed(exam: Text2Sql, run: Run) -> list[Scored]:
    return [exam.assume(row.instance, right=False) if row.open else row for row in run.scored]


def _value(measure: Measure) -> float:
    return sum(measure.numerators) / sum(measure.denominators)


def _reply(sheet: Sheet) -> str:
    texts = [row.answer.text for row in sheet.rows if row.answer]
    text = "\n".join(texts) or sheet.error
    return text if len(text) <= REPLY else text[:REPLY] + " …"
