"""Where a task stands: each tier's counts and quotas, its panel's figures, and what comes next."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from items.panel import Reviewer
    from items.questions import QuestionFile
    from items.reviewers import Rate
    from items.spec import Spec
    from models.roster import Floors

QUOTAS = ("category", "difficulty", "scope", "author")


def tier_standing(name: str, path: Path, file: "QuestionFile") -> dict[str, Any]:
    """Return a tier's counts: how far its items are, and the quotas."""
    from items.records import record_of
    from registry.events import load

    events = load(record_of(path))
    kept = [question for question in file.questions if question.status != "dropped"]
    states = {question.id: _state(question.item, events) for question in kept}
    told: dict[str, Any] = {"tier": name, "file": str(path), "items": len(kept)}
    for state in ("approved", "objected", "stopped", "unjudged"):
        told[state] = sum(found == state for found in states.values())
    told["open"] = [id for id, state in states.items() if state != "approved"][:12]
    told["dropped"] = len(file.questions) - len(kept)
    told["reached_unaided"] = _unaided(kept, events)
    told["decisions"] = {d.id: f"{d.option} ({d.tally}, {d.by})" for d in file.decisions}
    for key in QUOTAS:
        told[key] = dict(sorted(Counter(getattr(question, key) for question in kept).items()))
    return told


def _state(item: Any, events: list[Any]) -> str:
    """Return how far an item is; `stopped` by a rule that its present content breaks."""
    from items.approvals import SEATS, approval

    last = next((event for event in reversed(events) if event.item == item.id), None)
    if last and last.kind == "problem" and last.item_sha256 == item.sha256:
        return "stopped"
    said = approval(events, item)
    if said.approved:
        return "approved"
    valid = [event for event in said.verdicts if event.body.get("valid")]
    return "objected" if len(valid) == len(SEATS) else "unjudged"


def _unaided(kept: list[Any], events: list[Any]) -> dict[str, int]:
    """Return how many items had 0 to 3 reviewers reach the reference's result on their own."""
    from items.approvals import approval

    counts: Counter[int] = Counter()
    for question in kept:
        commits = [e.body.get("commit") for e in approval(events, question.item).verdicts]
        if any(commits):
            counts[sum(bool(commit and commit["matches"]) for commit in commits)] += 1
    return {f"by {n}:": counts[n] for n in sorted(counts)}


def next_command(
    spec: "Spec", tiers: list[dict[str, Any]], registry: Path, runs: Path, *, changed: bool
) -> str:
    """Return which command comes next; `changed`: a frozen task's files are not what was pinned."""
    from eval.rows import run_folders
    from items.decisions import load_decisions

    if spec.pins is not None:
        if changed:
            return "verify, then restore what changed; or text2sql thaw for a next version"
        sat = len(run_folders(runs, "exam", spec.task))
        return f"leaderboard ({sat} runs), or eval-text2sql" if sat else "eval-text2sql"
    known = {tier["tier"]: tier for tier in tiers}
    if "hard" in spec.tiers and not known.get("hard", {}).get("items"):
        return "text2sql hard-generate --count N"
    for name, tier in known.items():
        if tier["unjudged"]:
            return f"text2sql {'hard' if name == 'hard' else 'llm'}-review (after check)"
        if tier["objected"] or tier["stopped"]:
            return "text2sql llm-fix, or desk for what waits"
    decided = {id for tier in tiers for id in tier["decisions"]}
    open_ = [d.id for d in load_decisions(registry, freeze=False) if d.id not in decided]
    return "text2sql llm-decide" if open_ else "text2sql llm-decide --freeze"


def cost_so_far(runs: Path) -> str:
    """Return what the calls cost so far; answers of unknown cost are counted apart."""
    from models.spending import sums

    path = runs / "ledger.sqlite"
    by_role = sums(path, ("role",)) if path.exists() else []
    answers, unknown = sum(s.answers for s in by_role), sum(s.unknown_cost for s in by_role)
    told = f"{answers} answers, ${sum(s.cost_usd for s in by_role):.2f}"
    return told + (f" and {unknown} of unknown cost" if unknown else "")


def panel_lines(path: Path, registry: Path, roster: str | None) -> list[str]:
    """Return the panel in a line, and who is below the roster's floors (`text2sql panel` has all)."""
    from items.panel import panel
    from items.records import record_of
    from models.roster import Floors, load_roster
    from registry.events import load

    events = load(record_of(path))
    if not any(event.kind == "verdict" for event in events):
        return []
    found = panel(events)
    floors = load_roster(registry, roster).floors if roster else Floors()
    ac1 = found.agreement.ac1
    caught = (
        f"catches {_share(found.sensitivity)}" if found.sensitivity.of else "not tested (--catch N)"
    )
    line = f"panel: AC1 {ac1.value:.2f} [{ac1.low:.2f}, {ac1.high:.2f}], seeded errors: {caught}"
    return [line, *filter(None, (_below(reviewer, floors) for reviewer in found.reviewers))]


def _below(reviewer: "Reviewer", floors: "Floors") -> str:
    """Return the mark of a reviewer whose measured rate is below the roster's floor."""
    low = [
        f"{name} {_share(getattr(reviewer, name))}, the floor is {getattr(floors, name)}"
        for name in ("sensitivity", "specificity")
        if getattr(reviewer, name).of and getattr(reviewer, name).value < getattr(floors, name)
    ]
    return f"  {reviewer.name} is below the floor: {'; '.join(low)}" if low else ""


def _share(rate: "Rate") -> str:
    return f"{rate.hits} of {rate.of} [{rate.low:.2f}, {rate.high:.2f}]"
