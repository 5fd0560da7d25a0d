"""Aggregates: the mean for a mean, the highest for the highest, shares between 0 and all."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT

AGGREGATES = {  # what is asked for, and what computes it
    "mean": (r"mean\b|average\b", "평균", (exp.Avg, exp.Div, exp.Median, exp.IntDiv)),
    "total": (r"total (?!number|count)\w+|sum of", "총합|합계", (exp.Sum, exp.Count)),
    "median": (r"median\b", "중앙값|중간값", (exp.Median, exp.PercentileCont, exp.Quantile)),
}  # fmt: skip
ENDS = (exp.Max, exp.Min, exp.Avg, exp.Median, exp.Mode, exp.Sum)
HIGHEST = r"highest|largest|maximum|greatest|biggest|longest"
LOWEST = r"lowest|smallest|minimum|shortest|fewest"
LATEST, EARLIEST = r"latest|most recent\b", r"earliest"
MEANS = (
    r"(?:mean|average)s? of (?:(?:the|all|those|these|their) )*(?:\w+(?:'s?)? ){0,3}(?:means|averages)\b|"
    r"average(?:s|d)? (?:those|these|the|their) (?:\w+ )?(?:means|averages)\b|"
    r"(?:mean|average)\b[^.?]*\bthen\b[^.?]*\b(?:mean|average)\b|"
    r"(?:mean|average)\b[^.?]*\b(?:mean|average) of (?:those|these|them)\b|"
    r"(?:mean|average)\b[^.?]*\bof (?:each|every) \w+(?:'s)? (?:own )?(?:mean|average)\b"
)
EACH = r"(?:each|every|per|own|individual|by|within)\b|(?:person|patient)s?'s?"


@rule("warning", source="arXiv 2601.08778: the extreme that nothing picks")
def extreme_taken(case: Case) -> Iterator[Found | str]:
    """The highest or lowest is picked by a maximum, an order or a rank."""
    if case.query is None or not case.wording.says(rf"(?:{HIGHEST}|{LOWEST})\b"):
        return
    tree = case.query.tree
    picks = (exp.Max, exp.Min, exp.Order, exp.Window, exp.ArgMax, exp.ArgMin, exp.All, exp.Greatest)
    yield f"picked: {tree.find(*picks) is not None}"
    if tree.find(*picks, exp.Exists, exp.Least, exp.Anonymous) is None:
        yield Found("the question asks for the highest or lowest; nothing in the query picks one")


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
            turned = bool(orders) and tree.find(exp.Limit, exp.Fetch) is not None
            if (tree.find(wrong) or turned) and computed is None and not any(orders):
                yield Found(
                    f"the question asks for the {asked.split('|')[0]}; the query takes the other end"
                )


@rule("warning", source="arXiv 2601.08778 (error class E1), the other way round")
def mean_of_rows(case: Case) -> Iterator[Found | str]:
    """A mean of each one's mean is taken in two steps."""
    if case.query is None or not (case.wording.says(MEANS) and case.wording.says(EACH)):
        return
    means = list(case.query.tree.find_all(exp.Avg))
    grouped = case.query.tree.find(exp.Group, exp.Window, exp.Div, exp.Anonymous)
    yield f"{len(means)} means; grouped: {grouped is not None}"
    if len(means) == 1 and grouped is None:
        yield Found(
            f"the question averages each one's mean; {means[0].sql(DIALECT)} averages all rows alike"
        )


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


@rule("warning", source="generated SQL: a filter that holds for numerator and denominator alike")
def whole_share(case: Case) -> Iterator[Found | str]:
    """A share that is exactly all says nothing, and is mostly a filter too many."""
    asked = case.wording.says(
        r"share|proportion|percent(?:age)?\b|fraction", korean="비율|퍼센트|백분율"
    )
    if case.rows is None or case.query is None or not asked or not case.query.tree.find(exp.Div):
        return
    cells = [cell for row in case.rows.rows for cell in row if isinstance(cell, float)]
    yield f"{cells[:4]}"
    if cells and all(cell in (1.0, 100.0) for cell in cells):
        yield Found("the share is exactly all: the same condition above and below the line?")
