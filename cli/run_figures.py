"""What the runs so far say to voters: outcomes, headroom, saturation, gaps, the best constant query."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from database.engine import Database
    from eval.exam import Exam
    from eval.leaderboard import Entry
    from eval.statistics import Figure
    from items.model import Item


def run_figures(exam: "Exam", runs: Path) -> dict[str, Any]:
    """Return figures of every run on the task, dry runs (S1-133) and others.

    runs:     "<label>: <model>" -> tier -> metrics with intervals, and outcome classes.
    easy_ex:  the lowest and highest execution accuracy of models on the easy tier.
    headroom: (1 - best model) / (1 - prior) on the primary metric (S1-014); `saturated` below 0.05.
    gaps:     differences of neighbouring models on the primary metric, best first.
    """
    from asyncio import run

    from eval.leaderboard import board
    from eval.rows import run_folders
    from eval.score import load_or_score

    told: dict[str, Any] = {}
    entries: list[Entry] = []
    labels: tuple[Any, ...] = ("dry", "exam")
    for label in labels:
        scored = run(load_or_score(exam, run_folders(runs, label, exam.task)))
        found = board(exam, scored, label=label).entries if scored else ()
        told |= {f"{label}: {entry.model}": _entry(entry) for entry in found}
        entries += found
    return {"runs": told, **_compared(exam, entries)} if told else {}


def _entry(entry: "Entry") -> dict[str, Any]:
    tiers: dict[str, Any] = {}
    for (tier, name), figure in entry.figures.items():
        if ":" not in name and "/" not in name:
            tiers.setdefault(tier, {})[name] = _shown(figure)
    for tier, counts in entry.counts.items():
        tiers.setdefault(tier, {})["outcomes"] = dict(counts)
    return tiers


def _compared(exam: "Exam", entries: Sequence["Entry"]) -> dict[str, Any]:
    values = {
        entry.model: value
        for entry in entries
        if (value := _value(entry, "hard", exam.primary)) is not None
    }
    baselines = {entry.model for entry in entries if "baseline" in entry.marks}
    models = sorted((v for m, v in values.items() if m not in baselines), reverse=True)
    easy = [
        value
        for entry in entries
        if entry.model not in baselines and (value := _value(entry, "easy", "ex")) is not None
    ]
    told: dict[str, Any] = {}
    if easy:
        told["easy_ex"] = [round(min(easy), 4), round(max(easy), 4)]
    prior = values.get("benchtoward/prior")
    if models and prior is not None and prior < 1:
        left = (1 - models[0]) / (1 - prior)
        told |= {"headroom": round(left, 4), "saturated": left < 0.05}
    if len(models) > 1:
        told["gaps"] = [round(a - b, 4) for a, b in pairwise(models)]
    return told


def best_constant(items: Iterable["Item"], database: "Database") -> dict[str, Any]:
    """Return the result that most references share: what one query for every question would score.

    Chosen with the references in view, so it is evidence and no prior (S1-013).
    """
    from database.result import Result, results_match

    kinds: list[tuple[Result, list[str]]] = []
    asked = [item for item in items if item.reference_sql]
    for item in asked:
        result = database.run(item.reference_sql or "")
        if not isinstance(result, Result):
            continue
        same = next(
            (k for k in kinds if results_match(k[0], result, ordered=item.order_matters)), None
        )
        if same:
            same[1].append(item.id)
        else:
            kinds.append((result, [item.id]))
    _, ids = max(kinds, key=lambda kind: len(kind[1]), default=(None, []))
    return {"items": ids[:6], "ex": round(len(ids) / len(asked), 4) if asked else 0.0}


def _value(entry: "Entry", tier: str, name: str) -> float | None:
    figure = entry.figures.get((tier, name))
    return figure.value if figure else None


def _shown(figure: "Figure") -> Any:
    numbers = [figure.value, figure.low, figure.high]
    rounded = [None if number is None else round(float(number), 4) for number in numbers]
    return rounded[0] if rounded[1] is None else rounded
