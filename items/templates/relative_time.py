"""Questions counted from the fixed today (S1-065, S3-006): windows, points, and one patient's events."""

from collections.abc import Iterator
from datetime import date

from database.engine import Database
from items.templates.base import Filling, Template
from items.templates.cohort_definition import repeated_conditions
from items.templates.terms import CONDITIONS, Term, drawn, number
from items.templates.times import (
    Time,
    last_days,
    last_year,
    last_years,
    month_of_last_year,
    months_ago,
    since_month_of_last_year,
)


def recent(today: date) -> tuple[Time, ...]:
    """Return windows that end today."""
    days = (last_days(days, today) for days in (60, 90, 120, 180, 270))
    return (*days, *(last_years(years, today) for years in (2, 3, 5)))


def points(today: date) -> tuple[Time, ...]:
    """Return single months before today's, and last year."""
    return (*(months_ago(months, today) for months in range(2, 12)), last_year(today))


def mixed(today: date) -> tuple[Time, ...]:
    """Return months of last year, alone or as a start."""
    alone = (month_of_last_year(month, today) for month in range(1, 13))
    return (*alone, *(since_month_of_last_year(month, today) for month in range(2, 12)))


def common_conditions(database: Database, today: date) -> Iterator[Filling]:
    """Draw conditions that some patients had more than once in the last three years."""
    sql = f"""
        SELECT condition_concept_id
        FROM condition_occurrence
        WHERE condition_start_date >= DATE '{today.year - 3}-01-01'
        GROUP BY condition_concept_id
        HAVING count(*) > count(DISTINCT person_id)
        ORDER BY condition_concept_id"""  # noqa: S608  # a year, not a value
    for condition, _ in drawn(database, sql, CONDITIONS):
        yield {"condition": condition}


def patients(database: Database, today: date) -> Iterator[Filling]:
    """Draw patients with several diagnoses of one condition, the last within two years."""
    sql = f"""
        SELECT condition_concept_id, person_id
        FROM condition_occurrence
        GROUP BY condition_concept_id, person_id
        HAVING count(*) >= 3 AND max(condition_start_date) >= DATE '{today.year - 2}-07-01'
        ORDER BY condition_concept_id, person_id
        LIMIT 300"""  # noqa: S608  # a year, not a value
    for condition, row in drawn(database, sql, CONDITIONS):
        yield {"condition": condition, "patient": number(row[1]), **_now(today)}


def admitted(database: Database, today: date) -> Iterator[Filling]:
    """Draw patients with two hospital stays or more and diagnoses after the last one."""
    sql = """
        WITH last_stay AS (
            SELECT person_id, max(visit_start_date) AS admitted_on
            FROM visit_occurrence
            WHERE visit_concept_id = 9201
            GROUP BY person_id
            HAVING count(*) > 1
        )
        SELECT s.person_id
        FROM last_stay AS s
        JOIN condition_occurrence AS co ON co.person_id = s.person_id
        WHERE co.condition_start_date BETWEEN s.admitted_on AND s.admitted_on + 90
        GROUP BY s.person_id
        HAVING count(*) >= 2
        ORDER BY s.person_id"""
    for row in database.read(sql).rows:
        yield {"patient": number(row[0])}


def today_only(database: Database, today: date) -> Iterator[Filling]:
    """Give the SQL today, this year's and last year's first day, and today a year ago."""
    yield _now(today)


def conditions_now(database: Database, today: date) -> Iterator[Filling]:
    """Draw repeated conditions, with today's dates for the SQL."""
    for filling in common_conditions(database, today):
        yield {**filling, **_now(today)}


def long_ago(database: Database, today: date) -> Iterator[Filling]:
    """Draw repeated conditions with a number of years and the date so many years ago."""
    for filling in repeated_conditions(database, today):
        for years in (5, 10, 15, 20):
            day = today.replace(year=today.year - years).isoformat()
            yield {**filling, "years": number(years), "limit": Term("", "", f"DATE '{day}'")}


def _now(today: date) -> Filling:
    dates = {
        "today": today,
        "this_year": today.replace(month=1, day=1),
        "last_year": date(today.year - 1, 1, 1),
        "year_ago": today.replace(year=today.year - 1),
    }
    return {name: Term("", "", f"DATE '{day.isoformat()}'") for name, day in dates.items()}


TEMPLATES = (
    Template(
        name="recently",
        category="relative_time",
        difficulty="medium",
        scope="group",
        en="How many patients were diagnosed with {condition} {time}, and how many diagnosis records is"
        " that?",
        ko="{time} {condition} 진단을 받은 환자는 몇 명이고, 그 진단 기록은 몇 건인가요?",
        sql="""
SELECT count(DISTINCT person_id) AS patients, count(*) AS records
FROM condition_occurrence
WHERE condition_concept_id = {condition}
  AND {time}""",
        values=common_conditions,
        times=recent,
        column="condition_start_date",
    ),
    Template(
        name="point_in_time",
        category="relative_time",
        difficulty="medium",
        scope="group",
        en="How many patients received at least one diagnosis {time}, and how many diagnosis records were"
        " there?",
        ko="{time} 진단을 한 번이라도 받은 환자는 몇 명이고, 진단 기록은 몇 건인가요?",
        sql="""
SELECT count(DISTINCT person_id) AS patients, count(*) AS records
FROM condition_occurrence
WHERE {time}""",
        times=points,
        column="condition_start_date",
    ),
    Template(
        name="mixed_time",
        category="relative_time",
        difficulty="hard",
        scope="group",
        en="How many patients received at least one drug or vaccine {time}, and how many drug records is"
        " that?",
        ko="{time} 약이나 백신을 한 번이라도 받은 환자는 몇 명이고, 그 약물 기록은 몇 건인가요?",
        sql="""
SELECT count(DISTINCT person_id) AS patients, count(*) AS records
FROM drug_exposure
WHERE {time}""",
        times=mixed,
        column="drug_exposure_start_date",
    ),
    Template(
        name="last_time",
        category="relative_time",
        difficulty="easy",
        scope="patient",
        en="On what date was patient {patient} most recently diagnosed with {condition}, and how many days"
        " before today was that?",
        ko="환자 {patient}번이 {condition} 진단을 가장 최근에 받은 날짜는 언제이고, 오늘로부터 며칠"
        " 전인가요?",
        sql="""
SELECT max(condition_start_date) AS last_diagnosis,
       date_diff('day', max(condition_start_date), {today}) AS days_ago
FROM condition_occurrence
WHERE person_id = {patient}
  AND condition_concept_id = {condition}""",
        values=patients,
    ),
    Template(
        name="same_part_of_last_year",
        category="relative_time",
        difficulty="hard",
        scope="group",
        en="How many patients were diagnosed with {condition} from January 1 of this year through today, and"
        " how many from January 1 of last year through the same date as today last year?",
        ko="올해 1월 1일부터 오늘까지 {condition} 진단을 받은 환자는 몇 명이고, 작년 1월 1일부터 작년의"
        " 오늘과 같은 날짜까지 {condition} 진단을 받은 환자는 몇 명인가요?",
        sql="""
SELECT count(DISTINCT person_id) FILTER (
         WHERE condition_start_date >= {this_year} AND condition_start_date <= {today}
       ) AS this_year,
       count(DISTINCT person_id) FILTER (
         WHERE condition_start_date >= {last_year} AND condition_start_date <= {year_ago}
       ) AS last_year
FROM condition_occurrence
WHERE condition_concept_id = {condition}""",
        values=conditions_now,
    ),
    Template(
        name="not_since",
        category="relative_time",
        difficulty="hard",
        scope="group",
        en="How many patients have been diagnosed with {condition}, but most recently more than {years} years"
        " ago, that is, before this same date {years} years ago?",
        ko="{condition} 진단을 받은 적이 있지만 가장 최근 진단이 {years}년보다 더 전({years}년 전 같은 날보다"
        " 앞)인 환자는 몇 명인가요?",
        sql="""
SELECT count(*) AS patients
FROM (
  SELECT person_id
  FROM condition_occurrence
  WHERE condition_concept_id = {condition}
  GROUP BY person_id
  HAVING max(condition_start_date) < {limit}
) AS long_ago""",
        values=long_ago,
    ),
    Template(
        name="after_last_stay",
        category="relative_time",
        difficulty="hard",
        scope="patient",
        en="Which diagnoses did patient {patient} receive from the start of their most recent hospital stay"
        " through {n} days later, both days included? Show the date and the name of the diagnosis.",
        ko="환자 {patient}번이 가장 최근 입원을 시작한 날부터 {n}일 뒤까지(양 끝 날 포함) 받은 진단은"
        " 무엇인가요? 날짜와 진단 이름을 보여 주세요.",
        sql="""
SELECT co.condition_start_date AS diagnosed_on, c.concept_name AS diagnosis
FROM condition_occurrence AS co
JOIN concept AS c ON c.concept_id = co.condition_concept_id
JOIN (
  SELECT max(visit_start_date) AS admitted_on
  FROM visit_occurrence
  WHERE person_id = {patient}
    AND visit_concept_id = 9201
) AS stay
  ON co.condition_start_date >= stay.admitted_on
  AND co.condition_start_date <= stay.admitted_on + {n}
WHERE co.person_id = {patient}""",
        values=admitted,
        operations={"n": (30, 60, 90)},
    ),
)
