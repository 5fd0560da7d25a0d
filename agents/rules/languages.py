"""The first rule reviewer: English, Korean and SQL name the same numbers, dates, concepts and kinds.

It reads numbers and dates, a few words that turn a meaning round (never, without, at least, percentage,
average), and the names of the concepts in the SQL. It knows no grammar: what it passes may still differ.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from agents.rules.verdicts import verdict
from agents.seats import Briefing, Issue, ReviewTask, Verdict
from database.engine import Database
from items.model import Item
from items.rules.facts import facts_of
from items.templates.times import MONTHS

BY = "rule/languages@1"
PAIRS = {  # what both languages must say, or neither
    "never": (r"\bnever\b", r"한 번도|적이 없"),
    "at least": (r"\bat least \d|\bor more\b", r"이상"),
    "a percentage": (r"\bpercent", r"퍼센트|%|비율"),
    "an average": (r"\baverage\b|\bmean\b", r"평균"),
    "rounding": (r"\bround", r"반올림"),
    "first": (r"(?<!oldest )(?<!newest )\bfirst\b", r"처음|첫(?!째 자리)|최초"),
    "last or most recent": (r"\bmost recent|\blast diagnos", r"가장 최근|마지막"),
    "patients": (r"\bpatients?\b", r"환자"),
    "younger or older": (r"\byounger\b|\bolder\b|\baged?\b", r"\d+세|나이"),
}
_NUMBER = re.compile(r"\d+")
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b(?= \d| of )")
_DATE = re.compile(r"DATE '(\d{4})-(\d\d)-(\d\d)'")
_CAST = re.compile(r"CAST\('(\d{4}-\d\d-\d\d)' AS DATE\)", re.I)
_INTEGER = re.compile(r"(?<![\d.'\w-])(\d{1,9})(?![\d.'\w])")
_CONCEPT = re.compile(r"(?:\w+_)?concept_id\s*(?:=|IN)\s*\(?\s*(\d[\d, ]*)", re.I)
_ROUNDED = re.compile(r", \d\)(?= AS)")
ORIGINS = (  # where the concepts that a question may name are used
    ("condition_occurrence", "condition_concept_id"),
    ("drug_era", "drug_concept_id"),
    ("procedure_occurrence", "procedure_concept_id"),
    ("measurement", "measurement_concept_id"),
)
NO_NUMBER = {0, 1, 100}  # 100.0 * x, + 1, ORDER BY 1: the question does not say them


def languages(task: ReviewTask, briefing: Briefing) -> Verdict:
    """Compare the two questions with each other, and both with the constants of the SQL."""
    item = task.item
    issues = [*_between_languages(item)]
    if item.reference_sql is not None:
        issues += _with_sql(item, item.reference_sql, briefing.today)
        issues += _concepts(item, item.reference_sql, briefing.database)
        issues += _unused(item, item.reference_sql, briefing.database)
    return verdict(BY, issues)


def _between_languages(item: Item) -> Iterator[Issue]:
    english, korean = numbers(item.question_en), numbers(item.question_ko)
    if english != korean:
        only = f"English only {sorted(english - korean)}, Korean only {sorted(korean - english)}"
        yield Issue("languages_differ", "The two questions name different numbers.", only)
    for what, (en, ko) in PAIRS.items():
        said = bool(re.search(en, item.question_en, re.I)), bool(re.search(ko, item.question_ko))
        if said[0] != said[1]:
            side = "English" if said[0] else "Korean"
            yield Issue("languages_differ", f"Only the {side} question speaks of {what}.")


def numbers(question: str) -> set[int]:
    """Return the numbers that a question names, months by their names included."""
    months = {MONTHS.index(name) + 1 for name in _MONTH.findall(question)}
    return {int(n) for n in _NUMBER.findall(question)} | months


def _with_sql(item: Item, sql: str, today: date | None) -> Iterator[Issue]:
    asked = numbers(item.question_en)
    days = [date(int(y), int(m), int(d)) for y, m, d in _DATE.findall(sql)]
    for day in days:
        if not _meant(day, asked, today):
            yield Issue("wrong_result", f"The question does not lead to the date {day}.", sql)
    sql = _CAST.sub(r"DATE '\1'", sql)  # the other way to write a date
    sql = _ROUNDED.sub("", sql)  # decimal places stand in the question in words
    bare = {int(n) for n in _INTEGER.findall(_CONCEPT.sub("", _DATE.sub("", sql)))}
    for number in sorted(bare - asked - NO_NUMBER):
        if number < 1_000:  # larger ones are concepts
            yield Issue("wrong_result", f"The SQL uses {number}, which the question does not name.")
    used = bare | {part for day in days for part in (day.year, day.month, day.day)}
    for number in sorted(asked - used - set(_offsets(days, today)) - NO_NUMBER):
        if number >= 2 and not re.search(rf"\b{number}\b", sql):
            yield Issue("wrong_result", f"The question names {number}, which the SQL does not use.")


def _meant(day: date, asked: set[int], today: date | None) -> bool:
    """Tell whether a date follows from the numbers of the question, or from today and one of them."""
    eve = day - timedelta(days=1)
    if {day.year, day.month, day.day} <= asked:
        return True
    if (day.month, day.day) == (1, 1) and {day.year, eve.year} & asked:
        return True
    if today is None:
        return False
    if day == today or {(today - day).days, (today - day).days - 1} & asked:
        return True
    same_day = (day.month, day.day) == (today.month, today.day)
    months = (today.year - day.year) * 12 + today.month - day.month
    near = today.year - day.year
    if same_day:
        return near in asked or near == 1
    if day.day == 1:
        return bool({months, months + 1, day.month, eve.month} & asked) or (
            day.month == 1 and near <= 1
        )
    return False


def _offsets(days: list[date], today: date | None) -> Iterator[int]:
    """Yield how many days, months and years before today each date lies."""
    for day in days if today else ():
        assert today is not None
        months = (today.year - day.year) * 12 + today.month - day.month
        yield from ((today - day).days, months, months + 1, today.year - day.year)
        if day.day == 1:  # the end of a calendar month or year, not included
            eve = day - timedelta(days=1)
            yield from (eve.year, eve.month)


def _concepts(item: Item, sql: str, database: Database) -> Iterator[Issue]:
    """Yield the concepts of the SQL of which no name stands in the English question."""
    for ids in _CONCEPT.findall(sql):
        for id in re.findall(r"\d+", ids):
            concept = facts_of(database).concept(int(id))
            if (
                concept is None or concept.domain == "Visit"
            ):  # "hospital stay" is an inpatient visit
                continue
            if not any(_named(name, item.question_en) for name in concept.names):
                said = f"Concept {id} is {concept.name!r}; the question does not name it."
                yield Issue("wrong_result", said)


def _unused(item: Item, sql: str, database: Database) -> Iterator[Issue]:
    """Yield the concepts that the English question names in full and the SQL does not use."""
    facts, question = facts_of(database), item.question_en.lower()
    known = {id: name.lower() for origin in ORIGINS for id, name in facts.used(origin).items()}
    said = {
        id: name for id, name in known.items() if re.search(rf"\b{re.escape(name)}\b", question)
    }
    for id, name in sorted(said.items()):
        longer = any(name != other and name in other for other in said.values())
        if not longer and str(id) not in sql and name not in sql.lower():
            yield Issue(
                "wrong_result", f"The question names {name!r} ({id}), the SQL does not use it."
            )


def _named(name: str, question: str) -> bool:
    words = [word for word in re.findall(r"[a-z]{3,}", name.lower()) if word not in ("and", "the")]
    said = question.lower()
    return all(word.rstrip("s") in said for word in words[:4])
