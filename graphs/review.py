"""Review one item until the panel agrees, or the fix rounds run out.

    __start__ --> check
    check     --> review     the rules pass: one `review` a seat that has not judged this content
    check     --> fix        a rule is broken and a round is left: nobody reads it yet
    check     --> tally      every seat has judged this content already
    check     --> settle     a rule is broken and no round is left
    review    --> tally
    tally     --> fix        all seats have spoken, someone objects, and a round is left
    tally     --> settle
    fix       --> check      a new version: all three judge it anew
    fix       --> settle     the fixer drops it, or gives no reply
    settle    --> __end__

What the panel thinks is derived from the record (items.records.approval), never from this state. A
review without fixes (`hard-review`, `llm-review`) is the same graph with no round left from the start.
"""

import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from agents.seats import Fix, Fixer, FixTask, Issue, NoReply, Reviewer, ReviewTask, Verdict
from graphs.checkpoints import Graph
from graphs.gate import Gate, findings, lines
from graphs.workbook import Workbook
from items.checks import Ground
from items.checks import check as check_item
from items.model import Item
from items.records import content_event, verdict_event
from registry.canonical import sha256_text
from registry.events import Event


class State(TypedDict, total=False):
    """What a checkpoint keeps of one item's way."""

    item_id: str
    item_sha256: str
    round: int
    last_round: int
    problems: list[str]
    notes: list[str]
    said: Annotated[list[str], operator.add]
    fixed: bool


class Sitting(TypedDict):
    """What one seat is sent. `repeat` 1 asks the same content again (test-retest)."""

    item_id: str
    item_sha256: str
    round: int
    seat: int
    repeat: int
    notes: list[str]


@dataclass(frozen=True)
class Context:
    """What the nodes use and never change.

    second_round: after a fix, reviewers see what was said before, without names (decision second_round).
    retest:       the share of items that every model judges twice.
    drop:         an item that no round is left for is dropped with its reasons; else it waits.
    """

    book: Workbook
    ground: Ground
    reviewers: tuple[Reviewer, ...]
    fixers: tuple[Fixer, ...] = ()
    single_model: bool = False
    second_round: bool = False
    drop: bool = False
    retest: float = 0.0
    gate: Gate = check_item


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Run the rules on the present content; a broken one is recorded."""
    context = runtime.context
    item = context.book.item(state["item_id"])
    found = await findings(context.gate, item, context.ground, context.book)
    problems = lines(found, "problem")
    if problems:
        body = {"problems": problems, "round": context.book.round(item.id)}
        context.book.write(_event("problem", "rule/check", item, body))
    return {
        "item_sha256": item.sha256,
        "round": context.book.round(item.id),
        "problems": problems,
        "notes": lines(found, "warning", "note"),
    }


def after_check(state: State, runtime: Runtime[Context]) -> str | list[Send]:
    """Send the content to the seats that have not judged it, or on."""
    if state["problems"]:
        return "fix" if _round_left(state) else "settle"
    context, id = runtime.context, state["item_id"]
    asked = [(seat, 0) for seat in unheard(context, id)]
    asked += [(seat, 1) for seat in untested(context, id)]
    return [
        Send("review", _sitting(state, seat.number, repeat)) for seat, repeat in asked
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
        objections=_earlier(context, item) if context.second_round else (),
    )
    reply = await seat.ask(task)
    context.book.write(verdict_of(task, reply, single_model=context.single_model))
    said = reply.verdict if isinstance(reply, Verdict) else "none"
    return {"said": [f"{state['round']}.{seat.number} {said}"]}


async def tally(state: State) -> State:
    """Wait for all seats; the record knows what they said."""
    return {}


def after_tally(state: State, runtime: Runtime[Context]) -> str:
    """Send an item that someone objects to to the fixer, once all have spoken."""
    context = runtime.context
    panel = context.book.panel(context.book.item(state["item_id"]))
    heard = not unheard(context, state["item_id"])
    return "fix" if heard and not panel.approved and _round_left(state) else "settle"


async def fix(state: State, runtime: Runtime[Context]) -> State:
    """Ask a fixer for a new version, unless a run that was killed here wrote it already."""
    context, book = runtime.context, runtime.context.book
    round, sha256 = state["round"], state["item_sha256"]
    done = [e for e in book.of(state["item_id"]) if e.kind == "fix" and e.body["of"] == sha256]
    if any(event.body["round"] == round for event in done):
        return {"fixed": True}
    item = book.item(state["item_id"])
    fixer = _fixer(context, item, round)
    task = FixTask(
        item,
        objections(book.panel(item).verdicts),
        tuple(state["problems"]),
        _history(book.of(item.id), item),
        round,
        fixer.number,
    )
    reply = await fixer.ask(task)
    book.write(_fix_event(item, round, reply))
    return {"fixed": isinstance(reply, Fix) and reply.item is not None}


def after_fix(state: State) -> str:
    """Judge a new version anew; without one there is nothing to judge."""
    return "check" if state["fixed"] else "settle"


async def settle(state: State, runtime: Runtime[Context]) -> State:
    """Drop what nobody could mend in time, where the command says so."""
    context, book = runtime.context, runtime.context.book
    item = book.item(state["item_id"])
    heard = state["problems"] or not unheard(context, item.id)
    if context.drop and heard and not book.dropped(item.id) and not book.panel(item).approved:
        why = [f"{i.kind}: {i.sentence}" for i in objections(book.panel(item).verdicts)]
        reason = "; ".join(state["problems"] or why) or "not approved"
        book.write(_event("drop", "rule/rounds", item, {"reason": f"no round left: {reason}"}))
    return {}


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph[State, Context]:
    """Return the compiled graph."""
    graph = StateGraph(State, Context)
    graph.add_node(check)
    graph.add_node(review)
    graph.add_node(tally)
    graph.add_node(fix)
    graph.add_node(settle)
    graph.add_edge(START, "check")
    graph.add_conditional_edges("check", after_check, ["review", "fix", "tally", "settle"])
    graph.add_edge("review", "tally")
    graph.add_conditional_edges("tally", after_tally, ["fix", "settle"])
    graph.add_conditional_edges("fix", after_fix, ["check", "settle"])
    graph.add_edge("settle", END)
    return graph.compile(checkpointer)


def unheard(context: Context, item_id: str) -> list[Reviewer]:
    """Return the seats whose holder has given no valid verdict on the item's present content."""
    panel = context.book.panel(context.book.item(item_id))
    valid = {(e.body["seat"], _holder(e.by)) for e in panel.verdicts if e.body["valid"]}
    return [seat for seat in context.reviewers if (seat.number, seat.by) not in valid]


def untested(context: Context, item_id: str) -> list[Reviewer]:
    """Return the models' seats that are to judge the item's content a second time and have not yet.

    Which items those are depends on their content alone: the same on every run and for all seats.
    """
    item = context.book.item(item_id)
    if int(sha256_text(f"retest {item.sha256}")[:8], 16) >= context.retest * 2**32:
        return []
    done = {
        (event.body["seat"], event.by)
        for event in context.book.of(item_id)
        if event.kind == "verdict" and event.item_sha256 == item.sha256
        if event.body.get("repeat") and event.body["valid"]
    }
    models = [seat for seat in context.reviewers if not seat.by.startswith("rule/")]
    return [seat for seat in models if (seat.number, seat.by) not in done]


def open_work(context: Context, item_id: str, *, fixing: bool) -> bool:
    """Tell whether an item has anything left to do: a seat unheard, or an objection to mend."""
    panel = context.book.panel(context.book.item(item_id))
    open_seats = unheard(context, item_id) or untested(context, item_id)
    return bool(open_seats) or (fixing and not panel.approved)


def verdict_of(task: ReviewTask, reply: Verdict | NoReply, *, single_model: bool) -> Event:
    """Return the event of a seat's reply; a NoReply is a verdict that is not valid."""
    body: dict[str, Any] = {
        "seat": task.seat,
        "round": task.round,
        "valid": isinstance(reply, Verdict),
        "single_model": single_model,
        "prompt_sha256": reply.prompt_sha256,
        "calls": list(reply.calls),
    }
    if task.repeat:
        body["repeat"] = task.repeat
    if isinstance(reply, Verdict):
        commit = reply.commit
        body |= {
            "verdict": reply.verdict,
            "issues": [asdict(issue) for issue in reply.issues],
            "commit": commit and {**asdict(commit), "abstain": commit.sql is None},
            "probes": [asdict(probe) for probe in reply.probes],
        }
    else:
        body |= {"verdict": None, "issues": [], "problem": reply.problem}
    call = reply.calls[-1] if reply.calls else None
    return verdict_event(task.item, reply.by, call=call, **body)


def objections(verdicts: Sequence[Event]) -> tuple[Issue, ...]:
    """Return what a panel's verdicts object to, sorted, so that no seat can be told by its place."""
    issues = [Issue(**issue) for event in verdicts for issue in event.body.get("issues", ())]
    return tuple(sorted(set(issues), key=lambda i: (i.kind, i.sentence, i.evidence)))


def _sitting(state: State, seat: int, repeat: int) -> Sitting:
    return Sitting(
        item_id=state["item_id"],
        item_sha256=state["item_sha256"],
        round=state["round"],
        seat=seat,
        repeat=repeat,
        notes=state["notes"],
    )


def _round_left(state: State) -> bool:
    return state["round"] <= state["last_round"]


def _holder(by: str) -> str:
    """Return a seat's holder without a rule's version."""
    return by.split("@")[0] if by.startswith("rule/") else by


def _fixer(context: Context, item: Item, round: int) -> Fixer:
    """Return the fixer of a round: they take turns, beginning at a place that the id gives."""
    start = sum(item.id.encode())
    return context.fixers[(start + round) % len(context.fixers)]


def _earlier(context: Context, item: Item) -> tuple[Issue, ...]:
    """Return the objections to the item's content before this one."""
    past = [e for e in context.book.of(item.id) if e.kind == "verdict"]
    last = max((e.body["round"] for e in past if e.item_sha256 != item.sha256), default=0)
    return objections([e for e in past if e.body["round"] == last and e.item_sha256 != item.sha256])


def _history(events: Sequence[Event], item: Item) -> tuple[str, ...]:
    return tuple(
        f"round {event.body['round']}: {issue['kind']}: {issue['sentence']}"
        for event in events
        if event.kind == "verdict" and event.item_sha256 != item.sha256
        for issue in event.body.get("issues", ())
    )


def _fix_event(item: Item, round: int, reply: Fix | NoReply) -> Event:
    said: dict[str, Any] = {"of": item.sha256, "round": round, "calls": list(reply.calls)}
    said["prompt_sha256"] = reply.prompt_sha256
    if isinstance(reply, NoReply):
        return _event("problem", reply.by, item, {**said, "problems": [f"fix: {reply.problem}"]})
    said |= {"reason": reply.reason, "probes": [asdict(probe) for probe in reply.probes]}
    if reply.item is None:
        return _event("drop", reply.by, item, said)
    call = reply.calls[-1] if reply.calls else None
    return content_event("fix", reply.item, reply.by, call=call, **said)


def _event(kind: str, by: str, item: Item, body: dict[str, Any]) -> Event:
    return Event(kind, by, body, item=item.id, item_sha256=item.sha256)
