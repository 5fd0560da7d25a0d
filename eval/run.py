"""Asking a model every turn of an exam, resumably: nothing that was answered is asked again.

A row is written as its answer comes. A second call asks only what has no row with the present
request's key: after a kill, after failures of the route, or after the prompt changed. `earlier` runs
may lend rows of equal requests (--reuse). The runner knows instances, turns and keys, and no kind.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from eval.exam import Exam, Instance
from eval.rows import Row, RunFolder, Writer, asked_of, writing
from models.call import Answer, Model, ModelError, Request
from registry.events import now

Address = Callable[[Request], Request]
Step = Callable[[str], None]


@dataclass(frozen=True)
class Asking:
    """How one model is asked.

    address: what fills in a request: model, route, revision, extras, temperature (see `addressed`).
    earlier: rows of other runs by request key, with the folder they lie in.
    stops:   the errors that end the run instead of leaving one instance open (a spent budget).
    at_once: instances under way; how many calls a route takes is the gateway's business.
    """

    model: Model
    address: Mapping[str, Any]
    earlier: Mapping[str, tuple[Row, str]]
    stops: tuple[type[ModelError], ...] = ()
    at_once: int = 512


@dataclass(frozen=True)
class Sitting:
    """What a call of `sit` did: turns asked, kept from before, taken from other runs, failed."""

    asked: int = 0
    kept: int = 0
    reused: int = 0
    failed: int = 0
    stopped: ModelError | None = None


def addressed(fields: Mapping[str, Any]) -> Address:
    """Return an `address` that fills these fields of a request in: what run.json remembers."""
    return lambda request: replace(request, **fields)


async def sit(
    exam: Exam,
    folder: RunFolder,
    asking: Asking,
    *,
    instances: Sequence[Instance] | None = None,
    header: Mapping[str, Any] | None = None,
    step: Step = lambda name: None,
) -> Sitting:
    """Ask every turn of the instances (default: all) that has no answer yet; one row each.

    header: becomes the run's run.json, once this process holds the run.

    A ModelError leaves its instance open and the rest goes on; one of `asking.stops` ends the run
    once the calls in flight are done. Raises: BusyError, FormatError, OSError.
    """
    todo = exam.instances() if instances is None else instances
    with writing(folder) as writer:
        if header is not None:
            folder.write_header(dict(header))
        desk = _Desk(exam, asking, folder.rows(), writer, step)
        queue = iter(todo)
        await _together([desk.work(queue) for _ in range(min(asking.at_once, len(todo)))])
    return desk.done


class _Desk:
    """One run while it is open: its rows, its writer, its counts."""

    def __init__(
        self,
        exam: Exam,
        asking: Asking,
        have: dict[tuple[str, int, str], Row],
        writer: Writer,
        step: Step,
    ) -> None:
        self.exam, self.asking, self.have = exam, asking, have
        self.address = addressed(asking.address)
        self.writer, self.step = writer, step
        self.done = Sitting()

    async def work(self, queue: Iterator[Instance]) -> None:
        for instance in queue:
            if self.done.stopped:
                return
            await self.instance(instance)
            self.step(instance.id)

    async def instance(self, instance: Instance) -> None:
        answers: list[Answer] = []
        while request := self.exam.next_request(instance, answers):
            answer = await self.turn(instance, len(answers), self.address(request))
            if answer is None:
                return
            answers.append(answer)

    async def turn(self, instance: Instance, turn: int, request: Request) -> Answer | None:
        kept = self.have.get((instance.id, turn, request.key))
        if kept and kept.answer:
            self.count("kept")
            return kept.answer
        asked = asked_of(request, self.exam.parts(request))
        row = partial(Row, instance.id, turn, request.key, asked)
        if lent := self.asking.earlier.get(request.key):
            return self.write(
                row(answer=lent[0].answer, source=f"earlier:{lent[1]}", when=now()), "reused"
            )
        try:
            answer = await self.asking.model(request)
            return self.write(row(answer=answer, when=now()), "asked")
        except self.asking.stops as error:
            self.done = replace(self.done, stopped=error)
        except ModelError as error:
            self.write(row(error=str(error), when=now()), "failed")
        return None

    def write(self, row: Row, count: str) -> Answer | None:
        self.writer.append(row)
        self.count(count)
        return row.answer

    def count(self, what: str) -> None:
        self.done = replace(self.done, **{what: getattr(self.done, what) + 1})


async def _together(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run all; the first error (a full disk, Ctrl-C) ends the others before it goes on."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def lend(folders: Iterable[RunFolder]) -> dict[str, tuple[Row, str]]:
    """Return the answered rows of other runs by request key; the last one written counts."""
    return {
        row.key: (row, folder.path.name)
        for folder in folders
        for row in folder.rows().values()
        if row.answer and row.key
    }


def first(exam: Exam, limit: int | None) -> tuple[Instance, ...]:
    """Return the instances of the first `limit` questions of each tier, in id order; all for None."""
    instances = exam.instances()
    if limit is None:
        return instances
    kept = {
        tier: set(sorted({i.cluster for i in instances if i.tier == tier})[:limit])
        for tier in {i.tier for i in instances}
    }
    return tuple(i for i in instances if i.cluster in kept[i.tier])
