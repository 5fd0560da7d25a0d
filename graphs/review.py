"""Review one item until the panel agrees, or the fix rounds run out.

    __start__ --> check
    check     --> review     the rules pass: one `review` a seat that has not judged this content
    check     --> fix        a rule is broken and a round is left: nobody reads it yet
    check     --> tally      every seat has judged this content already
    check     --> owner      a rule is broken and no round is left: an edit or a waiver settles it
    check     --> settle     the same, where such items are dropped; and what was dropped meanwhile
    review    --> tally
    tally     --> fix        all seats have spoken, someone objects, and a round is left
    tally     --> owner      no round is left, and what is not agreed on waits for the owner
    tally     --> settle
    fix       --> check      a new version: all three judge it anew
    fix       --> settle     the fixer drops it, or gives no reply
    owner     --> check      edited, waived, or sent back: the seats that objected judge it again
    owner     --> settle     dropped
    settle    --> __end__

The owner never stands in for a seat (S1-043): to approve is to send the item back with a reason, which
the seats that objected are shown. What the panel thinks is derived from the record (minutes.py), never
from this state. A review without fixes (`hard-review`, `llm-review`) is the same graph with no round left
from the start.
"""

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from agents.seats import NoReply, ReviewTask, Verdict
from graphs import minutes
from graphs.checkpoints import Graph
from graphs.gate import findings, lines
from graphs.sitting import (
    Context,
    Sitting,
    State,
    fix_task,
    round_left,
    sitting,
    unheard,
    untested,
)
from items.settings import Waiver


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Run the rules on the present content; a broken one is recorded."""
    context = runtime.context
    item = context.book.item(state["item_id"])
    if context.book.dropped(item.id):  # a killed act of the owner has come to its end
        return {"item_sha256": item.sha256, "problems": [], "notes": []}
    found = await findings(context.gate, item, context.ground, context.book)
    problems = lines(found, "problem")
    if problems:
        body = {"problems": problems, "round": context.book.round(item.id)}
        context.book.write(minutes.item_event("problem", "rule/check", item, body))
    return {
        "item_sha256": item.sha256,
        "round": context.book.round(item.id),
        "problems": problems,
        "notes": lines(found, "warning", "note"),
    }


def after_check(state: State, runtime: Runtime[Context]) -> str | list[Send]:
    """Send the content to the seats that have not judged it, or on."""
    context, id = runtime.context, state["item_id"]
    if context.book.dropped(id):
        return "settle"
    if state["problems"]:
        without = "settle" if context.unsettled == "drop" else "owner"
        return "fix" if round_left(state) else without
    asked = [(seat, 0) for seat in unheard(context, id)]
    asked += [(seat, 1) for seat in untested(context, id)]
    return [
        Send("review", sitting(state, seat.number, repeat)) for seat, repeat in asked
    ] or "tally"


async def review(state: Sitting, runtime: Runtime[Context]) -> State:
    """Ask one seat; what it says, or that it said nothing, is recorded."""
    context = runtime.context
    item = context.book.item(state["item_id"])
    seat = context.reviewers[state["seat"] - 1]
    task = ReviewTask(
        item,
        seat.number,
        state["round"],
        state["repeat"],
        notes=tuple(state["notes"]),
        **minutes.second_look(context.book, item, informed=context.second_round),
    )
    reply = await seat.ask(task)
    context.book.write(
        minutes.verdict_of(task, reply, panel=context.reviewers, single_model=context.single_model)
    )
    said = reply.verdict if isinstance(reply, Verdict) else "none"
    return {"said": [f"{state['round']}.{seat.number} {said}"]}


async def tally(state: State) -> State:
    """Wait for all seats; the record knows what they said."""
    return {}


def after_tally(state: State, runtime: Runtime[Context]) -> str:
    """Send an item that someone objects to to the fixer, once all have spoken."""
    context = runtime.context
    panel = context.book.panel(context.book.item(state["item_id"]))
    if unheard(context, state["item_id"]) or panel.approved:
        return "settle"
    if round_left(state):
        return "fix"
    return "owner" if context.unsettled == "owner" else "settle"


async def fix(state: State, runtime: Runtime[Context]) -> State:
    """Ask a fixer for a new version, unless a run that was killed here wrote it already."""
    context, book = runtime.context, runtime.context.book
    round, sha256 = state["round"], state["item_sha256"]
    done = [e for e in book.of(state["item_id"]) if e.kind == "fix" and e.body["of"] == sha256]
    if any(event.body["round"] == round for event in done):
        return {"mended": "new"}
    item = book.item(state["item_id"])
    fixer, task = fix_task(context, item, round, state["problems"])
    reply = await fixer.ask(task)
    book.write(minutes.fix_event(item, round, reply))
    if isinstance(reply, NoReply):
        return {"mended": "none"}
    return {"mended": "new" if reply.item else "dropped"}


def after_fix(state: State) -> str:
    """Judge a new version anew; without one there is nothing to judge."""
    return "check" if state["mended"] == "new" else "settle"


async def owner(state: State, runtime: Runtime[Context]) -> State:
    """Wait for the owner: {"act", "by", "reason"}, to edit also "item", to waive "rule".

    A split panel takes approve, edit or drop; an item that breaks rules takes waive, edit or drop.
    """
    book = runtime.context.book
    item = book.item(state["item_id"])
    answer = interrupt(minutes.for_owner(book, item, state["problems"]))
    book.write(*minutes.owner_events(item, state["round"], answer))
    if answer["act"] == "waive":
        book.waive(Waiver(item.id, answer["rule"], answer["reason"], answer["by"], item.sha256))
    return {"act": answer["act"]}


def after_owner(state: State) -> str:
    """Judge again what was edited, waived or sent back."""
    return "settle" if state["act"] == "drop" else "check"


async def settle(state: State, runtime: Runtime[Context]) -> State:
    """Drop what nobody could mend in time, where the command says so."""
    context, book = runtime.context, runtime.context.book
    item = book.item(state["item_id"])
    heard = state["problems"] or not unheard(context, item.id)
    stuck = state.get("mended") == "none" or book.dropped(item.id) or book.panel(item).approved
    if context.unsettled == "drop" and heard and not stuck:
        why = [f"{i.kind}: {i.sentence}" for i in minutes.objections(book.panel(item).verdicts)]
        reason = "; ".join(state["problems"] or why) or "not approved"
        book.write(
            minutes.item_event("drop", "rule/rounds", item, {"reason": f"no round left: {reason}"})
        )
    return {}


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph[State, Context]:
    """Return the compiled graph."""
    graph = StateGraph(State, Context)
    graph.add_node(check)
    graph.add_node(review)
    graph.add_node(tally)
    graph.add_node(fix)
    graph.add_node(owner)
    graph.add_node(settle)
    graph.add_edge(START, "check")
    graph.add_conditional_edges("check", after_check, ["review", "fix", "tally", "owner", "settle"])
    graph.add_edge("review", "tally")
    graph.add_conditional_edges("tally", after_tally, ["fix", "owner", "settle"])
    graph.add_conditional_edges("owner", after_owner, ["check", "settle"])
    graph.add_conditional_edges("fix", after_fix, ["check", "settle"])
    graph.add_edge("settle", END)
    return graph.compile(checkpointer)
