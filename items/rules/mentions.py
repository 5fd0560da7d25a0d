"""Where a question names its events: A after B is told from B after A by the names of A and B."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.concepts import EMPTY_WORDS
from items.rules.nodes import bare, conjuncts, literal
from items.rules.sql import DIALECT, Part
from items.rules.wording import alike

WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
AFTER, BEFORE = r"\b(?:after|following|since)\b", r"\b(?:before|prior to|preceding)\b"
TURNED = (
    r"\bfollowed by\b|\bpreceded by\b|\bnever\b|\bnot?\b|\bwithout\b|\bfree of\b|n't\b|\bfirst of\b"
)
NOT_EVENT = (
    r"\s*(?:\d|the age|age|(?:their|his|her) \d|the year|january|february|march|april|may \d|june|"
    r"july|august|"
    r"september|october|november|december|birth|today|this|the last)"
)
NOT_TELLING = {
    "first",
    "second",
    "third",
    "acute",
    "chronic",
    "history",
    "injury",
    "level",
    "degree",
    "measurement",
}
Names = frozenset[str]


@dataclass(frozen=True)
class Order:
    """Two events and the comparison that puts one of them before the other."""

    node: exp.Expr
    earlier: Names
    later: Names


@rule("warning", source="OHDSI cohort definitions: the order of two events turned round")
def named_order(case: Case) -> Iterator[Found | str]:
    """A after B: the date of A is the later one."""
    said = _said_order(case)
    if case.query is None or said is None:
        return
    anchor, after = said
    text = case.wording.english.lower()
    told = []
    for order in _orders(case):
        earlier, later = (places(text, names) for names in (order.earlier, order.later))
        if not earlier or not later or earlier == later:
            continue
        nearest = min((p for p in earlier | later if p > anchor), default=None)
        if nearest is None or (nearest in earlier) == (nearest in later):
            continue
        told.append((order, (nearest in earlier) == after))
        yield f"{order.node.sql(DIALECT)}: as the question says: {told[-1][1]}"
    if told and not any(right for _, right in told):
        yield Found(f"the question has it the other way round: {told[0][0].node.sql(DIALECT)}")


def _said_order(case: Case) -> tuple[int, bool] | None:
    """Return where the one "after" (True) or "before" (False) of a question stands; None: not one."""
    text = case.wording.english.lower()
    found = [(m, True) for m in re.finditer(AFTER, text)] + [
        (m, False) for m in re.finditer(BEFORE, text)
    ]
    if len(found) != 1 or re.search(TURNED, re.sub(r"\([^()]*\)", "", text)):
        return None
    match, after = found[0]
    return None if re.match(NOT_EVENT, text[match.end() :]) else (match.start(), after)


def places(text: str, names: Names) -> set[int]:
    """Return where the best match of some names stands in a text."""
    told = [(m.group(0), m.start()) for m in WORD.finditer(text)]
    told = [(word, place) for word, place in told if word not in EMPTY_WORDS]
    best, found = 0, set[int]()
    for name in names:
        wanted = [word for word in WORD.findall(name.lower()) if word not in EMPTY_WORDS]
        for start in range(len(wanted)):
            for at in range(len(told)):
                run = _run(wanted[start:], [word for word, _ in told[at:]])
                if (
                    run
                    and run >= best
                    and any(_telling(word) for word in wanted[start : start + run])
                ):
                    found = {told[at][1]} | (found if run == best else set())
                    best = run
    return found


def _run(wanted: list[str], told: list[str]) -> int:
    """Return how many words two texts begin with alike."""
    length = 0
    while length < min(len(wanted), len(told)) and alike(wanted[length], told[length]):
        length += 1
    return length


def _telling(word: str) -> bool:
    return len(word) > 3 and word not in NOT_TELLING


def _orders(case: Case) -> Iterator[Order]:
    """Yield the comparisons of the dates of two named events."""
    for part in case.query.parts if case.query else ():
        for node in part.own(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between):
            sides = _dates(node)
            if sides is None:
                continue
            names = [_events_of(case, part, side) for side in sides]
            if names[0] and names[1] and names[0] != names[1]:
                yield Order(node, names[0], names[1])


def _dates(node: exp.Expr) -> tuple[exp.Column, exp.Column] | None:
    """Return the earlier and the later of two dates that a condition compares."""
    left, right = bare(node.this), bare(node.args.get("low") or node.expression)
    if isinstance(left, (exp.Sub, exp.DateDiff)) and isinstance(literal(right), int):
        if literal(right) < 0 or isinstance(node, (exp.LT, exp.LTE)):  # type: ignore[operator]
            return None
        left, right = bare(left.this), bare(left.expression)
    pair = (left, right)
    if not all(isinstance(one, exp.Column) and one.table for one in pair):
        return None
    falls = isinstance(node, (exp.LT, exp.LTE))
    return (left, right) if falls else (right, left)  # type: ignore[return-value]


def _events_of(case: Case, part: Part, column: exp.Column) -> Names:
    """Return the names of the concepts that the rows of a date are limited to."""
    homes = [part, *(case.query.parts if case.query else ())]
    home = next((one for one in homes if column.table in one.sources), part)
    made = case.query.derived(home, column) if case.query else None
    if made is None:
        return frozenset()
    inner, expression = made
    if filtered := expression.find_ancestor(exp.Filter) or expression.find(exp.Filter):
        return _names_in(case, filtered.expression)
    read = next(iter(expression.find_all(exp.Column)), None)
    if read is None or "date" not in read.name.lower():
        return frozenset()
    return named(case, inner, read.table)


def named(case: Case, part: Part, table: str) -> Names:
    """Return the names of the concepts that one source of a SELECT is limited to."""
    joins = part.select.args.get("joins") or ()
    held = [
        *conjuncts(part.select.args.get("where")),
        *(c for j in joins for c in conjuncts(j.args.get("on"))),
    ]
    own = [c for c in held if not c.find(exp.Not) and _about(c, table, len(part.sources))]
    return frozenset(name for condition in own for name in _names_in(case, condition))


def _about(condition: exp.Expr, table: str, sources: int) -> bool:
    """Whether a condition limits the concept of a source: its own, or the name that it is joined to."""
    columns = [c for c in condition.find_all(exp.Column) if "concept" in c.name.lower()]
    return any(
        c.table == table or (sources < 3 and c.name.lower() == "concept_name") for c in columns
    )


def _names_in(case: Case, node: exp.Expr) -> Names:
    """Return the names of the concepts whose ids or names stand in a condition."""
    found: set[str] = set()
    for constant in node.find_all(exp.Literal):
        value = literal(constant)
        concept = case.facts.concept(value) if isinstance(value, int) and value > 9999 else None
        if concept is not None:
            found |= {concept.name}
        elif isinstance(value, str) and not value[:1].isdigit():
            found.add(value.strip("%"))
    return frozenset(found)
