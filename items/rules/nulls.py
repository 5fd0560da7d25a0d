"""NULL: what a missing value does to a comparison, a list, an average, a count, a CASE."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part

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
                if _guarded(part, column) or case.wording.open_left_out:
                    continue
                whole = _negated(node)
                other = case.changed(case.query.exchanged(whole, _or_null(whole, column)))
                if other is not None:
                    yield Found(
                        f"{whole.sql(DIALECT)} drops what has no {column.name}: guard it, or say in the "
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


@rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0; Spider: COUNT of a column with NULLs")
def nulls_uncounted(case: Case) -> Iterator[Found | str]:
    """COUNT of a column leaves out rows where it is missing; COUNT(*) counts them all."""
    if case.query is None or not case.wording.counted or case.wording.speaks_of_missing:
        return
    for part in case.query.parts:
        outer = any(join.side for join in part.select.args.get("joins") or ())
        for count in part.own(exp.Count):
            column = bare(count.this) if isinstance(count.this, exp.Expr) else None
            if outer or not isinstance(column, exp.Column) or not _nullable(case, part, column):
                continue
            yield count.sql(DIALECT)
            every = exp.Count(this=exp.Star(), big_int=True)
            other = case.changed(case.query.exchanged(count, every))
            if other is not None and not _guarded(part, column) and not _asked_column(case, column):
                yield Found(
                    f"{count.sql(DIALECT)} leaves out rows without {column.name}",
                    evidence=case.told(other),
                )


@rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0; dbt: NULL falls into ELSE")
def null_in_else(case: Case) -> Iterator[Found | str]:
    """A CASE with ELSE puts missing values into the ELSE."""
    if case.query is None or case.wording.speaks_of_missing:
        return
    for part in case.query.parts:
        for node in part.own(exp.Case):
            if literal(node.args.get("default")) in (None, 0) or node.find_ancestor(exp.AggFunc):
                continue
            columns = {
                c.sql(DIALECT): c
                for branch in node.args["ifs"]
                for c in branch.this.find_all(exp.Column)
            }
            for text, column in columns.items():
                if not _nullable(case, part, column) or node.find(exp.Is, exp.Coalesce):
                    continue
                rows = case.ask(case.query.body(part, ["count(*)"], where=f"{text} IS NULL"))
                yield f"{node.sql(DIALECT)[:60]}: {rows[0][0] if rows else 0} without {text}"
                if rows and rows[0][0]:
                    default = node.args["default"].sql(DIALECT)
                    yield Found(f"{rows[0][0]:,} rows without {text} fall into ELSE {default}")


@rule("warning", source="bird-bench/mini_dev audits: SUM / COUNT(*) over missing values")
def missing_in_ratio(case: Case) -> Iterator[Found | str]:
    """SUM(x) / COUNT(*) counts missing values as zero: AVG(x), or say so in the question."""
    if case.query is None or case.wording.speaks_of_missing:
        return
    for ratio in case.query.tree.find_all(exp.Div):
        above, below = bare(ratio.this), bare(ratio.expression)
        if not isinstance(above, exp.Sum) or not isinstance(below, exp.Count):
            continue
        yield ratio.sql(DIALECT)
        if isinstance(below.this, exp.Star) and isinstance(above.this, exp.Column):
            other = case.changed(case.query.exchanged(ratio, exp.Avg(this=above.this.copy())))
            if other is not None:
                yield Found(
                    f"{ratio.sql(DIALECT)} takes missing values for 0", evidence=case.told(other)
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
        steps = inner.find(
            exp.Lag, exp.Lead
        )  # the first has none before it, the last none after it
        if isinstance(inner, (exp.Sub, exp.DateDiff)) and case.rows is not None and not steps:
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


def _asked_column(case: Case, column: exp.Column) -> bool:
    """Whether the question speaks of the very column, so that only its values are meant."""
    parts = [
        part for part in column.name.lower().split("_") if part not in ("id", "concept", "visit")
    ]
    return any(part in case.wording.words for part in parts)


def _negated(node: exp.Expr) -> exp.Expr:
    """Return the NOT around a comparison, or the comparison."""
    outer = node.parent
    while isinstance(outer, exp.Paren):
        outer = outer.parent
    return outer if isinstance(outer, exp.Not) else node


def _or_null(node: exp.Expr, column: exp.Column) -> exp.Expr:
    missing = exp.Is(this=column.copy(), expression=exp.Null())
    return exp.Paren(this=exp.Or(this=node.copy(), expression=missing))
