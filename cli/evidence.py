"""The evidence that voters see: registry/evidence/<task>/<date>-<n>-evidence.yaml, known by its sha256.

task: eunomia-text2sql@0
date: 2026-11-30
figures:
  hard_items: 20
  hard_approved: 17
  prompt_tokens: 5210
"""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from cli.making import Setting, opened_database
from registry.reader import FormatError

NAMES = "*-evidence.yaml"
EMBEDDED_TOKENS_PER_S = 83  # SmolLM2-135M on two cores, the lower of 83-90 measured

if TYPE_CHECKING:
    from graphs.decision import Evidence
    from items.questions import Decided
    from models.roster import ModelCard


def current_evidence(where: Setting, anew: bool = False) -> "Evidence":
    """Return the newest evidence file of the task; it is written first where there is none.

    anew: also where the newest one's figures are not today's.
    """
    newest = None if anew else _newest(where)
    return _shown(where, newest or write_evidence(where))


def planned_evidence(where: Setting, anew: bool = False) -> "Evidence":
    """Return what `current_evidence` would, and write nothing."""
    from graphs.decision import Evidence
    from registry.canonical import sha256_text

    newest = _newest(where)
    if newest and not anew:
        return _shown(where, newest)
    known = figures(where)
    if newest and _figures(newest, newest.read_text(encoding="utf-8")) == known:
        return _shown(where, newest)
    text = _text(where, known)
    return Evidence("not written yet", text, sha256_text(text), known)


def _shown(where: Setting, path: Path) -> "Evidence":
    from graphs.decision import Evidence
    from registry.canonical import sha256_text

    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(where.registry))
    return Evidence(name, text, sha256_text(text), _figures(path, text))


def write_evidence(where: Setting) -> Path:
    """Write an evidence file of today and return its path; where nothing changed, the newest one's.

    A file that voters may have seen is never written over: a second one of a day is numbered.
    """
    from registry.files import replace

    known = figures(where)
    newest = _newest(where)
    if newest and _figures(newest, newest.read_text(encoding="utf-8")) == known:
        return newest
    today = date.today().isoformat()
    number = sum(path.name.startswith(today) for path in folder_of(where).glob(NAMES)) + 1
    path = folder_of(where) / f"{today}-{number}-evidence.yaml"
    replace(path, _text(where, known))
    return path


def _text(where: Setting, known: dict[str, Any]) -> str:
    """Return today's evidence file of these figures."""
    told = {"task": where.task.task, "date": date.today().isoformat(), "figures": known}
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=110)


def _newest(where: Setting) -> Path | None:
    found = sorted(
        folder_of(where).glob(NAMES), key=lambda path: (path.name[:10], len(path.name), path)
    )
    return found[-1] if found else None


def stale(where: Setting, decided: "Decided") -> bool:
    """Tell whether a file that the voters saw has changed since, or is gone."""
    from registry.canonical import sha256_text

    for line in decided.evidence:
        name, _, sha256 = line.partition(" ")
        path = where.registry / name
        if not path.exists() or sha256_text(path.read_text(encoding="utf-8")) != sha256:
            return True
    return False


def folder_of(where: Setting) -> Path:
    """Return where a task's evidence lies."""
    return where.registry / "evidence" / where.task.task


def figures(where: Setting) -> dict[str, Any]:
    """Return what the registry says that a vote can rest on (agents/rules/evidence.py reads it too).

    room: the tokens left in a candidate's context beside the task's longest prompt.
    """
    from dataclasses import asdict

    from cli.run_figures import best_constant, run_figures
    from eval.candidates import longest_prompt
    from eval.exam import EXAMS
    from eval.spec import open_task
    from models.roster import load_models

    task, roster = where.task, where.roster
    with opened_database(where) as database:
        opened = open_task(where.registry, task.task, database, dry_run=True)
        exam = EXAMS[task.kind](opened)
        prompt = longest_prompt(exam)
        runs = run_figures(exam, where.runs)
        constant = (
            best_constant(opened.tiers["hard"].items, database) if "hard" in opened.tiers else None
        )
    cards = load_models(where.registry)
    hard = _of_tier(where, "hard")
    return {
        "answerable": hard.get("answerable", 0),
        "unanswerable": hard.get("unanswerable", 0),
        "instances": len(exam.instances()),
        "prompt_tokens": prompt,
        "candidates": {id: _candidate(cards[id], prompt) for id in roster.exam},
        "reference": roster.reference and asdict(roster.reference),
        "tiers": {name: _of_tier(where, name) for name in task.tiers},
        "best_constant_query": constant,
        **runs,
    }


def _candidate(card: "ModelCard", prompt: int) -> dict[str, Any]:
    """Return what a candidate has room and time for."""
    told: dict[str, Any] = {"output_limit": card.output_limit, "room": card.context - prompt}
    if card.route.serve == "embedded":
        told["tokens_per_s"] = EMBEDDED_TOKENS_PER_S
    return told


def _of_tier(where: Setting, tier: str) -> dict[str, int]:
    """Return a tier's counts: items by kind, and how many the panel approved."""
    from items.approvals import approval
    from items.questions import load_questions
    from items.records import record_of
    from registry.events import load

    if tier not in where.task.tiers:
        return {}
    path = where.registry / where.task.tiers[tier].file
    if not path.exists():
        return {}
    file, events = load_questions(path), load(record_of(path))
    kept = file.kept
    return {
        "items": len(kept),
        "answerable": sum(item.answerable for item in kept),
        "unanswerable": sum(not item.answerable for item in kept),
        "approved": sum(approval(events, item).approved for item in kept),
        "dropped": len(file.questions) - len(kept),
    }


def _figures(path: Path, text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)["figures"]
    except (yaml.YAMLError, KeyError, TypeError):
        raise FormatError(path, None, "no `figures` in this evidence file") from None
    return dict(found)
