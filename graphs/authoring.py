"""Write one item for one place of the plan.

    __start__ --> place
    place     --> write
    write     --> check      a draft came
    write     --> __end__    no reply
    check     --> keep       the rules pass
    check     --> write      a rule is broken and an attempt is left: it goes back with the problems
    check     --> __end__    no attempt is left: the place stays empty, and the record says why
    keep      --> __end__

A draft that broke rules stands in the record, as a `problem` with its content; it never enters the file.
What goes back goes with the mistakes that the database hides and the rows that would show them. A first
draft that breaks no rule goes back for them alone when they are more than the tier's threshold allows;
it is spared, and kept when nothing better comes of it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from agents.seats import Author, AuthorSlot, Draft, NoReply
from graphs.checkpoints import Graph
from graphs.gate import Gate, below_score, findings, hidden, lines
from graphs.workbook import Workbook
from items.checks import Finding, Ground
from items.checks import check as check_item
from items.model import Item
from items.records import content_event, contents
from registry.events import Event

ATTEMPTS = 3


class State(TypedDict, total=False):
    """What a checkpoint keeps of one place.

    seen:  how much of the record the author was shown, so that a killed run asks the same again.
    draft: what the author wrote, until it is kept or sent back: a few KB, and nowhere else yet.
    spare: a draft that went back for its hidden mistakes alone.
    """

    slot_id: str
    seen: int
    attempt: int
    draft: dict[str, Any] | None
    spare: dict[str, Any] | None
    problems: list[str]
    hidden: list[str]


@dataclass(frozen=True)
class Context:
    """What the nodes use and never change."""

    book: Workbook
    ground: Ground
    authors: tuple[Author, ...]
    slots: dict[str, AuthorSlot]
    attempts: int = ATTEMPTS
    gate: Gate = check_item


async def place(state: State, runtime: Runtime[Context]) -> State:
    """Fix what the author will be shown of the file."""
    seen = len(runtime.context.book.events)
    return {"seen": seen, "attempt": 1, "problems": [], "hidden": [], "spare": None}


async def write(state: State, runtime: Runtime[Context]) -> State:
    """Ask the slot's author; that there was no reply is recorded."""
    context = runtime.context
    slot = _slot(state, context)
    reply = await context.authors[(slot.seat - 1) % len(context.authors)].ask(slot)
    if isinstance(reply, Draft):
        return {"draft": asdict(reply)}
    context.book.write(_silence(slot, reply))
    return {"draft": state.get("spare"), "spare": None}


def after_write(state: State) -> str:
    """Check a draft; without one the place stays empty."""
    return "check" if state["draft"] else END


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Run the rules on the draft; what they find is recorded with it."""
    context = runtime.context
    item, body = _draft(state)
    found = await findings(context.gate, item, context.ground, context.book)
    problems = lines(found, "problem")
    spared = not problems and below_score(found) and state["attempt"] == 1 < context.attempts
    if not problems and not spared:
        return {"problems": []}
    told = problems or lines(found, "warning")
    body |= {"problems": told, "draft": asdict(item)}
    context.book.write(_problem(body.pop("by"), item.id, item.sha256, body))
    if spared:
        return {**_back(state, told, found), "spare": state["draft"]}
    if state["attempt"] == context.attempts and state.get("spare"):
        return {"problems": [], "draft": state["spare"]}
    return _back(state, told, found)


def _back(state: State, told: list[str], found: Sequence[Finding]) -> State:
    """Return what sends a draft back: what is said of it, and what the database hides."""
    return {"problems": told, "hidden": hidden(found), "attempt": state["attempt"] + 1}


def after_check(state: State, runtime: Runtime[Context]) -> str:
    """Keep what passes, send back what does not while an attempt is left."""
    if not state["problems"]:
        return "keep"
    return "write" if state["attempt"] <= runtime.context.attempts else END


async def keep(state: State, runtime: Runtime[Context]) -> State:
    """Put the draft into the file."""
    item, body = _draft(state)
    by = body.pop("by")
    runtime.context.book.write(content_event("draft", item, by, author=by, **body))
    return {"draft": None}


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph[State, Context]:
    """Return the compiled graph."""
    graph = StateGraph(State, Context)
    graph.add_node(place)
    graph.add_node(write)
    graph.add_node(check)
    graph.add_node(keep)
    graph.add_edge(START, "place")
    graph.add_edge("place", "write")
    graph.add_conditional_edges("write", after_write, ["check", END])
    graph.add_conditional_edges("check", after_check, ["keep", "write", END])
    graph.add_edge("keep", END)
    return graph.compile(checkpointer)


def _slot(state: State, context: Context) -> AuthorSlot:
    """Return the slot as its author sees it now: what exists, and the attempt before."""
    slot = context.slots[state["slot_id"]]
    shown = contents(context.book.events[: state["seen"]]).values()
    existing = tuple(q.question_en for q in shown if q.status != "dropped")
    slot = replace(slot, attempt=state["attempt"], existing=existing)
    if not state["problems"]:
        return slot
    said, hides = tuple(state["problems"]), tuple(state.get("hidden", ()))
    return replace(slot, last=_draft(state)[0], problems=said, hidden=hides)


def _draft(state: State) -> tuple[Item, dict[str, Any]]:
    """Return the state's draft, and what else its event says: who, when in turn, resting on what."""
    draft = state["draft"] or {}
    body = {name: draft[name] for name in ("by", "calls", "probes", "prompt_sha256")}
    call = draft["calls"][-1] if draft["calls"] else None
    return Item(**draft["item"]), {**body, "attempt": state["attempt"], "call": call}


def _silence(slot: AuthorSlot, reply: NoReply) -> Event:
    call = reply.calls[-1] if reply.calls else None
    body = {"attempt": slot.attempt, "calls": list(reply.calls), "call": call}
    body |= {"problems": [f"author: {reply.problem}"], "prompt_sha256": reply.prompt_sha256}
    return _problem(reply.by, slot.id, None, body)


def _problem(by: str, id: str, sha256: str | None, body: dict[str, Any]) -> Event:
    return Event("problem", by, body, item=id, item_sha256=sha256, call=body.pop("call"))
