"""A registry with models on a scripted server, and a gateway on it, for the tests of models/."""

from pathlib import Path
from typing import Any

from models.call import Message
from models.retries import Retries
from registry.writer import to_yaml

QUICK = Retries(attempts=4, first_s=0.01, cap_s=0.02, deadline_s=2.0)
SQL = "acme/sql-7b"
PRICE = {"since": "2026-01-01", "source": "test", "input": 1.0, "output": 2.0}


def registry(folder: Path, api_base: str, **route: Any) -> Path:
    """A registry whose one model is reached at `api_base`; `route` changes its route."""
    folder.mkdir(parents=True, exist_ok=True)
    first = {"name": "acme", "litellm": "openai/sql-7b", "api_base": api_base, **route}
    card = {"id": SQL, "vendor": "Acme", "open": True, "context": 8192, "output_limit": 4096}
    text = to_yaml({"models": [card | {"routes": [first]}]})
    (folder / "models.yaml").write_text(text.replace("'2026-01-01'", "2026-01-01"))
    return folder


def ask(text: str) -> tuple[Message, ...]:
    """One user message."""
    return (Message("user", text),)
