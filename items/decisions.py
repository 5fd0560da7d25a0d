"""What a panel is asked to decide: registry/decisions/<id>.yaml, the questions only (Agreements 3).

    id: output_limit
    question: How many output tokens does every model get, thinking included?
    scope: task                # task or tier: what the answer holds for
    protocol: request.max_tokens
    freeze: false              # true: asked by `llm-decide --freeze`, before the pins are written
    source: S1-032, S1-113
    options:
      - {id: "16384", text: 16384 tokens, value: 16384}
      - {id: "192", text: 192 tokens, value: 192}

`protocol` is the key of the task's spec that the winning option's `value` sets. A task's ballots are
events of its hard file's record and are rendered into that file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from registry.reader import FormatError, read


@dataclass(frozen=True)
class Option:
    """One answer: `value` is what it sets the protocol key to."""

    id: str
    text: str
    value: Any


@dataclass(frozen=True)
class Decision:
    """A question to the panel, with all answers that it allows."""

    id: str
    question: str
    scope: Literal["task", "tier"]
    protocol: str
    options: tuple[Option, ...]
    freeze: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise ValueError(f"{self.id}: a decision has at least 2 options")

    def option(self, id: str) -> Option:
        """Return an option. Raises: KeyError."""
        return {option.id: option for option in self.options}[id]


def load_decisions(registry: Path, *, freeze: bool | None = None) -> tuple[Decision, ...]:
    """Return the registry's decisions by id; with `freeze`, only those asked then or before.

    Raises: FormatError (also where a file is not named for its decision).
    """
    found = []
    for path in sorted((registry / "decisions").glob("*.yaml")):
        decision = read(path, Decision)
        if decision.id != path.stem:
            raise FormatError(path, 1, f"id {decision.id!r} in a file named {path.name}")
        found.append(decision)
    return tuple(d for d in found if freeze is None or d.freeze == freeze)
