"""Which items a reviewer sees in one request, where the vote was for more than one (decision review_batch).

Each seat has an order of its own, cut into groups of the voted size. Groups are written down before
anybody is asked (runs/batches/<file>.json), so that a killed run asks the very same again; a group one of
whose contents is gone is forgotten, and what it held is grouped anew.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from agents.seats import ReviewTask
from registry.files import replace

Group = tuple[ReviewTask, ...]


def groups(
    path: Path, tasks: Iterable[ReviewTask], waiting: Iterable[str], *, seat: str, size: int
) -> list[Group]:
    """Return a seat's groups, those of a run before first.

    tasks:   every content that can be judged, judged already or not.
    waiting: the contents (sha256) that the seat is still to judge; only these are grouped anew.
    seat:    who holds which seat, and for which roster.
    """
    task_of = {task.item.sha256: task for task in tasks}
    saved = _load(path)
    kept = [group for group in saved.get(seat, []) if all(sha256 in task_of for sha256 in group)]
    grouped = {sha256 for group in kept for sha256 in group}
    fresh = sorted(set(waiting) & task_of.keys() - grouped)
    Random(f"{seat}/{size}").shuffle(fresh)  # noqa: S311  an order to show, no secret
    kept += [fresh[n : n + size] for n in range(0, len(fresh), size)]
    replace(path, json.dumps({**saved, seat: kept}, indent=1))
    return [tuple(task_of[sha256] for sha256 in group) for group in kept]


def _load(path: Path) -> dict[str, list[Sequence[str]]]:
    if not path.exists():
        return {}
    found: dict[str, list[Sequence[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return found
