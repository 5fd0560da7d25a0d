"""Which earlier answers a run may take, and where not, which part of the request differs (S1-022, S4-010).

An answer is found by content alone: model, revision, route, prompt, limits and parameters. Its folder,
its task version and its date do not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.exam import Exam, Instance
from eval.rows import Row, RunFolder, asked_of
from eval.run import Address


@dataclass(frozen=True)
class Why:
    """What became of one instance's first turn: the run that lends its answer, or what differs."""

    instance: str
    lender: str = ""
    differs: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.lender:
            return f"{self.instance}: reused from {self.lender}"
        return f"{self.instance}: asked; {', '.join(self.differs) or 'no earlier answer'}"


def why(
    exam: Exam, instances: Sequence[Instance], address: Address, folders: Iterable[RunFolder]
) -> list[Why]:
    """Return, instance by instance, who lends the answer, or how the nearest earlier request differs."""
    rows = [
        (row, folder)
        for folder in folders
        for row in folder.rows().values()
        if row.answer and row.key
    ]
    by_place: dict[tuple[str, int], list[tuple[Row, RunFolder]]] = {}
    for row, folder in rows:
        by_place.setdefault(row.place, []).append((row, folder))
    lenders = {row.key: folder for row, folder in rows}
    return [_why(exam, instance, address, by_place, lenders) for instance in instances]


def _why(
    exam: Exam,
    instance: Instance,
    address: Address,
    by_place: Mapping[tuple[str, int], list[tuple[Row, RunFolder]]],
    lenders: Mapping[str, RunFolder],
) -> Why:
    request = exam.next_request(instance, ())
    assert request is not None
    request = address(request)
    if request.key in lenders:
        return Why(instance.id, lenders[request.key].path.name)
    now = asked_of(request, exam.parts(request))
    near = [
        (differences(row.asked, now), folder.path.name)
        for row, folder in by_place.get((instance.id, 0), [])
        if row.asked.get("model") == request.model
    ]
    if not near:
        return Why(instance.id)
    differs, name = min(near, key=lambda found: len(found[0]))
    return Why(instance.id, differs=tuple(f"{part} (than in {name})" for part in differs))


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return which parts of two requests differ, by name: `max_tokens 16384, not 32768`."""
    found = []
    for name in now:
        if name == "parts" or before.get(name) == now[name]:
            continue
        found.append(f"{name} is {now[name]!r}, was {before.get(name)!r}")
    parts, old = now.get("parts", {}), before.get("parts", {})
    return found + [f"another {name}" for name in parts if old.get(name) != parts[name]]
