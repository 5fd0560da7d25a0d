"""Counting: the right thing, once each: people, visits, different drugs, and not the rows of a table."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part, Query
from items.rules.wording import DIFFERENT, KINDS, PEOPLE, RECORDS, VISITS, words

ID_OF = {"person": "person_id", "visit": "visit_occurrence_id"}


@rule("problem", source="OHDSI/WebAPI#368; glee4810/EHRSQL CHANGELOG 1.5.0 (97 queries)")
def counted_thing(case: Case) -> Iterator[Found | str]:
    """What the question counts is counted once each: people, visits, different drugs."""
    if case.query is None:
        return
    for part, output, count in shown_counts(case.query):
        kind = wanted(case, part, output)
        if kind is None or _counts_once(case.query, part, output, kind):
            continue
        column = source_of(case, part, kind)
        yield f"{output.sql(DIALECT)}: counts {kind}"
        if column is None:
            continue
        other = case.changed(case.query.exchanged(count, _distinct(count, column)))
        if other is not None:
            yield Found(
                f"{count.sql(DIALECT)} counts rows; the question asks for {noun(kind)}: "
                f"COUNT(DISTINCT {column.sql(DIALECT)})",
                evidence=case.told(other),
            )


@rule("problem", source="glee4810/EHRSQL CHANGELOG 1.5.0; BIRD: COUNT without DISTINCT in HAVING")
def repeats_counted(case: Case) -> Iterator[Found | str]:
    """At least two different drugs is HAVING COUNT(DISTINCT drug), not two records."""
    if case.query is None:
        return
    kinds = [
        id
        for id, nouns in KINDS.items()
        if case.wording.says(rf"{DIFFERENT}\s+(?:{'|'.join(nouns)})\b")
    ]
    kinds += (
        ["visit_occurrence_id"]
        if case.wording.says(rf"{DIFFERENT}\s+(?:{'|'.join(VISITS)})\b")
        else []
    )
    for part in case.query.parts:
        having = part.select.args.get("having")
        for count in having.find_all(exp.Count) if having else ():
            for id in kinds:
                column = source_of(case, part, id)
                yield f"{count.sql(DIALECT)} for {id}"
                if column is None or isinstance(count.this, exp.Distinct):
                    continue
                other = case.changed(case.query.exchanged(count, _distinct(count, column)))
                if other is not None:
                    yield Found(
                        f"HAVING {count.sql(DIALECT)} counts records; the question wants different "
                        f"{id.removesuffix('_concept_id').removesuffix('_id')}s",
                        evidence=case.told(other),
                    )


@rule("warning", source="glee4810/EHRSQL CHANGELOG 1.5.0 (the reverse slip)")
def records_counted(case: Case) -> Iterator[Found | str]:
    """Where the question counts records or times, they are not merged by DISTINCT or UNION."""
    if case.query is None or not case.wording.asks_records:
        return
    for union in case.query.tree.find_all(exp.Union):
        if union.args.get("distinct"):
            yield "UNION drops rows that are equal"
            copy = union.copy()
            copy.set("distinct", False)
            other = case.changed(case.query.exchanged(union, copy))
            if other is not None:
                yield Found(
                    "UNION merges equal records before they are counted; UNION ALL keeps them",
                    evidence=case.told(other),
                )
    if case.wording.asks_people:
        return
    for _, output, count in shown_counts(case.query, distinct=True):
        names = {column.name.lower() for column in count.find_all(exp.Column)}
        ratio = count.find_ancestor(exp.Div, exp.IntDiv) is not None  # records per person
        if "person_id" in names and set(case.wording.counted) == {"record"} and not ratio:
            yield output.sql(DIALECT)
            every = exp.Count(this=exp.Star(), big_int=True)
            other = case.changed(case.query.exchanged(count, every))
            if other is not None:
                yield Found(
                    f"{count.sql(DIALECT)} counts people; the question asks for records",
                    evidence=case.told(other),
                )


@rule("problem", source="bird-bench/mini_dev#45 (question 1279)")
def counted_condition(case: Case) -> Iterator[Found | str]:
    """COUNT of a condition counts every value, also 0 and false: use FILTER, or no ELSE."""
    if case.query is None:
        return
    for count in case.query.tree.find_all(exp.Count):
        inner = bare(count.this)
        yield count.sql(DIALECT)
        if isinstance(inner, exp.Distinct):
            yield from _default_counted(case, case.query, count)
        elif isinstance(inner, exp.Case):
            default = inner.args.get("default")
            branches = [branch.args["true"] for branch in inner.args["ifs"]]
            if default is not None and all(_never_null(n) for n in [default, *branches]):
                yield Found(f"{count.sql(DIALECT)} counts every row: its ELSE is a value too")
        elif isinstance(inner, exp.If) and inner.args.get("false") is not None:
            if _never_null(inner.args["false"]) and _never_null(inner.args["true"]):
                yield Found(f"{count.sql(DIALECT)} counts every row: both outcomes are values")
        elif isinstance(inner, (exp.Predicate, exp.Connector, exp.Not)):
            yield Found(f"{count.sql(DIALECT)} counts false as well as true")


def shown_counts(
    query: Query, *, distinct: bool = False
) -> Iterator[tuple[Part, exp.Expr, exp.Expr]]:
    """Yield the counts that the statement's result shows: part, output, count."""
    for part in _shown(query):
        for output in part.select.selects:
            for node in output.find_all(exp.Count, exp.Sum):
                if isinstance(node.parent, exp.Window):
                    continue
                if isinstance(node.this, exp.Distinct) != distinct:
                    continue
                ones = literal(node.this) == 1 if isinstance(node, exp.Sum) else True
                if ones or _indicator(node) is not None:
                    yield part, output, node


def _shown(query: Query) -> list[Part]:
    """Return the SELECTs whose rows are the result: the top one, or the branches of a UNION."""
    tops: list[exp.Expr] = [query.tree]
    shown: list[exp.Expr] = []
    while tops:
        node = tops.pop(0)
        if isinstance(node, exp.SetOperation):
            tops += [node.this, node.expression]
        elif isinstance(node, exp.Subquery):
            tops.append(node.this)
        else:
            shown.append(node)
    parts = [part for part in query.parts if any(part.select is node for node in shown)]
    for part in list(parts):  # a count that is fetched by a scalar subquery or an outer SELECT
        for output in part.select.selects:
            inner = bare(output)
            if isinstance(inner, exp.Column):
                made = query.derived(part, inner)
                if made and made[0] not in parts:
                    parts.append(made[0])
            for nested in output.find_all(exp.Subquery):
                parts += [p for p in query.parts if p.select is nested.this]
    return parts


def wanted(case: Case, part: Part, output: exp.Expr) -> str | None:
    """Return what an output should count: by its alias, else by the question's only count."""
    alias = words(output.alias_or_name)
    if any(word in PEOPLE for word in alias):
        return "person"
    if any(word in RECORDS for word in alias):
        return None
    if any(word in VISITS for word in alias) and "visit" in case.wording.counted:
        return "visit"
    kinds = set(case.wording.counted)
    if case.wording.asks_people and not kinds:
        kinds = {"person"}
    if len(kinds) != 1 or kinds & {"record", "thing"}:
        return None
    return kinds.pop()


def _counts_once(query: Query, part: Part, output: exp.Expr, kind: str) -> bool:
    """Whether another output of the same SELECT counts the wanted id already."""
    id = ID_OF.get(kind, kind)
    outputs = [other for other in part.select.selects if other is not output]
    for node in (count for other in outputs for count in other.find_all(exp.Count)):
        if isinstance(node.this, exp.Distinct):
            for column in node.find_all(exp.Column):
                origin = query.origin(part, column)
                if column.name.lower() == id or (origin and origin[1] == id):
                    return True
    return False


def source_of(case: Case, part: Part, kind: str) -> exp.Column | None:
    """Return the column of a SELECT's sources that identifies what is counted."""
    id = ID_OF.get(kind, kind)
    for name, source in part.sources.items():
        if isinstance(source, exp.Table):
            known = set(case.facts.tables.get(source.name.lower(), {}))
        else:
            known = {str(name).lower() for name in getattr(source.expression, "named_selects", ())}
        if id in known:
            return exp.column(id, table=name)
    return None


def _distinct(count: exp.Expr, column: exp.Column) -> exp.Expr:
    """Return a count of different values under the same condition as a count of rows."""
    condition = _indicator(count)
    value: exp.Expr = column.copy()
    if condition is not None:
        value = exp.Case(ifs=[exp.If(this=condition.copy(), true=value)])
    return exp.Count(this=exp.Distinct(expressions=[value]), big_int=True)


def _indicator(node: exp.Expr) -> exp.Expr | None:
    """Return the condition that COUNT(CASE …) or SUM(CASE … 1 ELSE 0) counts by."""
    inner = bare(node.this) if isinstance(node.this, exp.Expr) else None
    if isinstance(inner, exp.Case) and len(inner.args["ifs"]) == 1 and not inner.this:
        branch, default = inner.args["ifs"][0], inner.args.get("default")
        ones = literal(branch.args["true"]) == 1 or isinstance(node, exp.Count)
        if ones and (default is None or literal(default) == 0 or isinstance(default, exp.Null)):
            found: exp.Expr = branch.this
            return found
    return None


def _default_counted(case: Case, query: Query, count: exp.Count) -> Iterator[Found]:
    """COUNT(DISTINCT CASE … ELSE 0 END) counts the 0 as one more."""
    for inner in count.this.find_all(exp.Case):
        default = inner.args.get("default")
        if default is not None and literal(default) is not None:
            other = case.changed(query.exchanged(default, exp.Null()))
            if other is not None:
                yield Found(
                    f"{count.sql(DIALECT)} counts its ELSE as one more", evidence=case.told(other)
                )


def _never_null(node: exp.Expr) -> bool:
    return literal(node) is not None or isinstance(node, exp.Boolean)


def noun(kind: str) -> str:
    return {"person": "people", "visit": "visits"}.get(kind) or "different " + KINDS[kind][-1]
