"""Values: constants and patterns that are in their column, codes that stay text, columns that vary."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT, Origin, Part

TEXT = ("VARCHAR", "TEXT", "CHAR", "STRING")


@rule("problem", source="bird-bench/mini_dev#45 (question 271)")
def absent_constant(case: Case) -> Iterator[Found | str]:
    """A constant that a column is compared with occurs in that column."""
    for part, column, value, positive in equalities(case):
        origins = joined_to(case, part, column) if positive else []
        yield f"{column.sql(DIALECT)} = {value!r}"
        for place, origin in enumerate(origins):
            if case.facts.holds(origin, value):
                continue
            if place == 0 or not case.facts.holds(origins[0], value):
                yield Found(
                    f"{value!r} does not occur in {'.'.join(origin)}", _near(case, origin, value)
                )
            else:
                yield Found(
                    f"{value!r} does not occur in {'.'.join(origin)}, which {column.sql(DIALECT)} is "
                    "joined to: it matches nothing",
                    severity="warning",
                )
            break


@rule("problem", source="bird-bench/mini_dev#45 (question 271)")
def absent_pattern(case: Case) -> Iterator[Found | str]:
    """A LIKE pattern matches something, in the case that the data is written in."""
    if case.query is None:
        return
    for like in case.query.tree.find_all(exp.Like):
        if not isinstance(literal(like.expression), str):
            continue
        yield like.sql(DIALECT)
        wide = exp.ILike(this=like.this.copy(), expression=like.expression.copy())
        other = case.changed(case.query.exchanged(like, wide))
        if other is not None and not isinstance(like.parent, exp.Not):
            said = case.wording.says("whatever the case", "case.insensitive", "regardless of case")
            yield Found(
                f"{like.sql(DIALECT)} is case sensitive and leaves out what ILIKE finds",
                evidence=case.told(other),
                severity="problem" if said else "warning",
            )


@rule("warning", source="duckdb/duckdb-web#4250 (case of text functions)")
def text_case(case: Case) -> Iterator[Found | str]:
    """contains, starts_with and regular expressions mind the case of letters, too."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(
        exp.Contains, exp.StartsWith, exp.EndsWith, exp.StrPosition
    ):
        sought = node.args.get("expression") or node.args.get("substr")
        if not isinstance(literal(sought), str) or sought is None:
            continue
        yield node.sql(DIALECT)
        lower = node.copy()
        for name in ("this", "expression", "substr"):
            side = lower.args.get(name)
            if side is not None:
                side.replace(exp.Lower(this=side.copy()))
        other = case.changed(case.query.exchanged(node, lower))
        if other is not None:
            yield Found(f"{node.sql(DIALECT)} minds the case of letters", evidence=case.told(other))


@rule("warning", source="FACTS §2: ICD '250.0' is not '250.00'")
def codes_as_numbers(case: Case) -> Iterator[Found | str]:
    """Codes are text: as numbers, different codes become one."""
    if case.query is None:
        return
    for part in case.query.parts:
        for cast in part.own(exp.Cast, exp.TryCast):
            origin = case.query.origin(part, cast.this)
            known = case.facts.column(origin) if origin else None
            if origin is None or known is None or not known.type.startswith(TEXT):
                continue
            if not cast.to.is_type("int", "bigint", "double", "float", "decimal"):
                continue
            table, name = origin
            rows = case.facts.rows(
                f'SELECT count(DISTINCT "{name}"), count(DISTINCT TRY_CAST("{name}" AS DOUBLE)) '  # noqa: S608
                f'FROM "{table}" WHERE TRY_CAST("{name}" AS DOUBLE) IS NOT NULL'
            )
            yield f"{cast.sql(DIALECT)}: {rows[0][0]} texts, {rows[0][1]} numbers"
            if rows[0][1] < rows[0][0]:
                yield Found(f"{cast.sql(DIALECT)} makes one number of different codes")


@rule("note", source="FACTS §4: columns constant in every row; Spider test-suite reports")
def dead_column(case: Case) -> Iterator[Found | str]:
    """A column that says the same in every row decides nothing and tells nothing."""
    if case.query is None:
        return
    seen: set[tuple[Origin, bool]] = set()
    for part in case.query.parts:
        for column in part.own(exp.Column):
            origin = case.query.origin(part, column)
            known = case.facts.column(origin) if origin else None
            shown = column.find_ancestor(exp.Where, exp.Join, exp.Group, exp.Order) is None
            if origin is None or known is None or (origin, shown) in seen:
                continue
            seen.add((origin, shown))
            if known.constant:
                worse = shown and part is case.query.top and not column.find_ancestor(exp.Count)
                yield Found(
                    f"{'.'.join(origin)} is {known.low!r} in every row",
                    severity="warning" if worse else "note",
                )
    yield f"{len(seen)} columns"


def equalities(case: Case) -> Iterator[tuple[Part, exp.Column, str | int | float, bool]]:
    """Yield every comparison of a column with a constant: part, column, value, whether it must hold."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.EQ):
            for one, other in ((node.this, node.expression), (node.expression, node.this)):
                value = literal(other)
                if isinstance(one, exp.Column) and value is not None:
                    yield part, one, value, not isinstance(node.parent, exp.Not)
        for listed in part.own(exp.In):
            for choice in listed.expressions:
                value = literal(choice)
                if isinstance(listed.this, exp.Column) and value is not None:
                    yield part, listed.this, value, not isinstance(listed.parent, exp.Not)


def joined_to(case: Case, part: Part, column: exp.Column) -> list[Origin]:
    """Return the database column of a column, then those that inner joins make equal to it."""
    query = case.query
    own = query.origin(part, column) if query else None
    if query is None or own is None:
        return []
    found, names = [own], {column.sql(DIALECT).lower()}
    if any(join.side for join in part.select.args.get("joins") or ()):
        return found
    for node in part.own(exp.EQ):
        sides = {side.sql(DIALECT).lower(): side for side in (node.this, node.expression)}
        required = node.find_ancestor(exp.Or, exp.Not, exp.Case, exp.Filter) is None
        if (
            required
            and names & set(sides)
            and all(isinstance(s, exp.Column) for s in sides.values())
        ):
            for text, side in sides.items():
                origin = query.origin(part, side)
                if text not in names and origin is not None:
                    found.append(origin)
    return found


def _near(case: Case, origin: Origin, value: str | int | float) -> str:
    """Return values of a text column that look like the missing one."""
    table, name = origin
    if not isinstance(value, str) or not case.facts.has(table, name):
        return ""
    text = value.replace("'", "''")
    rows = case.facts.rows(
        f'SELECT DISTINCT "{name}" FROM "{table}" WHERE '  # noqa: S608 -- names of the schema
        f"jaro_winkler_similarity(lower(CAST(\"{name}\" AS VARCHAR)), lower('{text}')) > 0.85 "
        "ORDER BY 1 LIMIT 3"
    )
    return "there is " + ", ".join(repr(row[0]) for row in rows) if rows else ""
