# ruff: noqa: S608 -- our own SQL over names that the schema has
"""Unanswerable items: the witness is true, and no other place holds what the question wants.

A witness is an empty table (`death`), a column NULL in every row (`measurement.value_as_number`), or a
term that no concept, synonym or source value has (`concept: insulin`). The prompt shows the first two,
so a careful model can tell; the third it cannot see, and the gate warns of it (S1-061).
"""

from collections.abc import Iterator

from database import schema
from items.rules.base import Case, Found, rule
from items.rules.wording import alike, words

TERM = "concept:"
GENERIC = {"as", "concept", "id", "source", "occurrence", "exposure", "start", "end", "date", "datetime",
           "type", "name", "number", "string", "table"}  # fmt: skip
COMMON = {"patient", "patients", "person", "people", "visit", "visits", "condition", "conditions", "drug",
          "drugs", "measurement", "observation", "procedure", "period", "value", "values", "with", "from",
          "days", "unit", "supply", "route", "relationship", "level"}  # fmt: skip
NAMED_IN = (  # where a term would stand, if the database had it
    ("concept", "concept_name"),
    ("concept_synonym", "concept_synonym_name"),
    ("condition_occurrence", "condition_source_value"),
    ("drug_exposure", "drug_source_value"),
    ("measurement", "measurement_source_value"),
    ("procedure_occurrence", "procedure_source_value"),
    ("observation", "observation_source_value"),
)
PLAIN = {  # tables that hold a kind of event, and the words that ask for such events and no more
    "visit_occurrence": {"visit", "visits", "visited", "admission", "admissions", "admitted", "hospital",
                         "hospitalised", "hospitalized", "hospitalisation", "hospitalization", "inpatient",
                         "outpatient", "emergency", "room", "stay", "stays", "discharged", "discharge"},
    "condition_occurrence": {"diagnosis", "diagnoses", "diagnosed", "condition", "conditions", "disease"},
    "drug_exposure": {"drug", "drugs", "medication", "medications", "exposure", "exposures", "taken",
                      "took", "given", "received", "prescribed"},
    "procedure_occurrence": {"procedure", "procedures", "performed", "underwent"},
    "measurement": {"measurement", "measurements", "measured"},
}  # fmt: skip
ASKING = frozenset(
    words(
        "a all an and any are at be been between by count date dates day days did do does each ever "
        "every first for from give had has have her his how in is it its last latest list many men "
        "month months most number of often on or patient patients people per person persons recent show "
        "start started that the their there these they this time times to total was were what when "
        "which who women year years"
    )
)


@rule("problem", source="S1-061, S1-062; DESIGN, Agreements 10")
def witness(case: Case) -> Iterator[Found | str]:
    """An unanswerable item names an empty table or a column NULL in every row, and it is so."""
    if case.item.answerable:
        return
    named = (case.item.witness or "").strip()
    yield f"witness: {named or 'none'}"
    if named.lower().startswith(TERM):
        yield from _absent_term(case, named[len(TERM) :].strip())
        return
    problem = _untrue(case, named.lower())
    if problem:
        yield Found(problem)


@rule("warning", source="S1-060 (no table or column holds what it needs)")
def answer_elsewhere(case: Case) -> Iterator[Found | str]:
    """No other table or column holds what the witness lacks, by its name or by its values."""
    named = (case.item.witness or "").strip().lower()
    if case.item.answerable or not named or named.startswith(TERM) or _untrue(case, named):
        return
    table, _, column = named.partition(".")
    for origin in _like_named(case, table, column):
        known = case.facts.column(origin)
        yield ".".join(origin)
        if known is None or known.nulls == known.rows or known.distinct < 2:
            continue
        yield Found(
            f"{'.'.join(origin)} holds values and is named like {named}",
            evidence=f"{known.rows - known.nulls:,} values, from {known.low!r} to {known.high!r}",
        )
    if column:
        yield from _asked_beside(case, table, column)
    else:
        yield from _recorded_as_events(case, table)
        yield from _answered_plainly(case, table)
    named_so = [".".join(origin) for origin in _spoken_of(case) if origin[0] != table]
    if named_so:
        yield Found(
            f"the question's words are names of columns that hold values: {', '.join(named_so[:6])}",
            severity="note",
        )


def _spoken_of(case: Case) -> Iterator[tuple[str, str]]:
    """Yield columns with values whose name is a telling word of the question."""
    asked = {word for word in case.wording.words if len(word) > 3} - COMMON
    for table, columns in case.facts.tables.items():
        for name in columns:
            told = set(name.split("_")) - GENERIC - COMMON
            if any(alike(word, part) for word in asked for part in told if len(part) > 3):
                known = case.facts.column((table, name))
                if known is not None and known.distinct > 1:
                    yield table, name


def _untrue(case: Case, named: str) -> str | None:
    database = case.ground.database
    tables = case.facts.tables
    table, _, column = named.partition(".")
    if not named:
        return "no witness; name the empty table, or the column that is NULL in every row"
    if table not in tables:
        return f"there is no table {table!r}; a witness is a table or table.column of this database"
    if table in schema.empty_tables(database):
        known = not column or column in tables[table]
        return None if known else f"table {table} has no column {column!r}"
    if not column:
        return f"table {table} is not empty"
    if column not in tables[table]:
        return f"table {table} has no column {column!r}"
    known_column = case.facts.column((table, column))
    if known_column is None or known_column.nulls < known_column.rows:
        return f"{named} holds values: it is not NULL in every row"
    return None


def _absent_term(case: Case, term: str) -> Iterator[Found]:
    quoted = "'%" + term.lower().replace("'", "''").replace("%", "") + "%'"
    if not term:
        yield Found("the witness names no term")
        return
    for table, column in NAMED_IN:
        if case.facts.has(table, column):
            rows = case.facts.rows(
                f'SELECT "{column}" FROM "{table}" WHERE lower(CAST("{column}" AS VARCHAR)) LIKE {quoted} '
                "LIMIT 1"
            )
            if rows:
                yield Found(f"{table}.{column} has {rows[0][0]!r}: {term!r} is in the database")
                return
    if not any(alike(word, term.lower().split()[0]) for word in case.wording.words):
        yield Found(f"the question does not speak of {term!r}")
    yield Found(
        f"no concept, synonym or source value has {term!r}, but the prompt does not show that; an empty "
        "table or a column NULL in every row is a witness that a model can see (S1-061)",
        severity="warning",
    )


def _like_named(case: Case, table: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield the columns of other places that are named like what is missing."""
    wanted = set((column or table).split("_")) - GENERIC
    for other, columns in case.facts.tables.items():
        for name in columns:
            if (other, name) == (table, column) or (not column and other == table):
                continue
            parts = name.split("_")
            if column and other == table:
                found = parts[0] == column.split("_")[0] and bool(wanted & set(parts))
            elif column:
                found = name == column
            else:
                found = set(table.split("_")) <= set(parts)
            if found:
                yield other, name


def _asked_beside(case: Case, table: str, column: str) -> Iterator[Found]:
    """Look for a column beside the witness that is what the question asks for by its name."""
    own = set(column.split("_")) - GENERIC
    if any(alike(word, part) for word in case.wording.words for part in own):
        return
    for name in case.facts.tables[table]:
        told = set(name.split("_")) - GENERIC - COMMON
        telling = next(iter(told)) if len(told) == 1 and name != column else ""
        known = case.facts.column((table, name)) if len(telling) > 3 else None
        asks = rf"(?:what|which) (?:(?:is|was|are|were) )?(?:the |each )?(?:\w+ )?{telling}\b"
        if known is not None and known.distinct > 1 and case.wording.says(asks):
            yield Found(
                f"the question asks for the {telling}; {table}.{name} holds values",
                evidence=f"{known.rows - known.nulls:,} values, from {known.low!r} to {known.high!r}",
            )


def _answered_plainly(case: Case, table: str) -> Iterator[Found]:
    """Look for a table of events that has all that the question's words ask for."""
    asked = {word for word in case.wording.words if not word[0].isdigit()} - ASKING
    for other, kind in PLAIN.items():
        column = other.split("_")[0] + "_concept_id"
        if other == table or not asked & kind or not case.facts.has(other, column):
            continue
        names = case.facts.used((other, column)).values()
        left = asked - kind - {word for name in names for word in words(name)}
        if not left and case.facts.rows(f'SELECT 1 FROM "{other}" LIMIT 1'):
            yield Found(
                f"the question asks for nothing beyond {other}, which has rows; the witness is {table}"
            )


def _recorded_as_events(case: Case, table: str) -> Iterator[Found | str]:
    """Look for events whose concept is named like the empty table, or speaks of what is asked."""
    wanted = set(table.split("_")) - GENERIC
    asked = {word for word in case.wording.words if len(word) > 4} - COMMON
    seen: set[str] = set()
    for other, columns in case.facts.tables.items():
        for column in columns:
            if not column.endswith("_concept_id") or column.split("_")[0] != other.split("_")[0]:
                continue
            for name in case.facts.used((other, column)).values():
                told = set(words(name))
                if not wanted <= told or name in seen:
                    continue
                seen.add(name)
                spoken = any(alike(word, part) for word in asked for part in told)
                yield Found(
                    f"{other} records {name!r}, named like the empty table {table}",
                    severity="warning" if spoken else "note",
                )
