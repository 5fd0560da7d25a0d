"""Which models there are, how they are reached, and who sits where.

registry/models.yaml:

    models:
      - id: acme/reader-7b           # org/model-with-size (S1-131): never a litellm name
        vendor: Acme
        open: true
        context: 32768               # tokens of prompt and answer together
        output_limit: 16384          # the most it may write, thinking included (S1-113)
        routes:                      # the first one is used
          - name: acme               # stands in the ledger key
            litellm: openai/reader-7b
            key: ACME_API_KEY        # the environment variable that holds the key
            prices:
              - {since: 2026-11-30, source: https://acme.example/prices, input: 0.5, output: 1.5}

registry/rosters.yaml:

    rosters:
      - id: trial
        authors: [{model: acme/reader-7b}, {rule: template}]
        reviewers: [{rule: languages}, {rule: lint}, {rule: neighbour}]
        fixers: [{rule: repair}]
        voters: [{rule: evidence}, {rule: evidence}, {rule: evidence}]
        exam: [acme/reader-7b]
"""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

from models.call import ModelError
from models.keys import key_of
from registry.reader import FormatError, read


@dataclass(frozen=True)
class PriceTier:
    """What holds for the whole call when its prompt is longer than `above` tokens."""

    above: int
    input: float
    output: float
    cached_input: float | None = None


@dataclass(frozen=True)
class Price:
    """A route's price from a day on, in USD per million tokens.

    cached_input: of prompt tokens read from the provider's cache; None: as `input`.
    cache_write:  of prompt tokens written to it; None: as `input`.
    reasoning:    of thinking tokens; None: as `output`.
    batch:        the factor of a provider batch (0.5: half price).
    call:         USD a call costs beside its tokens.
    """

    since: date
    source: str
    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    reasoning: float | None = None
    batch: float = 1.0
    call: float = 0.0
    tiers: tuple[PriceTier, ...] = ()


@dataclass(frozen=True)
class Route:
    """One way to a model.

    litellm:      the name that litellm knows; `api_base` where it is an endpoint of one's own.
    key:          the environment variable with the key; None where none is needed.
    lane:         `litellm` (any route) or `bulk` (OpenAI-compatible, much cheaper a call).
    serve:        `embedded`: our own child process serves it from an installed package.
    request:      fields that go into every request body, and into the ledger key.
    thinking_off: fields sent instead where a task asks for no thinking (S2-028).
    schema:       the route takes a JSON schema; false: it is asked for in words.
    omits:        what the provider refuses to be told.
    cache:        `marks`: the route caches a prompt's prefix only where it is marked.
    batch:        the provider takes batches, at `Price.batch` of the price.
    """

    name: str
    litellm: str
    api_base: str | None = None
    key: str | None = None
    lane: Literal["litellm", "bulk"] = "litellm"
    serve: Literal["embedded"] | None = None
    request: dict[str, Any] = field(default_factory=dict)
    thinking_off: dict[str, Any] = field(default_factory=dict)
    schema: bool = True
    logprobs: bool = False
    omits: tuple[Literal["temperature"], ...] = ()
    cache: Literal["automatic", "marks"] = "automatic"
    batch: bool = False
    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout_s: float = 900.0
    prices: tuple[Price, ...] = ()

    def price(self, day: date) -> Price | None:
        """Return the price that holds on a day; None is unknown, never free."""
        known = [price for price in self.prices if price.since <= day]
        return max(known, key=lambda price: price.since, default=None)

    def missing_key(self) -> str | None:
        """Return the environment variable that should hold the key and does not."""
        return self.key if self.key and not key_of(self.key) else None


@dataclass(frozen=True)
class ModelCard:
    """A model: who made it, what it can take, and its routes."""

    id: str
    vendor: str
    open: bool
    context: int
    output_limit: int
    routes: tuple[Route, ...]
    revision: str = ""

    def __post_init__(self) -> None:
        names = [route.name for route in self.routes]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"{self.id} needs routes with different names, found {names}")

    @property
    def route(self) -> Route:
        """Return the route that is used: the first."""
        return self.routes[0]


@dataclass(frozen=True)
class Seat:
    """Who sits there: a model of models.yaml, or a rule of agents/rules.py."""

    model: str | None = None
    rule: str | None = None

    def __post_init__(self) -> None:
        if (self.model is None) == (self.rule is None):
            raise ValueError("a seat names either `model` or `rule`")

    @property
    def name(self) -> str:
        """Return the model's id, or `rule/<name>`."""
        return self.model or f"rule/{self.rule}"


@dataclass(frozen=True)
class Reference:
    """The strong and the weak model of the SOP check (S1-019, S1-020)."""

    strong: str
    weak: str


@dataclass(frozen=True)
class Floors:
    """Below these a reviewer's verdicts are marked: shares of catch trials it must get right."""

    sensitivity: float = 0.0
    specificity: float = 0.0


@dataclass(frozen=True)
class Roster:
    """The seats of a benchmark's making, and the models that take its exam.

    budgets: USD a role may spend in one command (`reviewer: 20.0`).
    """

    id: str
    authors: tuple[Seat, ...]
    reviewers: tuple[Seat, ...]
    fixers: tuple[Seat, ...]
    voters: tuple[Seat, ...]
    exam: tuple[str, ...] = ()
    reference: Reference | None = None
    budgets: dict[str, float] = field(default_factory=dict)
    floors: Floors = Floors()
    note: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the ids of all models in seats, each once."""
        seats = self.authors + self.reviewers + self.fixers + self.voters
        return tuple(dict.fromkeys(seat.model for seat in seats if seat.model))

    @property
    def preview_only(self) -> bool:
        """Tell whether this panel may freeze only a task with `preview: true` (Agreements 1)."""
        panels = (self.reviewers, self.voters)
        return any(not independent(panel) for panel in panels)


def independent(panel: tuple[Seat, ...]) -> bool:
    """Tell whether a panel holds three distinct models and no rule."""
    models = {seat.model for seat in panel}
    return None not in models and len(models) >= 3


def canonical_ids(cards: dict[str, ModelCard]) -> dict[str, str]:
    """Return each id's first id in models.yaml that reaches the same model: its aliases share one."""
    first: dict[tuple[str, str | None], str] = {}
    return {
        id: first.setdefault((card.route.litellm.casefold(), card.route.api_base), id)
        for id, card in cards.items()
    }


@dataclass(frozen=True)
class _Models:
    models: tuple[ModelCard, ...]


@dataclass(frozen=True)
class _Rosters:
    rosters: tuple[Roster, ...]


def load_models(registry: Path) -> dict[str, ModelCard]:
    """Return the cards of registry/models.yaml by id. Raises: FormatError, OSError."""
    return {card.id: card for card in read(registry / "models.yaml", _Models).models}


def card_of(cards: dict[str, ModelCard], model: str) -> ModelCard:
    """Return a model's card. Raises: ModelError that lists the known ids."""
    if model not in cards:
        raise ModelError(f"unknown model {model!r}; registry/models.yaml knows {', '.join(cards)}")
    return cards[model]


def load_roster(registry: Path, name: str) -> Roster:
    """Return a roster of registry/rosters.yaml.

    Raises: FormatError (no such roster, or a seat with a model that models.yaml lacks), OSError.
    """
    path = registry / "rosters.yaml"
    rosters = {roster.id: roster for roster in read(path, _Rosters).rosters}
    if name not in rosters:
        raise FormatError(path, None, f"no roster {name!r}; there are {', '.join(rosters)}")
    roster, known = rosters[name], load_models(registry)
    reference = [roster.reference.strong, roster.reference.weak] if roster.reference else []
    for model in (*roster.models, *roster.exam, *reference):
        if model not in known:
            raise FormatError(
                path, None, f"roster {name!r} seats {model!r}, unknown to models.yaml"
            )
    return roster
