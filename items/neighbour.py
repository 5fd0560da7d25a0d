"""Neighbour databases: small databases near a reference's limits, which tell mistakes from the reference.

A hospital's data hides mistakes: nobody was diagnosed on the last day of the interval, every visit is an
inpatient's. A neighbour has the tables that the reference reads, with its limits (a day before, on it, a
day after), its offsets, its concepts and its patient made frequent, other values beside them, some ends
missing and some rows twice. It is made from the user's own database by a recipe and a seed:

    recipe = recipe_of(item, query, facts)            # what to make frequent; small, goes into a package
    statements = statements_of(recipe, facts)         # the rows, as SQL that makes them

The same recipe on the same database gives the same rows; a package keeps the recipe and the hash of the
rows, never the rows. Source: FACTS §5; Zhong, Yu and Klein 2020 (distilled test suites).
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlglot import exp

from database.build import QueryError, literal
from items.model import Item
from items.neighbour_rows import Made, make_rows
from items.rules.facts import Facts, as_date
from items.rules.nodes import bare
from items.rules.sql import DIALECT, Origin, Part, Query
from registry.canonical import sha256_json

BUILDER = 1  # counted up when the same recipe would give other rows
SEED = 20190703
COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)
UNIT_DAYS = {
    "DAY": (1,),
    "WEEK": (7,),
    "MONTH": (28, 30, 31),
    "QUARTER": (90, 92),
    "YEAR": (365, 366),
}


@dataclass(frozen=True)
class Recipe:
    """What a neighbour makes frequent.

    source:   fingerprint of the database it is made from.
    tables:   the tables that the reference reads; the others are left as they are, or out.
    levels:   `table.column` to the constants that it is compared with, as text.
    classes:  groups of `table.column` that the reference joins.
    used:     `table.column` that the reference reads at all.
    offsets:  days that it adds to dates.
    rows_sha256: hash of the rows that it gave; what is rebuilt must have the same.
    """

    item: str
    item_sha256: str
    source: str
    tables: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    classes: tuple[tuple[str, ...], ...]
    used: tuple[str, ...]
    offsets: tuple[int, ...]
    seed: int = SEED
    builder: int = BUILDER
    rows_sha256: str = field(default="")

    def as_json(self) -> dict[str, Any]:
        """Return it as a package keeps it."""
        return asdict(self)


def recipe_of(item: Item, query: Query, facts: Facts) -> Recipe:
    """Return what the neighbour of an item's reference makes frequent. Raises: QueryError."""
    levels: dict[str, list[str]] = {}
    for origin, value in _levels(query, facts):
        have = levels.setdefault(".".join(origin), [])
        if value not in have:
            have.append(value)
    used = {origin for part in query.parts for origin in _origins(query, part)}
    return Recipe(
        item=item.id,
        item_sha256=item.sha256,
        source=facts.database.fingerprint.sha256,
        tables=tuple(sorted(query.tables & set(facts.tables))),
        levels={name: tuple(values) for name, values in sorted(levels.items())},
        classes=_classes(query),
        used=tuple(sorted(".".join(origin) for origin in used)),
        offsets=tuple(sorted(_offsets(query))),
    )


def made_of(recipe: Recipe, facts: Facts) -> Made:
    """Return a neighbour's rows. Raises: QueryError."""
    return make_rows(recipe, facts)


def sealed(recipe: Recipe, facts: Facts) -> Recipe:
    """Return a recipe with the hash of its rows, as a package keeps it. Raises: QueryError."""
    return replace(recipe, rows_sha256=rows_sha256(made_of(recipe, facts)))


def rebuilt(recipe: Recipe, facts: Facts) -> Made:
    """Return the rows of a sealed recipe, made from the user's own database.

    Raises: QueryError when this is another database or builder, or other rows come out.
    """
    where = f"{facts.database.path}: the neighbour of {recipe.item}"
    if recipe.builder != BUILDER:
        raise QueryError(f"{where} was made by builder {recipe.builder}, this is builder {BUILDER}")
    source = facts.database.fingerprint.sha256
    if recipe.source != source:
        raise QueryError(
            f"{where} stands on database {recipe.source[:12]}…, this is {source[:12]}…"
        )
    made = made_of(recipe, facts)
    if rows_sha256(made) != recipe.rows_sha256:
        raise QueryError(f"{where} came out with other rows than its recipe says")
    return made


def statements_of(made: Made, facts: Facts) -> Iterator[str]:
    """Yield the SQL that makes a neighbour's tables."""
    for table, rows in made.items():
        columns = ", ".join(f'"{name}" {kind}' for name, kind in facts.tables[table].items())
        yield f'CREATE TABLE "{table}" ({columns})'
        if rows:  # as JSON: the engine reads that eight times faster than a list of VALUES
            names = list(facts.tables[table])
            told = json.dumps([dict(zip(names, map(_plain, row), strict=True)) for row in rows])
            shape = json.dumps([facts.tables[table]])
            values = f"from_json({literal(told)}, {literal(shape)})"
            yield f'INSERT INTO "{table}" SELECT unnest({values}, recursive := true)'


def rows_sha256(made: Made) -> str:
    """Return the hash of a neighbour's rows."""
    return sha256_json(
        {table: [list(map(_plain, row)) for row in rows] for table, rows in made.items()}
    )


def _plain(value: Any) -> Any:
    """Return a cell as JSON says it: dates and decimals as text, which the engine casts."""
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _origins(query: Query, part: Part) -> Iterator[Origin]:
    for column in part.own(exp.Column):
        origin = query.origin(part, column)
        if origin:
            yield origin


def _levels(query: Query, facts: Facts) -> Iterator[tuple[Origin, str]]:
    """Yield the constants that columns are compared with."""
    for part in query.parts:
        for node in part.own(*COMPARED):
            sides = (node.this, node.expression)
            for one, other in (sides, sides[::-1]):
                yield from _compared(query, facts, part, one, [other])
        for between in part.own(exp.Between):
            ends = [between.args["low"], between.args["high"]]
            yield from _compared(query, facts, part, between.this, ends)
        for listed in part.own(exp.In):
            yield from _compared(query, facts, part, listed.this, listed.expressions)


def _compared(
    query: Query, facts: Facts, part: Part, side: exp.Expr, constants: list[exp.Expr]
) -> Iterator[tuple[Origin, str]]:
    columns = [query.origin(part, column) for column in side.find_all(exp.Column)]
    made = query.derived(part, side)
    if made is not None and not columns:
        columns = list(_origins(query, made[0]))
    for constant in constants:
        if constant is None or constant.find(exp.Column, exp.Select) is not None:
            continue
        for origin in columns:
            if origin is not None:
                for value in _value(facts, constant):
                    yield origin, value


def _value(facts: Facts, constant: exp.Expr) -> list[str]:
    """Return a constant expression's value, worked out by the engine."""
    if isinstance(bare(constant), exp.Literal):
        return [str(bare(constant).this)]
    rows = facts.rows(f"SELECT {constant.sql(DIALECT)}")
    if not rows or rows[0][0] is None:
        return []
    return [str(rows[0][0])[:10] if as_date(rows[0][0]) else str(rows[0][0])]


def _classes(query: Query) -> tuple[tuple[str, ...], ...]:
    """Return the groups of columns that the reference compares with one another."""
    groups: list[set[str]] = []
    for part in query.parts:
        for node in part.own(exp.EQ):
            pair = {
                ".".join(origin)
                for side in (node.this, node.expression)
                if isinstance(side, exp.Column) and (origin := query.origin(part, side))
            }
            if len(pair) == 2:
                joined = [group for group in groups if group & pair]
                groups = [group for group in groups if not group & pair]
                groups.append(pair.union(*joined))
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _offsets(query: Query) -> set[int]:
    """Return the days that are added to or taken from dates."""
    found: set[int] = set()
    for sum_ in query.tree.find_all(exp.Add, exp.Sub):
        step = bare(sum_.expression)
        if isinstance(step, exp.Literal) and not step.is_string and str(step.this).isdigit():
            found.add(int(str(step.this)))
        if isinstance(step, exp.Interval):
            count = str(getattr(step.this, "this", "1"))
            unit = str(step.args.get("unit") or "DAY").upper().rstrip("S")
            if count.lstrip("-").isdigit():
                found |= {abs(int(count)) * days for days in UNIT_DAYS.get(unit, (1,))}
    for compared in query.tree.find_all(exp.Between, *COMPARED):
        node: exp.Expr = compared
        if node.find(exp.DateDiff, exp.Sub, exp.Anonymous):
            for number in node.find_all(exp.Literal):
                if (
                    not number.is_string
                    and str(number.this).isdigit()
                    and int(str(number.this)) < 2_000
                ):
                    found |= _in_days(node, int(str(number.this)))
    return {days for days in found if 0 < days < 20_000}


def _in_days(node: exp.Expr, count: int) -> set[int]:
    text = node.sql(DIALECT).upper()
    for unit, days in UNIT_DAYS.items():
        if f"'{unit}'" in text:
            return {count * day for day in days}
    return {count}


__all__ = [
    "BUILDER",
    "Made",
    "Recipe",
    "made_of",
    "rebuilt",
    "recipe_of",
    "rows_sha256",
    "sealed",
    "statements_of",
]
