"""No key on a page or in a terminal: a provider that echoes keys, through the exam's real commands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import small
from tests.models_setup import SQL
from tests.models_setup import registry as model_registry
from tests.server import Server, Status, in_background
from tests.test_models_keys import ECHO, KEYS

COMMANDS = (
    ("eval-text2sql", "--model", SQL),
    ("report", SQL),
    ("leaderboard",),
    ("leaderboard", "--json"),
    ("ledger",),
    ("ledger", "export", "{runs}/calls.jsonl"),
    ("doctor",),
)


def echoing(body):
    """Some questions are answered; the rest is refused with the key in the refusal's text."""
    asked = body["messages"][-1]["content"]
    return "```sql\nSELECT count(*) FROM person\n```" if "h1" in asked else Status(400, ECHO)


@pytest.mark.parametrize("key", [KEYS["OpenAI"], KEYS["a bare hex one"]], ids=["usual", "bare"])
def test_no_key_reaches_a_page_a_file_or_the_terminal(tmp_path, key):
    registry, data = small.make(tmp_path)
    small.freeze(registry, data)
    with in_background(Server(echoing)) as server:
        model_registry(registry, server.api_base, key="ACME_KEY")
        told = "".join(_run(command, tmp_path, key) for command in COMMANDS)
    assert server.headers[0]["authorization"] == f"Bearer {key}"
    page = next(tmp_path.rglob("report.html")).read_text()
    assert "h1" in page
    assert key not in told
    assert not [path for path in _files(tmp_path) if key.encode() in path.read_bytes()]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _run(command: tuple[str, ...], folder: Path, key: str) -> str:
    """Run one command as a process that has the key in its environment; returns all it said."""
    runs = folder / "runs"
    words = [word.format(runs=runs) for word in command]
    places = ["--runs", str(runs)]
    if command[0] != "ledger":
        places += ["--registry", str(folder / "registry"), "--data", str(folder / "data")]
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words, *places],
        env={"ACME_KEY": key, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr
