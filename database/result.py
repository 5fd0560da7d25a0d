"""What a query gives: a Result, or a Failure as data. Neither is an exception."""

from dataclasses import dataclass, field
from typing import Any, Literal

Reason = Literal["refused", "error", "time_out", "too_many_rows", "too_large", "memory", "lost"]


@dataclass(frozen=True)
class Result:
    """The rows of one SELECT.

    columns:   names, in order; their count holds also for an empty result.
    types:     the engine's type names, one a column.
    rows:      tuples of Python values, in the order the engine gave them.
    elapsed_s: seconds the query took.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    elapsed_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Failure:
    """Why a statement gave no rows.

    reason:  refused (the gate), error (the engine), time_out, too_many_rows (over the row limit),
             too_large (over the byte limit), memory, or lost: our worker failed for a reason that
             the query did not cause. `lost` is never a score.
    message: class and masked text; carries no data values.
    """

    reason: Reason
    message: str
    elapsed_s: float = field(default=0.0, compare=False)


def results_match(reference: Result, prediction: Result, *, ordered: bool) -> bool:
    """Tell whether a prediction's rows are the reference's (S1-083 to S1-088; compare.py).

    ordered: the question asks for an order, so the rows must come in the reference's.
    """
    from database.compare import match  # numpy: a worker needs only the values above

    return match(reference, prediction, ordered=ordered)


def first_difference(reference: Result, prediction: Result, *, ordered: bool) -> str | None:
    """Return in one sentence why two results do not match, or None (difference.py has the rows)."""
    from database.difference import difference

    found = difference(reference, prediction, ordered=ordered)
    return found.reason if found else None
