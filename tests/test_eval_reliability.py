"""The reliability score is EHRSQL-2024's, exactly (S1-091 to S1-096)."""

from fractions import Fraction

import pytest

from eval.reliability import penalize, reliability_score, rs
from tests.cells import cases

RELIABILITY = cases("reliability.json")
OUTCOMES = {  # letter of the cases: outcome, answerable
    "R": ("right", True),
    "W": ("wrong_result", True),
    "A": ("abstained", True),
    "u": ("abstained", False),
    "x": ("sql_error", False),
}


def scores_of(letters):
    return [
        reliability_score(outcome, answerable=answerable)
        for outcome, answerable in (OUTCOMES[letter] for letter in letters)
    ]


@pytest.mark.parametrize("case", RELIABILITY["cases"], ids=lambda case: case["id"])
def test_rs_is_exactly_upstreams(case):
    scores = scores_of(case["outcomes"])
    assert case.get("scores", scores) == scores
    for penalty, exact in case["rs_exact"].items():
        c = case["n"] if penalty == "N" else int(penalty)
        found = rs(scores, c)
        assert found == (None if exact is None else Fraction(exact))
        if found is not None:  # as a fraction and as a float, to the last digit
            assert float(found) == pytest.approx(case["rs"][penalty], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("case", RELIABILITY["cases"], ids=lambda case: case["id"])
def test_the_closed_form_holds(case):
    """RS(c) = RS(0) - c W / N (S1-094)."""
    scores, n = scores_of(case["outcomes"]), case["n"]
    for c in (0, 1, 5, 10, n):
        if n:
            assert rs(scores, c) == rs(scores, 0) - Fraction(c * scores.count(-1), n)


def test_a_penalty_of_0_gives_0_and_not_minus_0():
    assert str(penalize([-1], 0)) == "[0]"


@pytest.mark.parametrize("outcome", ["wrong_result", "sql_error", "no_sql", "cut_off", "refused"])
def test_every_other_outcome_is_wrong(outcome):
    assert reliability_score(outcome, answerable=True) == -1
    assert reliability_score(outcome, answerable=False) == -1


def test_no_query_is_right_on_an_unanswerable_question():
    with pytest.raises(ValueError, match="no right query"):
        reliability_score("right", answerable=False)


def test_one_wrong_in_n_costs_one_on_rs_n():
    scores = scores_of("R" * 201 + "W")
    assert rs(scores, 202) == Fraction(201, 202) - 1
