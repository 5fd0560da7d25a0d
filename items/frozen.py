"""A frozen task as it lies in registry/, and whether an event of its record follows from the replies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from items.approvals import independent
from items.evidence import Receipt, Reply, evidence_folder, load_receipt, load_replies
from items.model import Item
from items.questions import QuestionFile, load_questions
from items.records import record_of
from items.spec import Pins, Spec, load_spec, spec_path
from registry.events import Event, load
from registry.reader import FormatError


@dataclass(frozen=True)
class Motion:
    """What a ballot was about: the question, id -> text of each option, the evidence's text."""

    question: str
    options: Mapping[str, str]
    evidence: str


# What of an event does not follow from the replies that it names, or is not about its subject; or None.
Reread = Callable[[Event, list[Reply], Item | Motion], str | None]


@dataclass(frozen=True)
class Finding:
    """One thing that does not follow, or cannot be told, with the place where it stands.

    missing: a file that the pins or the receipt name is gone; unverifiable: nothing ever named a reply.
    """

    status: Literal["broken", "missing", "unverifiable"]
    where: str
    what: str

    @property
    def fails(self) -> bool:
        """Tell whether a task with this finding does not pass."""
        return self.status != "unverifiable"

    def __str__(self) -> str:
        return f"{self.status}: {self.where}: {self.what}"


@dataclass(frozen=True)
class Frozen:
    """A frozen task as it lies in registry/, read once.

    aliases: model id -> the id under which the same model is known (models.roster.canonical_ids).
    """

    registry: Path
    task: str
    reread: Reread
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def spec(self) -> Spec:
        """The spec. Raises: FormatError."""
        return load_spec(spec_path(self.registry, self.task))

    @cached_property
    def pins(self) -> Pins:
        """The pins. Raises: FormatError for a draft."""
        if self.spec.pins is None:
            path = spec_path(self.registry, self.task)
            raise FormatError(path, None, "a receipt says that it was frozen, and it has no pins")
        return self.spec.pins

    @cached_property
    def receipt(self) -> Receipt | None:
        """The receipt, if there is one. Raises: FormatError."""
        return load_receipt(self.registry, self.task)

    @cached_property
    def replies(self) -> dict[str, Reply]:
        """Every exported reply by key. Raises: FormatError."""
        folder = evidence_folder(self.registry, self.task)
        found: dict[str, Reply] = {}
        for name in self.receipt.replies if self.receipt else ():
            found |= load_replies(folder, name)
        return found

    def independent(self, events: Sequence[Event]) -> bool:
        """Tell whether three different models hold the seats that these events are of."""
        told = any(event.body.get("single_model") for event in events)
        return not told and independent([self.aliases.get(e.by, e.by) for e in events])

    def path(self, tier: str) -> Path:
        """Return a tier's question file."""
        return self.registry / self.spec.tiers[tier].file

    def events(self, tier: str) -> list[Event]:
        """Return a tier's record up to the receipt's head. Raises: FormatError."""
        heads = {head.file: head.events for head in self.receipt.records} if self.receipt else {}
        return self.records[tier][: heads.get(self.path(tier).stem)]

    @cached_property
    def records(self) -> dict[str, list[Event]]:
        """The whole records by tier. Raises: FormatError."""
        return {tier: load(record_of(self.path(tier))) for tier in self.spec.tiers}

    @cached_property
    def files(self) -> dict[str, QuestionFile]:
        """The question files by tier. Raises: FormatError."""
        return {tier: load_questions(self.path(tier)) for tier in self.spec.tiers}


def rests(frozen: Frozen, where: str, event: Event, subject: Item | Motion) -> Iterator[Finding]:
    """Say whether an event follows from the replies that it names."""
    calls = event.body.get("calls") or ([event.call] if event.call else [])
    who = f"{event.kind} {event.seq} of {event.by}"
    if not calls:
        if not event.by.startswith("rule/") and event.body.get("valid"):
            yield Finding("unverifiable", where, f"{who} names no reply")
        return
    replies = [frozen.replies[key] for key in calls if key in frozen.replies]
    if len(replies) < len(calls):
        yield Finding("unverifiable", where, f"{who}: its reply is not among the exported ones")
        return
    if problem := _of_another(event, replies) or frozen.reread(event, replies, subject):
        yield Finding("broken", where, f"{who}: {problem}")


def _of_another(event: Event, replies: list[Reply]) -> str | None:
    """Say whether the replies are another model's or another seat's."""
    draw = event.body.get("seat", 0) + 100 * event.body.get("repeat", 0)
    for reply in replies:
        request = reply["request"]
        if request["model"] != event.by:
            return f"the reply is {request['model']}'s"
        if request["draw"] != draw:
            return f"the reply was given on seat {request['draw']}"
    return None
