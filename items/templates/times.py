"""Time templates (S3-006): an expression in English, in Korean, and as a condition on a date column.

expression  absolute: a calendar date or year · relative: counted from today · mixed: both
interval    in: within one unit · since: from a point on · until: before a point

"N units ago" is a point and "this year" takes no since or until, as in EHRSQL. Every boundary day is
said in the question or is the edge of a calendar unit; every condition is half-open or closed as said.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


@dataclass(frozen=True)
class Time:
    """A time filter. `sql` holds `{column}` where the date column stands."""

    expression: Literal["absolute", "relative", "mixed"]
    interval: Literal["in", "since", "until"]
    en: str
    ko: str
    sql: str


def in_year(year: int) -> Time:
    """Return a calendar year: in 2016."""
    return Time(
        "absolute", "in", f"in {year}", f"{year}년에", _between(_first(year), _first(year + 1))
    )


def since_year(year: int) -> Time:
    """Return everything from the start of a year: since the start of 2010."""
    sql = f"{{column}} >= {_date(_first(year))}"
    return Time("absolute", "since", f"since the start of {year}", f"{year}년 초부터", sql)


def since_day(day: date) -> Time:
    """Return everything from a day on, that day included."""
    en, ko = f"since {_english(day)} (that day included)", f"{_korean(day)}부터(그날 포함)"
    return Time("absolute", "since", en, ko, f"{{column}} >= {_date(day)}")


def before_day(day: date) -> Time:
    """Return everything before a day, that day not included."""
    en, ko = f"before {_english(day)} (that day not included)", f"{_korean(day)} 전까지(그날 제외)"
    return Time("absolute", "until", en, ko, f"{{column}} < {_date(day)}")


def last_days(days: int, today: date) -> Time:
    """Return the days up to today, both ends included: in the last 90 days."""
    en = f"in the last {days} days (from the day {days} days ago through today, both included)"
    ko = f"최근 {days}일 동안({days}일 전 날부터 오늘까지, 양 끝 날 포함)"
    return Time("relative", "since", en, ko, _closed(today - timedelta(days=days), today))


def last_years(years: int, today: date) -> Time:
    """Return the years up to today, both ends included: in the last 5 years."""
    en = f"in the last {years} years (from this same date {years} years ago through today, both included)"
    ko = f"최근 {years}년 동안({years}년 전 같은 날부터 오늘까지, 양 끝 날 포함)"
    return Time("relative", "since", en, ko, _closed(today.replace(year=today.year - years), today))


def last_year(today: date) -> Time:
    """Return the calendar year before today's: last year."""
    year = today.year - 1
    return Time("relative", "in", "last year", "작년에", _between(_first(year), _first(year + 1)))


def months_ago(months: int, today: date) -> Time:
    """Return one calendar month, N months before today's: a point, not a span."""
    start = _month(today, -months)
    en = f"in the calendar month {months} months ago"
    ko = f"{months}개월 전의 달에(달력의 그 한 달 동안)"
    return Time("relative", "in", en, ko, _between(start, _month(start, 1)))


def since_month_of_last_year(month: int, today: date) -> Time:
    """Return from a month of last year through today: since March of last year."""
    start = date(today.year - 1, month, 1)
    en = f"since the start of {MONTHS[month - 1]} of last year (through today)"
    ko = f"작년 {month}월 초부터 오늘까지"
    return Time("mixed", "since", en, ko, _closed(start, today))


def month_of_last_year(month: int, today: date) -> Time:
    """Return a month of last year: in March of last year."""
    start = date(today.year - 1, month, 1)
    en, ko = f"in {MONTHS[month - 1]} of last year", f"작년 {month}월에"
    return Time("mixed", "in", en, ko, _between(start, _month(start, 1)))


def _first(year: int) -> date:
    return date(year, 1, 1)


def _month(day: date, months: int) -> date:
    """Return the first day of the month that many months away."""
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def _between(start: date, end: date) -> str:
    return f"{{column}} >= {_date(start)}\n  AND {{column}} < {_date(end)}"


def _closed(start: date, end: date) -> str:
    return f"{{column}} >= {_date(start)}\n  AND {{column}} <= {_date(end)}"


def _english(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def _korean(day: date) -> str:
    return f"{day.year}년 {day.month}월 {day.day}일"


def _date(day: date) -> str:
    return f"DATE '{day.isoformat()}'"
