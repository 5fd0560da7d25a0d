"""A table met with itself: another admission is not the same one, days and branches counted once."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part

ANOTHER = (
    r"another\b|again\b|readmi\w+|re-?hospitali[sz]\w+|a (?:second|further|new|later|subsequent|repeat) |"
    r"(?:next|previous|earlier|later|subsequent|following) (?:\w+ ){0,2}(?:admission|stay|visit|"
    r"hospitali[sz]ation"
    r"|record|diagnosis|episode|dose|prescription|exposure)|followed by|repeat(?:ed)?\b|recur\w+"
)
ANOTHER_KOREAN = "다시|재입원|또 다른|이후 (?:다른|새로운)|재발|반복"


@rule("problem", source="OHDSI forum on readmissions: every stay found itself")
def met_itself(case: Case) -> Iterator[Found | str]:
    """Another record of the same table is not the record itself."""
    if case.query is None or not case.wording.says(ANOTHER, korean=ANOTHER_KOREAN):
        return
    for part in case.query.parts:
        for one, other, key in _same_table(case, part):
            where = part.select.args.get("where")
            if where is None:
                continue
            yield f"{one} and {other}"
            apart = exp.NEQ(
                this=exp.column(key, table=one), expression=exp.column(key, table=other)
            )
            both = exp.And(this=exp.Paren(this=where.this.copy()), expression=apart)
            changed = case.changed(case.query.exchanged(where, exp.Where(this=both)))
            if changed is not None:
                yield Found(
                    f"a row of {one} finds itself as {other}: {apart.sql(DIALECT)}, or strictly later",
                    evidence=case.told(changed),
                )


def _same_table(case: Case, part: Part) -> Iterator[tuple[str, str, str]]:
    """Yield two names that stand for one table in a SELECT or around it, with the key of its rows."""
    around = {
        name: source
        for outer in (case.query.parts if case.query else ())
        for name, source in outer.sources.items()
        if name in {column.table for column in part.scope.external_columns}
    }
    inner = list(part.sources.items())
    for one, table in inner:
        for other, again in [*inner, *around.items()]:
            if one == other or not (isinstance(table, exp.Table) and isinstance(again, exp.Table)):
                continue
            name, key = table.name.lower(), f"{table.name.lower()}_id"
            ordered = other in around or one < other
            if name == again.name.lower() and ordered and case.facts.has(name, key):
                yield one, other, key
