"""The other end: MAX for the first, DESC for the fewest, before for after, neither for not both."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare
from items.rules.sql import DIALECT, Part

FIRST, LAST = r"(?:first|earliest)\b", r"(?:last|latest|most recent|newest)\b"
FIRST_KOREAN, LAST_KOREAN = "첫|처음|최초", "마지막|가장 최근|최종"
FEWEST = r"(?:fewest|rarest|lowest|smallest|shortest|least (?:common|frequent|often|used))\b"
MOST = r"(?:most (?:common|frequent|often|used|patients|people|records)|highest|largest|longest|greatest)\b"
LATER = (
    r"(?:afterwards|thereafter|later|after (?:the day of )?(?:their|his|her|its|the|that|this))\b"
)
EARLIER = (
    r"(?:beforehand|earlier|before (?:the day of )?(?:their|his|her|its|the|that|this)|prior to)\b"
)
LATER_DAY = (
    r"(?:on|at) a later (?:day|date)\b|strictly (?:after|later|before)\b|not on the same day\b|"
    r"before the day\b|day itself (?:does|is) not\b|(?:not counting|excluding) th(?:e|at) day\b"
)
NEITHER = r"neither\b|nor\b"
ORDERS = (exp.Min, exp.ArgMin, exp.ArgMax, exp.Order, exp.Window, exp.First, exp.Last)


@rule("warning", source="OHDSI cohort definitions: the latest event for the earliest")
def end_turned(case: Case) -> Iterator[Found | str]:
    """The first is the MIN of its dates, the last the MAX."""
    first = case.wording.says(FIRST, korean=FIRST_KOREAN)
    last = case.wording.says(LAST, korean=LAST_KOREAN)
    if case.query is None or first == last or case.wording.inclusive_days:
        return
    wrong, right = (exp.Max, exp.Min) if first else (exp.Min, exp.Max)
    tree = case.query.tree
    yield f"asks for the {'first' if first else 'last'}"
    for window in tree.find_all(exp.Window):
        yield from _numbered_from(window, latest=last)
    if tree.find(right, exp.ArgMin, exp.ArgMax, exp.Order, exp.Window, exp.First, exp.Last):
        return
    for node in tree.find_all(wrong):
        if isinstance(node.this, exp.Column) and "date" in node.this.name.lower():
            other = case.changed(case.query.exchanged(node, right(this=node.this.copy())))
            if other is not None:
                yield Found(
                    f"the question speaks of the {'first' if first else 'last'}; {node.sql(DIALECT)}",
                    evidence=case.told(other),
                )


@rule("warning", source="Spider's order rule: the other end of an order is picked")
def pick_turned(case: Case) -> Iterator[Found | str]:
    """The fewest is the first in rising order, the most in falling order."""
    fewest, most = case.wording.says(FEWEST), case.wording.says(MOST)
    if case.query is None or fewest == most:
        return
    for part in case.query.parts:
        order = part.select.args.get("order")
        first = order.expressions[0] if order else None
        if (
            order is None
            or first is None
            or not part.select.args.get("limit")
            or not _measured(part, first.this)
        ):
            continue
        yield f"{order.sql(DIALECT)}; asks for the {'fewest' if fewest else 'most'}"
        if bool(first.args.get("desc")) == fewest:
            yield Found(
                f"the question asks for the {'lowest' if fewest else 'highest'}; {order.sql(DIALECT)} "
                "with LIMIT gives the other end"
            )


@rule("warning", source="OHDSI cohort definitions: the order of events, turned round")
def anchor_turned(case: Case) -> Iterator[Found | str]:
    """What comes after the first event has a later date than it."""
    later, earlier = case.wording.says(LATER), case.wording.says(EARLIER)
    if case.query is None or later == earlier:
        return
    for part in case.query.parts:
        for node in part.own(exp.GT, exp.GTE, exp.LT, exp.LTE):
            side = _side_of_anchor(case, part, node)
            if side is None:
                continue
            after = isinstance(node, (exp.GT, exp.GTE)) == (side == "right")
            yield f"{node.sql(DIALECT)}: after the anchor: {after}"
            if after != later:
                yield Found(
                    f"the question puts it {'after' if later else 'before'}; {node.sql(DIALECT)}"
                )


@rule("warning", source="OHDSI cohort definitions: the same day taken for a later one")
def later_day(case: Case) -> Iterator[Found | str]:
    """On a later day is not on the same day."""
    if case.query is None or not case.wording.says(
        LATER_DAY, korean="나중 날짜|다음 날 이후|당일 제외"
    ):
        return
    pairs = [
        node
        for node in case.query.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE)
        if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column)
    ]
    yield ", ".join(node.sql(DIALECT) for node in pairs)
    if pairs and all(isinstance(node, (exp.GTE, exp.LTE)) for node in pairs):
        yield Found(
            f"the question says on a later day; {pairs[0].sql(DIALECT)} takes the same day in"
        )


@rule("warning", source="arXiv 2601.08778 (error class E1): neither A nor B, read as not both")
def neither_of_two(case: Case) -> Iterator[Found | str]:
    """Neither A nor B leaves out whoever has one of them, not only who has both."""
    if case.query is None or not case.wording.says(NEITHER):
        return
    tree = case.query.tree
    yield "neither, nor"
    for node in tree.find_all(exp.Except):
        if isinstance(bare(_inner(node.expression)), exp.Intersect):
            yield Found(
                "EXCEPT of an INTERSECT leaves out only who has both; the question says neither"
            )
    for turned in tree.find_all(exp.Not):
        inner = bare(turned.this)
        if isinstance(inner, exp.And) and len(list(inner.find_all(exp.Exists, exp.In, exp.EQ))) > 1:
            yield Found(
                f"{turned.sql(DIALECT)[:120]} leaves out only who has both; the question says neither"
            )
    for choice in tree.find_all(exp.Or):
        if all(isinstance(bare(side), exp.Not) for side in (choice.left, choice.right)):
            yield Found(
                f"{choice.sql(DIALECT)[:120]} wants one of them missing; the question says neither"
            )


def _numbered_from(window: exp.Window, *, latest: bool) -> Iterator[Found]:
    """Tell a row number that begins at the wrong end of its dates, where number 1 is taken."""
    order = window.args.get("order")
    first = order.expressions[0] if order else None
    numbered = isinstance(window.this, (exp.RowNumber, exp.Rank, exp.DenseRank))
    if first is None or not numbered or "date" not in first.this.sql(DIALECT).lower():
        return
    taken = isinstance(window.parent, exp.EQ) and window.parent.expression.sql() == "1"
    if taken and bool(first.args.get("desc")) != latest:
        yield Found(
            f"the question speaks of the {'last' if latest else 'first'}; {window.sql(DIALECT)} = 1"
        )


def _inner(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Subquery) else node


def _measured(part: Part, key: exp.Expr) -> bool:
    """Whether an order goes by a count, a sum, a mean or a span."""
    shown = {output.alias_or_name.lower(): output for output in part.select.selects}
    if isinstance(key, exp.Column) and not key.table:
        key = shown.get(key.name.lower(), key)
    return bool(key.find(exp.Count, exp.Sum, exp.Avg, exp.Median)) and not re.search(
        "birth", key.sql(DIALECT), re.I
    )


def _made(case: Case, part: Part, side: exp.Expr) -> tuple[Part, exp.Expr] | None:
    """Follow a column to what makes it, also one of an enclosing SELECT."""
    if case.query is None or not isinstance(side, exp.Column):
        return None
    homes = [part, *case.query.parts]
    home = next((one for one in homes if side.table in one.sources), part)
    return case.query.derived(home, side)


def _side_of_anchor(case: Case, part: Part, node: exp.Expr) -> str | None:
    """Return on which side of a comparison of two dates the first of all stands; None: on neither or both."""
    sides = []
    for side in (node.this, node.expression):
        made = _made(case, part, side)
        if made is None:
            return None
        sides.append(
            isinstance(bare(made[1]), exp.Min) and "date" in bare(made[1]).sql(DIALECT).lower()
        )
    if sides[0] == sides[1]:
        return None
    return "left" if sides[0] else "right"
