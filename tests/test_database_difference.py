"""A report shows what differs between two results: columns by what they hold, rows side by side."""

import pytest
from hypothesis import given, settings

from database.difference import difference
from database.result import Result, first_difference, results_match
from tests.cells import result
from tests.test_database_compare import tables

THREE = result([["a", 1, 2.5], ["b", 2, 3.5], ["c", 3, 4.5]])


@pytest.mark.parametrize(
    ("rows", "ordered", "reason"),
    [
        ([["a", 1], ["b", 2]], False, "2 columns where the reference has 3"),
        ([["a", 1, 2.5]], False, "1 row where the reference has 3"),
        (
            [["a", 1, 2.5], ["b", 2, 3.5], ["c", 9, 4.5]],
            False,
            "1 of 3 rows are not the reference's",
        ),
        (
            [["b", 2, 3.5], ["a", 1, 2.5], ["c", 3, 4.5]],
            True,
            "the same rows in another order, from row 1 on",
        ),
        (
            [["a", 1, 2.5], ["b", 9, 3.5], ["c", 8, 4.5]],
            True,
            "row 2 is the first of 2 that differ",
        ),
        ([["a", 1, 2.5], ["b", 2, 3.5], ["c", 3, 4.5]], True, None),
    ],
)
def test_the_reason_is_one_sentence(rows, ordered, reason):
    assert first_difference(THREE, result(rows), ordered=ordered) == reason


def test_columns_stand_for_those_that_hold_the_same():
    shuffled = result([[2.5, "a", 1], [3.5, "b", 2], [4.5, "c", 7]])
    found = difference(THREE, shuffled, ordered=False)
    assert found.columns == (1, 2, 0)
    assert [(p.reference, p.prediction, p.differs) for p in found.pairs] == [
        (("c", 3, 4.5), ("c", 7, 4.5), (False, True, False))
    ]


def test_a_spare_column_is_named_and_a_missing_one_is_all_different():
    more = result([["a", 0, 1, 2.5], ["b", 0, 2, 3.5], ["c", 0, 3, 4.5]])
    found = difference(THREE, more, ordered=False)
    assert (found.columns, found.spare, found.pairs) == ((0, 2, 3), (1,), ())
    fewer = difference(more, THREE, ordered=False)
    assert fewer.columns == (0, None, 1, 2)


def test_names_decide_between_columns_that_hold_nothing_alike():
    ours, theirs = (
        Result(("n", "day"), ("", ""), ((1, 2),)),
        Result(("day", "n"), ("", ""), ((8, 9),)),
    )
    assert difference(ours, theirs, ordered=False).columns == (1, 0)


def test_an_empty_prediction_lacks_every_row():
    found = difference(THREE, result([], 3), ordered=False)
    assert (found.missing, found.extra) == (3, 0)
    assert [pair.prediction for pair in found.pairs] == [None] * 3


def test_only_the_first_rows_are_shown():
    ours, theirs = result([[n] for n in range(5000)]), result([[-n] for n in range(1, 5001)])
    found = difference(ours, theirs, ordered=False, shown=5)
    assert (found.missing, found.extra, len(found.pairs)) == (5000, 5000, 5)


@settings(max_examples=400, deadline=None)
@given(tables())
def test_there_is_a_difference_exactly_when_results_do_not_match(pair):
    for ordered in (True, False):
        found = difference(*pair, ordered=ordered)
        assert (found is None) is results_match(*pair, ordered=ordered)
        assert found is None or found.reason
