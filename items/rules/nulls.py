"""NULL: what a missing value does to a comparison, a list, an average, a difference, an outer join."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part, bare, conjuncts

LIMITS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)


@rule("problem", source="dvryaboy/dblect#4; apache/doris#45607")
def not_in_null(case: Case) -> Iterator[Found | str]:
    """One NULL in the list empties NOT IN."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.In):
        if not isinstance(node.parent, exp.Not):
            continue
        yield f"NOT {node.sql(DIALECT)}"
        if any(isinstance(bare(choice), exp.Null) for choice in node.expressions):
            yield Found("NOT IN a list with NULL is never true")
        query = node.args.get("query")
        inner = query.this if isinstance(query, exp.Subquery) else None
        for part in case.query.parts:
            if part.select is inner and len(part.select.selects) == 1:
                value = bare(part.select.selects[0]).sql(DIALECT)
                rows = case.ask(case.query.body(part, ["count(*)"], where=f"{value} IS NULL"))
                if rows and rows[0][0]:
                    yield Found(
                        f"the list of NOT IN holds {rows[0][0]:,} NULLs, so it is never true",
                        evidence=f"{value} IS NULL; use NOT EXISTS",
                    )


@rule("problem", source="SQL: a comparison with NULL is unknown")
def equals_null(case: Case) -> Iterator[Found | str]:
    """= NULL and <> NULL are never true: IS NULL says it."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.EQ, exp.NEQ, *LIMITS):
        if any(isinstance(bare(side), exp.Null) for side in node.iter_expressions()):
            yield Found(f"{node.sql(DIALECT)} is never true")
    yield "every comparison"


@rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0 (148 IS NOT NULL guards)")
def unequal_null(case: Case) -> Iterator[Found | str]:
    """<> and NOT IN also leave out the rows where nothing is recorded: the question should say so."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.NEQ, exp.Not):
            inner = node.this if isinstance(node, exp.Not) else node
            if not isinstance(inner, (exp.NEQ, exp.In, exp.EQ, exp.Like, exp.ILike)):
                continue
            column = inner.this
            if not isinstance(column, exp.Column) or not _nullable(case, part, column):
                continue
            yield node.sql(DIALECT)
            other = case.changed(case.query.exchanged(node, _or_null(node, column)))
            if (
                other is not None
                and not _guarded(part, column)
                and not case.wording.speaks_of_missing
            ):
                yield Found(
                    f"{node.sql(DIALECT)} leaves out rows where {column.sql(DIALECT)} is missing; "
                    "guard it, or say it in the question",
                    evidence=case.told(other),
                )


@rule("problem", source="OHDSI/CohortConstructor#628")
def open_end(case: Case) -> Iterator[Found | str]:
    """What has no end date is still open, unless the question says otherwise."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(*LIMITS):
            for column in node.find_all(exp.Column):
                if "_end_" not in f"{column.name.lower()}_" or not _nullable(case, part, column):
                    continue
                yield node.sql(DIALECT)
                if _guarded(part, column) or case.wording.says(
                    r"with an? (?:known |recorded )?end", "that (?:have )?ended", "closed|completed|finished",
                    korean="종료된|끝난|완료된",
                ):  # fmt: skip
                    continue
                other = case.changed(case.query.exchanged(node, _or_null(node, column)))
                if other is not None:
                    yield Found(
                        f"{node.sql(DIALECT)} drops what has no {column.name}: guard it, or say in the "
                        "question how open ones count",
                        evidence=case.told(other),
                    )


@rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0")
def missing_averaged(case: Case) -> Iterator[Found | str]:
    """An average or a difference over missing values has a guard, or the question speaks of them."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.Avg, exp.Sum, exp.Median, exp.Max, exp.Min):
            for column in node.find_all(exp.Column):
                if _guarded(part, column) or not _nullable(case, part, column):
                    continue
                rows = case.ask(
                    case.query.body(part, ["count(*)"], where=f"{column.sql(DIALECT)} IS NULL")
                )
                missing = rows[0][0] if rows else 0
                yield f"{node.sql(DIALECT)}: {missing} rows without {column.sql(DIALECT)}"
                if missing:
                    yield from _average(case, node, column, missing)
    for part in case.query.parts:
        if part is case.query.top:
            yield from _null_differences(case, part)


@rule("problem", source="arXiv 2601.08778 (error class E1)")
def left_join_undone(case: Case) -> Iterator[Found | str]:
    """A condition on the outer table in WHERE makes an inner join of a LEFT JOIN."""
    if case.query is None:
        return
    for part in case.query.parts:
        for join in part.select.args.get("joins") or ():
            if join.side != "LEFT":
                continue
            yield join.sql(DIALECT)
            name = join.this.alias_or_name
            for condition in conjuncts(part.select.args.get("where")):
                read = {column.table for column in condition.find_all(exp.Column)}
                if read == {name} and _rejects_null(condition):
                    yield Found(
                        f"WHERE {condition.sql(DIALECT)} undoes the LEFT JOIN of {name}: "
                        "move it into ON, or join with INNER"
                    )
                    break


@rule("problem", source="arXiv 2601.08778 (error class E1)")
def zero_rows(case: Case) -> Iterator[Found | str]:
    """A mean per person, or a row for each person, also takes in those who have nothing."""
    if case.query is None or not case.wording.each_of_all or case.wording.only_those_with:
        return
    if not case.facts.has("person", "person_id"):
        return
    for part in case.query.parts:
        group = part.select.args.get("group")
        keys = [key for key in (group.expressions if group else ()) if isinstance(key, exp.Column)]
        origins = [case.query.origin(part, key) for key in keys]
        ids = [k for k, o in zip(keys, origins, strict=True) if o and o[1] == "person_id"]
        if not ids or any(_keeps_everybody(part, key) for key in ids):
            continue
        rows = case.ask(case.query.body(part, [f"count(DISTINCT {ids[0].sql(DIALECT)})"]))
        every = case.facts.rows("SELECT count(*) FROM person")[0][0]
        yield f"{rows[0][0] if rows else '?'} of {every} people have a row"
        if rows and rows[0][0] < every and not _restricted(part, case):
            yield Found(
                f"{every - rows[0][0]:,} of {every:,} people have no row and are left out; count them as "
                "0, or say in the question who is meant"
            )


def _average(case: Case, node: exp.Expr, column: exp.Column, missing: int) -> Iterator[Found]:
    spoken = case.wording.speaks_of_missing or case.wording.says(
        r"(?:over|of|across) all (?:\w+ ){0,3}(?:exposures|records|visits|measurements|rows|entries)"
    )
    text = f"{missing:,} rows without {column.sql(DIALECT)} drop out of {node.sql(DIALECT)}"
    if not isinstance(node, exp.Avg):
        spoken = False  # a sum or an end is the same with and without them
    difference = bare(node.this) is not column and "_end_" in f"{column.name.lower()}_"
    if difference and not spoken:
        yield Found(f"{text}; say how open ones count", severity="warning")
    elif spoken:
        yield Found(f"{text}, but the question speaks of them: COALESCE", severity="problem")
    else:
        yield Found(text, severity="note")


def _null_differences(case: Case, part: Part) -> Iterator[Found]:
    for place, output in enumerate(part.select.selects):
        inner = bare(output)
        if isinstance(inner, (exp.Sub, exp.DateDiff)) and case.rows is not None:
            empty = sum(1 for row in case.rows.rows if row[place] is None)
            if empty and not case.wording.speaks_of_missing:
                yield Found(f"{output.sql(DIALECT)} is NULL in {empty} rows: an end is missing")


def _nullable(case: Case, part: Part, column: exp.Column) -> bool:
    """Whether a column holds NULLs in the database."""
    origin = case.query.origin(part, column) if case.query else None
    known = case.facts.column(origin) if origin else None
    return known is not None and 0 < known.nulls < known.rows


def _guarded(part: Part, column: exp.Column) -> bool:
    """Whether the SELECT says what happens to the column's NULLs: IS NULL, COALESCE, IFNULL."""
    text = column.sql(DIALECT).lower()
    for node in part.select.find_all(exp.Is, exp.Coalesce, exp.Case):
        tested = node.find_all(exp.Column)
        if any(inner.sql(DIALECT).lower() == text for inner in tested):
            return True
    return False


def _or_null(node: exp.Expr, column: exp.Column) -> exp.Expr:
    missing = exp.Is(this=column.copy(), expression=exp.Null())
    return exp.Paren(this=exp.Or(this=node.copy(), expression=missing))


def _rejects_null(condition: exp.Expr) -> bool:
    """Whether a condition is false where its columns are NULL."""
    if condition.find(exp.Is, exp.Coalesce, exp.Or, exp.Case, exp.Not) is not None:
        return isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is)
    return True


def _keeps_everybody(part: Part, key: exp.Column) -> bool:
    """Whether people come from the side of the joins that loses no row."""
    start = part.select.args["from_"].this
    joins = part.select.args.get("joins") or ()
    outer = all(join.side == "LEFT" for join in joins)
    person = isinstance(start, exp.Table) and start.name.lower() == "person"
    return person and outer and key.table == start.alias_or_name


def _restricted(part: Part, case: Case) -> bool:
    """Whether the question itself restricts the people, by a condition that the query has on person."""
    if case.query is None:
        return False
    columns = (c for c in conjuncts(part.select.args.get("where")) for c in c.find_all(exp.Column))
    origins = (case.query.origin(part, column) for column in columns)
    return any(origin and origin[0] == "person" for origin in origins)
