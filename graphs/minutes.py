"""The minutes of a review: what was said as events of the record, and what they leave to be done.

Who has judged an item's present content, who is to judge it again, what the next reader is shown: all of
it is derived from the record, so that a killed run, another roster or a hand edit changes nothing silently.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agents.seats import Fix, Issue, NoReply, Reviewer, ReviewTask, Verdict
from graphs.workbook import Workbook
from items.approvals import holder
from items.model import Item
from items.records import content_event, verdict_event
from registry.canonical import sha256_text
from registry.events import Event


def unheard(book: Workbook, reviewers: Sequence[Reviewer], item_id: str) -> list[Reviewer]:
    """Return the seats that are to judge the item's present content: no valid verdict yet, or one that
    objected in an earlier round, since when the fixer or the owner has replied."""
    round = book.round(item_id)
    panel = book.panel(book.item(item_id))
    spoken = {
        (event.body["seat"], holder(event.by))
        for event in panel.verdicts
        if event.body["valid"]
        and (event.body["verdict"] == "approve" or event.body["round"] == round)
    }
    return [seat for seat in reviewers if (seat.number, seat.by) not in spoken]


def untested(
    book: Workbook, reviewers: Sequence[Reviewer], item_id: str, share: float
) -> list[Reviewer]:
    """Return the models' seats that are to judge the item's content a second time and have not yet.

    Which items those are depends on their content alone: the same on every run and for all seats.
    """
    item = book.item(item_id)
    if int(sha256_text(f"retest {item.sha256}")[:8], 16) >= share * 2**32:
        return []
    done = {
        (event.body["seat"], event.by)
        for event in book.of(item_id)
        if event.kind == "verdict" and event.item_sha256 == item.sha256
        if event.body.get("repeat") and event.body["valid"]
    }
    models = [seat for seat in reviewers if not seat.by.startswith("rule/")]
    return [seat for seat in models if (seat.number, seat.by) not in done]


def verdict_of(
    task: ReviewTask, reply: Verdict | NoReply, *, panel: Sequence[Reviewer], single_model: bool
) -> Event:
    """Return the event of a seat's reply; a NoReply is a verdict that is not valid.

    panel: who holds the seats of this review; an approval counts them and nobody else.
    """
    body: dict[str, Any] = {
        "seat": task.seat,
        "round": task.round,
        "valid": isinstance(reply, Verdict),
        "panel": [seat.by for seat in panel],
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


def for_owner(book: Workbook, item: Item, problems: Sequence[str]) -> dict[str, Any]:
    """Return what the owner is shown of an item that waits: the rules it breaks, or a split panel."""
    shown = {"item": item.id, "item_sha256": item.sha256}
    if problems:
        return {"kind": "waiver", **shown, "problems": list(problems)}
    verdicts = book.panel(item).verdicts
    said = [f"seat {e.body['seat']}: {e.body['verdict'] or 'none'}" for e in verdicts]
    return {"kind": "item", **shown, "said": said}


def owner_events(item: Item, round: int, answer: dict[str, Any]) -> list[Event]:
    """Return what an owner's word on an item is in the record. Raises: KeyError for no such act."""
    act, by, reason = answer["act"], answer["by"], answer["reason"]
    said = item_event("owner", by, item, {"act": act, "reason": reason, "round": round})
    if act == "waive":
        said.body["rule"] = answer["rule"]
    if act in ("approve", "waive"):
        return [said]
    if act == "drop":
        return [said, item_event("drop", by, item, {"reason": reason})]
    if act == "edit":
        return [said, content_event("edit", Item(**answer["item"]), by, reason=reason)]
    raise KeyError(act)


def objections(verdicts: Sequence[Event]) -> tuple[Issue, ...]:
    """Return what a panel's verdicts object to, sorted, so that no seat can be told by its place."""
    issues = [Issue(**issue) for event in verdicts for issue in event.body.get("issues", ())]
    return tuple(sorted(set(issues), key=lambda i: (i.kind, i.sentence, i.evidence)))


def second_look(book: Workbook, item: Item, *, informed: bool) -> dict[str, Any]:
    """Return what a seat is shown beside the item when it was objected to before.

    informed: after a fix, seats see what was said of the version before (decision second_round).
    """
    answers = tuple(
        event.body["reason"]
        for event in book.of(item.id)
        if event.item_sha256 == item.sha256
        if (event.kind == "fix" and event.body["of"] == item.sha256)
        or (event.kind == "owner" and event.body["act"] == "approve")
    )
    if answers:  # this very content was objected to
        return {"objections": objections(book.panel(item).verdicts), "answers": answers}
    return {"objections": _earlier(book, item) if informed else ()}


def _earlier(book: Workbook, item: Item) -> tuple[Issue, ...]:
    """Return the objections to the item's content before this one."""
    past = [e for e in book.of(item.id) if e.kind == "verdict"]
    last = max((e.body["round"] for e in past if e.item_sha256 != item.sha256), default=0)
    return objections([e for e in past if e.body["round"] == last and e.item_sha256 != item.sha256])


def history(events: Sequence[Event], item: Item) -> tuple[str, ...]:
    """Return what was said of an item's earlier contents, oldest first."""
    return tuple(
        f"round {event.body['round']}: {issue['kind']}: {issue['sentence']}"
        for event in events
        if event.kind == "verdict" and event.item_sha256 != item.sha256
        for issue in event.body.get("issues", ())
    )


def fix_event(item: Item, round: int, reply: Fix | NoReply) -> Event:
    """Return a fixer's reply as an event: a new content, a drop, or a problem."""
    said: dict[str, Any] = {"of": item.sha256, "round": round, "calls": list(reply.calls)}
    said["prompt_sha256"] = reply.prompt_sha256
    if isinstance(reply, NoReply):
        return item_event(
            "problem", reply.by, item, {**said, "problems": [f"fix: {reply.problem}"]}
        )
    said |= {"reason": reply.reason, "probes": [asdict(probe) for probe in reply.probes]}
    if reply.item is None:
        return item_event("drop", reply.by, item, said)
    call = reply.calls[-1] if reply.calls else None
    return content_event("fix", reply.item, reply.by, call=call, **said)


def item_event(kind: str, by: str, item: Item, body: dict[str, Any]) -> Event:
    """Return an event on an item's present content."""
    return Event(kind, by, body, item=item.id, item_sha256=item.sha256)
