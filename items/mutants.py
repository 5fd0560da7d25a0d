"""Mutants of a reference: the same query with one small, plausible mistake in it.

    for mutant in mutants(query, tables):
        print(mutant.kind, mutant.change)      # comparator   n >= 5 became n > 5

A mutant that returns the reference's result on the database is one that execution accuracy cannot see;
items/neighbour.py builds a database that tells the real ones apart. What is the same query by SQL's own
rules is not made: an outer join that WHERE undoes, a comparison of an id moved by one.
Source: FACTS §5; Tuya, Suárez-Cabal and de la Riva 2007 (SQL mutation operators).
"""

from dataclasses import dataclass, field

from sqlglot import exp

from items.mutant_operators import OPERATORS
from items.rules.sql import DIALECT, Query, Tables


@dataclass(frozen=True)
class Mutant:
    """A variant of a reference: what kind of mistake, what was changed, and the query.

    node: what of the reference's tree was changed; `new` stands in its place, or nothing does.
    """

    kind: str
    change: str
    sql: str
    node: exp.Expr = field(repr=False, compare=False)
    new: exp.Expr | None = field(repr=False, compare=False)


def mutants(query: Query, tables: Tables) -> list[Mutant]:
    """Return a reference's mutants, each SQL text once, in a fixed order."""
    found: dict[str, Mutant] = {}
    for operator in OPERATORS:
        for kind, node, new in operator(query, tables):
            sql = query.exchanged(node, new)
            if sql != query.sql and sql not in found:
                text = new.sql(DIALECT) if new is not None else "nothing"
                change = f"{_short(node.sql(DIALECT))} became {_short(text)}"
                found[sql] = Mutant(kind, change, sql, node, new)
    return list(found.values())


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
