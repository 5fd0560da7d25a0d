"""The leaderboard: runs on one task side by side, ranked where a rank can be defended.

A run that has open instances shows no headline and no rank but the bounds of its primary metric: all
open ones wrong, all of them right (Agreements 7). Baselines have no rank. A model that wrote or reviewed
items of the task is marked (S1-047). Equal values share a rank.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from eval.compare import Pair, groups, pairs, primary_tier
from eval.exam import Exam, Measure, Scored
from eval.score import Run
from eval.statistics import Figure, figures, smallest_difference


@dataclass(frozen=True)
class Entry:
    """One run on the board.

    figures:  by (tier, measure), those of breakdowns too (S1-104).
    counts:   tier -> outcome class -> instances.
    bounds:   of the primary metric while instances are open, else None; None too where it has no value.
    marks:    baseline, author, reviewer, incomplete.
    """

    model: str
    rank: int | None
    figures: Mapping[tuple[str, str], Figure]
    counts: Mapping[str, Mapping[str, int]]
    open: int
    bounds: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    when: str = ""


@dataclass(frozen=True)
class Board:
    """All runs on a task: ranked ones first, by the primary metric, then incomplete ones, then baselines.

    pairs:    every two ranked runs compared on the primary metric.
    groups:   ranked models that the data cannot tell apart from the first of their group.
    smallest: the smallest difference of two such runs that the tier shows with 80% power (median pair).
    """

    task: str
    primary: str
    preview: bool
    label: str
    pins: Mapping[str, Any]
    entries: tuple[Entry, ...]
    pairs: tuple[Pair, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    smallest: float | None = None


def board(
    exam: Exam, runs: Sequence[Run], *, label: str = "exam", makers: Mapping[str, str] | None = None
) -> Board:
    """Return the board of scored runs.

    makers: model id -> its part in the making (`author`, `reviewer`, `author, reviewer`).
    """
    closed = [_closed(exam, run) for run in runs]
    found = figures([(*exam.measures(rows), *exam.breakdowns(rows)) for rows in closed])
    entries = [
        _entry(exam, run, of_run, makers or {}) for run, of_run in zip(runs, found, strict=True)
    ]
    ordered = tuple(_ranked(exam, sorted(entries, key=lambda entry: _order(exam, entry))))
    ranked = [entry.model for entry in ordered if entry.rank]
    compared = _compared(exam, [run for run in runs if run.model in ranked])
    return Board(
        exam.task,
        exam.primary,
        exam.preview,
        label,
        exam.pins,
        ordered,
        tuple(compared),
        groups(ranked, compared),
        _smallest(compared),
    )


def _compared(exam: Exam, runs: Sequence[Run]) -> list[Pair]:
    if len(runs) < 2:
        return []
    return pairs(exam, runs, primary_tier(exam, exam.measures(runs[0].scored)), exam.primary)


def _smallest(compared: Sequence[Pair]) -> float | None:
    """Return what the median pair's error lets the tier show; an interval is 2 x 1.96 errors wide."""
    widths = [(p.difference.high or 0.0) - (p.difference.low or 0.0) for p in compared]
    return smallest_difference(median(widths) / (2 * 1.96)) if widths else None


def primary(exam: Exam, of_run: Mapping[tuple[str, str], Figure]) -> Figure:
    """Return the figure that ranks: the primary metric of the first tier that has it."""
    return next(figure for (_, name), figure in of_run.items() if name == exam.primary)


def _closed(exam: Exam, run: Run, *, right: bool = False) -> list[Scored]:
    """Return a run's outcomes with the open ones assumed wrong (or right)."""
    return [exam.assume(row.instance, right=right) if row.open else row for row in run.scored]


def _entry(
    exam: Exam, run: Run, of_run: Mapping[tuple[str, str], Figure], makers: Mapping[str, str]
) -> Entry:
    marks = ["baseline"] if run.header.get("baseline") else []
    marks += [makers[run.model]] if run.model in makers else []
    marks += ["incomplete"] if run.open else []
    counts: dict[str, Counter[str]] = {}
    for row in run.scored:
        counts.setdefault(row.instance.tier, Counter())[row.outcome] += 1
    return Entry(
        run.model,
        None,
        {} if run.open else of_run,
        {tier: dict(count) for tier, count in sorted(counts.items())},
        run.open,
        _bounds(exam, run, of_run) if run.open else None,
        tuple(marks),
        str(run.header.get("when", "")),
    )


def _bounds(
    exam: Exam, run: Run, worst: Mapping[tuple[str, str], Figure]
) -> tuple[float, float] | None:
    best = _named(exam.measures(_closed(exam, run, right=True)), exam.primary)
    if not sum(best.denominators):  # a draft whose first tier holds nothing yet
        return None
    return (primary(exam, worst).value or 0.0, point(best))


def point(measure: Measure) -> float:
    """Return a measure's value. Raises: ZeroDivisionError without a denominator."""
    return sum(measure.numerators) / sum(measure.denominators)


def _named(measures: Iterable[Measure], name: str) -> Measure:
    return next(measure for measure in measures if measure.name == name)


def _order(exam: Exam, entry: Entry) -> tuple[int, float, str]:
    if "baseline" in entry.marks:
        return (2, 0.0, entry.model)
    if entry.open:
        return (1, 0.0, entry.model)
    return (0, -(primary(exam, entry.figures).value or 0.0), entry.model)


def _ranked(exam: Exam, entries: Sequence[Entry]) -> list[Entry]:
    ranked: list[Entry] = []
    values = [primary(exam, e.figures).value if e.figures else None for e in entries]
    for entry, value in zip(entries, values, strict=True):
        if entry.open or "baseline" in entry.marks:
            ranked.append(entry)
            continue
        above = sum(
            other is not None and value is not None and other > value
            for other, e in zip(values, entries, strict=True)
            if not e.open and "baseline" not in e.marks
        )
        ranked.append(Entry(**{**vars(entry), "rank": above + 1}))
    return ranked


def board_json(board: Board) -> dict[str, Any]:
    """Return a board as JSON-like values; figures by `<tier>_<metric>`."""
    return {
        "task": board.task,
        "label": board.label,
        "primary_metric": board.primary,
        "preview": board.preview,
        "pins": dict(board.pins),
        "entries": [entry_json(entry) for entry in board.entries],
        "pairs": [asdict(pair) for pair in board.pairs],
        "groups": [list(group) for group in board.groups],
        "smallest_difference": board.smallest,
    }


def entry_json(entry: Entry) -> dict[str, Any]:
    """Return one run of a board as JSON-like values."""
    value = asdict(entry)
    value["figures"] = {f"{tier}_{name}": asdict(f) for (tier, name), f in entry.figures.items()}
    return value
