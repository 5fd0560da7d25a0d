"""Task specs: registry/tasks/<slug>@<version>.yaml, a draft until it has `pins` (S1-129).

The spec's own hash (S1-004) is the sha256 of the canonical JSON of its mapping as the file holds it:
keys at their default left out, dates as ISO text, pins included. Comments, key order and line breaks of
the YAML do not count. `benchtoward verify` prints it, and a result names it.
"""

from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

import yaml

from registry import files
from registry.canonical import sha256_json
from registry.reader import FormatError, read
from registry.writer import to_yaml


@dataclass(frozen=True)
class Prompt:
    """A tier's exam prompt, by the name of its file in prompts/exam."""

    id: str


@dataclass(frozen=True)
class Tier:
    """A tier of a task: which file, and how it is asked."""

    file: str
    abstention: bool
    categories: tuple[str, ...]
    prompt: Prompt
    role: str


@dataclass(frozen=True)
class Request:
    """What every model is sent (S1-117)."""

    max_tokens: int
    answer: str
    messages: str
    thinking: str
    temperature: float = 0.0


@dataclass(frozen=True)
class Roster:
    """The reference roster of the SOP check; None: no check is made (previews only)."""

    strong: str | None
    weak: str | None


@dataclass(frozen=True)
class Check:
    """The SOP check (S1-019): roster, scope, and the prior of each family of metrics (S1-018)."""

    roster: Roster
    scope: str
    format: str
    priors: dict[str, str]
    note: str = ""


@dataclass(frozen=True)
class Source:
    """A work that the protocol stands on, and what was used of it (S1-125, S1-126)."""

    name: str
    source: str
    used: str
    repository: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class Protocol:
    """The adopted scoring protocol and what this benchmark made itself."""

    name: str
    source: str
    scorer: str
    benchmark_made: tuple[str, ...]
    also_adopted: tuple[Source, ...]
    repository: str | None = None
    commit: str | None = None
    transfer: bool = True


@dataclass(frozen=True)
class Setting:
    """Who set a key of the protocol: the panel, the owner, or nobody, and then why not (S1-037).

    tally: "2 of 3" where the panel decided.
    """

    key: str
    by: Literal["panel", "owner", "unvoted"]
    decision: str | None = None
    tally: str | None = None
    when: date | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.by == "panel" and not (self.decision and self.tally):
            raise ValueError(f"{self.key}: a panel's setting names its decision and tally")
        if self.by != "panel" and not self.reason:
            raise ValueError(f"{self.key}: set by {self.by}: say why in `reason`")


@dataclass(frozen=True)
class TierPins:
    """What a tier was at the freeze.

    sha256: the tier's hash (S1-050). `items`: item id -> its content's sha256, then the first 12 hex
    digits of each field's own hash, in the order of the item's fields.
    """

    sha256: str
    questions: int
    answerable: int
    instances: int
    today: date | None
    prompt_sha256: str
    schema_sha256: str
    record: str
    items: dict[str, str]


@dataclass(frozen=True)
class Pins:
    """All that must match before a score means what the spec says (Agreements 9).

    canary: an id to search training data for; made from the tiers' hashes.
    tables: table -> content hash, so that a changed table is named.
    """

    frozen: date
    by: str
    canary: str
    protocol: str
    duckdb: str
    database: str
    tables: dict[str, str]
    tiers: dict[str, TierPins]


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A task (S1-129). `pins` is None for a draft.

    approval: panel (three approvals an item) or rule (items built by rule, as chatqa's).
    review:   how the panel worked: `batch` and `second_round` as voted.
    recorded: facts of a freeze made elsewhere, for readers; nothing here checks or reproduces them.
    """

    slug: str
    version: int
    title: str
    dataset: str
    kind: str
    primary_metric: str
    preview: bool
    visibility: Literal["open", "hidden"] = "open"
    approval: Literal["panel", "rule"] = "panel"
    license: str
    split: str
    instance_id: str
    request: Request
    tiers: dict[str, Tier]
    metrics: dict[str, Any]
    baselines: dict[str, str]
    check: Check
    review: dict[str, Any] = field(default_factory=dict)
    decisions: tuple[Setting, ...] = ()
    protocol: Protocol
    deviations: tuple[str, ...]
    limitations: tuple[str, ...]
    items_note: str
    items_release: dict[str, Any] = field(default_factory=dict)
    recorded: dict[str, Any] = field(default_factory=dict)
    pins: Pins | None = None

    @property
    def task(self) -> str:
        """Return the task's name, `slug@version` (S1-007)."""
        return f"{self.slug}@{self.version}"

    @property
    def sha256(self) -> str:
        """Return the spec's own hash: see the module's text for its canonical form."""
        return sha256_json(_plain(yaml.safe_load(to_yaml(self))))


def spec_path(registry: Path, task: str) -> Path:
    """Return where a task's spec lies; `task` is `slug@version`."""
    return registry / "tasks" / f"{task}.yaml"


def load_spec(path: Path) -> Spec:
    """Return a spec. Raises: FormatError with file:line, also where the file's name is another task's."""
    if not path.exists():
        have = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml"))) or "none"
        raise FormatError(path, None, f"no such task; there are: {have}")
    spec = read(path, Spec)
    if path.stem != spec.task:
        raise FormatError(path, 1, f"the file is named {path.stem}, its spec is {spec.task}")
    return spec


def save_spec(path: Path, spec: Spec) -> None:
    """Write a spec whole. Raises: OSError."""
    files.replace(path, to_yaml(spec))


def thawed(path: Path) -> str:
    """Return a spec's text as a draft: without pins and without what a panel set in it."""
    spec = load_spec(path)
    kept = tuple(setting for setting in spec.decisions if setting.by != "panel")
    return to_yaml(replace(spec, pins=None, decisions=kept))


def envelope(spec: Spec) -> dict[str, Any]:
    """Return the task as the registry's JSON shows it (S1-001)."""
    names = ("slug", "version", "dataset", "title", "kind", "primary_metric", "preview")
    told = {name: getattr(spec, name) for name in names}
    return {**told, "spec_hash": spec.sha256, "spec": _plain(yaml.safe_load(to_yaml(spec)))}


def _plain(value: Any) -> Any:
    """Return YAML values as JSON has them: dates as ISO text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value
