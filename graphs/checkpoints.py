"""Where graphs keep how far they came, and how a run goes on from there.

One SQLite file for all threads (runs/checkpoints.sqlite). A thread is one item or one decision; its state
holds ids, numbers and short words only, never a type of our own, so strict msgpack needs no list of
modules. A finished thread is deleted: what it did stands in the record. A thread that exists goes on with
None as input; a new input would silently start it over (FACTS §7).
"""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # read when langgraph is imported

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from langgraph.typing import ContextT, StateT

Graph = CompiledStateGraph[StateT, ContextT, Any, Any]


class NotWaitingError(Exception):
    """An owner's word for a thread that does not wait for one."""


@asynccontextmanager
async def open_checkpoints(runs: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Yield the checkpointer of a runs folder. Raises: OSError."""
    await asyncio.to_thread(runs.mkdir, parents=True, exist_ok=True)
    path = runs / "checkpoints.sqlite"
    if not os.access(path if path.exists() else runs, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written", str(path))
    async with aiosqlite.connect(path, timeout=30) as connection:
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")  # WAL: safe against kill, fast
        yield saver


async def drive(
    graph: Graph[StateT, ContextT],
    thread: str,
    start: StateT,
    context: ContextT,
    *,
    answer: Any = None,
    stale: Callable[[Mapping[str, Any], bool], bool] = lambda _state, _waits: False,
) -> dict[str, Any]:
    """Run a thread to its end or to its next interrupt; go on where a killed run left it.

    answer: what the owner says to the interrupt it waits at; None leaves it waiting. A thread that
            does not wait (any longer) takes none: NotWaitingError, and nothing is done.
    stale:  tells of a state, and whether it waits, that its work no longer holds: it begins anew.
    Returns the state, with `__interrupt__` where it waits.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread}, "recursion_limit": 200}
    have = await graph.aget_state(config)
    if have.next and stale(have.values, bool(have.interrupts)):
        await _forget(graph, thread)
        have = await graph.aget_state(config)
    waits = bool(have.interrupts)
    if answer is not None and not waits:
        raise NotWaitingError(thread)
    if waits and answer is None:
        return {**have.values, "__interrupt__": have.interrupts}
    given: Any = Command(resume=answer) if waits else None if have.next else start
    state = await graph.ainvoke(given, config, context=context)
    if "__interrupt__" not in state:
        await _forget(graph, thread)
    return dict(state)


async def _forget(graph: Graph[StateT, ContextT], thread: str) -> None:
    if isinstance(graph.checkpointer, AsyncSqliteSaver):
        await graph.checkpointer.adelete_thread(thread)


async def waiting(
    graph: Graph[StateT, ContextT], saver: AsyncSqliteSaver, prefix: str
) -> dict[str, dict[str, Any]]:
    """Return what waits for the owner in threads of that prefix: thread -> what its interrupt shows."""
    query = "SELECT DISTINCT thread_id FROM checkpoints WHERE substr(thread_id, 1, ?) = ?"
    threads = await saver.conn.execute_fetchall(query, (len(prefix), prefix))
    found: dict[str, dict[str, Any]] = {}
    for (thread,) in threads:
        have = await graph.aget_state({"configurable": {"thread_id": thread}})
        if have.interrupts:
            found[thread] = have.interrupts[0].value
    return dict(sorted(found.items()))
