"""Limits: "more than" is not "at least", "before" is not "until", and "the five" is LIMIT 5."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.nodes import literal
from items.rules.sql import DIALECT
from items.rules.wording import number

WORD = r"(\d[\d,]*(?:\.\d+)?|[a-z]+)"
PHRASES = (  # English phrase with a number in it, what a comparison with that number must be
    (rf"\b(?:more|greater|higher|older|longer|larger|later) than {WORD}", ">"),
    (r"\b(?:over|above|exceed\w*) (?:the age of )?(\d[\d,]*(?:\.\d+)?)", ">"),
    (rf"\bat least {WORD}", ">="),
    (
        rf"\b{WORD} (?:years of age |\w+ )?(?:or more|or older|or over|or longer|or higher|and older|"
        r"or above)\b",
        ">=",
    ),
    (rf"\b(?:no|not) (?:less|fewer|younger) than {WORD}", ">="),
    (rf"\b(?:less|fewer|younger|shorter|lower|smaller) than {WORD}", "<"),
    (r"\b(?:under|below) (?:the age of )?(\d[\d,]*(?:\.\d+)?)", "<"),
    (rf"\bat most {WORD}", "<="),
    (rf"\b{WORD} (?:years of age |\w+ )?(?:or less|or fewer|or younger|or under|or below)\b", "<="),
    (rf"\b(?:no|not) (?:more|older|later) than {WORD}", "<="),
)
DATES = (
    (r"\b(?:on or after|since|from|starting(?: on| from)?)", ">="),
    (r"\b(?:on or before|until|through|up to(?: and including)?)", "<="),
    (r"(?<!or )\bafter", ">"),
    (r"(?<!or )\bbefore", "<"),
)
DAY = (
    r"(\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}"
    r"(?:st|nd|rd|th)?,? \d{4})"
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SIGNS = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
SAME = {">": (">=", 1), ">=": (">", -1), "<": ("<=", -1), "<=": ("<", 1)}  # for whole numbers
NEGATED = r"\bnot?\b|never|without|n't\b|none|exclud|except|leav\w+ out|alive|still|until|last\b"
TOP = re.compile(
    r"\b(?:top|first|last|which|what are the) (\d+|three|four|five|six|seven|eight|nine|ten)\b"
    r"(?! (?:days?|weeks?|months?|years?|hours?))|\b(\d+|three|four|five|six|seven|eight|nine|ten) "
    r"(?:most|least) (?:common|frequent)|\bthe (\d+|three|four|five|six|seven|eight|nine|ten) (?:\w+ ){1,3}"
    r"with the (?:most|least|fewest|highest|lowest|largest|longest)",
    re.I,
)


@dataclass(frozen=True)
class Comparison:
    """A value compared with a constant: the sign as it reads with the value on the left."""

    node: exp.Expr
    sign: str
    constant: str


@rule(
    "problem", source="off-by-one limits in BIRD and Spider; FACTS §5 (15 of 27 hidden by the data)"
)
def number_limits(case: Case) -> Iterator[Found | str]:
    """More than is >, at least is >=, under is <, at most is <=."""
    for pattern, sign in PHRASES:
        for match in re.finditer(pattern, case.wording.english, re.I):
            value = _number(match.group(1))
            if value is None:
                continue
            yield f"{match.group(0)!r} is {sign} {value:g}"
            wrong = [c for c in _comparisons(case) if _disagrees(c, sign, value)]
            if any(_agrees(c, sign, value) for c in _comparisons(case)):
                continue
            if wrong:
                yield Found(f"the question says {match.group(0)!r}; {wrong[0].node.sql(DIALECT)}")
            elif turned := [c for c in _comparisons(case) if _turned(case, c, sign, str(value))]:
                yield Found(
                    f"the question says {match.group(0)!r}; {turned[0].node.sql(DIALECT)}",
                    severity="warning",
                )
            elif others := _counts_limited(case, match):
                yield Found(
                    f"the question says {match.group(0)!r}; HAVING {others[0].node.sql(DIALECT)}",
                    severity="warning",
                )


@rule("problem", source="S3-006 (since, until, in); arXiv 2601.08778 (error class E2)")
def date_limits(case: Case) -> Iterator[Found | str]:
    """Since and until take their day in, after and before leave it out."""
    for pattern, sign in DATES:
        for match in re.finditer(rf"{pattern} {DAY}", case.wording.english):
            day = as_day(match.group(1))
            if day is None:
                continue
            yield f"{match.group(0)!r} is {sign} {day}"
            found = [c for c in _comparisons(case) if c.constant[:10] == day]
            wrong = [c for c in found if c.sign[0] == sign[0] and c.sign != sign]
            if any(c.sign == sign for c in found):
                continue
            if wrong:
                yield Found(f"the question says {match.group(0)!r}; {wrong[0].node.sql(DIALECT)}")
            elif turned := [c for c in found if _turned(case, c, sign, day)]:
                yield Found(
                    f"the question says {match.group(0)!r}; {turned[0].node.sql(DIALECT)}",
                    severity="warning",
                )


@rule("warning", source="S3-006 (within); Eunomia question cd1")
def within_limits(case: Case) -> Iterator[Found | str]:
    """Within N days takes the Nth day in."""
    match = re.search(
        r"\bwithin (\d+|[a-z]+) (?:days?|weeks?|months?|years?)", case.wording.english, re.I
    )
    if match is None or case.query is None:
        return
    yield match.group(0)
    for node in case.query.tree.find_all(exp.LT):
        step = node.expression.unnest()
        gap = isinstance(node.this.unnest(), (exp.Sub, exp.DateDiff)) and literal(
            node.expression
        ) == number(match.group(1))
        if gap or (isinstance(step, exp.Add) and step.find(exp.Column)):
            yield Found(f"{node.sql(DIALECT)} leaves the last day out; within takes it in")


@rule("problem", source="Spider and BIRD: LIMIT that is not what is asked")
def count_of_rows(case: Case) -> Iterator[Found | str]:
    """The five most is LIMIT 5 (or a rank up to 5)."""
    match = TOP.search(case.wording.english)
    if match is None or case.query is None:
        return
    wanted = number(next(group for group in match.groups() if group))
    limits = [literal(node.expression) for node in case.query.tree.find_all(exp.Limit)]
    yield f"{match.group(0)!r}; LIMIT {limits}"
    if limits and wanted is not None and wanted not in limits:
        yield Found(f"the question says {match.group(0)!r}; the query has LIMIT {limits[0]}")


def as_day(text: str) -> str | None:
    """Return a day that is written out as YYYY-MM-DD."""
    if re.match(r"\d{4}-", text):
        return text
    words = re.findall(r"[A-Za-z]+|\d+", re.sub(r"(\d)(?:st|nd|rd|th)", r"\1", text))
    month = next((w[:3].lower() for w in words if w[:3].lower() in MONTHS), None)
    numbers = [int(w) for w in words if w.isdigit()]
    if month is None or len(numbers) != 2:
        return None
    day = as_date(f"{numbers[1]:04d}-{MONTHS.index(month) + 1:02d}-{numbers[0]:02d}")
    return day.isoformat() if day else None


def _counts_limited(case: Case, said: re.Match[str]) -> list[Comparison]:
    """Return the limits of counts in HAVING, where the question has one limit and it is a count's."""
    text = case.wording.english
    found = [m for phrase, _ in PHRASES for m in re.finditer(phrase, text, re.I)]
    span = r"[\s-]*(?:\w+ )?(?:days?|weeks?|months?|years?|hours?|percent|%|mg)\b"
    if len(found) > 1 or re.match(span, text[said.end() :]):
        return []
    return [
        c
        for c in _comparisons(case)
        if isinstance(c.node.this, exp.Count) and c.node.find_ancestor(exp.Having)
    ]


def _comparisons(case: Case) -> Iterator[Comparison]:
    for node in case.query.tree.find_all(*SIGNS) if case.query else ():
        for constant, sign in (
            (literal(node.expression), SIGNS[type(node)]),
            (literal(node.this), TURNED[SIGNS[type(node)]]),
        ):
            if constant is not None:
                yield Comparison(node, sign, str(constant))


def _disagrees(comparison: Comparison, sign: str, value: float) -> bool:
    """Whether a comparison takes the limit in where the words leave it out, or the other way."""
    constant = _number(comparison.constant)
    return constant == value and comparison.sign[0] == sign[0] and comparison.sign != sign


def _agrees(comparison: Comparison, sign: str, value: float) -> bool:
    constant = _number(comparison.constant)
    other, step = SAME[sign]
    if constant is None:
        return False
    return (comparison.sign == sign and constant == value) or (
        comparison.sign == other and constant == value + step
    )


def _turned(case: Case, comparison: Comparison, sign: str, value: str) -> bool:
    """Whether a comparison looks the other way, and nothing in question or query turns it round."""
    negated = case.wording.says(NEGATED) or (
        case.query is not None and case.query.tree.find(exp.Not, exp.Except, exp.Case) is not None
    )
    constant = _number(comparison.constant)
    same = comparison.constant[:10] == value if constant is None else str(constant) == value
    return same and comparison.sign[0] != sign[0] and not negated


def _number(text: str) -> float | None:
    plain = text.replace(",", "")
    if re.fullmatch(r"\d+(?:\.\d+)?", plain):
        return float(plain)
    found = number(plain) if plain.isalpha() else None
    return None if found is None else float(found)
