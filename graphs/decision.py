"""Put one decision to the voters: two ballots at most, then it is the owner's.

    __start__ --> open
    open      --> vote       one `vote` a seat, each with the options in another order
    vote      --> tally
    tally     --> open       no majority: a second ballot, with the first one's reasons, without names
    tally     --> close      strictly more than half of the seats agree
    tally     --> owner      two ballots and no majority
    owner     --> close
    close     --> __end__

The majority counts seats: a failed call is no vote, and it never lowers the bar (S4-008).
"""

import operator
import random
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from agents.seats import BallotTask, NoReply, Option, Vote, Voter
from graphs.checkpoints import Graph
from graphs.workbook import Workbook
from items.decisions import Decision
from registry.events import Event

BALLOTS = 2


class State(TypedDict, total=False):
    """What a checkpoint keeps of one decision."""

    decision: str
    evidence: str
    ballot: int
    voted: Annotated[list[str], operator.add]
    option: str | None
    answer: dict[str, str]


class Booth(TypedDict):
    """What one seat is sent."""

    decision: str
    evidence: str
    ballot: int
    seat: int


@dataclass(frozen=True)
class Evidence:
    """What the voters see: a dated file's name, text and hash, and its figures for a rule's seat."""

    name: str
    text: str
    sha256: str
    figures: dict[str, Any]

    @property
    def reference(self) -> str:
        """Return how ballots and decisions name it."""
        return f"{self.name} {self.sha256}"


@dataclass(frozen=True)
class Context:
    """What the nodes use and never change."""

    book: Workbook
    voters: tuple[Voter, ...]
    decisions: dict[str, Decision]
    evidence: Evidence
    single_model: bool = False


async def open(state: State) -> State:
    """Open the next ballot."""
    return {"ballot": state.get("ballot", 0) + 1}


def after_open(state: State, runtime: Runtime[Context]) -> list[Send]:
    """Send the decision to every seat."""
    booth = {
        "decision": state["decision"],
        "evidence": state["evidence"],
        "ballot": state["ballot"],
    }
    return [Send("vote", {**booth, "seat": seat.number}) for seat in runtime.context.voters]


async def vote(state: Booth, runtime: Runtime[Context]) -> State:
    """Ask one seat for its vote; that it gave none is recorded as well."""
    context = runtime.context
    seat = context.voters[state["seat"] - 1]
    task = ballot_task(context, state["decision"], seat.number, state["ballot"])
    reply = await seat.ask(task)
    context.book.write(ballot_event(context, task, reply))
    said = reply.option if isinstance(reply, Vote) else "none"
    return {"voted": [f"{state['ballot']}.{seat.number} {said}"]}


async def tally(state: State, runtime: Runtime[Context]) -> State:
    """Count the ballot."""
    voted = ballots(runtime.context.book, state["decision"], state["evidence"], state["ballot"])
    return {"option": majority(voted, len(runtime.context.voters))}


def after_tally(state: State) -> str:
    """Close on a majority; else a second ballot; else the owner."""
    if state["option"] is not None:
        return "close"
    return "open" if state["ballot"] < BALLOTS else "owner"


async def owner(state: State, runtime: Runtime[Context]) -> State:
    """Wait for the owner: {"option", "by", "reason"}."""
    decision = runtime.context.decisions[state["decision"]]
    shown = {
        "kind": "decision",
        "decision": decision.id,
        "question": decision.question,
        "options": [option.id for option in decision.options],
        "evidence": state["evidence"],
    }
    return {"answer": interrupt(shown)}


async def close(state: State, runtime: Runtime[Context]) -> State:
    """Record who decided what."""
    context, answer = runtime.context, state.get("answer")
    option = answer["option"] if answer else state["option"]
    voted = ballots(context.book, state["decision"], state["evidence"], state["ballot"])
    votes = sum(event.body["vote"] == option for event in voted if event.body["valid"])
    body = {
        "decision": state["decision"],
        "option": option,
        "tally": f"{votes} of {len(context.voters)}",
        "by": "owner" if answer else "panel",
        "ballot": state["ballot"],
        "protocol": context.decisions[state["decision"]].protocol,
        "evidence": [state["evidence"]],
        "reason": answer["reason"] if answer else "",
    }
    context.book.write(Event("decided", answer["by"] if answer else "panel", body))
    return {}


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph[State, Context]:
    """Return the compiled graph."""
    graph = StateGraph(State, Context)
    graph.add_node(open)
    graph.add_node(vote)
    graph.add_node(tally)
    graph.add_node(owner)
    graph.add_node(close)
    graph.add_edge(START, "open")
    graph.add_conditional_edges("open", after_open, ["vote"])
    graph.add_edge("vote", "tally")
    graph.add_conditional_edges("tally", after_tally, ["open", "close", "owner"])
    graph.add_edge("owner", "close")
    graph.add_edge("close", END)
    return graph.compile(checkpointer)


def ballot_task(
    context: Context, decision: str, seat: int, ballot: int, repeat: int = 0
) -> BallotTask:
    """Return what a seat is shown: its own order of the options, and earlier reasons without names."""
    asked = context.decisions[decision]
    evidence = context.evidence
    reasons: tuple[str, ...] = ()
    if ballot > 1:
        past = ballots(context.book, decision, evidence.reference, ballot - 1)
        reasons = tuple(sorted(e.body["reason"] for e in past if e.body["valid"]))
    return BallotTask(
        decision,
        asked.question,
        shuffled(tuple(Option(o.id, o.text) for o in asked.options), decision, seat, repeat),
        evidence.text,
        seat,
        ballot,
        repeat,
        reasons,
        evidence.figures,
    )


def shuffled(
    options: tuple[Option, ...], decision: str, seat: int, repeat: int = 0
) -> tuple[Option, ...]:
    """Return the options in the order of one seat: the same on every run."""
    order = random.Random(f"{decision}/{seat}/{repeat}")  # noqa: S311 an order to show, no secret
    return tuple(order.sample(options, len(options)))


def ballot_event(context: Context, task: BallotTask, reply: Vote | NoReply) -> Event:
    """Return the event of a seat's reply; a NoReply is a ballot that is not valid."""
    body: dict[str, Any] = {
        "decision": task.decision,
        "ballot": task.ballot,
        "seat": task.seat,
        "valid": isinstance(reply, Vote),
        "vote": reply.option if isinstance(reply, Vote) else None,
        "reason": reply.reason if isinstance(reply, Vote) else "",
        "shown": [option.id for option in task.options],
        "evidence": [context.evidence.reference],
        "single_model": context.single_model,
        "prompt_sha256": reply.prompt_sha256,
        "calls": list(reply.calls),
    }
    if isinstance(reply, NoReply):
        body["problem"] = reply.problem
    if task.repeat:
        body["repeat"] = task.repeat
    return Event("ballot", reply.by, body, call=reply.calls[-1] if reply.calls else None)


def ballots(book: Workbook, decision: str, evidence: str, ballot: int) -> list[Event]:
    """Return the last word of each seat on a ballot, on this evidence, by seat."""
    last: dict[int, Event] = {}
    for event in book.events:
        body = event.body
        if event.kind != "ballot" or body.get("repeat"):
            continue
        if (body["decision"], body["evidence"], body["ballot"]) == (decision, [evidence], ballot):
            last[body["seat"]] = event
    return [last[seat] for seat in sorted(last)]


def majority(voted: list[Event], seats: int) -> str | None:
    """Return the option that strictly more than half of all seats voted for, or None."""
    counts = Counter(event.body["vote"] for event in voted if event.body["valid"])
    for option, votes in counts.items():
        if 2 * votes > seats:
            return str(option)
    return None
