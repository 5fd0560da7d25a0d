"""A without B: the query leaves out those with B, and not those with A."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.mentions import Names, named, places
from items.rules.nodes import bare, conjuncts
from items.rules.sql import Part

NEVER = r"\b(?:never|without|but no|but not|have no|had no|has no|with no)\b"


@rule("warning", source="arXiv 2601.08778 (error class E1): A without B answered by B without A")
def named_absence(case: Case) -> Iterator[Found | str]:
    """Who had A but never B has a condition for A and none for B."""
    found = list(re.finditer(NEVER, case.wording.english.lower()))
    if case.query is None or len(found) != 1:
        return
    text, place = case.wording.english.lower(), found[0].start()
    absent, present = _sides(case)
    out, held = (places(text, names) for names in (absent, present))
    yield f"without {', '.join(sorted(absent)) or '?'}; with {', '.join(sorted(present)) or '?'}"
    if not out or not held or out & held:
        return
    after = sorted(p for p in out | held if p > place)
    if after and not any(p > place for p in out) and all(p in held for p in after):
        yield Found(
            f"the question leaves out {_shown(present)}; the query leaves out {_shown(absent)}"
        )


def _sides(case: Case) -> tuple[Names, Names]:
    """Return the concepts that a query leaves out, and those that it wants."""
    absent: set[str] = set()
    present: set[str] = set()
    for part in case.query.parts if case.query else ():
        out = _left_out(part.select)
        for name in part.sources:
            anti = any(
                j.kind == "ANTI" and j.this.alias_or_name == name
                for j in part.select.args.get("joins") or ()
            )
            unmatched = _unmatched(part, name)
            (absent if out or anti or unmatched else present).update(named(case, part, name))
    return frozenset(absent), frozenset(present)


def _left_out(select: exp.Select) -> bool:
    """Whether the rows of a SELECT are taken away: NOT EXISTS, NOT IN, the right side of EXCEPT."""
    node: exp.Expr = select
    while node.parent is not None:
        outer = node.parent
        if isinstance(outer, exp.Except) and outer.expression is node:
            return True
        if isinstance(outer, exp.Not):
            return True
        node = outer
    return False


def _unmatched(part: Part, name: str) -> bool:
    """Whether only rows without a match in a joined source are kept: LEFT JOIN … IS NULL."""
    missing = [
        bare(node.this)
        for node in conjuncts(part.select.args.get("where"))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
    ]
    return any(isinstance(column, exp.Column) and column.table == name for column in missing)


def _shown(names: Names) -> str:
    return " or ".join(sorted(names))[:120]
