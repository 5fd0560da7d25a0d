"""Units: values of one measurement that are kept in several units are not added up or compared."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT, Part, Query

VALUE = ("measurement", "value_as_number")
CONCEPT = "measurement_concept_id"
UNITS = ("unit_concept_id", "unit_source_value")
USES = (
    exp.Avg, exp.Sum, exp.Median, exp.Max, exp.Min, exp.ArgMax, exp.ArgMin, exp.Quantile,
    exp.PercentileCont, exp.Stddev, exp.Ordered, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between,
)  # fmt: skip


@rule("warning", source="OHDSI DataQualityDashboard (units of one measurement that differ)")
def mixed_units(case: Case) -> Iterator[Found | str]:
    """Numbers in several units are neither averaged, added, ordered nor compared without the unit."""
    if case.query is None or case.wording.says(r"(?:whatever|regardless of|any) (?:the )?units?"):
        return
    seen: set[exp.Select] = set()
    for part in case.query.parts:
        for use in part.own(*USES):
            read = _read(case.query, part, use)
            if read is None or read[0].select in seen or _minds(case.query, read[0]):
                continue
            seen.add(read[0].select)
            units = _units(case, *read)
            yield f"{use.sql(DIALECT)}: {len(units)} units"
            if len(units) > 1:
                yield Found(
                    f"{use.sql(DIALECT)} takes values in {len(units)} units for one measurement",
                    evidence=", ".join(f"{name}: {rows:,} rows" for name, rows in units),
                )


def _read(query: Query, part: Part, use: exp.Expr) -> tuple[Part, exp.Column] | None:
    """Return where a use of a measured number reads it: the SELECT over the table, and its column."""
    if isinstance(use, (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)):
        limit = literal(use.args.get("low") or use.expression)
        if not limit or isinstance(limit, str):
            return None  # above zero holds in any unit
    for column in use.find_all(exp.Column):
        found = query.derived(part, column)
        if found is None or not isinstance(found[1], exp.Column):
            continue
        if query.origin(found[0], found[1]) == VALUE:
            return found[0], found[1]
    return None


def _minds(query: Query, part: Part) -> bool:
    """Whether the unit has a say: shown, grouped by or filtered, here or where the rows go on to."""
    for other in query.parts:
        for column in other.own(exp.Column):
            names_unit = column.name.lower() in UNITS or "unit" in column.name.lower()
            if names_unit and not isinstance(column.parent, exp.Is):
                return True
    return part.correlated


def _units(case: Case, part: Part, value: exp.Column) -> list[tuple[str, int]]:
    """Return the units of the first measurement that has several, with their numbers of rows."""
    query, table = case.query, value.table
    for unit in UNITS:
        if query is None or not case.facts.has("measurement", unit, CONCEPT):
            continue
        concept, name = f"{table}.{CONCEPT}", f"{table}.{unit}"
        known = f"{value.sql(DIALECT)} IS NOT NULL AND CAST({name} AS VARCHAR) NOT IN ('0', '')"
        sql = query.body(
            part,
            [concept, name, "count(*)"],
            where=known,
            group=[concept, name],
            having="count(*) > 0",
        )
        by_concept: dict[object, list[tuple[str, int]]] = {}
        for id, kind, rows in case.ask(sql):
            by_concept.setdefault(id, []).append((_called(case, kind), int(rows)))
        several = [sorted(units) for units in by_concept.values() if len(units) > 1]
        if several:
            return several[0]
    return []


def _called(case: Case, unit: object) -> str:
    concept = case.facts.concept(unit) if isinstance(unit, int) else None
    return f"{unit} ({concept.name})" if concept else str(unit)
