"""Ages as dates: who is 50 or older has had the 50th birthday by then, that day itself included."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from items.rules.ages import BIRTHDAYS
from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT

SIGNS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
AGES = (  # what is said of an age, and the comparisons of the day with birthday + N + more years that do it
    (r"(?:older than|over the age of|above the age of) (\d+)", {(">=", 1), (">", 0)}),
    (
        r"(?:aged |age )?(\d+) (?:years )?(?:or older|and older|or over|or above|or more years)",
        {(">=", 0)},
    ),
    (r"at least (\d+) years old", {(">=", 0)}),
    (
        r"(?:younger than|under the age of|below the age of|before (?:their|his|her|the) age of) (\d+)",
        {("<", 0)},
    ),
    (r"(?:aged |age )?(\d+) (?:years )?(?:or younger|and younger|or under)", {("<", 1), ("<=", 0)}),
)


@dataclass(frozen=True)
class Lived:
    """A comparison of a day with a birthday some years on: `day sign birthday + years`."""

    node: exp.Expr
    sign: str
    years: int


@rule("problem", source="off-by-one limits in BIRD and Spider, on birthdays")
def birthday_limits(case: Case) -> Iterator[Found | str]:
    """50 or older begins on the 50th birthday, older than 50 on the 51st, younger ends before the 50th."""
    found = list(_lived(case)) if case.query else []
    if len(found) != 1:  # two of them make an interval, which other words describe
        return
    one = found[0]
    for pattern, right in AGES:
        match = re.search(rf"\b{pattern}\b", case.wording.english, re.I)
        if match is None:
            continue
        age = int(match.group(1))
        yield f"{match.group(0)!r}; the day is {one.sign} the birthday of {one.years}"
        same_side = any(sign[0] == one.sign[0] for sign, _ in right)
        if same_side and abs(one.years - age) <= 1 and (one.sign, one.years - age) not in right:
            yield Found(f"the question says {match.group(0)!r}; {one.node.sql(DIALECT)}")


def _lived(case: Case) -> Iterator[Lived]:
    """Yield the comparisons with a birthday, brought to one form."""
    for node in case.query.tree.find_all(*SIGNS) if case.query else ():
        for one, other, sign in (
            (node.this, node.expression, SIGNS[type(node)]),
            (node.expression, node.this, TURNED[SIGNS[type(node)]]),
        ):
            later, earlier = _years(one, exp.Add), _years(other, exp.Sub)
            if later is not None and _birth(one):  # birthday + years sign day
                yield Lived(node, TURNED[sign], later)
            elif (
                earlier is not None and _birth(one) and not _birth(other)
            ):  # birthday sign day - years
                yield Lived(node, TURNED[sign], earlier)


def _years(node: exp.Expr, kind: type[exp.Expr]) -> int | None:
    """Return how many years are added or taken off."""
    node = bare(node)
    while isinstance(node, exp.Cast):
        node = bare(node.this)
    step = bare(node.expression) if isinstance(node, kind) else None
    if not isinstance(step, exp.Interval) or "YEAR" not in str(step.args.get("unit")).upper():
        return None
    count = literal(step.this)
    text = str(count)
    return int(text) if text.isdigit() else None


def _birth(node: exp.Expr) -> bool:
    return any("birth" in column.name.lower() for column in node.find_all(exp.Column))


@rule("warning", source="duckdb/duckdb#600 (ages from years alone)")
def oldest_by_year(case: Case) -> Iterator[Found | str]:
    """The oldest is told by the birthday, where it is known, not by the year alone."""
    if case.query is None or not case.wording.says(
        r"(?:oldest|youngest)\b", korean="나이가? ?(?:가장 )?많은|가장 (?:어린|나이)"
    ):
        return
    known = [
        name
        for name in BIRTHDAYS
        if (one := case.facts.column(("person", name))) and one.nulls < one.rows
    ]
    for node in case.query.tree.find_all(exp.Min, exp.Max, exp.Ordered):
        years = isinstance(node.this, exp.Column) and node.this.name.lower() == "year_of_birth"
        yield node.sql(DIALECT)
        if years and known:
            yield Found(f"{node.sql(DIALECT)} goes by the year alone; person has {known[0]}")
