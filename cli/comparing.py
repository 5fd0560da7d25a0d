"""Two runs side by side: the paired difference, and what flipped."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.opening import DryOption, one_run, opened
from cli.options import (
    DATA,
    REGISTRY,
    RUNS,
    DataOption,
    JsonOption,
    RegistryOption,
    RunsOption,
    TaskOption,
)
from registry.reader import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval.compare import Flip, Pair
    from eval.exam import Exam, Scored
    from eval.sides import Sides
    from eval.text2sql import Text2Sql
    from items.model import Item

ModelArgument = Annotated[str, typer.Argument(help="The model of a run on the task.")]


def compare(
    a: ModelArgument,
    b: ModelArgument,
    task: TaskOption = None,
    shown: Annotated[
        int, typer.Option(min=0, help="How many flips are shown with both queries.")
    ] = 10,
    dry_run: DryOption = False,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Compare two runs: the paired difference, and the instances that flipped.

    Example: benchtoward compare openai/gpt-oss-20b benchtoward/prior
    """
    from asyncio import run
    from dataclasses import asdict

    from cli.board import print_json
    from eval.compare import flips, pair
    from eval.sides import sides

    with opened(registry, data, task, dry_run) as exam:
        ours, theirs = (one_run(exam, runs, model, dry_run) for model in (a, b))
        for one in (ours, theirs):
            if one.open:
                raise FormatError(
                    runs / exam.task,
                    None,
                    f"{one.model} has {one.open} open instances: finish it first",
                )
        compared = [pair(exam, ours, theirs, tier, metric) for tier, metric in headings(exam)]
        found = flips(ours, theirs)
        of_sides = run(sides(exam.database, sided(exam, found[:shown])))
    if json:
        told = [flip_json(flip) for flip in found]
        print_json({"pairs": [asdict(one) for one in compared], "flips": told})
        return
    print_pairs(compared)
    print_parts(found, a, b)
    for n, flip in enumerate(found[:shown]):
        print(f"\n{flip.instance}: {a} {flip.a.outcome}, {b} {flip.b.outcome}")
        for model, row, side in ((a, flip.a, of_sides[2 * n]), (b, flip.b, of_sides[2 * n + 1])):
            print_side(model, row, side)
    if len(found) > shown:
        print(f"\n{len(found) - shown} more flips; --shown {len(found)} shows all")


def headings(exam: "Exam") -> list[tuple[str, str]]:
    """Return (tier, metric) of what heads each tier: RS(0) and EX, or EX alone."""
    rows = [exam.assume(instance, right=False) for instance in exam.instances()]
    return [(m.tier, m.name) for m in exam.measures(rows) if m.name in ("rs0", "ex")]


def sided(exam: "Text2Sql", found: "Sequence[Flip]") -> "list[tuple[Item, Scored]]":
    """Return the answers of flips with their items: of one run and the other, in turn."""
    return [(exam.asked[flip.instance].item, row) for flip in found for row in (flip.a, flip.b)]


def print_pairs(compared: "Sequence[Pair]") -> None:
    """Print the paired differences, one line a metric."""
    from cli.board import in_words

    for one in compared:
        print(
            f"{one.tier} {one.metric}: {one.a} minus {one.b} {in_words(one.difference)}"
            f"p {one.sign_flip:.3g} by questions, {one.mcnemar:.3g} by instances"
        )


def print_parts(found: "Sequence[Flip]", a: str, b: str) -> None:
    """Print how many flips there are, by category and by language."""
    from collections import Counter

    from eval.compare import good

    print(f"{len(found)} flips: {sum(good(f.a) for f in found)} good in {a} only")
    for label in ("category", "language"):
        only_a = Counter(flip.labels.get(label, "") for flip in found if good(flip.a))
        only_b = Counter(flip.labels.get(label, "") for flip in found if good(flip.b))
        for part in sorted(only_a | only_b):
            print(f"  {label} {part}: {only_a[part]} in {a} only, {only_b[part]} in {b} only")


def print_side(model: str, row: "Scored", side: "Sides") -> None:
    """Print one answer of a flip: what it was, its query, the first rows that differ."""
    from eval.sides import plain

    why = row.reason or (side.difference.reason if side.difference else "")
    print(f"  {model}: {row.outcome}{f' ({why})' if why else ''}")
    for line in str(row.facts.get("sql", "")).splitlines():
        print(f"    {plain(line)}")
    for pair in side.difference.pairs[:3] if side.difference else ():
        print(f"    reference {pair.reference}  answer {pair.prediction}")


def flip_json(flip: "Flip") -> dict[str, object]:
    """Return a flip as JSON-like values."""
    told = {name: {"outcome": r.outcome, **r.facts} for name, r in (("a", flip.a), ("b", flip.b))}
    return {"instance": flip.instance, **flip.labels, **told}
