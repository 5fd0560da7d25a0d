# ruff: noqa: S608 -- our own SQL over names that the schema has
"""Concepts: an id that exists, that is what the question says, and whose descendants are counted in."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import Origin, Part
from items.rules.values import equalities, joined_to
from items.rules.wording import alike, words

CLINICAL = ("condition", "drug", "measurement", "procedure", "observation", "device")
EMPTY_WORDS = {
    "a", "an", "and", "any", "by", "for", "from", "in", "of", "on", "or", "other", "the", "to", "with",
    "without", "unspecified", "disorder", "disease", "finding", "product", "oral", "tablet", "mg", "ml",
    "hr", "due", "nos",
}  # fmt: skip
FIXED: tuple[dict[int, tuple[str, str]], ...] = (  # what OMOP calls the same everywhere
    {
        8532: (r"females?\b|wom[ae]n\b|girls?\b", "여성|여자|여아"),
        8507: (r"males?\b|m[ae]n\b|boys?\b", "남성|남자|남아"),
    },
    {
        9201: (r"inpatients?\b|hospitali[sz]\w+|admissions?\b|admitted\b", "입원"),
        9202: (r"outpatients?\b|ambulatory\b", "외래"),
        9203: (r"emergency\b", "응급"),
    },
)
NAMES = {
    8532: "women",
    8507: "men",
    9201: "inpatient",
    9202: "outpatient",
    9203: "emergency visits",
}
ENOUGH = 0.75  # of a concept's words stand in the question, one after the other


@rule("problem", source="OMOP: a concept id is a row of CONCEPT")
def unknown_concept(case: Case) -> Iterator[Found | str]:
    """A concept id exists: in the concept table, or at least in the column it is compared with."""
    for part, column, value, _ in equalities(case):
        origin = case.query.origin(part, column) if case.query else None
        if origin is None or not origin[1].endswith("concept_id") or not isinstance(value, int):
            continue
        if not case.facts.has("concept", "concept_id"):
            continue
        yield f"concept {value}"
        if value and case.facts.concept(value) is None and not case.facts.holds(origin, value):
            yield Found(
                f"there is no concept {value}, neither in concept nor in {'.'.join(origin)}"
            )


@rule("warning", source="bird-bench/mini_dev#45 (question 1199)")
def concept_named(case: Case) -> Iterator[Found | str]:
    """A concept in the query is one that the question speaks of, and the best match for its words."""
    chosen = list(concepts_named(case))
    names = {id: names for id, names, _ in chosen}
    family = frozenset().union(*(case.facts.family(id) for id in names)) if names else frozenset()
    said = {word for all_names in names.values() for n in all_names for word in said_of(case, n)[1]}
    for id, all_names, origin in chosen:
        best = max((said_of(case, name)[0] for name in all_names), default=0.0)
        yield f"{id} {all_names[0]!r}: {best:.0%} of its words are in the question"
        for other, name in case.facts.used(origin).items():
            share, found = said_of(case, name)
            if other in family or share < ENOUGH or share <= best or set(found) <= said:
                continue
            yield Found(
                f"the query uses {id} {all_names[0]!r}; the question says {name!r} ({other})",
                evidence=f"{' '.join(found)!r} stands in the question",
            )
            break


@rule("problem", source="OMOP: subtypes carry the rows; bird-bench/mini_dev#45")
def descendants(case: Case) -> Iterator[Found | str]:
    """Where the question wants every kind, a concept's descendants are counted in."""
    if case.query is None or any(
        table.name.lower() == "concept_ancestor" for table in case.query.tree.find_all(exp.Table)
    ):
        return
    for id, names, origin in concepts_named(case):
        own, below = case.facts.kinds(id, origin)
        yield f"{id} {names[0]!r}: {own:,} rows itself, {below:,} rows of descendants"
        if below and case.wording.any_kind and not _all_kinds_listed(case, id):
            yield Found(
                f"{names[0]!r} ({id}) has descendants with {below:,} rows; the question wants every kind",
                evidence=f"itself {own:,} rows; join concept_ancestor",
            )


@rule("problem", source="OMOP standard concepts; swapped sexes and visit kinds in generated SQL")
def fixed_concepts(case: Case) -> Iterator[Found | str]:
    """Women are 8532 and men 8507; inpatient 9201, outpatient 9202 and emergency visits 9203."""
    have = set(_fixed_ids(case))
    for kinds in FIXED:
        said = {
            id
            for id, (english, korean) in kinds.items()
            if case.wording.says(english, korean=korean)
        }
        used = have & set(kinds)
        yield f"said {sorted(said)}, used {sorted(used)}"
        if len(said) == 1 and len(used) == 1 and said != used:
            (right,), (wrong,) = said, used
            yield Found(
                f"the question speaks of {NAMES[right]} ({right}); the query has {NAMES[wrong]} ({wrong})"
            )


def concepts_named(case: Case) -> Iterator[tuple[int, tuple[str, ...], Origin]]:
    """Yield the clinical concepts that the query names: id, names, and the column of the events."""
    seen: set[int] = set()
    for part, column, value, _ in equalities(case):
        origins = joined_to(case, part, column)
        ids = [value] if isinstance(value, int) else _ids_named(case, origins, value)
        events = [o for o in _also_by_id(case, part, column, origins) if _clinical(o)]
        for id in ids:
            concept = case.facts.concept(id)
            if concept is None or id in seen or not events:
                continue
            seen.add(id)
            yield id, concept.names, events[0]


def _fixed_ids(case: Case) -> Iterator[int]:
    """Yield the ids that the query names, by number, by a concept's name, or by the source's code."""
    for part, column, value, holds in equalities(case):
        if isinstance(value, int):
            yield value
        origin = case.query.origin(part, column) if case.query else None
        if not isinstance(value, str) or origin is None or not holds:
            continue
        table, name = origin
        kind = name.removesuffix("_source_value") + "_concept_id"
        text = value.replace("'", "''")
        if origin == ("concept", "concept_name"):
            yield from _ids_named(case, [origin], value)
        elif name.endswith("_source_value") and case.facts.has(table, kind):
            rows = case.facts.rows(
                f'SELECT DISTINCT "{kind}" FROM "{table}" WHERE "{name}" = \'{text}\' LIMIT 2'
            )
            yield from (int(row[0]) for row in rows if len(rows) == 1 and row[0] is not None)


def _ids_named(case: Case, origins: list[Origin], value: str | float) -> list[int]:
    if ("concept", "concept_name") not in origins or not isinstance(value, str):
        return []
    text = value.replace("'", "''")
    rows = case.facts.rows(f"SELECT concept_id FROM concept WHERE concept_name = '{text}' LIMIT 5")
    return [int(row[0]) for row in rows]


def _also_by_id(case: Case, part: Part, column: exp.Column, origins: list[Origin]) -> list[Origin]:
    """Return the columns that a concept's id is joined to, also where the query names it by name."""
    if case.query is None or ("concept", "concept_name") not in origins:
        return origins
    return joined_to(case, part, exp.column("concept_id", table=column.table))


def _clinical(origin: Origin) -> bool:
    _, name = origin
    return name.endswith("_concept_id") and name.split("_")[0] in CLINICAL and "_type_" not in name


def said_of(case: Case, name: str) -> tuple[float, tuple[str, ...]]:
    """Return the longest run of a name's words that stands in the question, as a share and as words."""
    wanted = [word for word in words(name) if word not in EMPTY_WORDS]
    asked = [word for word in case.wording.words if word not in EMPTY_WORDS]
    best: tuple[str, ...] = ()
    for start in range(len(wanted)):
        for place in range(len(asked)):
            length = 0
            while (
                start + length < len(wanted)
                and place + length < len(asked)
                and alike(wanted[start + length], asked[place + length])
            ):
                length += 1
            if length > len(best):
                best = tuple(wanted[start : start + length])
    return (len(best) / len(wanted) if wanted else 0.0), best


def _all_kinds_listed(case: Case, id: int) -> bool:
    """Whether the query lists the concept together with others of its family."""
    listed = {value for _, _, value, _ in equalities(case) if isinstance(value, int)}
    return len(listed & case.facts.family(id)) > 1
