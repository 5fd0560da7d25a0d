"""The neighbour exam: is a right answer right by luck? (`eval-text2sql --neighbours`; never in the headline)

A hospital's data hides mistakes: nobody was diagnosed on the last day of the interval. Each answer that was
right is run again, with its reference, on the item's neighbour database (items/neighbour.py), made from the
task's own database by a recipe. Where the two differ there, the answer was right on this data only.

Not told: the answer reads a table with facts that the reference does not read (the neighbour has no such
rows), the reference does not run there, or sqlglot cannot read it.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from database.build import build, name
from database.engine import open_database
from database.result import Result, first_difference, results_match
from eval.exam import Scored
from eval.score import Run
from eval.statistics import Figure, figures
from eval.text2sql import Text2Sql
from items.model import Item
from items.neighbour import made_of, rebuilt, recipe_of, rows_sha256, statements_of
from items.recipes import Recipes
from items.rules.facts import Facts
from items.rules.sql import read_query
from registry.canonical import canonical
from registry.files import replace

VOCABULARY = {  # tables of the CDM without patients' facts: the task's own rows stand in for them
    *("concept", "concept_ancestor", "concept_synonym", "concept_relationship", "concept_class"),
    *("vocabulary", "domain", "relationship", "drug_strength", "cdm_source"),
}
Verdict = Literal["holds", "luck", "not_told"]


@dataclass(frozen=True)
class OnNeighbour:
    """A right answer on its item's neighbour. rows_sha256: of the neighbour's rows, for the record."""

    instance: str
    verdict: Verdict
    reason: str = ""
    rows_sha256: str = ""


@dataclass(frozen=True)
class Neighbours:
    """A run with and without luck. `figures`: metric -> (as scored, with lucky answers wrong)."""

    answers: tuple[OnNeighbour, ...]
    figures: dict[str, tuple[Figure, Figure]]

    def count(self, verdict: Verdict) -> int:
        """Return how many right answers got this verdict."""
        return sum(answer.verdict == verdict for answer in self.answers)


async def on_neighbours(
    exam: Text2Sql,
    run: Run,
    step: Callable[[str], None] = lambda name: None,
    recipes: Recipes | None = None,
) -> Neighbours:
    """Return how a run's right answers fare on the neighbours.

    recipes: the task's kept recipes (items/recipes.py); None: they are made anew.
    Raises: QueryError (other rows or another database than a recipe says), FormatError, OSError.
    """
    facts, found = Facts(exam.database), []
    for item, rows in right_by_item(exam, run):
        found += await _of_item(exam, item, rows, facts, recipes)
        step(item.id)
    lucky = {answer.instance for answer in found if answer.verdict == "luck"}
    without = [
        Scored(row.instance, "wrong_result", "luck") if row.instance.id in lucky else row
        for row in run.scored
    ]
    closed = [
        [exam.assume(row.instance, right=False) if row.open else row for row in rows]
        for rows in (run.scored, without)
    ]
    was, now = figures([exam.measures(rows) for rows in closed])
    told = {
        "_".join(key): (was[key], now[key]) for key in was if key[1] in ("rs0", "ex", "rs5", "rsN")
    }
    return Neighbours(tuple(found), told)


def right_by_item(exam: Text2Sql, run: Run) -> list[tuple[Item, list[Scored]]]:
    """Return the right answers of each item, in task order."""
    found: dict[tuple[str, str], list[Scored]] = {}
    for row in run.scored:
        if row.outcome == "right":
            found.setdefault((row.instance.tier, row.instance.cluster), []).append(row)
    return [(exam.asked[rows[0].instance.id].item, rows) for rows in found.values()]


def save(path: Path, found: Neighbours) -> None:
    """Write what was found beside a run. Raises: OSError."""

    replace(path, "".join(canonical(asdict(answer)) + "\n" for answer in found.answers))


async def _of_item(
    exam: Text2Sql, item: Item, rows: Sequence[Scored], facts: Facts, recipes: Recipes | None
) -> list[OnNeighbour]:
    reads = {row.instance.id: _tables(str(row.facts["sql"]), facts) for row in rows}
    query = read_query(item.reference_sql, facts.tables)
    if query is None:
        return [_not_told(row, "the reference cannot be read") for row in rows]
    recipe = recipes.of(item) if recipes else recipe_of(item, query, facts)
    extra = {
        table for tables in reads.values() for table in tables or () if table in VOCABULARY
    } - set(recipe.tables)
    made = rebuilt(recipe, facts) if recipes else made_of(recipe, facts)
    copies = [f"CREATE TABLE {name(t)} AS FROM source.{name(t)}" for t in sorted(extra)]
    rows_hash = rows_sha256(made)
    with tempfile.TemporaryDirectory(prefix="neighbour-") as folder:
        path = Path(folder) / "neighbour.duckdb"
        build(path, [*statements_of(made, facts), *copies], source=exam.database.path)
        with open_database(path, limits=exam.database.limits) as database:
            reference = await database.arun(str(item.reference_sql))
            there = set(recipe.tables) | extra
            return [
                await _judged(
                    database.arun, item, row, reference, reads[row.instance.id], there, rows_hash
                )
                for row in rows
            ]


async def _judged(
    ask: Callable[[str], Any],
    item: Item,
    row: Scored,
    reference: Any,
    reads: set[str] | None,
    there: Iterable[str],
    rows_hash: str,
) -> OnNeighbour:
    if not isinstance(reference, Result):
        return _not_told(row, "the reference does not run there")
    if reads is None or reads - set(there):
        return _not_told(row, "it reads other tables than the reference")
    answer = await ask(str(row.facts["sql"]))
    if not isinstance(answer, Result):
        return OnNeighbour(
            row.instance.id, "luck", f"there it gives no rows: {answer.reason}", rows_hash
        )
    if results_match(reference, answer, ordered=item.order_matters):
        return OnNeighbour(row.instance.id, "holds", rows_sha256=rows_hash)
    why = first_difference(reference, answer, ordered=item.order_matters) or ""
    return OnNeighbour(row.instance.id, "luck", why, rows_hash)


def _tables(sql: str, facts: Facts) -> set[str] | None:
    """Return the database's tables that a query reads; None where sqlglot cannot tell."""
    query = read_query(sql, facts.tables)
    if query is None:
        return None
    return set(query.tables) & set(facts.tables)


def _not_told(row: Scored, reason: str) -> OnNeighbour:
    return OnNeighbour(row.instance.id, "not_told", reason)
