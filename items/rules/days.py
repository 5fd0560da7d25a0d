"""Days as the question says them: on a day is that day alone, and days are not months."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.limits import DAY, as_day
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT

ON = rf"(?<!or )(?<!started )(?<!starting )\bon {DAY}(?! or (?:later|after|earlier|before)\b)"
BESIDE = (
    r"\bor (?:later|after|before|earlier)\b|\bsince\b|\buntil\b|\bfrom\b|\bbetween\b|\bwithin\b|\bby\b|"
    r"as of"
)
ASKED = r"\bhow many (?:\w+ ){0,2}?(days|weeks|months|years)\b"
ABOVE, BELOW = (exp.GT, exp.GTE), (exp.LT, exp.LTE)


@rule("problem", source="arXiv 2601.08778 (error class E2): a day taken for everything since")
def on_a_day(case: Case) -> Iterator[Found | str]:
    """On 15 June is neither since nor until 15 June."""
    text = case.wording.english
    said = re.search(ON, text)
    day = as_day(said.group(1)) if said else None
    if case.query is None or said is None or day is None or re.search(BESIDE, text, re.I):
        return
    for part in case.query.parts:
        above, below = _columns(part.own(*ABOVE), day), _columns(part.own(*BELOW), None)
        yield f"{said.group(0)!r}; above {sorted(above)}, below {sorted(below)}"
        alone = [name for name in above if name not in below and not _ends(name)]
        if alone and not any(_ends(name) for name in below):
            yield Found(
                f"the question says {said.group(0)!r}; {above[alone[0]].sql(DIALECT)} is every day since"
            )


@rule("problem", source="duckdb/duckdb#600: a difference in another unit than the one asked for")
def difference_unit(case: Case) -> Iterator[Found | str]:
    """How many days is a difference in days."""
    match = re.search(ASKED, case.wording.english, re.I)
    if case.query is None or match is None:
        return
    asked = match.group(1).lower().rstrip("s")
    for output in (o for part in case.query.parts for o in part.select.selects):
        for node in output.find_all(exp.DateDiff):
            unit = str(node.args.get("unit") or "").strip("'").lower().rstrip("s")
            yield f"{node.sql(DIALECT)}: asked for {asked}"
            scaled = node.find_ancestor(exp.Div, exp.IntDiv, exp.Mul)
            if unit in ("day", "week", "month", "year") and unit != asked and scaled is None:
                yield Found(
                    f"the question asks how many {asked}s; {node.sql(DIALECT)} counts {unit}s"
                )


def _columns(nodes: Iterator[exp.Expr], day: str | None) -> dict[str, exp.Expr]:
    """Return the date columns that are compared with a constant (one day, where it is given)."""
    found = {}
    for node in nodes:
        value = literal(bare(node.expression))
        dated = isinstance(value, str) and (day is None or value[:10] == day)
        if dated and isinstance(bare(node.this), exp.Column):
            found[bare(node.this).name.lower()] = node
    return found


def _ends(name: str) -> bool:
    return "_end_" in name
