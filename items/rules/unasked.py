"""What the query limits and the question does not: a sex, a period, another number than "exactly"."""

import re
from collections.abc import Iterator
from datetime import date

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.limits import SIGNS
from items.rules.nodes import literal
from items.rules.sql import DIALECT
from items.rules.wording import number

SEXES = {"8507": "men", "8532": "women"}
SEX = (
    r"\bsex\b|gender|\b(?:wom[ae]n|females?|girls?|m[ae]n|males?|boys?)\b|mothers?|fathers?|pregnan"
)
SEX_KOREAN = "성별|여성|남성|여자|남자|여아|남아|임신|산모"
TIMED = (
    r"\d{4}|\d0s\b|\bago\b|today|\blast\b|\bpast\b|previous|recent|\bnow\b|current|\bage|\bold|\byears?\b"
    r"|\bborn\b|\bmonths?\b|\bdays?\b|century|\bdecade|\bearl|\blate|\bfuture|\bvalid|plausible"
)
LIMITS = (*SIGNS, exp.Between)
COUNTED = r"(\d[\d,]*|[a-z]+)"


@rule("warning", source="arXiv 2601.08778 (conditions that nobody asked for)")
def unasked_sex(case: Case) -> Iterator[Found | str]:
    """A query for one sex stands under a question that names it."""
    if case.query is None or case.wording.says(SEX, korean=SEX_KOREAN):
        return
    for node in case.query.tree.find_all(exp.EQ):
        names = {column.name.lower() for column in node.find_all(exp.Column)}
        value = str(literal(node.expression))
        yield node.sql(DIALECT)
        if "gender_concept_id" in names and value in SEXES and node.find_ancestor(exp.Where):
            yield Found(f"the query takes {SEXES[value]} only; the question does not say so")


@rule("warning", source="arXiv 2601.08778 (error class E2): a period that nobody asked for")
def unasked_period(case: Case) -> Iterator[Found | str]:
    """A period of the query is one of the question's: its years, or counted from today."""
    if case.query is None:
        return
    days = sorted(set(_limits(case)))
    yield f"limits: {', '.join(map(str, days)) or 'none'}"
    if days and not case.wording.says(TIMED):
        yield Found(f"the query is limited by {days[0]}; the question names no time")
        return
    years = {int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", case.wording.english)}
    if not years or case.wording.relative or case.wording.says(r"\d0s\b", "ago", "old", "age"):
        return
    for day in days:
        if not any(_within(day, year) for year in years) and day != case.ground.today:
            yield Found(f"the query is limited by {day}; the question speaks of {sorted(years)}")


@rule("problem", source="off-by-one limits in BIRD and Spider")
def exact_number(case: Case) -> Iterator[Found | str]:
    """Exactly N is = N; between N and M takes both in."""
    if case.query is None:
        return
    tree, text = case.query.tree, case.wording.english
    for match in re.finditer(rf"\bexactly (?:{COUNTED}|(once|twice))", text, re.I):
        word = next(group for group in match.groups() if group).lower()
        wanted = {"once": 1, "twice": 2}.get(word) or number(word.replace(",", ""))
        found = [node for node in tree.find_all(*SIGNS) if literal(node.expression) == wanted]
        equal = [node for node in tree.find_all(exp.EQ) if literal(node.expression) == wanted]
        yield f"{match.group(0)!r}: {len(equal)} equalities"
        if wanted is not None and found and not equal:
            yield Found(f"the question says {match.group(0)!r}; {found[0].sql(DIALECT)}")
    for match in re.finditer(rf"\bbetween {COUNTED} and {COUNTED}\b", text, re.I):
        low, high = (number(group.replace(",", "").lower()) for group in match.groups())
        yield match.group(0)
        if low is not None and high is not None and not case.wording.says("exclusive", "strictly"):
            yield from _open_ends(case, match.group(0), low, high)


@rule("warning", source="reported for generated SQL: LIKE '%x%' for a beginning")
def pattern_side(case: Case) -> Iterator[Found | str]:
    """A name that starts with a text is LIKE 'text%', one that ends with it LIKE '%text'."""
    if case.query is None:
        return
    starts = case.wording.says(r"(?:starts?|begins?|starting|beginning) with")
    ends = case.wording.says(r"(?:ends?|ending) (?:with|in) [\"'“]")
    for like in case.query.tree.find_all(exp.Like, exp.ILike):
        shape = str(literal(like.expression) or "")
        yield like.sql(DIALECT)
        if starts and not ends and shape.startswith("%") and len(shape) > 1:
            yield Found(f"the question says starts with; {like.sql(DIALECT)}")
        if ends and not starts and shape.endswith("%") and len(shape) > 1:
            yield Found(f"the question says ends with; {like.sql(DIALECT)}")


def _limits(case: Case) -> Iterator[date]:
    for node in case.query.tree.find_all(*LIMITS) if case.query else ():
        for side in (node.args.get("low"), node.args.get("high"), node.args.get("expression")):
            value = literal(side)
            day = as_date(value) if isinstance(value, str) and "-" in value else None
            if day:
                yield day


def _within(day: date, year: int) -> bool:
    """Whether a day is in a year, or is the last before it or the first after it."""
    return date(year - 1, 12, 31) <= day <= date(year + 1, 1, 1)


def _open_ends(case: Case, said: str, low: int, high: int) -> Iterator[Found]:
    """Tell a comparison that leaves out an end of an interval that has both."""
    tree = case.query.tree if case.query else exp.Select()
    if any(literal(between.args["low"]) == low for between in tree.find_all(exp.Between)):
        return
    for kind, closed, value in ((exp.GT, exp.GTE, low), (exp.LT, exp.LTE, high)):
        found = [node for node in tree.find_all(kind) if literal(node.expression) == value]
        if found and not any(literal(n.expression) == value for n in tree.find_all(closed)):
            yield Found(f"the question says {said!r}; {found[0].sql(DIALECT)}")
