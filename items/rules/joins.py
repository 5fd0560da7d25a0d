"""Joins: every source is joined, on columns that mean the same, in the right direction."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT, Part

ANCESTOR, DESCENDANT = (
    ("concept_ancestor", "ancestor_concept_id"),
    ("concept_ancestor", "descendant_concept_id"),
)
DOMAINS = (
    "condition",
    "drug",
    "measurement",
    "procedure",
    "observation",
    "device",
    "visit",
    "gender",
    "race",
)


@rule("problem", source="arXiv 2601.08778 (error class E1); missing join conditions in BIRD")
def unjoined(case: Case) -> Iterator[Found | str]:
    """No two sources stand side by side without a condition between them."""
    if case.query is None:
        return
    for part in case.query.parts:
        names = [n for n, s in part.sources.items() if not _single(s)]
        if len(names) < 2:
            continue
        yield f"{', '.join(names)}"
        alone = _unconnected(part, names)
        if alone:
            yield Found(
                f"{alone} is joined to nothing: every row of it meets every row of the others"
            )


@rule("warning", source="fastssv (OMOP lint): joins on the wrong key")
def joined_keys(case: Case) -> Iterator[Found | str]:
    """Ids are joined with the same id, concepts of one domain with each other."""
    if case.query is None:
        return
    for part in case.query.parts:
        for node in part.own(exp.EQ):
            sides = [case.query.origin(part, s) for s in (node.this, node.expression)]
            if sides[0] is None or sides[1] is None:
                continue
            one, other = sides[0][1], sides[1][1]
            yield node.sql(DIALECT)
            if _different_ids(one, other):
                yield Found(
                    f"{node.sql(DIALECT)} joins {one} with {other}: ids of different things"
                )


@rule("problem", source="OMOP: concept_ancestor read in the wrong direction")
def ancestor_direction(case: Case) -> Iterator[Found | str]:
    """Descendants are found by filtering the ancestor, not the other way round."""
    if case.query is None:
        return
    for part in case.query.parts:
        fixed, joined = set(), set()
        for node in part.own(exp.EQ, exp.In):
            origin = case.query.origin(part, node.this)
            other = getattr(node, "expression", None) if isinstance(node, exp.EQ) else None
            constant = (
                literal(other) is not None if isinstance(node, exp.EQ) else bool(node.expressions)
            )
            if constant:
                fixed.add(origin)
            elif isinstance(other, exp.Column):
                joined |= {origin, case.query.origin(part, other)}
        events = any(o and o[1].split("_")[0] in DOMAINS and o[0] != "concept" for o in joined)
        if fixed & {ANCESTOR, DESCENDANT}:
            yield f"{part.select.sql(DIALECT)[:80]}"
        if DESCENDANT in fixed and ANCESTOR in joined and events:
            yield Found(
                "descendant_concept_id is fixed and ancestor_concept_id joined: that finds ancestors"
            )


def _single(source: object) -> bool:
    """Whether a source is a subquery of one row, which may well meet every row of another."""
    select = getattr(source, "expression", None)
    if not isinstance(select, exp.Select):
        return isinstance(source, exp.Table) and not source.name
    one = literal(getattr(select.args.get("limit"), "expression", None)) == 1
    plain = [output for output in select.selects if output.find(exp.AggFunc)]
    no_rows = not select.args.get("from_")
    return one or no_rows or (bool(plain) and not select.args.get("group"))


def _unconnected(part: Part, names: list[str]) -> str:
    """Return a source that no condition reaches from the first one; empty when all are reached."""
    groups = {name: {name} for name in names}
    conditions = [
        join.args["on"] for join in part.select.args.get("joins") or () if join.args.get("on")
    ]
    where = part.select.args.get("where")
    for condition in [*conditions, *([where] if where else [])]:
        for node in condition.find_all(exp.Predicate):
            read = [column.table for column in node.find_all(exp.Column) if column.table in groups]
            merged = set().union(*(groups[name] for name in read)) if read else set()
            for name in merged:
                groups[name] = merged
    lateral = any(
        isinstance(j.this, (exp.Lateral, exp.Unnest)) for j in part.select.args.get("joins") or ()
    )
    alone = [name for name in names if name not in groups[names[0]]]
    return alone[0] if alone and not lateral else ""


def _different_ids(one: str, other: str) -> bool:
    if one == other or not (one.endswith("_id") and other.endswith("_id")):
        return False
    if "concept" in one or "concept" in other:
        domains = {name.split("_")[0] for name in (one, other)} & set(DOMAINS)
        return len(domains) == 2 and one.endswith("_concept_id") and other.endswith("_concept_id")
    return not (one.endswith(other) or other.endswith(one))
