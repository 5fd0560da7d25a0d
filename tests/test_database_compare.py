"""Results are compared by FACTS 2 (`column_aware`), exactly, and fast on look-alike columns."""

import itertools
import random
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from database.cells import is_text, number_key
from database.result import results_match
from tests.cells import cases, cell, result

MATCHES = cases("result_match.json")["cases"]
FACTS_DECIDE = {  # a DATE equals a TIMESTAMP at midnight (FACTS 2); the cases read it literally
    "c-ha-115": True,
    "c-ha-116": True,
}


def wanted(case):
    literal = case.get("bt_readings", {}).get("column_aware", case["bt"])
    return FACTS_DECIDE.get(case["id"], literal)


@pytest.mark.parametrize("case", MATCHES, ids=lambda case: f"{case['id']}-{case['family']}")
def test_two_results_match_as_the_shared_cases_say(case):
    reference = result(case["result1"], case["ncols1"])
    prediction = result(case["result2"], case["ncols2"])
    ordered = case["order_matters"]
    assert results_match(reference, prediction, ordered=ordered) is wanted(case)
    assert results_match(prediction, reference, ordered=ordered) is wanted(case)


DEPART = {  # where FACTS 2 departs from upstream's text of a value: the key it has here
    "b-ha-010": 9007199254740993,
    "b-ha-011": 9223372036854775807,
    "b-ha-012": 1000000000000000001,
    "b-ha-052": None,
    "b-ha-063": "1_000",
    "b-ha-096": 9007199254740993,
    "b-ha-102": "٣",
    "b-ha-103": "１２",
    "b-ha-104": "1\u00a0",
    "b-ha-135": "2100-12-31",
    "b-ha-140": "b'12'",
}


@pytest.mark.parametrize("case", cases("process_item.json")["items"], ids=lambda case: case["id"])
def test_a_cell_counts_as_process_item_says_but_for_the_departures(case):
    key = number_key(cell(case["value"]))
    if case["id"] in DEPART:
        assert key == DEPART[case["id"]]
    elif case["id"] == "b-ha-013":  # a whole number of 400 digits is exact
        assert key == case["value"]
    else:
        assert key == number_key(case["upstream"])


ONE = [
    ("a number and the text of it", 7, "7", True),
    ("a number and the text of it with zeros", 7, "007.000", True),
    ("3 decimals decide", 0.1234, 0.1233, True),
    ("and only 3", 0.123, 0.122, False),
    ("half is rounded as the binary number lies", 1.0005, 1.0, True),
    ("also for a decimal", Decimal("1.0005"), 1.0005, True),
    ("a decimal and a double", Decimal("10.10"), 10.1, True),
    ("a whole decimal of 38 digits is exact", Decimal(10**37 + 1), Decimal(10**37), False),
    ("a huge integer is exact", 2**100, 2**100 + 1, False),
    ("also as text", 2**100 + 1, str(2**100 + 1), True),
    ("text above 2^53 is exact", 2**53, str(2**53 + 1), False),
    ("text with a point above 2^53 is exact", 2**53 + 1, f"{2**53 + 1}.0", True),
    ("a text with an underscore is no number", 1000, "1_000", False),
    ("nor one in another script's digits", 12, "١٢", False),
    ("nor in full-width digits", 12, "１２", False),
    ("nor one between spaces that SQL does not know", 2, "\u00a02\u2003", False),
    ("nor between separators of ASCII", 2, "\x1f2", False),
    ("tabs and newlines are white space", 2, "\t2\n", True),
    ("a sign, a bare point and an exponent are notation", 500, "+.5E3", True),
    ("the text of a double", 1e300, "1e+300", True),
    ("a huge exponent is infinity, not a hang", float("inf"), "1e999999999", True),
    ("minus zero", 0.0, -0.0, True),
    ("minus zero by rounding", -0.0001, 0, True),
    ("NaN", float("nan"), float("nan"), True),
    ("NaN of a decimal", float("nan"), Decimal("NaN"), True),
    ("NaN is not NULL", float("nan"), None, False),
    ("infinity has a sign", float("inf"), float("-inf"), False),
    ("TRUE is 1", True, 1, True),
    ("FALSE is not NULL", False, None, False),
    ("TRUE is not its text", True, "true", False),
    ("NULL is not the text NULL", None, "NULL", False),
    ("NULL is not the empty text", None, "", False),
    ("a date and midnight", date(2020, 1, 1), datetime(2020, 1, 1), True),
    ("a date and a later hour", date(2020, 1, 1), datetime(2020, 1, 1, 1), False),
    ("a date and its text", date(2020, 1, 1), "2020-01-01", True),
    ("a date and the text of midnight", date(2020, 1, 1), "2020-01-01 00:00:00", True),
    (
        "half a second and its text",
        datetime(2020, 1, 1, 8, 0, 0, 500_000),
        "2020-01-01 08:00:00.5",
        True,
    ),
    ("a millisecond more", datetime(2020, 1, 1, 8, 0, 0, 1000), datetime(2020, 1, 1, 8), False),
    ("one moment in two zones", datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), True),
    ("a date is no number", date(2020, 1, 1), 20200101, False),
    ("intervals", timedelta(days=2), timedelta(hours=48), True),
    ("an interval is no number", timedelta(days=2), 2, False),
    ("UUIDs", UUID(int=5), UUID(int=5), True),
    ("a UUID and its text", UUID(int=5), str(UUID(int=5)), True),
    ("blobs", b"\x00\xff", b"\x00\xff", True),
    ("a blob is no number", b"12", 12, False),
    ("an array and a list", (1, 2), [1, 2], True),
    ("lists in order", [1, 2], [2, 1], False),
    ("nothing is rounded inside a list", [1], [1.0], False),
    ("a NULL in a list", [None], ["None"], False),
    ("structs", {"a": 1, "b": [2]}, {"a": 1, "b": [2]}, True),
    ("text is exact against text", "250.0", "250.00", False),
    ("also its white space", "E11", "E11 ", False),
    ("also its case", "Aspirin", "aspirin", False),
    ("also its Unicode spelling", "é", "e\u0301", False),
]


@pytest.mark.parametrize(("name", "left", "right", "same"), ONE, ids=[one[0] for one in ONE])
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "free"])
def test_one_cell_against_another(name, left, right, same, ordered):
    assert results_match(result([[left]]), result([[right]]), ordered=ordered) is same
    assert results_match(result([[right]]), result([[left]]), ordered=ordered) is same


def test_a_text_column_may_stand_for_a_number_column_and_back():
    left, right = result([[1, "1.0"], [2, "2.0"]]), result([["1.00", 1], ["2.00", 2]])
    assert results_match(left, right, ordered=False)
    assert results_match(left, right, ordered=True)


def test_a_spelling_that_has_no_number_column_left_does_not_match():
    left, right = result([["1.0", "1"]]), result([["1.00", 1]])
    assert not results_match(left, right, ordered=False)
    assert not results_match(left, right, ordered=True)


def test_ten_thousand_rows_are_allowed_and_one_more_is_not():
    allowed, too_many = result([[n] for n in range(10_000)]), result([[n] for n in range(10_001)])
    assert results_match(allowed, allowed, ordered=True)
    assert not results_match(too_many, too_many, ordered=True)


# The rule said plainly: all orders of the columns, each pair of columns by its own reading.
def restated(left, right, ordered):
    if len(left.columns) != len(right.columns) or len(left.rows) != len(right.rows):
        return False
    if not left.rows:
        return True
    ours, theirs = list(zip(*left.rows, strict=True)), list(zip(*right.rows, strict=True))
    return any(_equal(ours, [theirs[j] for j in order], ordered) for order in _orders(len(ours)))


def _orders(count):
    return itertools.permutations(range(count))


def _equal(ours, theirs, ordered):
    columns = [_read(a, b) for a, b in zip(ours, theirs, strict=True)]
    left = list(zip(*(a for a, _ in columns), strict=True))
    right = list(zip(*(b for _, b in columns), strict=True))
    return left == right if ordered else Counter(left) == Counter(right)


def _read(a, b):
    if is_text(a) and is_text(b):
        return a, b
    return [number_key(v) for v in a], [number_key(v) for v in b]


NUMBERS = [0, 1, 2, 1.0, 0.9999, True, False, Decimal("1"), float("nan"), -0.0, 2**53, 2**53 + 1]
OTHERS = [None, date(2020, 1, 1), datetime(2020, 1, 1), b"1"]
CELLS = st.sampled_from([*NUMBERS, *OTHERS, "1", "1.0", "01", "a", "A", "nan", "2020-01-01"])
FEW = st.sampled_from([0, 1])
TEXTS = st.sampled_from(["1", "1.0", "2", None])
LOOKALIKE = st.sampled_from(["1", "1.0", 1, 2])


@st.composite
def tables(draw):
    """Two small tables: the second is drawn, or made from the first by permuting and a small edit."""
    kinds = draw(st.lists(st.sampled_from([CELLS, FEW, TEXTS, LOOKALIKE]), min_size=1, max_size=5))
    height = draw(st.integers(0, 5))
    left = [[draw(kind) for kind in kinds] for _ in range(height)]
    order = draw(st.permutations(range(len(kinds))))
    right = [[row[j] for j in order] for row in draw(st.permutations(left))]
    edit = draw(st.sampled_from(["none", "cell", "swap", "drawn", "column"]))
    if edit != "none" and height:
        i, j = draw(st.integers(0, height - 1)), draw(st.integers(0, len(kinds) - 1))
        if edit == "cell":
            right[i][j] = draw(CELLS)
        elif edit == "swap":
            right[i][j], right[i][0] = right[i][0], right[i][j]
        elif edit == "column":
            for row in right:
                row[j] = str(row[j]) if isinstance(row[j], int) else row[j]
        else:
            right = [[draw(kind) for kind in kinds] for _ in range(height)]
    return result(left, len(kinds)), result(right, len(kinds))


@settings(max_examples=2_000, deadline=None)
@given(tables(), st.booleans())
def test_the_search_agrees_with_the_rule_said_plainly(pair, ordered):
    left, right = pair
    assert results_match(left, right, ordered=ordered) is restated(left, right, ordered)


@pytest.mark.parametrize("seed", range(20))
def test_a_shuffled_result_matches_itself_and_a_changed_one_does_not(seed):
    chance = random.Random(seed)
    width, height = chance.randint(1, 12), chance.randint(2, 300)
    rows = [[chance.choice([0, 1, None, "x", 2.5]) for _ in range(width)] for _ in range(height)]
    order = chance.sample(range(width), width)
    shuffled = [[row[j] for j in order] for row in chance.sample(rows, height)]
    assert results_match(result(rows), result(shuffled), ordered=False)
    shuffled[0][0] = "new"
    assert not results_match(result(rows), result(shuffled), ordered=False)


def hadamard(order):
    """Sylvester's matrix: any two columns, and any three, look alike."""
    rows = [[1]]
    while len(rows) < order:
        rows = [r + r for r in rows] + [r + [-c for c in r] for r in rows]
    return rows


def scrambled(rows, seed):
    chance = random.Random(seed)
    order = chance.sample(range(len(rows[0])), len(rows[0]))
    return [[row[j] for j in order] for row in chance.sample(rows, len(rows))]


def paley(prime):
    squares = {n * n % prime for n in range(1, prime)}
    return [[int((i - j) % prime in squares) for j in range(prime)] for i in range(prime)]


def edges(steps):
    """The edges of a graph on the 4 x 4 torus: a row an edge, a column a place."""
    places = list(itertools.product(range(4), repeat=2))
    joined = [
        (a, b)
        for a, b in itertools.combinations(places, 2)
        if ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in steps
    ]
    return [[int(place in edge) for place in places] for edge in joined]


# Two strongly regular graphs with the same parameters that are not the same graph.
ROOK = edges({(0, n) for n in (1, 2, 3)} | {(n, 0) for n in (1, 2, 3)})
SHRIKHANDE = edges({(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)})


def one_hot(width, height):
    return [[int(n % width == j) for j in range(width)] for n in range(height)]


def rings(*lengths):
    """The edges of rings: a row an edge. No two places can be told apart one by one."""
    rows, first = [], 0
    for length in lengths:
        for at in range(length):
            ends = {first + at, first + (at + 1) % length}
            rows.append([int(place in ends) for place in range(sum(lengths))])
        first += length
    return rows


MANY_TRIANGLES, MANY_HEXAGONS = rings(*[3] * 6, *[6] * 3), rings(*[3] * 4, *[6] * 4)

LOOK_ALIKE = [
    pytest.param(MANY_TRIANGLES, scrambled(MANY_TRIANGLES, 7), True, id="triangles and hexagons"),
    pytest.param(MANY_TRIANGLES, scrambled(MANY_HEXAGONS, 8), False, id="too few triangles"),
    pytest.param(hadamard(16), scrambled(hadamard(16), 1), True, id="Hadamard 16"),
    pytest.param(paley(29), scrambled(paley(29), 2), True, id="Paley 29"),
    pytest.param(ROOK, scrambled(ROOK, 3), True, id="rook"),
    pytest.param(ROOK, scrambled(SHRIKHANDE, 4), False, id="rook against Shrikhande"),
    pytest.param(one_hot(40, 10_000), scrambled(one_hot(40, 10_000), 5), True, id="one-hot 40"),
    pytest.param([[1] * 40] * 10_000, [[1] * 40] * 10_000, True, id="forty equal columns"),
]


@pytest.mark.parametrize(("left", "right", "same"), LOOK_ALIKE)
def test_columns_that_look_alike_take_no_time(left, right, same):
    reference, prediction = result(left), result(right)
    start = time.process_time()
    assert results_match(reference, prediction, ordered=False) is same
    assert time.process_time() - start < 3.0


def test_nine_scrambled_flag_columns_differ_in_no_time():
    chance = random.Random(9)
    rows = [[chance.randint(0, 1) for _ in range(9)] for _ in range(10)]
    torn = [chance.sample(row, 9) for row in rows]
    start = time.process_time()
    assert not results_match(result(rows), result(torn), ordered=False)
    assert time.process_time() - start < 0.5
