"""What `eval-text2sql` prints: what it would ask, what it did, what is still open."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.exam import Exam
    from eval.neighbours import Neighbours
    from eval.plan import Plan
    from eval.rows import Label
    from eval.score import Run
    from eval.take import Taken
    from eval.text2sql import Text2Sql
    from models.batches import Batch


async def look_for_luck(
    exam: "Text2Sql", taken: "Taken", registry: Path, *, quiet: bool
) -> "Neighbours":
    """Run a run's right answers on neighbour databases and keep what was found beside it."""
    from cli.progress import progress
    from eval.neighbours import on_neighbours, right_by_item, save
    from items.recipes import load_recipes, recipes_path

    with progress("neighbour of", len(right_by_item(exam, taken.run)), quiet=quiet) as step:
        recipes = load_recipes(recipes_path(registry, exam.task))
        found = await on_neighbours(exam, taken.run, step, recipes)
    save(taken.folder.path / "neighbours.jsonl", found)
    return found


def luck_lines(found: "Neighbours") -> list[str]:
    """Return what the neighbours say of a run; the headline stays as it is."""
    counts = f"{found.count('holds')} hold, {found.count('luck')} were luck, "
    counts += f"{found.count('not_told')} not told"
    lines = [f"on neighbour databases {len(found.answers)} right answers: {counts}"]
    lines += [
        f"  {name}: {was.value:.3f}, with lucky answers as wrong {now.value:.3f}"
        for name, (was, now) in found.figures.items()
        if was.value is not None and now.value is not None
    ]
    return lines + [f"  {a.instance}: {a.reason}" for a in found.answers if a.verdict == "luck"]


def show_taken(
    exam: "Exam",
    taken: "Taken",
    label: "Label",
    lucky: "Neighbours | None" = None,
    *,
    json: bool,
) -> None:
    """Print what a sitting did, the run's figures, and where it lies."""
    from dataclasses import asdict

    from cli.board import print_board, print_json
    from eval.leaderboard import board, board_json

    also = [taken.abstaining[0]] if taken.abstaining else []
    shown = board(exam, [taken.run, *also], label=label)
    done = taken.sitting
    told = {"asked": done.asked, "kept": done.kept, "reused": done.reused, "failed": done.failed}
    if taken.predictions:
        read = taken.predictions
        told |= {"missing": len(read.missing), "unknown": len(read.unknown)}
    if json:
        more = {"neighbours": asdict(lucky)} if lucky else {}
        print_json({"run": str(taken.folder.path), **told, **more, **board_json(shown)})
        return
    print_board(shown)
    print(", ".join(f"{name} {count}" for name, count in told.items()) + f"; {taken.folder.path}")
    for line in (*open_lines(taken.run), *near_lines(taken.run)):
        print(line)
    for line in luck_lines(lucky) if lucky else ():
        print(line)
    if taken.no_threshold:
        print(f"no run that abstains by entropy: {taken.no_threshold}")
    if taken.abstaining:
        fitted = taken.abstaining[1]
        print(
            f"abstains above {fitted.value:.3f} nats ({fitted.method} of {fitted.fitted_on} queries, of which"
            f" it answers {fitted.answered:.0%}; the entropies are {fitted.bound} bounds)"
        )
    if done.stopped:
        print(f"stopped: {done.stopped}")


def open_lines(run: "Run") -> list[str]:
    """Return what a run still lacks, one line a reason."""
    from collections import Counter

    reasons = Counter(row.reason or row.outcome for row in run.scored if row.open)
    return [f"open: {count} instances: {reason}" for reason, count in reasons.most_common(5)]


def near_lines(run: "Run") -> list[str]:
    """Return the queries that took so long that another machine might decide otherwise."""
    near = [row for row in run.scored if row.facts.get("near_limit")]
    return [f"near_limit: {r.instance.id} {r.outcome} after {r.facts['elapsed_s']} s" for r in near]


def print_sent(sent: "list[Batch]", *, json: bool) -> None:
    """Print what went out as batches."""
    from dataclasses import asdict

    from cli.board import print_json

    if json:
        print_json([asdict(batch) for batch in sent])
        return
    for batch in sent:
        print(f"batch {batch.name[:8]}: {batch.calls} calls to {batch.model} by {batch.route}")
    print(
        "`benchtoward batches` fetches the answers; the same command without --batch then scores them"
        if sent
        else "nothing to send: every call is answered or waits in a batch"
    )


def print_plan(plan: "Plan", *, json: bool) -> None:
    """Print what a sitting would ask and cost."""
    from dataclasses import asdict

    from cli.board import print_json

    if json:
        print_json(asdict(plan))
        return
    print(f"{plan.model}: {plan.calls} calls to make, {plan.known} answered already")
    print(f"about {plan.input_tokens:,} tokens in, at most {plan.most_output_tokens:,} out")
    costs = {"low": plan.low_usd, "expected": plan.expected_usd, "high": plan.high_usd}
    told = (
        f"{name} {'unknown' if usd is None else f'{usd:.2f} USD'}" for name, usd in costs.items()
    )
    print("cost: " + ", ".join(told))
    if plan.expected_s is not None:
        print(f"time: about {plan.expected_s / 60:.0f} minutes, by this model's answers so far")
