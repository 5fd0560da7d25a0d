"""Scoring again by today's rules, beside the scores that were kept: what moved, and by how much.

The only way from one protocol or engine to another (Agreements 9). Nothing is asked; replies are read,
run and compared again. Without `write` the kept scores stay.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eval.exam import Exam, Scored
from eval.rows import RunFolder
from eval.score import Run, kept_score, score
from eval.statistics import Figure, figures


@dataclass(frozen=True)
class Moved:
    """One run, scored before and now.

    before:  None where the run had no score.
    changes: (before, now) of every instance whose outcome is another.
    figures: metric -> (before, now) of every complete metric that moved.
    """

    model: str
    before: dict[str, Any] | None
    now: dict[str, Any]
    changes: tuple[tuple[Scored, Scored], ...]
    figures: dict[str, tuple[Figure, Figure]]


async def rescore(exam: Exam, folders: Sequence[RunFolder], *, write: bool) -> list[Moved]:
    """Return what moved in each run. Raises: FormatError, QueryError, OSError."""
    kept = [kept_score(exam, folder) for folder in folders]
    again = await score(exam, *folders, write=write)
    return [_moved(exam, old, new) for old, new in zip(kept, again, strict=True)]


def moved(found: Sequence[Moved]) -> bool:
    """Tell whether anything moved."""
    return any(one.changes for one in found)


def moved_lines(one: Moved, *, diff: bool) -> list[str]:
    """Return what moved in one run, as lines for people."""
    if one.before is None:
        return [f"{one.model}: was not scored before"]
    lines = [f"{one.model}: {len(one.changes)} outcomes move ({_rules(one)})"]
    lines += [
        f"  {name}: {_number(old)} -> {_number(new)}" for name, (old, new) in one.figures.items()
    ]
    if diff:
        lines += [f"  {a.instance.id}: {_outcome(a)} -> {_outcome(b)}" for a, b in one.changes]
    return lines


def moved_json(one: Moved) -> dict[str, Any]:
    """Return what moved in one run, as JSON-like values."""
    return {
        "model": one.model,
        "before": one.before,
        "now": one.now,
        "figures": {name: [asdict(old), asdict(new)] for name, (old, new) in one.figures.items()},
        "changes": [
            {"instance": a.instance.id, "before": a.outcome, "now": b.outcome}
            for a, b in one.changes
        ],
    }


def _moved(exam: Exam, old: Run | None, new: Run) -> Moved:
    pins = dict(new.header["pins"])
    if old is None:
        return Moved(new.model, None, pins, (), {})
    before = {row.instance.id: row for row in old.scored}
    changes = tuple(
        (before[row.instance.id], row)
        for row in new.scored
        if row.instance.id in before and before[row.instance.id].outcome != row.outcome
    )
    return Moved(new.model, dict(old.header["pins"]), pins, changes, _figures(exam, old, new))


def _figures(exam: Exam, old: Run, new: Run) -> dict[str, tuple[Figure, Figure]]:
    if old.open or new.open or len(old.scored) != len(new.scored):
        return {}
    was, now = figures([exam.measures(old.scored), exam.measures(new.scored)])
    return {
        "_".join(key): (was[key], now[key])
        for key in now
        if key in was and was[key].value != now[key].value
    }


def _rules(one: Moved) -> str:
    before = one.before or {}
    told = [
        f"{name} {before.get(name)} -> {one.now.get(name)}"
        for name in ("protocol", "duckdb", "database")
        if before.get(name) != one.now.get(name)
    ]
    return ", ".join(told) or "by the same protocol and engine"


def _outcome(row: Scored) -> str:
    return f"{row.outcome} ({row.reason})" if row.reason else row.outcome


def _number(figure: Figure) -> str:
    return "-" if figure.value is None else f"{figure.value:.3f}"
