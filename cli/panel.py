"""`benchtoward text2sql panel`: how good the reviewers of a tier are, from its record alone."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.making import TierName
from cli.options import REGISTRY, JsonOption, RegistryOption, TaskOption

if TYPE_CHECKING:
    from items.agreement import Estimate
    from items.panel import Panel
    from items.reviewers import Rate


def panel(
    tier: Annotated[TierName, typer.Option("--tier", help="Which question file.")] = "hard",
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    json: JsonOption = False,
) -> None:
    """Say how far the reviewers agree, what they catch, what is left, and whom they favour.

    Sensitivity needs catch trials (`hard-review --catch N`). Example: benchtoward text2sql panel
    """
    from eval.spec import find_task
    from items.panel import panel as measured
    from items.records import record_of
    from items.spec import load_spec, spec_path
    from registry.events import load
    from registry.reader import FormatError

    spec = load_spec(spec_path(registry, find_task(registry, task)))
    path = record_of(registry / spec.tiers[tier].file)
    events = load(path)
    if not any(event.kind == "verdict" for event in events):
        raise FormatError(path, None, "holds no verdict; `text2sql hard-review` asks for them")
    found = measured(events)
    if json:
        from registry.canonical import canonical

        print(canonical(_plain(found)))
        return
    for line in _lines(found):
        print(line)


def _lines(panel: "Panel") -> list[str]:
    """Return the figures as lines for people."""
    agreed = panel.agreement
    lines = [
        f"{panel.items} contents seen first; agreement over {agreed.items}: raw {_shown(agreed.raw)},"
        f" AC1 {_shown(agreed.ac1)}, alpha {_shown(agreed.alpha)}"
    ]
    for one in panel.reviewers:
        lines.append(
            f"{one.name}: caught {_rate(one.sensitivity)}, cleared {_rate(one.specificity)},"
            f" the same twice {_rate(one.retest)}, right unaided {_rate(one.unaided)}"
        )
        lines += [f"  {kind}: {_rate(rate)}" for kind, rate in one.by_error.items()]
    lines += [
        f"panel: caught {_rate(panel.sensitivity)}, cleared {_rate(panel.specificity)}",
        f"items with an error before any fix (Rogan-Gladen): {_shown(panel.errors)}; left among those that"
        f" nobody flagged: {_number(panel.left)}",
        f"errors seen {panel.seen}, at least {panel.at_least:.1f} in all (Chao, a lower bound)",
        f"own-item lift {_shown(panel.lift.lift)} over {panel.lift.items} items, p = {panel.lift.p:.3f}",
    ]
    lines += [
        f"  {who} on items of {author}: approves {_rate(rate)}"
        for (author, who), rate in panel.approvals.items()
    ]
    return lines


def _rate(rate: "Rate") -> str:
    if not rate.of:
        return "not measured"
    return f"{rate.hits} of {rate.of} ({rate.low:.2f}-{rate.high:.2f})"


def _shown(one: "Estimate") -> str:
    if one.value != one.value:
        return "undefined"
    return f"{one.value:.2f} ({_number(one.low)}-{_number(one.high)})"


def _number(value: float) -> str:
    return "undefined" if value != value else f"{value:.2f}"


def _plain(panel: "Panel") -> Any:
    """Return the figures as JSON has them: pairs as text, what is undefined as null."""
    from dataclasses import asdict

    told = asdict(panel)
    told["approvals"] = {f"{a} by {who}": asdict(r) for (a, who), r in panel.approvals.items()}
    return _no_nan(told)


def _no_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _no_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_no_nan(one) for one in value]
    return None if isinstance(value, float) and value != value else value
