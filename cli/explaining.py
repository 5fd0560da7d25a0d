"""`check --explain ID`: every rule on one item, what it looked at, and what it found."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.showing import ids_in_short
from cli.telling import plain, plain_lines
from registry.reader import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from items.checks import Finding, Ground
    from items.model import Item


def show_rules(id: str, work: "Sequence[tuple[Item, Ground]]", file: Path, *, json: bool) -> None:
    """Print what every rule says of one item. Raises: FormatError that lists the ids there are."""
    from items.checks import explain

    for item, ground in work:
        if item.id == id:
            told = explain(item, ground)
            break
    else:
        there = ids_in_short([item for item, _ in work])
        raise FormatError(file, None, f"no item {id!r} is kept here; there are {there}")
    if json:
        from registry.canonical import canonical

        print(canonical({"item": id, "rules": [one.as_json() for one in told]}))
        return
    asked = f"{item.id}  {item.question_en}\n{item.question_ko}"
    print(plain_lines(f"{asked}\n{item.reference_sql or item.witness}\n"))
    for one in told:
        worst = one.findings[0].severity if one.findings else "ok"
        print(f"[{worst}] {one.rule.name}: {one.rule.reason}  ({one.rule.source})")
        for line in one.looked[:12]:
            print(f"      looked at {plain(line)}")
        for finding in one.findings:
            print("   -> " + finding_line(item.id, finding).partition(": ")[2])


def finding_line(id: str, finding: "Finding") -> str:
    """Return a finding as a line, its evidence below."""
    evidence = "".join(f"\n    {line}" for line in finding.evidence.splitlines())
    return plain_lines(f"{id}: {finding.severity}: {finding.rule}: {finding.message}{evidence}")
