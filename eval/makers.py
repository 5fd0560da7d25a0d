"""Who made a task's items: a model that wrote or reviewed them is marked wherever it is ranked (S1-047)."""

from pathlib import Path

from items.freeze import load_spec, spec_path
from items.questions import load_questions


def makers(registry: Path, task: str) -> dict[str, str]:
    """Return model id -> `author`, `reviewer` or `author, reviewer`, for the kept items of all tiers.

    Raises: FormatError, OSError.
    """
    parts: dict[str, set[str]] = {}
    for tier in load_spec(spec_path(registry, task)).tiers.values():
        for question in load_questions(registry / tier.file).questions:
            if question.status == "dropped":
                continue
            parts.setdefault(question.author, set()).add("author")
            for review in question.reviews:
                parts.setdefault(review.by, set()).add("reviewer")
    return {model: ", ".join(sorted(roles)) for model, roles in parts.items()}
