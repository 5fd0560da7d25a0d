"""Taking an exam, from candidate to score: what `eval-text2sql` does."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eval.abstain import SUFFIX, Rule, abstain_by_entropy
from eval.candidates import Candidate, answering, candidate
from eval.exam import Exam, Instance
from eval.plan import Plan, plan
from eval.predictions import Predictions, file_predictions, load_predictions
from eval.reuse import Why, why
from eval.rows import Label, RunFolder, run_folder
from eval.run import Asking, Sitting, Step, addressed, first, lend, sit
from eval.score import Run, score
from eval.uncertainty import Threshold
from models.batches import Batch, send
from models.budget import BudgetError
from models.call import ModelError
from models.gateway import RouteDown, open_gateway
from registry.events import now
from registry.reader import FormatError

LOGPROBS = 20  # likeliest tokens asked for; what routes give at most


@dataclass(frozen=True)
class Options:
    """How an exam is taken.

    label:       exam, dry for a dry run (S1-133), or diagnostic with another output limit (S1-116).
    limit:       only the first questions of each tier; the run stays incomplete.
    reuse:       take answers of earlier runs, dry runs included, to equal requests (S1-022).
    abstain:     also make the run that abstains by entropy (eval/abstain.py); asks for log-probabilities.
    gateway:     options of models.gateway.open_gateway: budget_usd, replay, command.
    """

    model: str
    label: Label = "exam"
    limit: int | None = None
    reuse: bool = False
    predictions: Path | None = None
    partial: bool = False
    abstain: Rule | None = None
    gateway: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Taken:
    """What came of it. no_threshold: why there is no run that abstains by entropy, where one was asked."""

    folder: RunFolder
    run: Run
    sitting: Sitting
    predictions: Predictions | None = None
    abstaining: tuple[Run, Threshold] | None = None
    no_threshold: str = ""


async def take(
    exam: Exam, registry: Path, runs: Path, options: Options, step: Step = lambda name: None
) -> Taken:
    """Ask what is not answered yet, score everything, and write the run.

    Raises: ModelError (before any call, when the model cannot take this exam), FormatError, BusyError,
    QueryError (a reference does not run), OSError.
    """
    folder = run_folder(runs, options.label, exam.task, options.model)
    if options.predictions:
        return await _from_file(exam, folder, options, options.predictions)
    who = _who(exam, registry, folder, options)
    begun = _begun(folder).get("started", now())
    told = header(exam, who, options.label, started=begun)
    earlier = lend(lenders(runs, exam.task, folder)) if options.reuse else {}
    async with answering(exam, who, registry, runs, **options.gateway) as model:
        asking = Asking(model, who.address, earlier, stops=(BudgetError, RouteDown))
        done = await sit(
            exam, folder, asking, instances=chosen(exam, options), header=told, step=step
        )
    (run,) = await score(exam, folder)
    taken = Taken(folder, run, done)
    return await _abstaining(exam, taken, runs, options) if options.abstain else taken


def _who(exam: Exam, registry: Path, folder: RunFolder, options: Options) -> Candidate:
    """Return the candidate; a run that began with log-probabilities goes on with them."""
    begun = _begun(folder).get("address", {})
    logprobs = LOGPROBS if options.abstain else begun.get("logprobs")
    who = candidate(exam, registry, options.model, logprobs=logprobs)
    if options.abstain and who.address.get("logprobs") is None:
        raise ModelError(
            f"{options.model} returns no log-probabilities (registry/models.yaml, `logprobs` of its route): "
            "it cannot abstain by entropy"
        )
    return who


def _begun(folder: RunFolder) -> dict[str, Any]:
    """Return the header of a run that was begun before; empty where it was not."""
    return folder.header() if (folder.path / "run.json").exists() else {}


async def _abstaining(exam: Exam, taken: Taken, runs: Path, options: Options) -> Taken:
    """Return what was taken with the run that abstains by entropy, or why there is none."""
    if taken.run.open:
        return replace(
            taken, no_threshold=f"{taken.run.open} instances are open: finish the run first"
        )
    made = run_folder(runs, options.label, exam.task, options.model + SUFFIX)
    rule = options.abstain or Rule("")
    try:
        threshold = abstain_by_entropy(exam, taken.folder, made, exam.abstention, rule)
    except FormatError as error:  # the model's own run stands; it only gives no threshold
        return replace(taken, no_threshold=error.problem)
    (run,) = await score(exam, made)
    return replace(taken, abstaining=(run, threshold))


def chosen(exam: Exam, options: Options) -> Sequence[Instance]:
    """Return the instances that a command with these options asks."""
    return first(exam, options.limit)


def header(exam: Exam, who: Candidate, label: Label, **more: Any) -> dict[str, Any]:
    """Return what run.json says of a run."""
    return {
        "task": exam.task,
        "kind": exam.kind,
        "label": label,
        "model": who.id,
        "baseline": who.baseline,
        "address": dict(who.address),
        "max_tokens": exam.max_tokens,
        "when": now(),
        **more,
    }


async def _from_file(exam: Exam, folder: RunFolder, options: Options, path: Path) -> Taken:
    read = load_predictions(path, exam.instances(), partial=options.partial)
    who = Candidate(options.model, {"model": options.model})
    told = {
        "file": path.name,
        "sha256": read.sha256,
        "missing": len(read.missing),
        "unknown": len(read.unknown),
    }
    file_predictions(exam, folder, read)
    folder.write_header(header(exam, who, options.label, predictions=told))
    (run,) = await score(exam, folder)
    return Taken(folder, run, Sitting(), read)


def lenders(runs: Path, task: str, folder: RunFolder) -> list[RunFolder]:
    """Return the runs that may lend answers: dry runs and exams of every version of the task."""
    slug = task.split("@")[0]
    headers = (runs / label for label in ("dry", "exam"))
    found = [
        RunFolder(p.parent) for root in headers for p in sorted(root.glob(f"{slug}@*/*/run.json"))
    ]
    return [other for other in found if other.path != folder.path]


def reasons(exam: Exam, registry: Path, runs: Path, options: Options) -> list[Why]:
    """Return for each instance who lends its answer, or which part of the request differs."""
    folder = run_folder(runs, options.label, exam.task, options.model)
    address = addressed(_who(exam, registry, folder, options).address)
    return why(exam, chosen(exam, options), address, lenders(runs, exam.task, folder))


async def batched(exam: Exam, registry: Path, runs: Path, options: Options) -> list[Batch]:
    """Send the first turn of what is not answered as a provider's batch; it lands in the ledger.

    Raises: ModelError (a baseline, a route without batches), BudgetError.
    """
    folder = run_folder(runs, options.label, exam.task, options.model)
    who = _who(exam, registry, folder, options)
    if who.baseline:
        raise ModelError(f"{who.id} is asked here: it needs no batch")
    address = addressed(who.address)
    turns = [exam.next_request(instance, ()) for instance in chosen(exam, options)]
    async with open_gateway(registry, runs, **options.gateway) as gateway:
        return await send(gateway, [address(request) for request in turns if request])


def planned(exam: Exam, registry: Path, runs: Path, options: Options) -> Plan:
    """Return what `take` with these options would ask and cost."""
    folder = run_folder(runs, options.label, exam.task, options.model)
    who, past = _who(exam, registry, folder, options), lenders(runs, exam.task, folder)
    return plan(exam, who, registry, runs, folder, chosen(exam, options), past)
