"""What `eval-text2sql` prints: what it would ask, what it did, what is still open."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.exam import Exam
    from eval.plan import Plan
    from eval.rows import Label
    from eval.score import Run
    from eval.take import Taken


def show_taken(exam: "Exam", taken: "Taken", label: "Label", *, json: bool) -> None:
    """Print what a sitting did, the run's figures, and where it lies."""
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
        print_json({"run": str(taken.folder.path), **told, **board_json(shown)})
        return
    print_board(shown)
    print(", ".join(f"{name} {count}" for name, count in told.items()) + f"; {taken.folder.path}")
    for line in (*open_lines(taken.run), *near_lines(taken.run)):
        print(line)
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
