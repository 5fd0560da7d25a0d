"""COUNT(DISTINCT …) of the wrong thing: days for visits, records for people."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.counting import noun, shown_counts, source_of, wanted
from items.rules.sql import DIALECT, Part

DAYS = r"days?\b|dates?\b|daily\b"
DAYS_KOREAN = r"날짜|며칠|일수|하루|매일|같은 날|일별|날[은을이에]"
ALIKE = r"(?:different|distinct|unique)\b"
ALIKE_KOREAN = "서로 다른 [가-힣 ]{0,12}(?:몇|수)"
RECORDS = (
    "visit_occurrence_id", "visit_detail_id", "drug_exposure_id", "condition_occurrence_id",
    "procedure_occurrence_id", "measurement_id", "observation_id", "device_exposure_id",
    "drug_era_id", "condition_era_id", "observation_period_id",
)  # fmt: skip


@rule("warning", source="OHDSI/WebAPI#368, the other way round: days are not visits")
def days_counted(case: Case) -> Iterator[Found | str]:
    """Different days are not visits or records: two on one day are two."""
    if case.query is None or case.wording.says(DAYS, korean=DAYS_KOREAN):
        return
    for part, output, count in shown_counts(case.query, distinct=True):
        column = _counted(count)
        origin = case.query.origin(part, column) if column is not None else None
        known = case.facts.column(origin) if origin else None
        if column is None or known is None or not known.type.startswith(("DATE", "TIMESTAMP")):
            continue
        yield output.sql(DIALECT)
        kind = wanted(case, part, output)
        thing = source_of(case, part, kind) if kind else None
        one = exp.Distinct(expressions=[thing]) if thing is not None else exp.Star()
        other = case.changed(case.query.exchanged(count, exp.Count(this=one, big_int=True)))
        if other is not None:
            yield Found(
                f"{count.sql(DIALECT)} counts days; the question does not ask for days",
                evidence=case.told(other),
            )


@rule("problem", source="OHDSI/WebAPI#368 (records for people), written with DISTINCT")
def record_ids_counted(case: Case) -> Iterator[Found | str]:
    """Where people are counted, different record ids are not people."""
    if case.query is None:
        return
    for part, output, count in shown_counts(case.query, distinct=True):
        column = _counted(count)
        origin = case.query.origin(part, column) if column is not None else None
        name = origin[1] if origin else ""
        if column is None or name not in RECORDS or count.find_ancestor(exp.Div, exp.IntDiv):
            continue
        kind = wanted(case, part, output)
        yield f"{output.sql(DIALECT)}; asked: {kind}"
        thing = source_of(case, part, kind) if kind == "person" else None
        if kind is None or thing is None or _shown_too(part, output):
            continue
        other = case.changed(case.query.exchanged(column, thing))
        if other is not None:
            yield Found(
                f"{count.sql(DIALECT)} counts records; the question asks for {noun(kind)}",
                evidence=case.told(other),
            )


@rule("problem", source="BIRD and EHRSQL: COUNT without DISTINCT where different things are asked")
def different_counted(case: Case) -> Iterator[Found | str]:
    """How many different X counts each value once."""
    asked = case.wording.says(
        rf"(?:how many|number of|count of) (?:\w+ ){{0,2}}{ALIKE}", korean=ALIKE_KOREAN
    )
    if case.query is None or not asked:
        return
    for _, output, count in shown_counts(case.query):
        column = count.this
        if not isinstance(column, exp.Column) or isinstance(count, exp.Sum):
            continue
        yield output.sql(DIALECT)
        once = exp.Distinct(expressions=[column.copy()])
        other = case.changed(case.query.exchanged(count, exp.Count(this=once, big_int=True)))
        if other is not None:
            yield Found(
                f"{count.sql(DIALECT)} counts repeats; the question asks for different ones",
                evidence=case.told(other),
            )


@rule("problem", source="BIRD and EHRSQL: COUNT without DISTINCT under a mean")
def different_averaged(case: Case) -> Iterator[Found | str]:
    """The mean number of different X is the mean of counts of different X."""
    asked = case.wording.says(rf"(?:average|mean|median) number of (?:\w+ ){{0,2}}{ALIKE}")
    if case.query is None or not asked:
        return
    for part in case.query.parts:
        for mean in part.own(exp.Avg, exp.Median):
            made = case.query.derived(part, mean.this)
            count = made[1] if made else None
            if not isinstance(count, exp.Count) or not isinstance(count.this, exp.Column):
                continue
            yield f"{mean.sql(DIALECT)} of {count.sql(DIALECT)}"
            once = exp.Count(this=exp.Distinct(expressions=[count.this.copy()]), big_int=True)
            other = case.changed(case.query.exchanged(count, once))
            if other is not None:
                yield Found(
                    f"{count.sql(DIALECT)} counts repeats; the question asks for different ones",
                    evidence=case.told(other),
                )


@rule("warning", source="BIRD: COUNT without DISTINCT in HAVING and ORDER BY")
def limited_otherwise(case: Case) -> Iterator[Found | str]:
    """The number that is shown is the one that HAVING limits and ORDER BY sorts."""
    for part in case.query.parts if case.query else ():
        shown = [c for o in part.select.selects for c in o.find_all(exp.Count)]
        if len(shown) != 1 or not isinstance(shown[0].this, exp.Distinct):
            continue
        for clause in ("having", "order"):
            yield from _other_count(case, part.select.args.get(clause), shown[0])


def _other_count(case: Case, clause: exp.Expr | None, shown: exp.Expr) -> Iterator[Found | str]:
    for count in clause.find_all(exp.Count) if clause and case.query else ():
        yield count.sql(DIALECT)
        if isinstance(count.this, exp.Distinct) or case.wording.asks_records or case.query is None:
            continue
        other = case.changed(case.query.exchanged(count, shown))
        if other is not None:
            word = "ORDER BY sorts by" if isinstance(clause, exp.Order) else "HAVING limits"
            yield Found(
                f"{word} {count.sql(DIALECT)}, the answer shows {shown.sql(DIALECT)}",
                evidence=case.told(other),
            )


@rule("warning", source="OHDSI/WebAPI#368: people counted once for each year or visit")
def groups_counted(case: Case) -> Iterator[Found | str]:
    """Groups of people and something else are more than the people."""
    for part, output, count in shown_counts(case.query) if case.query else ():
        inner = next(iter(part.sources.values()), None) if len(part.sources) == 1 else None
        select = getattr(inner, "expression", None)
        group = select.args.get("group") if isinstance(select, exp.Select) else None
        keys = (
            {key for node in group.expressions for key in _of_events(case, node)}
            if group
            else set()
        )
        yield f"{output.sql(DIALECT)} over groups by {', '.join(sorted(keys)) or 'nothing'}"
        every = isinstance(count.this, (exp.Star, exp.Column)) and not part.select.args.get("group")
        if (
            every
            and "person_id" in keys
            and len(keys) > 1
            and wanted(case, part, output) == "person"
        ):
            yield Found(
                f"{count.sql(DIALECT)} counts groups by {', '.join(sorted(keys))}, not people"
            )


def _of_events(case: Case, key: exp.Expr) -> Iterator[str]:
    """Yield the name of what is grouped by, but not what a person has once: a birthday, a sex."""
    columns = [column.name.lower() for column in key.find_all(exp.Column)]
    own = set(case.facts.tables.get("person", {})) - {"person_id"}
    if not columns or not set(columns) <= own:
        yield key.sql(DIALECT).rpartition(".")[2].lower()


def _counted(count: exp.Expr) -> exp.Column | None:
    """Return the one column that COUNT(DISTINCT …) reads as it is, or as a CASE gives it."""
    values = count.this.expressions
    value = values[0] if len(values) == 1 else None
    if isinstance(value, exp.Case) and value.args.get("default") is None:
        branches = value.args["ifs"]
        value = branches[0].args["true"] if len(branches) == 1 else None
    while isinstance(value, (exp.Cast, exp.Paren)):
        value = value.this
    return value if isinstance(value, exp.Column) else None


def _shown_too(part: Part, output: exp.Expr) -> bool:
    """Whether another output counts people already."""
    outputs = [other for other in part.select.selects if other is not output]
    return any(
        column.name.lower() == "person_id"
        for other in outputs
        for count in other.find_all(exp.Count)
        for column in count.find_all(exp.Column)
    )
