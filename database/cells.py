"""What a cell counts as when two results are compared (S1-085, S1-087, S1-089; FACTS 2).

Two text columns compare as exact text: the ICD code '250.0' is not '250.00'. Every other pair of
columns compares by the number rule, which `number_key` states:

    2 = 2.0 = TRUE + 1 = Decimal('2') = '2' = ' 2.0004 '     3 decimals, text that is a number counts
    1000 != '1_000', 12 != '١٢'                              in plain ASCII digits, as SQL prints them
    9007199254740993 != 9007199254740992                     whole numbers are exact at any size
    -0.0 = 0.0, NaN = NaN, NULL = NULL and nothing else
    DATE '2020-01-01' = TIMESTAMP '2020-01-01 00:00:00' = '2020-01-01'
    [1] != [1.0]                                             nothing is rounded inside a value

Source: EHRSQL-2024 scoring_utils.py, `process_item` (round(float(value), 3), else the text), with the
departures above.
"""

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from string import ascii_letters
from typing import Any

EXACT_FLOATS = 2.0**53  # from here on a double skips whole numbers
MOST_DIGITS = 400  # longer whole numbers written as text are not turned into an int
NAN = "nan"  # no text can be this key: the text 'nan' is read as the number
WORDS = frozenset(ascii_letters) - set("iInN")  # letters no number begins with: inf, nan
PYTHONS = re.compile(r"[^\x00-\x1b -^`-~]")  # in no number of SQL's, though float() takes it
MIDNIGHT = " 00:00:00"

Key = int | float | str | None


def number_key(value: Any) -> Key:
    """Return what a cell counts as by the number rule: equal keys are equal cells.

    A key is a number, a text, or None for NULL; Python's == and hash hold between all of them.
    """
    if isinstance(value, float):
        return _float_key(value)
    if isinstance(value, str):
        return _text_key(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return _decimal_key(value)
    if isinstance(value, date):
        return _date_key(value)
    if isinstance(value, tuple):  # an array is the list of its values
        return str(list(value))
    return str(value)  # time, interval, UUID, blob, list, struct, map


def is_text(column: tuple[Any, ...]) -> bool:
    """Tell whether a column holds text: every value a text or NULL, and at least one a text."""
    kinds = set(map(type, column))
    return str in kinds and kinds <= {str, type(None)}


def _float_key(value: float) -> Key:
    rounded = round(value, 3)  # infinity stays
    return rounded if rounded == rounded else NAN


def _decimal_key(value: Decimal) -> Key:
    if not value.is_finite():
        return NAN if value.is_nan() else float(value)
    if value.adjusted() < MOST_DIGITS and value == value.to_integral_value():
        return int(value)
    return _float_key(float(value))


def _text_key(text: str) -> Key:
    if text[:1] in WORDS:  # float() would raise, which costs more than all the rest
        return text
    try:
        value = float(text)
    except ValueError:
        moment = text[4:5] == "-" and text[10:11] == " " and text[13:14] == ":"
        return _moment(text) if moment else text
    if PYTHONS.search(text):
        return text
    if abs(value) >= EXACT_FLOATS and len(text) < MOST_DIGITS and set(text).isdisjoint("eEiI"):
        return _decimal_key(Decimal(text))  # digits are exact; an exponent is how a double prints
    return _float_key(value)


def _date_key(value: date) -> str:
    if not isinstance(value, datetime):
        return str(value)
    if value.tzinfo is not None:  # the session's zone is UTC: the same moment is the same value
        value = value.astimezone(UTC).replace(tzinfo=None)
    return _moment(str(value))


def _moment(text: str) -> str:
    """Return a moment without what says nothing: the last zeros of a fraction, and midnight."""
    if text[19:20] == ".":
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix(MIDNIGHT)
