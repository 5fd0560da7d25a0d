"""What a record says of its panel: who agreed, who caught what, who favours whom (items/reviewers.py).

Every figure is about the panel's first look at a content: verdicts of round 1, before any fix. "Flagged"
means that the seat objected (revise or reject). Good items, for the specificity, are those whose content was
approved in the end without a change, also after an objection that was answered. That is the panel's own
word: an error that all of them miss counts as good, so this specificity is an upper bound.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from items.agreement import Agreement, Estimate, agreement
from items.approvals import approval
from items.records import contents
from items.reviewers import (
    Lift,
    Rate,
    chao,
    matrix,
    own_item_lift,
    rate,
    remaining,
    rogan_gladen,
)
from registry.events import Event

Said = dict[str, dict[str, bool]]  # content sha256 -> reviewer -> approved


@dataclass(frozen=True)
class Reviewer:
    """One reviewer: how often it catches a seeded error, clears a good item, and says the same twice.

    unaided: share of items whose reference's result it reached before it saw the reference.
    by_error: sensitivity by kind of seeded error.
    """

    name: str
    sensitivity: Rate
    specificity: Rate
    retest: Rate
    unaided: Rate
    by_error: dict[str, Rate]


@dataclass(frozen=True)
class Panel:
    """A panel's figures over one record.

    errors: share of items with an error before any fix, by Rogan and Gladen; `left` the share among
            those that nobody flagged; `unseen` Chao's lower bound of all errors against those seen.
    """

    items: int
    agreement: Agreement
    reviewers: tuple[Reviewer, ...]
    sensitivity: Rate
    specificity: Rate
    errors: Estimate
    left: float
    seen: int
    at_least: float
    lift: Lift
    approvals: dict[tuple[str, str], Rate]


def panel(events: Sequence[Event]) -> Panel:
    """Return the figures of the panel whose verdicts stand in a record."""
    first = _said(e for e in events if _verdict(e) and e.body["round"] == 1)
    trials = _said(e for e in events if e.kind == "trial" and e.body.get("valid"))
    good = _good(events)
    names = sorted({who for said in (*first.values(), *trials.values()) for who in said})
    everyone = list(first.values())
    flagged = [not all(said.values()) for said in everyone]
    caught = [not all(said.values()) for said in trials.values()]
    cleared = [all(said.values()) for sha256, said in first.items() if sha256 in good]
    errors = rogan_gladen(flagged, caught, cleared)
    sensitivity, specificity = _rate(caught), _rate(cleared)
    fixed = [
        said for sha256, said in first.items() if sha256 not in good and not all(said.values())
    ]
    flags = [[not said.get(name, True) for name in names] for said in fixed]
    authors = _authors(events, first)
    return Panel(
        items=len(first),
        agreement=agreement([[_word(said, name) for name in names] for said in everyone]),
        reviewers=tuple(_reviewer(name, events, first, trials, good) for name in names),
        sensitivity=sensitivity,
        specificity=specificity,
        errors=errors,
        left=remaining(errors.value, sensitivity.value, _rate(flagged).value) if flagged else 0.0,
        seen=len(fixed),
        at_least=chao(flags),
        lift=own_item_lift(everyone, authors),
        approvals=matrix(everyone, authors),
    )


def _reviewer(
    name: str, events: Sequence[Event], first: Said, trials: Said, good: set[str]
) -> Reviewer:
    kinds: dict[str, list[bool]] = {}
    for event in events:
        if event.kind == "trial" and event.by == name and event.body.get("valid"):
            kinds.setdefault(event.body["error"], []).append(event.body["verdict"] != "approve")
    own = [e for e in events if _verdict(e) and e.by == name and e.body["round"] == 1]
    answers = [bool(e.body["commit"]["matches"]) for e in own if e.body.get("commit")]
    return Reviewer(
        name,
        _rate([not said[name] for said in trials.values() if name in said]),
        _rate([said[name] for sha256, said in first.items() if sha256 in good and name in said]),
        _rate(_repeated(name, events, first)),
        _rate(answers),
        {kind: _rate(hits) for kind, hits in sorted(kinds.items())},
    )


def _repeated(name: str, events: Sequence[Event], first: Said) -> list[bool]:
    """Return for every retest of a reviewer whether it said the same as the first time."""
    return [
        (event.body["verdict"] == "approve") == first[event.item_sha256][name]
        for event in events
        if event.kind == "verdict" and event.by == name and event.body.get("repeat")
        if event.body.get("valid") and name in first.get(event.item_sha256 or "", {})
        if event.item_sha256 is not None
    ]


def _verdict(event: Event) -> bool:
    return (
        event.kind == "verdict" and event.body.get("valid") is True and not event.body.get("repeat")
    )


def _said(verdicts: Iterable[Event]) -> Said:
    """Return who approved which content; a seat's last word counts, two seats of one model are two."""
    found: Said = {}
    seats: dict[tuple[str, str], int] = {}
    for event in verdicts:
        content = event.item_sha256 or event.body.get("trial_sha256", "")
        seat = seats.setdefault((content, event.by), event.body["seat"])
        name = event.by if seat == event.body["seat"] else f"{event.by} (seat {event.body['seat']})"
        found.setdefault(content, {})[name] = event.body["verdict"] == "approve"
    return found


def _good(events: Sequence[Event]) -> set[str]:
    """Return the contents that never changed and are approved: see the module's text."""
    found = set()
    for question in contents(events).values():
        own = [event for event in events if event.item == question.id]
        changed = any(event.kind in ("fix", "edit") for event in own)
        if question.status != "dropped" and not changed and approval(own, question.item).approved:
            found.add(question.item.sha256)
    return found


def _authors(events: Sequence[Event], first: Said) -> list[str]:
    """Return who wrote each content that was looked at first."""
    wrote = {
        event.item_sha256: event.body.get("author", event.by)
        for event in events
        if event.kind in ("draft", "fix", "edit")
    }
    return [wrote.get(sha256, "") for sha256 in first]


def _word(said: dict[str, bool], name: str) -> str | None:
    return None if name not in said else "approve" if said[name] else "object"


def _rate(hits: Sequence[bool]) -> Rate:
    return rate(sum(hits), len(hits))
