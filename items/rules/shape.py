"""Shape: the rows, columns, order and rounding of the answer are what the question asks for."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT
from items.rules.wording import number

YES_NO = {"yes", "no", "y", "n", "true", "false", "0", "1", "예", "아니오", "아니요"}
ORDER_WORDS = (
    r"order(?:ed)?\b|sort(?:ed)?|newest|oldest|most recent first|first\b|rank(?:ed)?|top \w+|descending|"
    r"ascending|chronolog|alphabetical|from (?:the )?(?:most|highest|lowest|oldest|newest)|most \w+ first|"
    r"highest to|lowest to|month by month|year by year|by month|by year"
)
ORDER_KOREAN = "순서|순으로|정렬|먼저|최신순|내림차순|오름차순|많은 순|달마다|월별|연도별|순위"
GROUPED = (
    r"each|every|per\b|by \w+|for (?:all|these)|list|which|and (?:what|how|the|its|their)|together|"
    r"along with|respectively|month by month"
)
GROUPED_KOREAN = "각각|별로|마다|목록|그리고|무엇이며|어떤|함께|보여|따로"


@rule("problem", source="bird-bench/mini_dev#45 (question 271)")
def yes_or_no(case: Case) -> Iterator[Found | str]:
    """A yes/no question is answered by one true or false, not by rows."""
    if case.rows is None or not case.wording.yes_no:
        return
    rows = case.rows.rows
    yield f"{len(rows)} rows, first {rows[0]!r}" if rows else "no rows"
    single = len(rows) == 1 and len(rows[0]) == 1
    if not single or str(rows[0][0]).strip().lower() not in YES_NO:
        yield Found("a yes/no question wants one value, true or false", evidence=repr(rows[:1]))
    elif _shows_id(case):
        yield Found(
            f"a yes/no question wants true or false; {rows[0][0]!r} is an id", evidence=repr(rows)
        )


@rule("warning", source="bird-bench/mini_dev#45 (answer shape)")
def rows_asked(case: Case) -> Iterator[Found | str]:
    """How many wants one number, which wants the things themselves, when wants a date."""
    if case.rows is None or case.query is None:
        return
    text, rows = case.item.question_en.strip().lower(), case.rows.rows
    single = len(rows) == 1 and len(rows[0]) == 1
    yield f"{len(rows)} rows, {len(case.rows.columns)} columns"
    each = case.wording.says(GROUPED, korean=GROUPED_KOREAN)
    if re.match(r"how (?:many|much)\b", text) and len(rows) > 1 and not each:
        yield Found(f"the question asks for one number; the query gives {len(rows)} rows")
    count = (
        case.query.top is not None and single and case.query.top.select.selects[0].find(exp.Count)
    )
    if re.match(r"(?:which|who|list|name)\b", text) and count and "how many" not in text:
        yield Found("the question asks which ones; the query counts them")
    kinds = [kind.upper() for kind in case.rows.types]
    when = re.match(r"(?:when\b|(?:on|at) (?:which|what) (?:date|day)\b|what (?:date|day)\b)", text)
    if when and rows and not any(kind.startswith(("DATE", "TIMESTAMP")) for kind in kinds):
        yield Found(f"the question asks for a date; the query gives {', '.join(kinds)}")


@rule("warning", source="arXiv 2601.08778 (answer shape)")
def columns_asked(case: Case) -> Iterator[Found | str]:
    """A question for one number is answered by one column."""
    if case.rows is None:
        return
    text = case.item.question_en.lower()
    quantities = text.count("how many") + text.count("how much") + text.count("number of")
    yield f"{len(case.rows.columns)} columns, {quantities} quantities asked"
    grouped = case.wording.says(GROUPED, korean=GROUPED_KOREAN)
    if quantities == 1 and not grouped and len(case.rows.columns) > 1:
        yield Found(
            f"the question asks for one number; the query gives {len(case.rows.columns)} columns"
        )


@rule("warning", source="S1-081; bird-bench/mini_dev order errors")
def order_said(case: Case) -> Iterator[Found | str]:
    """Where the order counts, the question asks for it and the query makes it."""
    asked = case.wording.says(ORDER_WORDS, korean=ORDER_KOREAN)
    yield f"order_matters: {case.item.order_matters}; the question asks for an order: {asked}"
    if case.query is None or case.rows is None or not case.item.order_matters:
        return
    if not case.query.tree.args.get("order") and len(case.rows.rows) > 1:
        yield Found("order_matters, but the query has no ORDER BY", severity="problem")
    if not asked:
        yield Found("order_matters, but the question asks for no order")


@rule("warning", source="S1-017; rounding errors in BIRD")
def rounding_said(case: Case) -> Iterator[Found | str]:
    """Rounding that the question asks for is done, and coarse rounding is asked for."""
    if case.query is None:
        return
    wanted = _decimals(case)
    done = [node for node in case.query.tree.find_all(exp.Round) if _shown_value(node)]
    yield f"asked: {wanted}; done: {', '.join(node.sql(DIALECT) for node in done) or 'none'}"
    for node in done:
        places = literal(node.args.get("decimals"))
        places = places if isinstance(places, int) else 0
        if wanted is not None and places != wanted:
            yield Found(
                f"the question wants {wanted} decimals; {node.sql(DIALECT)}", severity="problem"
            )
        elif wanted is None and places < 3 and not case.wording.says("round", korean="반올림|소수"):
            yield Found(f"{node.sql(DIALECT)} rounds; the question does not say so")
    if wanted is not None and not done and _has_fractions(case):
        yield Found(f"the question wants {wanted} decimals; the query does not round")


def _shows_id(case: Case) -> bool:
    """Whether the one value of an answer is the id of something: 1 is then a row, not a yes."""
    if case.rows is None or case.query is None or not case.rows.columns:
        return False
    part = case.query.top or next(iter(case.query.parts), None)
    shown = part.select.selects[0] if part and part.select.selects else None
    origin = case.query.origin(part, shown) if part and shown is not None else None
    return str(case.rows.columns[0]).lower().endswith("_id") or bool(
        origin and origin[1].endswith("_id")
    )


def _decimals(case: Case) -> int | None:
    """Return the number of decimals that the question wants, if it says one."""
    match = re.search(
        r"(?:to|with|rounded to|at) (\w+) (?:decimals?|decimal places?|digits? after)|"
        r"rounded to the nearest (integer|whole number|tenth|hundredth)",
        case.item.question_en.lower(),
    )
    if not match:
        return None
    if match.group(2):
        return {"tenth": 1, "hundredth": 2}.get(match.group(2), 0)
    return number(match.group(1))


def _shown_value(node: exp.Round) -> bool:
    return node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Group) is None


def _has_fractions(case: Case) -> bool:
    cells = [cell for row in (case.rows.rows if case.rows else ()) for cell in row]
    return any(isinstance(cell, float) and round(cell, 3) != round(cell) for cell in cells)
