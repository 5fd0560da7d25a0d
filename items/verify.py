"""Verifying a freeze from registry/ alone: does everything follow from what it rests on?

    present  every file that the pins and the receipt name is there
    receipt  it is of this freeze, this spec and these decisions
    record   every line of the chain holds, the receipt's head is one of its lines, and nothing that came
             after it changes the frozen items
    shown    the question file's settings are the record's, and the record reaches as far as it shows
    file     the question file says what the record says, and its items are the pinned ones
    panel    three valid approvals of the pinned content, each resting on a reply that says so
    votes    each tally follows from its ballots, each ballot from a reply that says so (votes.py)
    decided  every key of the spec that a decision sets has the decided value

With the database at hand `items.freeze.differences` and the references' own results come on top
(cli/verifying.py). What does not follow is `broken`, what is named and not there is `missing`; what has
no reply to follow from is `unverifiable`.
"""

from collections.abc import Callable, Iterator

from database.engine import Database
from database.result import Failure
from items.approvals import Approval, approval
from items.evidence import MissingError, evidence_folder, receipt_path
from items.frozen import Finding, Frozen, rests
from items.model import Item
from items.records import record_of
from items.verify_files import items, records, shown
from items.votes import decided, votes
from registry.events import Event
from registry.reader import FormatError

__all__ = ["Finding", "Frozen", "panels", "rule_verdicts", "runs", "verify"]

MOST_ROWS = 1_000  # S1-058
Judge = Callable[[str, Event, Item], str | None]  # tier, verdict, item -> what the rule says again
Step = Callable[[Frozen], Iterator[Finding]]


def verify(frozen: Frozen) -> Iterator[Finding]:
    """Yield what does not follow, in the order in which one thing rests on another."""
    try:
        gone = [*present(frozen)]
        yield from gone
        for step in () if gone else STEPS:
            yield from step(frozen)
    except MissingError as error:
        yield Finding("missing", str(error.path), error.problem)
    except FormatError as error:
        yield Finding("broken", f"{error.path}:{error.line or ''}".rstrip(":"), error.problem)
    except (ValueError, KeyError, TypeError, OSError) as error:  # a file says what it never could
        yield Finding("broken", frozen.task, f"{type(error).__name__}: {error}")


def present(frozen: Frozen) -> Iterator[Finding]:
    """Every file that the pins and the receipt name is there."""
    spec, told = frozen.spec, frozen.receipt
    folder = evidence_folder(frozen.registry, frozen.task)
    pinned = [frozen.path(tier) for tier in frozen.pins.tiers if tier in spec.tiers]
    named = [(path, "the spec pins these questions") for path in pinned]
    named += [(record_of(path), "the spec pins this record") for path in pinned]
    named += [(receipt_path(frozen.registry, frozen.task), "every freeze writes a receipt")]
    if told:
        named += [
            (folder / f"{name}.jsonl.gz", "the receipt names these replies")
            for name in told.replies
        ]
        named += [
            (frozen.registry / name, "the receipt names this evidence of a vote")
            for name in told.evidence or ()
        ]
    for path, why in named:
        if not path.is_file():
            yield Finding("missing", str(path), why)


def receipt(frozen: Frozen) -> Iterator[Finding]:
    """The receipt is of this task and this freeze, and names the evidence of its decisions."""
    told, pins = frozen.receipt, frozen.pins
    path = str(receipt_path(frozen.registry, frozen.task))
    if told is None:
        return
    if (told.task, told.frozen, told.by) != (frozen.task, pins.frozen, pins.by):
        yield Finding("broken", path, f"it is of {told.task}, frozen {told.frozen} by {told.by}")
    if told.spec_sha256 != frozen.spec.sha256:
        yield Finding("broken", path, "it names another spec than the one that lies here")
    events = [event for tier in frozen.spec.tiers for event in frozen.events(tier)]
    seen = {ref for e in events if e.kind == "decided" for ref in e.body.get("evidence", ())}
    if {f"{name} {sha256}" for name, sha256 in (told.evidence or {}).items()} != seen:
        yield Finding("broken", path, "it names other evidence than the decisions")
    if {head.file for head in told.records} != {frozen.path(t).stem for t in frozen.spec.tiers}:
        yield Finding("broken", path, "it names other records than the task's")


def panel(frozen: Frozen) -> Iterator[Finding]:
    """Every pinned item has three valid approvals, and the replies say so."""
    if frozen.spec.approval != "panel":
        return
    for tier, file in frozen.files.items():
        events = frozen.events(tier)
        for item in file.kept:
            said = approval([e for e in events if e.item == item.id], item)
            where = f"{tier}/{item.id}"
            if said.strangers:
                told = f"{said.strangers[0]} holds no such seat of this review"
                yield Finding("broken", where, told)
            elif not said.approved:
                yield Finding("broken", where, "three valid approvals of this content do not exist")
            elif not (frozen.spec.preview or frozen.independent(said.verdicts)):
                yield Finding("broken", where, "a panel for previews froze a task that is none")
            for event in said.verdicts:
                yield from rests(frozen, where, event, item)


STEPS: tuple[Step, ...] = (receipt, records, shown, items, panel, votes, decided)


def runs(frozen: Frozen, database: Database) -> Iterator[Finding]:
    """Every reference of the frozen task runs and has an answer, on the database at hand."""
    for tier, file in frozen.files.items():
        for item in file.kept:
            outcome = database.run(item.reference_sql) if item.reference_sql else None
            if isinstance(outcome, Failure):
                said = f"the reference fails: {outcome.reason}: {outcome.message}"
                yield Finding("broken", f"{tier}/{item.id}", said)
            elif outcome is not None and not 1 <= len(outcome.rows) <= MOST_ROWS:
                yield Finding(
                    "broken", f"{tier}/{item.id}", f"the reference gives {len(outcome.rows)} rows"
                )


def rule_verdicts(frozen: Frozen, judge: Judge) -> Iterator[Finding]:
    """Every verdict of a rule is what that rule says again, on the database at hand."""
    for tier, item, said in panels(frozen):
        for event in said.verdicts:
            if not event.by.startswith("rule/"):
                continue
            again, where = judge(tier, event, item), f"{tier}/{item.id}"
            if again is None:
                yield Finding("unverifiable", where, f"{event.by} is not a rule of this release")
            elif again != event.body["verdict"]:
                told = f"{event.by} says {again}, the record {event.body['verdict']}"
                yield Finding("broken", where, told)


def panels(frozen: Frozen) -> Iterator[tuple[str, Item, Approval]]:
    """Yield every kept item with its tier and what its panel said: for reports."""
    for tier, file in frozen.files.items():
        for item in file.kept:
            yield tier, item, approval(frozen.events(tier), item)
