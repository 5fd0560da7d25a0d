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
MONTHLY = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december", "months?", "quarters?", "half", "days?", "weeks?", "spring", "summer", "autumn",
    "winter", "as of", "today", "early", "late", "age", "old", "born",
)  # fmt: skip
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


@rule(
    "problem",
    source="DuckDB: dayofweek begins with Sunday as 0, isodow with Monday as 1; %M is minutes",
)
def calendar_codes(case: Case) -> Iterator[Found | str]:
    """No weekday is 7 by dayofweek and none is 0 by isodow, and %M is no month."""
    for node in (
        case.query.tree.find_all(exp.DayOfWeek, exp.DayOfWeekIso, exp.Extract) if case.query else ()
    ):
        never = _never_a_day(node)
        values = _compared_with(node) if never is not None else set()
        yield f"{node.sql(DIALECT)}: {sorted(map(str, values))}"
        if never in values:
            yield Found(
                f"{node.sql(DIALECT)} is never {never}: Sunday is {7 - int(never or 0)} there"
            )
    for text in case.query.tree.find_all(exp.TimeToStr) if case.query else ():
        shape = str(literal(text.args.get("format")) or "")
        if "%M" in shape and "%H" not in shape and "%I" not in shape:
            yield Found(f"{text.sql(DIALECT)}: %M is minutes; %m is the month")


@rule("problem", source="arXiv 2601.08778 (error class E2): a year that begins late or ends early")
def whole_year(case: Case) -> Iterator[Found | str]:
    """In 1975 is from 1 January to 31 December."""
    years = set(re.findall(r"\b(?:in|during|of|year) ((?:19|20)\d\d)\b(?!-)", case.wording.english))
    if (
        case.query is None
        or len(years) != 1
        or case.wording.says(*MONTHLY)
        or re.search(BESIDE, case.wording.english)
    ):
        return
    year = years.pop()
    for node in case.query.tree.find_all(exp.Between, exp.GTE, exp.GT, exp.LTE, exp.LT):
        low = node.args.get("low") or (
            node.expression if isinstance(node, (exp.GTE, exp.GT)) else None
        )
        high = node.args.get("high") or (
            node.expression if isinstance(node, (exp.LTE, exp.LT)) else None
        )
        for end, fits in ((low, ("-01-01", "-12-31")), (high, ("-12-31", "-01-01"))):
            value = literal(bare(end)) if end is not None else None
            if isinstance(value, str) and re.match(rf"{year}-\d\d-\d\d", value):
                yield node.sql(DIALECT)
                if value[4:10] not in fits:
                    yield Found(f"the question says {year}; {node.sql(DIALECT)}")


def _never_a_day(node: exp.Expr) -> int | None:
    """Return the number that a weekday function never gives."""
    if isinstance(node, exp.Extract):
        return {"DOW": 7, "ISODOW": 0}.get(str(node.this).upper())
    return 0 if isinstance(node, exp.DayOfWeekIso) else 7


def _compared_with(node: exp.Expr) -> set[object]:
    parent = node.parent
    if isinstance(parent, exp.In):
        return {literal(choice) for choice in parent.expressions}
    return {literal(parent.expression)} if isinstance(parent, exp.EQ) else set()


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
