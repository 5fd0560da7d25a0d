"""Parts of an answer: each once, all that tie, a row a year and quarter, people not added up twice."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, Part

ALL_TIED = (
    r"(?:every|all|everyone|each) (?:\w+ ){0,3}(?:who|that|which) shares?\b|(?:if tied|ties|on a tie),? "
    r"(?:\w+ )?(?:show|list|give|return) (?:all|every)|all (?:that|who) tie\b|all tied\b"
)
ONCE = r"each (?:\w+ )?once\b|without (?:repetition|repeats|duplicates)\b|no duplicates"
YEARLY = (
    r"per year and (?:month|quarter)|(?:each|every) year and (?:month|quarter)|"
    r"each (?:quarter|month) (?:of|from|between|in) (?:19|20)\d\d (?:to|through|and|until|-) "
)
EITHER = r"or both\b|either\b|any of\b|at least one of\b|one or more of\b"
DIFFERENT_DAYS = r"different (?:days|dates)\b"
PAIR = r"pairs?\b|combinations?\b"


@rule("warning", source="Spider's order rule: LIMIT 1 where all that tie are asked for")
def all_tied(case: Case) -> Iterator[Found | str]:
    """Where everybody who shares the highest number is asked for, LIMIT 1 is one of them."""
    if case.query is None or not case.wording.says(ALL_TIED, korean="동률이면 모두|공동 ?1위"):
        return
    limit = case.query.tree.args.get("limit")
    yield limit.sql(DIALECT) if limit else "no LIMIT"
    if limit and not limit.args.get("with_ties"):
        yield Found(f"the question asks for all that tie; the query has {limit.sql(DIALECT)}")


@rule("problem", source="BIRD and EHRSQL: lists with repeats where each is asked for once")
def once_each(case: Case) -> Iterator[Found | str]:
    """Each name once is DISTINCT, in a list and in a text made of one."""
    if case.query is None or not case.wording.says(ONCE, korean="중복 없이|한 번씩만"):
        return
    for node in case.query.tree.find_all(exp.GroupConcat, exp.ArrayAgg):
        yield node.sql(DIALECT)
        if not node.find(exp.Distinct) and not case.query.tree.find(exp.Subquery, exp.CTE):
            yield Found(f"the question wants each once; {node.sql(DIALECT)} repeats")
    rows = case.rows.rows if case.rows else ()
    if len(set(map(repr, rows))) < len(rows):
        yield Found("the question wants each once; the result repeats rows")


@rule("warning", source="arXiv 2601.08778 (error class E2): years merged into one quarter")
def periods_merged(case: Case) -> Iterator[Found | str]:
    """A row for each quarter of several years has the year, too."""
    if case.query is None or not case.wording.says(
        YEARLY, korean="연도와 (?:분기|월)마다|연도별 (?:분기|월)"
    ):
        return
    for part in case.query.parts:
        group = part.select.args.get("group")
        text = group.sql(DIALECT).lower() if group else ""
        yield text or "no GROUP BY"
        if re.search(r"quarter|month", text) and not re.search(
            r"year|trunc|strftime|time_bucket", text
        ):
            yield Found(
                f"{group.sql(DIALECT) if group else ''} merges the same period of all years"
            )


@rule("problem", source="arXiv 2601.08778 (error class E1): people added up who are in both groups")
def counts_added(case: Case) -> Iterator[Found | str]:
    """Who has one or both is counted once: counts of people are not added."""
    if (
        case.query is None
        or not case.wording.asks_people
        or not case.wording.says(EITHER, korean="하나라도|또는")
    ):
        return
    for part in case.query.parts:
        for total in part.own(exp.Sum, exp.Add):
            counts = _people(case, part, total)
            yield f"{total.sql(DIALECT)[:100]}: {counts} counts of people"
            if counts > 1:
                yield Found(f"{total.sql(DIALECT)[:100]} counts who is in both groups twice")


@rule("warning", source="BIRD: COUNT without DISTINCT in HAVING, on days")
def days_apart(case: Case) -> Iterator[Found | str]:
    """On two different days is HAVING COUNT(DISTINCT day)."""
    if case.query is None or not case.wording.says(DIFFERENT_DAYS, korean="서로 다른 날"):
        return
    for part in case.query.parts:
        having, group = part.select.args.get("having"), part.select.args.get("group")
        dated = group is not None and any(
            "date" in c.name.lower() for c in group.find_all(exp.Column)
        )
        for count in having.find_all(exp.Count) if having and not dated else ():
            yield count.sql(DIALECT)
            if isinstance(count.this, exp.Star):
                yield Found(
                    f"HAVING {count.sql(DIALECT)} counts records; the question wants different days"
                )


@rule("warning", source="reported for generated SQL: a self-join that meets each pair twice")
def pairs_twice(case: Case) -> Iterator[Found | str]:
    """A pair is met once: a < b, not a <> b."""
    if case.query is None or not case.wording.says(PAIR, korean="조합|쌍"):
        return
    for part in case.query.parts:
        compared = [n for n in part.own(exp.NEQ, exp.LT, exp.GT) if _of_one_column(n)]
        yield ", ".join(node.sql(DIALECT) for node in compared)
        if compared and all(isinstance(node, exp.NEQ) for node in compared):
            yield Found(
                f"{compared[0].sql(DIALECT)} meets each pair in both orders; < meets it once"
            )


def _people(case: Case, part: Part, total: exp.Expr) -> int:
    """Return how many counts of different people a sum adds up."""
    if isinstance(total, exp.Add):
        return sum(_counts_people(side) for side in (total.this, total.expression))
    source = next(iter(part.scope.sources.values()), None)
    branches = getattr(source, "set_operation_scopes", None) or ()
    return sum(_counts_people(branch.expression) for branch in branches)


def _counts_people(node: exp.Expr) -> bool:
    return any(
        isinstance(count.this, exp.Distinct) and "person_id" in count.sql(DIALECT).lower()
        for count in node.find_all(exp.Count)
    )


def _of_one_column(node: exp.Expr) -> bool:
    one, other = node.this, node.expression
    both = isinstance(one, exp.Column) and isinstance(other, exp.Column)
    return both and one.name.lower() == other.name.lower() and one.table != other.table
