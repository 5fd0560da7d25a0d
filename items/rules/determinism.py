"""Determinism: the same rows from the same data, however they lie on disk."""

from collections.abc import Iterator

from database import copies
from items.rules.base import Case, Found, rule


@rule("problem", source="FACTS §1: a reversed copy shows all 17 of 17 order-dependent queries")
def order_dependence(case: Case) -> Iterator[Found | str]:
    """The reference returns the same on copies of the database with its rows reversed and shuffled."""
    sql, ordered = case.item.reference_sql, case.item.order_matters
    if case.rows is None or sql is None:
        return
    yield "the reversed and the shuffled copy"
    try:
        differs = copies.order_dependence(case.ground.database, sql, ordered=ordered)
    except copies.Unanswered as error:
        case.unanswered.append(str(error))
        return
    if differs:
        yield Found("the result depends on the order in which rows lie on disk", evidence=differs)
