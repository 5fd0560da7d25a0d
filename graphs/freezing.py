"""A freeze waits for the owner: the plan is shown, and nothing is pinned before someone says so.

    __start__ --> owner
    owner     --> freeze    approved
    owner     --> refuse    dropped
    freeze    --> __end__
    refuse    --> __end__

A thread is one task's freeze with one roster. A plan that has changed since it was shown is shown anew.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graphs.checkpoints import Graph, NotWaitingError, drive, open_checkpoints


class State(TypedDict, total=False):
    """What a checkpoint keeps: the sha256 of the plan that was shown, and the owner's word."""

    plan: str
    answer: dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What the nodes use: the plan as lines, and what writes the freeze or its refusal."""

    task: str
    plan: str
    lines: tuple[str, ...]
    freeze: Callable[[dict[str, Any]], None]
    refuse: Callable[[dict[str, Any]], None]


async def owner(state: State, runtime: Runtime[Context]) -> State:
    """Wait for the owner: {"act": approve | drop, "by", "reason", "asked"}."""
    context = runtime.context
    shown = {"kind": "freeze", "task": context.task, "plan": state["plan"]}
    return {"answer": interrupt({**shown, "lines": list(context.lines)})}


def after_owner(state: State) -> str:
    """Freeze on a yes only."""
    return "freeze" if state["answer"]["act"] == "approve" else "refuse"


async def freeze(state: State, runtime: Runtime[Context]) -> State:
    """Write the pins."""
    runtime.context.freeze(state["answer"])
    return {}


async def refuse(state: State, runtime: Runtime[Context]) -> State:
    """Record that the owner said no."""
    runtime.context.refuse(state["answer"])
    return {}


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph[State, Context]:
    """Return the compiled graph."""
    graph = StateGraph(State, Context)
    graph.add_node(owner)
    graph.add_node(freeze)
    graph.add_node(refuse)
    graph.add_edge(START, "owner")
    graph.add_conditional_edges("owner", after_owner, ["freeze", "refuse"])
    graph.add_edge("freeze", END)
    graph.add_edge("refuse", END)
    return graph.compile(checkpointer)


async def go_on(
    context: Context, runs: Path, thread: str, answer: dict[str, Any] | None = None
) -> bool:
    """Bring a freeze to its interrupt, or past it with the owner's word; tells whether it waits.

    A word for a plan that has changed since is not taken: the new plan waits.
    """
    async with open_checkpoints(runs) as saver:
        step = partial(
            drive,
            build(saver),
            thread,
            State(plan=context.plan),
            context,
            stale=lambda state, _waits: state.get("plan") != context.plan,
        )
        try:
            state = await step(answer=answer)
        except NotWaitingError:
            state = await step()
    return "__interrupt__" in state
