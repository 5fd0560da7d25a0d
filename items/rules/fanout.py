"""Fan-out: joins and groups that make one thing count several times."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part, Query
from items.rules.wording import RECORDS, VISITS

SUMS = (exp.Sum, exp.Avg, exp.Stddev, exp.StddevSamp, exp.Variance, exp.Median)
OWN_MEAN = r"own (?:\w+ )?(?:mean|average)"
MEAN_OF_MEANS = (
    r"(?:mean|average) of (?:\S+ ){0,4}(?:means?|averages?)\b",
    r"averag\w+ (?:out )?(?:of )?(?:those|these|the|their) (?:\w+ )?(?:means|averages)",
    r"(?:mean|average)d? (?:first )?(?:per|within|by) \w+(?: first)?,? (?:and )?(?:then|over|across)",
)
MEANS_KOREAN = "평균들|그 평균[을의]|마다[^.?]*평균[^.?]*평균"
OF_RECORDS = (
    rf"(?:of|among) (?:all |the )*(?:[\w-]+ ){{0,2}}(?:{'|'.join((*RECORDS, *VISITS))}|"
    r"measurements|diagnoses)\b"
)


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
            if _property_of_records(case, part, node):
                continue
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


@rule("warning", source="arXiv 2601.08778 (error class E1): a mean of means weighs groups alike")
def mean_of_means(case: Case) -> Iterator[Found | str]:
    """A mean of group means is not the mean."""
    if case.query is None:
        return
    if case.wording.says(*MEAN_OF_MEANS, OWN_MEAN, korean=MEANS_KOREAN):
        grouped = case.query.tree.find(exp.Group, exp.Window)
        yield "the question asks for the mean of each one's own mean"
        if case.wording.says(*MEAN_OF_MEANS) and case.query.tree.find(exp.Avg) and not grouped:
            yield Found(
                "the question asks for the mean of means; the query takes one mean of all rows"
            )
        return
    for part in case.query.parts:
        for outer in part.own(exp.Avg):
            made = case.query.derived(part, outer.this)
            if made is None or not isinstance(made[1], exp.Avg):
                continue
            yield f"{outer.sql(DIALECT)} of {made[1].sql(DIALECT)}"
            means = case.ask(case.query.body(part, [outer.sql(DIALECT)]))
            whole = case.ask(case.query.body(made[0], [made[1].sql(DIALECT)]))
            if means and whole and _far(means[0][0], whole[0][0]) and not case.wording.each_of_all:
                yield Found(
                    "a mean of group means weighs small groups like large ones",
                    evidence=f"the mean of means is {means[0][0]}, the mean {whole[0][0]}",
                )


def _property_of_records(case: Case, part: Part, node: exp.Expr) -> bool:
    """Whether records are counted by what their person (visit, concept) is: one row a record is meant.

    The other sources of the join must not be repeated themselves: those are the records.
    """
    conditional = isinstance(node, exp.Count) or node.find(exp.Case, exp.If, exp.Predicate)
    asked = case.wording.counted or case.wording.says(OF_RECORDS)
    if not conditional or case.query is None or not asked or "person" in case.wording.counted:
        return False
    read = _read(part, node)
    records = [name for name in part.sources if name not in read]
    return any(not _multiplied(case, case.query, part, name) for name in records)


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


def _far(one: object, other: object) -> bool:
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    return numbers and abs(float(str(one)) - float(str(other))) >= 0.0005
