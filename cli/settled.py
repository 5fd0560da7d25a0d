"""The spec that a freeze pins: the draft with every key that was decided, and who decided it."""

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from cli.making import Setting
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import Decided
    from items.spec import Spec


def settled(where: Setting) -> "Spec":
    """Return the spec with what was decided: the keys it sets, and who set them (S1-037).

    Raises: FormatError (a freeze decision that is open, a protocol key that the spec lacks).
    """
    from items.decisions import load_decisions
    from items.questions import load_questions
    from items.spec import Setting as Set_

    decided = {d.id: d for d in load_questions(where.path).decisions}
    spec = where.task
    kept = [s for s in spec.decisions if s.by == "unvoted"]
    for decision in load_decisions(where.registry):
        found = decided.get(decision.id)
        if problem := _unfit(where, found):
            raise FormatError(where.registry / "decisions" / f"{decision.id}.yaml", None, problem)
        assert found is not None
        assert found.option is not None
        spec = _with(spec, decision.protocol, decision.option(found.option).value)
        by: Literal["panel", "owner"] = "panel" if found.by == "panel" else "owner"
        when = date.fromisoformat(found.when)
        kept = [s for s in kept if s.key != decision.protocol]
        kept.append(Set_(decision.protocol, by, decision.id, found.tally, when, found.reason))
    return replace(spec, decisions=tuple(sorted(kept, key=lambda s: s.key)))


def frozen_state(where: Setting) -> dict[str, Any]:
    """Return for programs whether a task is frozen now, and what was decided."""
    from dataclasses import asdict

    from items.questions import load_questions
    from items.spec import load_spec, spec_path

    spec = load_spec(spec_path(where.registry, where.task.task))
    decided = [asdict(one) for one in load_questions(where.path).decisions]
    frozen = str(spec.pins.frozen) if spec.pins else None
    return {"task": spec.task, "frozen": frozen, "decisions": decided}


def _unfit(where: Setting, found: "Decided | None") -> str | None:
    """Return why a decision cannot be frozen on; None where it can."""
    from cli.evidence import stale

    if found is None or found.option is None:
        return "not decided; `text2sql llm-decide` asks the voters"
    if stale(where, found):
        return "its evidence changed after the vote; `text2sql llm-decide --again` votes anew"
    voters = {vote.by for vote in found.votes if vote.ballot == max(v.ballot for v in found.votes)}
    independent = len(voters) >= 3 and not any(by.startswith("rule/") for by in voters)
    if found.by == "panel" and not independent and not where.task.preview:
        return "decided by rules, or by one model in several seats: good for `preview: true` only"
    return None


def _with(spec: Any, key: str, value: Any) -> Any:
    """Return a dataclass or mapping with the value under a dotted key. Raises: FormatError."""
    from dataclasses import fields, is_dataclass

    name, _, rest = key.partition(".")
    if isinstance(spec, dict):
        return {**spec, name: _with(spec.get(name, {}), rest, value) if rest else value}
    if not is_dataclass(spec) or name not in {f.name for f in fields(spec)}:
        raise FormatError("decisions", None, f"protocol key {name!r} is no key of the spec")
    inner = _with(getattr(spec, name), rest, value) if rest else value
    return replace(spec, **{name: inner})  # type: ignore[type-var]
