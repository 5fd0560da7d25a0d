"""The arrows of the house hold: a folder imports only what stands below it (DESIGN)."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ARROWS = {
    "registry": set(),
    "prompts": set(),
    "database": {"registry"},
    "models": {"registry"},
    "items": {"database", "registry"},
    "agents": {"items", "database", "models", "prompts", "registry"},
    "graphs": {"agents", "items", "database", "models", "registry"},
    "eval": {"items", "database", "models", "prompts", "registry"},
    "web": {"eval", "items", "registry"},
    "cli": {
        "agents",
        "graphs",
        "eval",
        "web",
        "items",
        "database",
        "models",
        "prompts",
        "registry",
    },
}
ONLY_IN = {  # a library with one door
    "langgraph": lambda path: path.parts[0] == "graphs",
    "litellm": lambda path: path == Path("models/hosted.py"),
    "duckdb": lambda path: path.parts[0] == "database",
    "sqlite3": lambda path: path.parts[0] in ("database", "models", "graphs"),
    "sqlglot": lambda path: path.parts[0] in ("items", "agents"),
}
# A module that is not about SQL may keep rows of its own in SQLite: the ledger and the checkpoints.


def modules() -> list[Path]:
    return [
        path.relative_to(ROOT)
        for folder in ARROWS
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def imported(path: Path) -> set[tuple[str, bool]]:
    """The modules a file imports, and whether at its top level."""
    tree = ast.parse((ROOT / path).read_text())
    top = {id(node) for node in tree.body}
    found: set[tuple[str, bool]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(name.name, id(node) in top) for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add((node.module, id(node) in top))
    return found


def test_every_folder_has_modules():
    assert {path.parts[0] for path in modules()} >= set(ARROWS) - {"web"}


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_imports_only_along_the_arrows(path):
    folder = path.parts[0]
    ours = {name.split(".")[0] for name, _ in imported(path)} & set(ARROWS)
    assert ours - {folder} <= ARROWS[folder]


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_library_is_used_only_behind_its_door(path):
    names = {name.split(".")[0] for name, _ in imported(path)}
    assert {name for name in names & set(ONLY_IN) if not ONLY_IN[name](path)} == set()


HEAVY = {"litellm", "langgraph", "duckdb", "numpy", "scipy", "matplotlib", "pyarrow", "sqlglot"}


@pytest.mark.parametrize("path", sorted((ROOT / "cli").glob("*.py")), ids=lambda path: path.name)
def test_a_command_imports_what_is_heavy_inside_its_functions(path):
    """`benchtoward --help` answers in under 0.3 s."""
    top = {name.split(".")[0] for name, at_top in imported(path.relative_to(ROOT)) if at_top}
    assert top & (HEAVY | set(ARROWS) - {"cli", "registry"}) == set()


def test_every_short_reference_is_spelled_out():
    told = (ROOT / "docs" / "sources.md").read_text()
    cited = {
        found
        for path in [*modules(), *(p.relative_to(ROOT) for p in (ROOT / "tests").rglob("*.py"))]
        for found in re.findall(r"\bS[1-4]-\d{3}|\bFACTS §\d", (ROOT / path).read_text())
    }
    assert len(cited) > 100
    missing = {id for id in cited if f"| {id.removeprefix('FACTS ')} |" not in told}
    assert not missing, f"docs/sources.md does not say what {sorted(missing)} mean"
