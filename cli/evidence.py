"""The evidence that voters see: registry/evidence/<task>/<date>-evidence.yaml, dated, known by its sha256.

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

from cli.making import Setting
from registry.reader import FormatError

if TYPE_CHECKING:
    from graphs.decision import Evidence
    from items.questions import QuestionFile


def current_evidence(where: Setting) -> "Evidence":
    """Return the newest evidence file of the task; it is written first where there is none."""
    from graphs.decision import Evidence
    from registry.canonical import sha256_text

    found = sorted(folder_of(where).glob("*.yaml"))
    path = found[-1] if found else write_evidence(where)
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(where.registry))
    return Evidence(name, text, sha256_text(text), _figures(path, text))


def write_evidence(where: Setting) -> Path:
    """Write today's evidence file and return its path; one that is there already stays as it is."""
    from registry.files import replace

    path = folder_of(where) / f"{date.today().isoformat()}-evidence.yaml"
    if not path.exists():
        told = {
            "task": where.task.task,
            "date": date.today().isoformat(),
            "figures": figures(where),
        }
        replace(path, yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=110))
    return path


def folder_of(where: Setting) -> Path:
    """Return where a task's evidence lies."""
    return where.registry / "evidence" / where.task.task


def figures(where: Setting) -> dict[str, Any]:
    """Return what the registry and the runs say: items, approvals, and the limits of the candidates."""
    from items.questions import load_questions
    from models.roster import load_models

    told: dict[str, Any] = {}
    for name, tier in where.task.tiers.items():
        path = where.registry / tier.file
        if path.exists():
            told |= _of_file(name, path, load_questions(path))
    cards = load_models(where.registry)
    told["output_limits"] = {id: cards[id].output_limit for id in where.roster.exam}
    told["contexts"] = {id: cards[id].context for id in where.roster.exam}
    told["max_tokens"] = where.task.request.max_tokens
    return told


def _of_file(tier: str, path: Path, file: "QuestionFile") -> dict[str, Any]:
    from items.records import approval, record_of
    from registry.events import load

    events, kept = load(record_of(path)), file.kept
    return {
        f"{tier}_items": len(kept),
        f"{tier}_unanswerable": sum(not item.answerable for item in kept),
        f"{tier}_approved": sum(approval(events, item).approved for item in kept),
        f"{tier}_dropped": len(file.questions) - len(kept),
    }


def _figures(path: Path, text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)["figures"]
    except (yaml.YAMLError, KeyError, TypeError):
        raise FormatError(path, None, "no `figures` in this evidence file") from None
    return dict(found)
