"""The command line as a whole: light to start, documented, and clear about what is wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from cli.main import app

ROOT = Path(__file__).parent.parent
HEAVY = (
    "litellm",
    "langgraph",
    "duckdb",
    "numpy",
    "scipy",
    "pyarrow",
    "sqlglot",
    "aiohttp",
    "jinja2",
)


def commands(group, prefix=""):
    """Every command by the words one types."""
    found = {}
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            found |= commands(command, f"{prefix}{name} ")
        else:
            found[prefix + name] = command
    return found


COMMANDS = commands(get_command(app))


def benchtoward(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_help_imports_nothing_heavy():
    """`benchtoward --help` answers in under 0.3 s (benchmarks/cli_help.py measures it)."""
    code = f"import sys, cli.main; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_with_an_example(name):
    assert re.search(
        r"Example.*benchtoward(-admin)? " + re.escape(name), COMMANDS[name].help or "", re.S
    )


def test_the_command_reference_is_what_the_commands_say():
    """docs/commands.md is made by `make docs`."""
    command = [sys.executable, "-m", "typer", "cli.main", "utils", "docs", "--name", "benchtoward"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "commands.md").read_text().strip() == made.strip()


def test_every_command_of_the_readme_exists():
    lines = re.findall(
        r"^benchtoward (?!COMMAND)([a-z0-9 -]+?)(?= --|$| +#)",
        (ROOT / "README.md").read_text(),
        re.M,
    )
    assert lines
    for line in lines:
        assert any(line == name or line.startswith(name + " ") for name in COMMANDS), line


def test_an_unknown_command_ends_with_2():
    done = benchtoward("text2sql", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_a_missing_database_is_one_sentence_and_2(tmp_path):
    done = benchtoward("text2sql", "check", "--task", "eunomia-text2sql", "--data", str(tmp_path))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "benchtoward fetch eunomia" in done.stderr
