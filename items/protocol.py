"""Who set every key of a task's protocol: the panel, the owner, or nobody, and then why (S1-037, S1-040)."""

from collections.abc import Iterable
from typing import Any

from items.decisions import Decision
from items.questions import Decided
from items.spec import Setting, Spec
from items.votes import value_of

KEYS = (  # what moves a score or its standing, besides the items
    "primary_metric",
    "request.max_tokens",
    "request.temperature",
    "check.format",
    "check.roster",
    "check.priors",
    "metrics.intervals",
    "review.batch",
    "review.second_round",
    "tiers.easy.role",
)


def lint(spec: Spec, asked: Iterable[Decision], taken: Iterable[Decided]) -> list[str]:
    """Return what is wrong with a task's settings: a key that nobody answers for, or another value."""
    settings = {setting.key: setting for setting in spec.decisions}
    by_key = {decision.protocol: decision for decision in asked}
    decided = {decision.id: decision for decision in taken}
    found = []
    for key in KEYS:
        if key.startswith("tiers.") and key.split(".")[1] not in spec.tiers:
            continue
        if key not in settings and key not in by_key:
            found.append(f"{key}: nobody set it; `decisions` of the spec names who, or why nobody")
        elif key not in settings and by_key[key].id not in decided:
            found.append(f"{key}: decision {by_key[key].id} is open; `text2sql llm-decide` asks it")
        elif key not in settings:
            found += _differs(spec, key, by_key[key], decided[by_key[key].id])
    for key, setting in settings.items():
        found += _setting(spec, key, setting, by_key, decided)
    return found


def _setting(
    spec: Spec, key: str, setting: Setting, by_key: dict[str, Decision], decided: dict[str, Decided]
) -> list[str]:
    try:
        value_of(spec, key)
    except (KeyError, AttributeError):
        return [f"{key}: the spec has no such key"]
    if setting.by == "unvoted":
        return []
    if setting.decision not in decided:
        return (
            [f"{key}: no record of decision {setting.decision!r}"] if setting.by == "panel" else []
        )
    decision = by_key.get(key)
    return _differs(spec, key, decision, decided[setting.decision]) if decision else []


def _differs(spec: Spec, key: str, decision: Decision, taken: Decided) -> list[str]:
    if taken.option is None:
        return [f"{key}: decision {decision.id} was not decided"]
    value: Any = decision.option(taken.option).value
    if value_of(spec, key) == value:
        return []
    return [f"{key} is {value_of(spec, key)!r}; {decision.id} decided {value!r} ({taken.tally})"]
