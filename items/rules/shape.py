"""Shape: the rows, columns, order and rounding of the answer are what the question asks for."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, conjuncts, literal
from items.rules.wording import number

YES_NO = {"yes", "no", "y", "n", "true", "false", "0", "1", "예", "아니오", "아니요"}
ORDER_WORDS = (
    r"order(?:ed)?\b|sort(?:ed)?|newest|oldest|most recent first|first\b|rank(?:ed)?|top \w+|descending|"
    r"ascending|chronolog|alphabetical|from (?:the )?(?:most|highest|lowest|oldest|newest)|most \w+ first|"
    r"highest to|lowest to|month by month|year by year|by month|by year"
)
ORDER_KOREAN = "순서|순으로|정렬|먼저|최신순|내림차순|오름차순|많은 순|달마다|월별|연도별|순위"
AGGREGATES = {  # what is asked for, and what computes it
    "mean": (r"mean\b|average\b", "평균", (exp.Avg, exp.Div, exp.Median, exp.IntDiv)),
    "median": (r"median\b", "중앙값|중간값", (exp.Median, exp.PercentileCont, exp.Quantile)),
}  # fmt: skip
ENDS = (exp.Max, exp.Min, exp.Median, exp.Mode, exp.Sum)
HIGHEST = r"highest|largest|maximum|greatest|biggest|longest"
LOWEST = r"lowest|smallest|minimum|shortest|fewest"
LATEST, EARLIEST = r"latest|most recent\b", r"earliest"


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


@rule("problem", source="taoyds/spider#31; arXiv 2601.08778")
def asked_aggregate(case: Case) -> Iterator[Found | str]:
    """A mean is computed as a mean, a median as a median, the highest as a maximum."""
    if case.query is None:
        return
    tree = case.query.tree
    for name, (english, korean, kinds) in AGGREGATES.items():
        if case.wording.says(english, korean=korean):
            yield f"asks for a {name}"
            others = [node for node in tree.find_all(*ENDS) if not isinstance(node, kinds)]
            if others and not any(True for _ in tree.find_all(*kinds)):
                yield Found(
                    f"the question asks for a {name}; the query computes {others[0].sql(DIALECT)}"
                )
    for asked, other, right, wrong in (
        (HIGHEST, LOWEST, exp.Max, exp.Min),
        (LOWEST, HIGHEST, exp.Min, exp.Max),
        (LATEST, EARLIEST, exp.Max, exp.Min),
        (EARLIEST, LATEST, exp.Min, exp.Max),
    ):
        if case.wording.says(asked) and not case.wording.says(other):
            yield f"asks for the {asked.split('|')[0]}"
            falls = right is exp.Max
            orders = [bool(o.args.get("desc")) == falls for o in tree.find_all(exp.Ordered)]
            computed = tree.find(right, exp.ArgMax if falls else exp.ArgMin)
            if tree.find(wrong) and computed is None and not any(orders):
                yield Found(
                    f"the question asks for the {asked.split('|')[0]}; the query takes the other end"
                )


@rule("warning", source="arXiv 2601.08778 (error class E1)")
def precedence(case: Case) -> Iterator[Found | str]:
    """AND binds before OR: where both stand side by side, parentheses say what is meant."""
    if case.query is None:
        return
    for node in case.query.tree.find_all(exp.Or):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(side, exp.And):
                continue
            yield node.sql(DIALECT)
            parts = conjuncts(side)
            near = parts[-1] if side is node.left else parts[0]
            rest = [part.copy() for part in parts if part is not near]
            choice = (
                [near.copy(), other.copy()] if side is node.left else [other.copy(), near.copy()]
            )
            regrouped = exp.and_(*rest, exp.paren(exp.or_(*choice)), copy=False)
            changed = case.changed(case.query.exchanged(node, exp.paren(regrouped)))
            if changed is not None:
                yield Found(
                    f"{node.sql(DIALECT)}: AND binds before OR; write the parentheses",
                    evidence=case.told(changed),
                )
                return


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


@rule("warning", source="reported for BIRD: a fraction where a percentage is asked")
def percent_scale(case: Case) -> Iterator[Found | str]:
    """A percentage goes from 0 to 100."""
    asked = case.wording.says(r"percent(?:age)?\b", korean="퍼센트|백분율")
    if case.rows is None or case.query is None or not asked:
        return
    hundred = any(
        str(node.this).startswith("100") for node in case.query.tree.find_all(exp.Literal)
    )
    for place, name in enumerate(case.rows.columns):
        cells = [row[place] for row in case.rows.rows if isinstance(row[place], float)]
        yield f"{name}: {cells[:3]}"
        if cells and not hundred and all(0 <= cell <= 1 for cell in cells):
            yield Found(f"{name} is a fraction; the question asks for a percentage")


@rule("warning", source="arXiv 2601.08778 (error class E1): a mean of means weighs groups alike")
def mean_of_means(case: Case) -> Iterator[Found | str]:
    """A mean of group means is not the mean."""
    if case.query is None or case.wording.says(
        r"(?:mean|average) of (?:the )?(?:\w+ )?(?:means|averages)"
    ):
        return
    for part in case.query.parts:
        for outer in part.own(exp.Avg):
            made = case.query.derived(part, outer.this)
            if made is None or not isinstance(made[1], exp.Avg):
                continue
            yield f"{outer.sql(DIALECT)} of {made[1].sql(DIALECT)}"
            means = case.ask(case.query.body(part, [outer.sql(DIALECT)]))
            whole = case.ask(case.query.body(made[0], [made[1].sql(DIALECT)]))
            if means and whole and _far(means[0][0], whole[0][0]) and not case.wording.each_of_all:
                yield Found(
                    "a mean of group means weighs small groups like large ones",
                    evidence=f"the mean of means is {means[0][0]}, the mean {whole[0][0]}",
                )


@rule("warning", source="reported for generated SQL: CASE with a gap")
def grouped_gap(case: Case) -> Iterator[Found | str]:
    """A CASE that makes groups gives every row one: no gap, or an ELSE."""
    top = case.query.top if case.query else None
    if top is None or case.rows is None:
        return
    for place, output in enumerate(top.select.selects):
        inner = output.unalias()
        if (
            isinstance(inner, exp.Case)
            and not inner.args.get("default")
            and not inner.find(exp.AggFunc)
        ):
            empty = sum(1 for row in case.rows.rows if row[place] is None)
            yield f"{output.alias_or_name}: {empty} rows in no group"
            if empty:
                yield Found(
                    f"{output.alias_or_name} is NULL where no WHEN holds: the groups have a gap"
                )


@rule("warning", source="arXiv 2601.08778 (answer shape)")
def columns_asked(case: Case) -> Iterator[Found | str]:
    """A question for one number is answered by one column."""
    if case.rows is None:
        return
    text = case.item.question_en.lower()
    quantities = text.count("how many") + text.count("how much") + text.count("number of")
    yield f"{len(case.rows.columns)} columns, {quantities} quantities asked"
    grouped = case.wording.says(
        r"each|every|per\b|by \w+|for (?:all|these)|list|which|and (?:what|how|the|its|their)|together|"
        r"along with|respectively|month by month",
        korean="각각|별로|마다|목록|그리고|무엇이며|어떤|함께|보여",
    )
    if quantities == 1 and not grouped and len(case.rows.columns) > 1:
        yield Found(
            f"the question asks for one number; the query gives {len(case.rows.columns)} columns"
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


def _far(one: object, other: object) -> bool:
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    return numbers and abs(float(str(one)) - float(str(other))) >= 0.0005
