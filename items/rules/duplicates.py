"""Duplicates: no second item with the same question, the same query, or the same answer."""

import re
from collections.abc import Iterator
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from database.result import Result, results_match
from items.model import Item
from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT
from items.rules.wording import alike, words

STOP = {
    "a", "all", "an", "and", "any", "are", "at", "be", "been", "by", "did", "do", "does", "ever", "for",
    "from", "give", "had", "has", "have", "how", "in", "is", "it", "its", "list", "many", "me", "of", "on",
    "or", "please", "show", "tell", "that", "the", "their", "there", "they", "this", "to", "was", "were",
    "what", "which", "who", "with", "patient", "patients", "people", "person", "number", "database",
}  # fmt: skip
PARTICLES = re.compile(
    r"(?:은|는|이|가|을|를|의|에|에서|으로|로|와|과|도|만|인가요|나요|까요|주세요|요)$"
)


@rule("warning", source="S3-005 (near-duplicate phrasings are one question)", across=True)
def same_question(case: Case) -> Iterator[Found | str]:
    """No other item, of this tier or another, asks the same in other words."""
    english, korean = _content(case.item.question_en), _korean(case.item.question_ko)
    yield f"{len(case.ground.others)} other items"
    for other in case.ground.others:
        if other.id == case.item.id and other == case.item:
            continue
        if _equal(english, _content(other.question_en)):
            yield Found(f"asks the same as {other.id}", evidence=other.question_en, other=other.id)
        elif len(korean) > 1 and korean == _korean(other.question_ko):
            yield Found(
                f"asks the same in Korean as {other.id}", evidence=other.question_ko, other=other.id
            )


@rule("warning", source="S3-005; BIRD and Spider duplicate reports", across=True)
def same_query(case: Case) -> Iterator[Found | str]:
    """No other item has the same query, or the same skeleton with the same result."""
    if case.rows is None:
        return
    plain, skeleton = _plain(case.item.reference_sql), _skeleton(case.item.reference_sql)
    yield f"skeleton {skeleton[:80]}"
    for other in case.ground.others:
        if other == case.item or other.reference_sql is None:
            continue
        if _plain(other.reference_sql) == plain:
            yield Found(f"has the same query as {other.id}", severity="problem", other=other.id)
        elif _skeleton(other.reference_sql) == skeleton and _same_result(case, other):
            yield Found(
                f"has the skeleton and the result of {other.id}",
                evidence=other.question_en,
                other=other.id,
            )


@rule("note", source="an answer that another item gives too tells less", across=True)
def same_result(case: Case) -> Iterator[Found | str]:
    """The result is not that of another item."""
    if case.rows is None:
        return
    yield f"{len(case.rows.rows)} rows"
    for other in case.ground.others:
        if other == case.item or other.reference_sql is None or not _same_result(case, other):
            continue
        yield Found(
            f"returns the result of {other.id}",
            evidence=f"{case.rows.rows[:1]!r}",
            other=other.id,
            severity="warning" if _telling(case.rows) else "note",
        )


def _same_result(case: Case, other: Item) -> bool:
    result = case.result_of(other.reference_sql or "")
    return (
        isinstance(result, Result)
        and case.rows is not None
        and results_match(case.rows, result, ordered=False)
    )


def _telling(result: Result) -> bool:
    """Whether two queries would hardly return this by chance; single counts often meet."""
    cells = {str(cell) for row in result.rows for cell in row if cell not in (None, 0, 1)}
    return len(cells) > 2


@lru_cache(maxsize=4096)
def _content(question: str) -> frozenset[str]:
    return frozenset(word for word in words(question) if word not in STOP)


def _equal(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two questions' words are the same up to their forms."""
    left, right = one - other, other - one
    numbers = any(word[0].isdigit() for word in left | right)
    if numbers or len(left) > 2 or len(right) > 2 or len(one & other) < 2:
        return False
    matched = all(any(alike(a, b) for b in right) for a in left)
    return matched and all(any(alike(a, b) for a in left) for b in right)


@lru_cache(maxsize=4096)
def _korean(question: str) -> frozenset[str]:
    tokens = re.findall(r"[가-힣A-Za-z0-9_]+", question)
    return frozenset(PARTICLES.sub("", token) for token in tokens)


@lru_cache(maxsize=4096)
def _plain(sql: str | None) -> str:
    """Return a query without its layout and comments."""
    try:
        return sqlglot.parse_one(sql or "", dialect=DIALECT).sql(DIALECT, comments=False).lower()
    except SqlglotError:
        return " ".join((sql or "").lower().split())


@lru_cache(maxsize=4096)
def _skeleton(sql: str | None) -> str:
    """Return a query with its constants and names of its own taken out."""
    try:
        tree = sqlglot.parse_one(sql or "", dialect=DIALECT)
    except SqlglotError:
        return sql or ""
    for node in list(tree.find_all(exp.Literal)):
        node.replace(exp.Placeholder())
    for alias in list(tree.find_all(exp.Alias)):
        if isinstance(alias.parent, exp.Select):
            alias.replace(alias.this)
    return tree.sql(DIALECT, comments=False).lower()
