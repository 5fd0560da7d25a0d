"""Brackets: a CASE that calls a group "40 to 59" begins with 40; labels.branches_true sees where it ends."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, conjuncts, literal
from items.rules.sql import DIALECT

SPAN = re.compile(r"(?<![\d.])(\d+)\s?(?:-|–|~|∼|to|through)\s?(\d+)(?![\d.])")
BELOW = re.compile(
    r"(?:under|below|less than|younger than|<)\s?(\d+)(?![\d.])|(\d+)[세일개월년]* ?미만"
)
ABOVE = re.compile(
    r"(\d+)\s?(?:\+|and (?:over|above|older|more)|or (?:over|above|older|more)|[세일개월년]* ?이상)"
)
OVER = re.compile(
    r"(?:over|above|more than|older than|>)\s?(\d+)(?![\d.])|(\d+)[세일개월년]* ?초과"
)


@dataclass(frozen=True)
class Span:
    """The whole numbers that a group takes in; None: no end on that side."""

    low: int | None = None
    high: int | None = None


@rule(
    "problem",
    source="off-by-one limits in BIRD and Spider, in CASE: a label that is not its limits",
)
def bracket_limits(case: Case) -> Iterator[Found | str]:
    """A CASE branch begins with the number that its label begins with."""
    for node in case.query.tree.find_all(exp.Case) if case.query else ():
        labels = [_labelled(branch.args["true"]) for branch in node.args["ifs"]]
        ends = {label.low for label in labels if label}
        for branch, label in zip(node.args["ifs"], labels, strict=True):
            taken = _taken(branch.this)
            if label is None or label.high in ends:  # 40-50, 50-60: which takes 50 is not said
                continue
            yield f"{branch.sql(DIALECT)}: {taken.low} to {taken.high}"
            if _beside(label.low, taken.low):
                told = branch.args["true"].sql(DIALECT)
                yield Found(f"{told} takes {branch.this.sql(DIALECT)}: off by one")


def _labelled(node: exp.Expr) -> Span | None:
    """Return what a label says that its group takes in."""
    text = literal(node)
    if not isinstance(text, str):
        return None
    if match := SPAN.search(text):
        return Span(int(match.group(1)), int(match.group(2)))
    if match := BELOW.search(text):
        return Span(high=int(match.group(1) or match.group(2)) - 1)
    if match := OVER.search(text):
        return Span(low=int(match.group(1) or match.group(2)) + 1)
    match = ABOVE.search(text)
    return Span(low=int(match.group(1))) if match else None


def _taken(condition: exp.Expr) -> Span:
    """Return what a condition takes in, of whole numbers."""
    low: int | None = None
    high: int | None = None
    for node in conjuncts(bare(condition)):
        node = bare(node)
        if isinstance(node, exp.Between):
            low, high = _whole(node.args["low"]), _whole(node.args["high"])
        value = (
            _whole(node.expression)
            if isinstance(node, (exp.LT, exp.LTE, exp.GT, exp.GTE))
            else None
        )
        if value is not None and isinstance(node, (exp.LT, exp.LTE)):
            high = value - isinstance(node, exp.LT)
        elif value is not None:
            low = value + isinstance(node, exp.GT)
    return Span(low, high)


def _whole(node: exp.Expr) -> int | None:
    value = literal(node)
    return value if isinstance(value, int) else None


def _beside(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and abs(one - other) == 1
