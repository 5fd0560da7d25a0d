# ruff: noqa: S608 -- our own SQL over names that the schema has
"""Keys: an id that a join repeats is counted once, and a source code is no key without its vocabulary."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part


@rule("warning", source="OHDSI/WebAPI#2295: a count over a join that multiplies")
def keys_repeated(case: Case) -> Iterator[Found | str]:
    """COUNT of a table's own id counts each of its rows once, also after a join."""
    for part in case.query.parts if case.query else ():
        if not part.select.args.get("joins"):
            continue
        for count in part.own(exp.Count):
            column = count.this
            if (
                case.query is None
                or not isinstance(column, exp.Column)
                or not _own_key(case, part, column)
            ):
                continue
            yield count.sql(DIALECT)
            once = exp.Count(this=exp.Distinct(expressions=[column.copy()]), big_int=True)
            other = case.changed(case.query.exchanged(count, once))
            if other is not None:
                yield Found(
                    f"{count.sql(DIALECT)} counts a row of {column.table} once for each row joined to it; "
                    "COUNT(DISTINCT …)",
                    evidence=case.told(other),
                )


@rule("warning", source="OMOP: a code means something in its vocabulary only; it is kept as text")
def code_joined(case: Case) -> Iterator[Found | str]:
    """concept_code is compared with a source value together with the vocabulary."""
    for part in case.query.parts if case.query else ():
        for node in part.own(exp.EQ):
            names = {
                side.name.lower()
                for side in (node.this, node.expression)
                if isinstance(side, exp.Column)
            }
            if "concept_code" not in names or not any(n.endswith("_source_value") for n in names):
                continue
            yield node.sql(DIALECT)
            if not any(column.name.lower() == "vocabulary_id" for column in part.own(exp.Column)):
                yield Found(
                    f"{node.sql(DIALECT)}: codes of several vocabularies are alike; join the concept id, or "
                    "name the vocabulary"
                )


def _own_key(case: Case, part: Part, column: exp.Column) -> bool:
    """Whether a column is the id of its table, and no two rows of the table share one."""
    origin = case.query.origin(part, column) if case.query else None
    if origin is None or origin[1] != f"{origin[0]}_id" or origin[0] == "person":
        return False
    table, name = origin
    rows = case.facts.rows(f'SELECT count("{name}") - count(DISTINCT "{name}") FROM "{table}"')
    return bool(rows[0][0] == 0)
