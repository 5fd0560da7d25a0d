"""What the gate catches, and what it says of right references.

    python -m benchmarks.gate_figures

The 32 reported errors with their right twins, the 12 answerable and 3 unanswerable Eunomia questions, the
6 wrong variants, and the hidden mutants that neighbour databases tell apart. Needs no network.
"""

import tempfile
from collections import Counter
from pathlib import Path

from database.engine import open_database
from database.eunomia import fetch
from items.checks import Finding, Ground, check
from items.rules.base import Case
from items.rules.mutation import mutation_score
from tests.gate import (
    FIXTURE_TODAY,
    TODAY,
    build_fixture,
    eunomia_items,
    reference_cases,
    strong,
    twin,
)

EMPTY_BY_DESIGN = ("reference-wall-clock", "reference-empty-reference")


def main() -> None:
    """Print what the gate catches."""
    with tempfile.TemporaryDirectory() as folder:
        _reported(Path(folder))
        _eunomia(Path(folder))


def _reported(folder: Path) -> None:
    caught, said = 0, Counter[str]()
    with open_database(build_fixture(folder / "fixture.duckdb")) as database:
        ground = Ground(database, FIXTURE_TODAY)
        for case in reference_cases():
            wrong, right = check(twin(case, "wrong"), ground), check(twin(case, "right"), ground)
            caught += bool(strong(wrong) - strong(right))
            if case["id"] in EMPTY_BY_DESIGN:
                print(f"  {case['id']}: the right answer is {case['right_value']}; {_rules(right)}")
            else:
                said.update(finding.severity for finding in right)
    print(f"reported errors caught: {caught} of {len(reference_cases())}")
    print(f"on the other right twins: {said['problem']} problems, {said['warning']} warnings")


def _eunomia(folder: Path) -> None:
    path = folder / "eunomia.duckdb"
    fetch(path)
    said, caught, wrong_ones, killed, told, alike = Counter[str](), 0, 0, 0, 0, 0
    with open_database(path) as database:
        pairs = eunomia_items()
        for item, wrong in pairs:
            others = tuple(other for other, _ in pairs if other is not item)
            ground = Ground(database, TODAY, others=others)
            right = check(item, ground)
            said.update(finding.severity for finding in right)
            if wrong is not None:
                wrong_ones += 1
                caught += bool(strong(check(wrong, ground)) - strong(right))
            score = mutation_score(Case(item, ground))
            if score is not None:
                killed += score.killed
                told += len(score.told_apart)
                alike += len(score.alike)
    print(f"wrong variants of Eunomia questions caught: {caught} of {wrong_ones}")
    print(f"on the 15 right ones: {said['problem']} problems, {said['warning']} warnings")
    hidden = told + alike
    print(f"mutants: {killed + hidden}, hidden by the database {hidden}, told apart {told}", end="")
    print(f" ({told / hidden:.0%})")


def _rules(found: list[Finding]) -> str:
    return ", ".join(f"{f.rule} ({f.severity})" for f in found if f.severity != "note")


if __name__ == "__main__":
    main()
