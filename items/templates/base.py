"""A question template and how it is filled: operations, then times, then values (S3-006, S3-008).

    Template(
        name="repeated", category="cohort_definition", difficulty="medium", scope="group",
        en="How many patients were diagnosed with {condition} at least {n} times {time}?",
        ko="{time} {condition} 진단을 {n}번 이상 받은 환자는 몇 명인가요?",
        sql="SELECT ... WHERE condition_concept_id = {condition} AND {time} ... HAVING count(*) >= {n}",
        values=common_conditions, operations={"n": (2, 3)}, times=years, column="condition_start_date",
    )

A Korean slot may name its particle: `{condition:을/를}`. Values are drawn from the database by queries
with an order of their own; the combinations are shuffled by the template's name, so that the same
database gives the same questions on every machine.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import product
from random import Random

from database.engine import Database
from database.result import Result
from items.korean import Korean
from items.model import Item
from items.templates.telling import told_apart
from items.templates.terms import Term, number
from items.templates.times import Time, before_day, since_day

MOST_ROWS = 1_000  # S1-058
LOOK = 30  # combinations with a valid answer that are compared before the most telling is taken
Filling = dict[str, Term]
Values = Callable[[Database, date], Iterable[Filling]]


@dataclass(frozen=True)
class Template:
    """One way to ask. `guard` is a query that must return no row (ties at a limit, say).

    values:     stage 3: condition values from the database.
    operations: stage 1: values that depend on no database (two or more times, 30 days).
    times:      stage 2: the time filters that the question allows, on the date `column`.
    witness:    for an unanswerable template: what the database does not hold.
    """

    name: str
    category: str
    difficulty: str
    scope: str
    en: str
    ko: str
    sql: str | None = None
    values: Values = field(default=lambda database, today: ({},))
    operations: dict[str, tuple[int, ...]] = field(default_factory=dict)
    times: Callable[[date], tuple[Time, ...]] | None = None
    column: str = ""
    order_matters: bool = False
    guard: str | None = None
    witness: str | None = None


def fillings(template: Template, database: Database, today: date) -> list[Filling]:
    """Return every combination of operations, times and values, in the template's own fixed order."""
    operations: list[list[tuple[str, Term]]] = [
        [(name, number(value)) for value in values] for name, values in template.operations.items()
    ]
    times = template.times(today) if template.times else ()
    timed: list[Filling] = [{"time": spoken(time, template.column)} for time in times] or [{}]
    found = [
        {**dict(chosen), **time, **values}
        for values in template.values(database, today)
        for time in timed
        for chosen in product(*operations)
    ]
    Random(template.name).shuffle(found)  # noqa: S311  # a fixed seed: an order, not a secret
    return found


def written(
    template: Template, database: Database, today: date, id: str, number: int = 0
) -> Item | None:
    """Return the template's item of that number, or None when the database has no more.

    Those come first whose result tells all near misses apart (a date one day off, a comparison at its
    limit, a lost DISTINCT); when `LOOK` combinations do not hold enough of them, the best of the rest.
    """
    looked: list[tuple[float, Item]] = []
    for item in _valid(template, database, today, id):
        looked.append((told_apart(item.reference_sql or "", database), item))
        if len(looked) >= LOOK + number or sum(told == 1.0 for told, _ in looked) > number:
            break
    looked.sort(key=lambda pair: -pair[0])
    return looked[number][1] if number < len(looked) else None


def spoken(time: Time, column: str) -> Term:
    """Return a time as the value of a slot, its condition on a date column."""
    return Term(time.en, time.ko, time.sql.format(column=column))


def on_edges(column: str, rows: Iterable[tuple[Filling, date]]) -> Iterator[Filling]:
    """Give each filling a time that starts or ends on a day drawn with it."""
    for filling, day in rows:
        for time in (since_day(day), before_day(day)):
            yield {**filling, "time": spoken(time, column)}


def _valid(template: Template, database: Database, today: date, id: str) -> Iterator[Item]:
    seen: set[str] = set()
    for filling in fillings(template, database, today):
        item = _filled(template, filling, id)
        if item.question_en not in seen and _answered(template, filling, item, database):
            seen.add(item.question_en)
            yield item


def _filled(template: Template, filling: Filling, id: str) -> Item:
    sql = template.sql and _sql(template.sql, filling)
    return Item(
        id=id,
        question_ko=template.ko.format(**{name: Korean(t.ko) for name, t in filling.items()}),
        question_en=template.en.format(**{name: term.en for name, term in filling.items()}),
        reference_sql=sql and sql.strip(),
        order_matters=template.order_matters,
        answerable=sql is not None,
        category=template.category,
        difficulty=template.difficulty,
        scope=template.scope,
        witness=template.witness,
    )


def _answered(template: Template, filling: Filling, item: Item, database: Database) -> bool:
    """Tell whether the query has a valid answer: rows, and in every column something but 0 and NULL."""
    if item.reference_sql is None:
        return True
    result = database.run(item.reference_sql)
    if not isinstance(result, Result) or not 1 <= len(result.rows) <= MOST_ROWS:
        return False
    columns = zip(*result.rows, strict=True)
    if not all(any(cell not in (None, 0) for cell in column) for column in columns):
        return False
    if template.guard is None:
        return True
    return not database.read(_sql(template.guard, filling)).rows


def _sql(text: str, filling: Filling) -> str:
    """Fill a query; the time goes first, because its column may be a slot too."""
    time = filling["time"].sql if "time" in filling else ""
    return text.replace("{time}", time).format(**{name: term.sql for name, term in filling.items()})
