"""A task as the exam uses it: the spec, its tiers with items, prompt and schema text, and the database.

`open_task` refuses a task that no longer matches its pins and says which item and field changed
(S1-052). A draft has no pins and can only be dry-run (S1-133).

What belongs to the protocol, and so to PROTOCOL (Agreements 9): how a reply is read (eval/extract.py,
code_blocks.py, statements.py), how results are compared (database/compare.py, cells.py, coded.py,
column_search.py), what is admitted (database/gate.py, functions.py), and the limits of a query
(database/engine.py). A change to any of them that can move a score is a new number here.
"""

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import prompts
from database.engine import Database
from database.schema import schema_text
from items.evidence import load_receipt, receipt_path
from items.freeze import Now, TierNow, differences, load_spec, spec_path, verify_pins
from items.model import Item
from items.questions import load_questions
from items.spec import Spec
from registry import events
from registry.canonical import sha256_json, sha256_text
from registry.reader import FormatError

PROTOCOL = "1"


@dataclass(frozen=True)
class Tier:
    """One tier, ready to be asked.

    system: the tier's system prompt with its today filled in; `note` is the database note.
    authors: item id -> who wrote it, for breakdowns.
    """

    name: str
    abstention: bool
    items: tuple[Item, ...]
    system: str
    note: str
    schema: str
    now: TierNow
    authors: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task with everything a kind of exam needs; without a database nothing can be asked or run."""

    spec: Spec
    tiers: dict[str, Tier]
    database: Database | None
    now: Now

    @property
    def frozen(self) -> bool:
        """Tell whether the spec has pins (they were checked when the task was opened)."""
        return self.spec.pins is not None


def find_task(registry: Path, name: str | None) -> str:
    """Return `slug@version` for a task's name, a bare slug (its newest version), or None (the only task).

    Raises: FormatError that lists the tasks there are.
    """
    folder = registry / "tasks"
    have = sorted((path.stem for path in folder.glob("*@*.yaml")), key=_newest)
    slugs = {task.split("@")[0] for task in have}
    fits = [task for task in have if name in (None, task, task.split("@")[0])]
    if not fits or (name is None and len(slugs) > 1):
        listed = ", ".join(have) or "none"
        asked = f"no task {name!r}" if name and not fits else "which task?"
        raise FormatError(folder, None, f"{asked}; --task names one of: {listed}")
    return fits[-1]


def open_task(
    registry: Path,
    name: str,
    database: Database,
    *,
    dry_run: bool = False,
    other_protocol: bool = False,
) -> Task:
    """Return a task whose files match its pins, or a draft to dry-run.

    other_protocol: the protocol and the engine may be others than pinned (rescore only).

    Raises: FormatError (a changed item, prompt, schema, table, version or protocol, by name; a draft
    without `dry_run`), QueryError, OSError.
    """
    path = spec_path(registry, name)
    spec = load_spec(path)
    tiers = {key: open_tier(registry, spec, key, database) for key in spec.tiers}
    task = Task(spec, tiers, database, task_now(tiers, database))
    if spec.pins is None and not dry_run:
        raise FormatError(
            path,
            None,
            f"{spec.task} is a draft: add --dry-run, or freeze it with `llm-decide --freeze`",
        )
    if spec.pins is not None and not (other_protocol and _only_protocol(spec, task.now)):
        verify_pins(spec, task.now, path)
    _as_received(registry, spec, path)
    return task


def read_task(registry: Path, name: str) -> Task:
    """Return a frozen task without its database: its items, and the pins in place of what it cannot see.

    Raises: FormatError (a draft; an item that is not the pinned one), OSError.
    """
    path = spec_path(registry, name)
    spec = load_spec(path)
    if spec.pins is None:
        raise FormatError(
            path, None, f"{spec.task} is a draft; only a frozen task can be read alone"
        )
    tiers = {}
    for key, pinned in spec.pins.tiers.items():
        file = load_questions(registry / spec.tiers[key].file)
        now = TierNow(
            file.kept, file.today, pinned.prompt_sha256, pinned.schema_sha256, pinned.record
        )
        authors = {question.id: question.author for question in file.questions}
        tiers[key] = Tier(key, spec.tiers[key].abstention, file.kept, "", "", "", now, authors)
    pins = spec.pins
    nows = {key: tier.now for key, tier in tiers.items()}
    now_ = Now(nows, pins.protocol, pins.duckdb, pins.database, pins.tables)
    verify_pins(spec, now_, path)
    _as_received(registry, spec, path)
    return Task(spec, tiers, None, now_)


def _as_received(registry: Path, spec: Spec, path: Path) -> None:
    """Refuse a frozen spec that its receipt does not name: what no pin covers (the output limit, the
    roster) decides scores too. Raises: FormatError.
    """
    receipt = load_receipt(registry, spec.task) if spec.pins is not None else None
    if receipt is not None and receipt.spec_sha256 != spec.sha256:
        raise FormatError(
            path,
            None,
            f"the spec changed since its receipt ({receipt_path(registry, spec.task)}) was written;"
            " what changed is a new task version",
        )


def _only_protocol(spec: Spec, now: Now) -> bool:
    told = ("the protocol is ", "the duckdb is ")
    return all(line.startswith(told) for line in differences(spec, now))


def open_tier(registry: Path, spec: Spec, name: str, database: Database) -> Tier:
    """Return one tier of a task as it stands. Raises: FormatError, QueryError, OSError."""
    tier = spec.tiers[name]
    path = registry / tier.file
    file = load_questions(path)
    today = file.today.isoformat() if file.today else None
    system = system_prompt(tier.prompt.id, today, spec_path(registry, spec.task))
    note, schema = database_note(spec.dataset), schema_text(database, null_columns=tier.abstention)
    record = events.head(events.record_path(registry, path.stem))
    now = TierNow(file.kept, file.today, prompt_sha256(system, note), sha256_text(schema), record)
    authors = {question.id: question.author for question in file.questions}
    return Tier(name, tier.abstention, file.kept, system, note, schema, now, authors)


def task_now(tiers: dict[str, Tier], database: Database) -> Now:
    """Return everything that pins name, as it stands: the freeze writes it, the exam compares it."""
    print_ = database.fingerprint
    tables = {name: str(sha256) for name, (_, sha256) in print_.tables.items()}
    nows = {name: tier.now for name, tier in tiers.items()}
    return Now(nows, PROTOCOL, version("duckdb"), print_.sha256, tables)


def system_prompt(id: str, today: str | None, named_in: Path) -> str:
    """Return an exam's system prompt, with the fixed today where the prompt has a place for it.

    Raises: FormatError when there is no such prompt, or it wants a today that the tier lacks.
    """
    try:
        return prompts.render(f"exam/{id}", **({"today": today} if today else {}))
    except KeyError as error:
        raise FormatError(named_in, None, f"prompt {id!r}: {error.args[0]}") from None


def database_note(dataset: str) -> str:
    """Return the note on a dataset that stands in every prompt, in the role of BIRD's external knowledge.

    Raises: FormatError when prompts/exam has none.
    """
    try:
        return prompts.text(f"exam/note-{dataset}").strip()
    except KeyError:
        path = Path("prompts/exam") / f"note-{dataset}.md"
        raise FormatError(path, None, "no such note; every dataset needs one") from None


def prompt_sha256(system: str, note: str) -> str:
    """Return the hash that pins a tier's prompt: system prompt as sent, note, and the layout (S1-070)."""
    return sha256_json([system, note, prompts.text("exam/user")])


def _newest(task: str) -> tuple[str, int]:
    slug, _, version = task.partition("@")
    return (slug, int(version) if version.isdigit() else -1)
