"""What the rules found before, kept beside the database: an unchanged item is not checked again.

`<folder of the database>/checks/<fingerprint>.jsonl`, one line a check: the key and what was found,
before the file's settings are applied. The key covers the item, the day, the thresholds, the code of the
rules and, for rules that compare items, the others. Deleting the folder costs time and nothing else.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

from database.engine import Database
from items.model import Item
from items.rules.base import Finding, Ground
from items.rules.basics import answered
from registry.canonical import canonical, json_lines, sha256_json, sha256_text
from registry.files import locked

CODE = ("rules/*.py", "mutants*.py", "neighbour*.py")


class Memory:
    """The kept findings of one database's content."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, list[Finding]] = {}
        for line in json_lines(path.read_text(encoding="utf-8")) if path.exists() else ():
            try:
                key, found = json.loads(line)
                self._known[key] = [Finding(**finding) for finding in found]
            except (ValueError, TypeError):
                continue  # a line that a kill left half written

    def known(self, key: str) -> list[Finding] | None:
        """Return what was found before; None where it was not looked for yet."""
        return self._known.get(key)

    def keep(self, key: str, found: list[Finding]) -> None:
        """Keep what was found; where nothing can be written, until the process ends.

        What could not be checked is not kept: a lost worker says nothing about an item.
        """
        if any(finding.rule == answered.name for finding in found):
            return
        self._known[key] = found
        line = canonical([key, [asdict(finding) for finding in found]])
        with suppress(OSError), locked(self.path), self.path.open("a", encoding="utf-8") as out:
            out.write(line + "\n")


@lru_cache(maxsize=8)
def memory_of(database: Database) -> Memory:
    """Return the memory beside an open database. Raises: QueryError."""
    name = f"{database.fingerprint.sha256[:16]}.jsonl"
    return Memory(database.path.parent / "checks" / name)


def recalled(
    item: Item, ground: Ground, *, across: bool, look: Callable[[], list[Finding]]
) -> tuple[list[Finding], bool]:
    """Return what was found before, or look now and keep it; and whether it was kept before."""
    memory = memory_of(ground.database)
    key = key_of(item, ground, across=across)
    found = memory.known(key)
    if found is not None:
        return found, True
    found = look()
    memory.keep(key, found)
    return found, False


def key_of(item: Item, ground: Ground, *, across: bool) -> str:
    """Return the key of a check: all that decides what it finds."""
    others = sorted(other.sha256 for other in ground.others if other != item) if across else []
    today = ground.today and ground.today.isoformat()
    rules = [rules_version(), across]
    return sha256_json([item.sha256, today, ground.settings.thresholds, rules, others])


@cache
def rules_version() -> str:
    """Return the hash of the rules' code and of what reads and runs SQL for them."""
    here = Path(__file__).parent
    files = sorted(path for pattern in CODE for path in here.glob(pattern))
    texts = [sha256_text(path.read_text()) for path in files]
    return sha256_json([*texts, version("sqlglot"), version("duckdb")])
