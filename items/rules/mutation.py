"""Mutation score: which small mistakes the database shows, and which only a neighbour database does."""

from collections.abc import Iterator
from dataclasses import dataclass

from database.engine import QueryError
from database.result import Result, results_match
from database.scratch import Ask, scratch
from items.mutants import Mutant, mutants
from items.neighbour import made_of, recipe_of, statements_of
from items.neighbour_boundary import boundary
from items.rules.base import Case, Found, brief, rule
from items.rules.sql import Query

MUTANT_TIME_S = 1.0
LEAST_SCORE = 0.25  # of the real mistakes must show on the database itself
FEW = 4  # fewer real mistakes than this have no share to speak of
SHOWN = 5


@dataclass(frozen=True)
class Hidden:
    """A mutant that returns the reference's result.

    told:     what the two give on the neighbour, where that differs.
    boundary: rows of the neighbour on which they decide differently, where the change has such.
    """

    mutant: Mutant
    told: str = ""
    boundary: str = ""

    @property
    def line(self) -> str:
        """Return the change and what tells it apart, on one line."""
        apart = f"told apart by rows such as {self.boundary}" if self.boundary else self.told
        return " ".join(f"{self.mutant.change}: {apart}".split())


@dataclass(frozen=True)
class Score:
    """What became of a reference's mutants.

    killed:     the database gives another result, or they fail.
    told_apart: hidden by the database, told apart by the neighbour: real mistakes nobody sees.
    alike:      hidden by both: most say the same thing in other words.
    """

    killed: int
    told_apart: tuple[Hidden, ...]
    alike: tuple[Hidden, ...]

    @property
    def share(self) -> float | None:
        """Return the share of the real mistakes that the database shows; None without any."""
        real = self.killed + len(self.told_apart)
        return self.killed / real if real else None


def mutation_score(case: Case) -> Score | None:
    """Return what becomes of the mutants of an item's reference; None where it cannot be read."""
    query = case.query
    if query is None or case.rows is None:
        return None
    made = mutants(query, case.facts.tables)
    hidden = [mutant for mutant in made if _same(case, case.rows, _run(case, mutant.sql))]
    told = _told_apart(case, query, hidden) if hidden else []
    return Score(
        len(made) - len(hidden),
        tuple(one for one in told if one.told),
        tuple(one for one in told if not one.told),
    )


@rule(
    "note",
    source="FACTS §5: 38 % of mutants return the reference's result; Zhong, Yu and Klein 2020",
)
def hidden_mistakes(case: Case) -> Iterator[Found | str]:
    """The database should show the mistakes that a reader of the question could make."""
    score = mutation_score(case)
    if score is None:
        return
    yield (
        f"{score.killed} mutants show, {len(score.told_apart)} only on a neighbour database, "
        f"{len(score.alike)} look equivalent"
    )
    least = case.ground.settings.threshold("mutation_score", LEAST_SCORE)
    if score.told_apart:
        kinds = sorted({one.mutant.kind for one in score.told_apart})
        real = score.killed + len(score.told_apart)
        low = real >= FEW and (score.share or 0.0) < least
        text = (
            f"{len(score.told_apart)} of {real} mistakes do not show in "
            f"this database ({', '.join(kinds)}): values on both sides of the limits would tell them"
        )
        shown = "\n".join(one.line for one in _varied(score.told_apart)[:SHOWN])
        yield Found(text, evidence=shown, severity="warning" if low else "note")
    for one in score.told_apart:
        yield f"hidden: {one.line}"
    for one in score.alike[:SHOWN]:
        yield f"looks equivalent: {one.mutant.change}"


def _told_apart(case: Case, query: Query, hidden: list[Mutant]) -> list[Hidden]:
    """Run the hidden mutants on the item's neighbour."""
    try:
        recipe = recipe_of(case.item, query, case.facts)
        statements = statements_of(made_of(recipe, case.facts), case.facts)
        with scratch(statements, time_s=MUTANT_TIME_S) as ask:
            right = ask(query.sql)
            if not isinstance(right, Result):
                return [Hidden(mutant) for mutant in hidden]
            return [_hidden(case, query, mutant, right, ask) for mutant in hidden]
    except QueryError:  # a database whose types the builder does not know hides nothing from us
        return [Hidden(mutant) for mutant in hidden]


def _hidden(case: Case, query: Query, mutant: Mutant, right: Result, ask: Ask) -> Hidden:
    told = _difference(case, right, ask(mutant.sql))
    return Hidden(mutant, told, boundary(query, mutant, ask) if told else "")


def _varied(hidden: tuple[Hidden, ...]) -> list[Hidden]:
    """Return hidden mutants so that the first few are of different kinds."""
    turn: dict[str, int] = {}
    placed = []
    for one in hidden:
        turn[one.mutant.kind] = turn.get(one.mutant.kind, 0) + 1
        placed.append((turn[one.mutant.kind], not one.boundary, one))
    return [one for _, _, one in sorted(placed, key=lambda place: place[:2])]


def _difference(case: Case, right: Result, other: object) -> str:
    if _same(case, right, other):
        return ""
    instead = brief(other, 2) if isinstance(other, Result) else "nothing"
    return f"there the reference gives {brief(right, 2)}, the mutant {instead}"


def _same(case: Case, right: Result, other: object) -> bool:
    ordered = case.item.order_matters
    return isinstance(other, Result) and results_match(right, other, ordered=ordered)


def _run(case: Case, sql: str) -> object:
    return case.run(sql, MUTANT_TIME_S)
