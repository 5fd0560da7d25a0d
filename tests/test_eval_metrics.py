"""Every metric is what its formula says, in every breakdown, and the classes sum to N."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.exam import Instance, Scored
from eval.metrics import breakdowns, counts, curve, measures, score
from eval.outcomes import CLASSES
from eval.reliability import rs
from eval.statistics import figures
from tests.cells import cases

TIERS = {"hard": True, "easy": False}
PARTS = {"category": ("a", "b", "c"), "difficulty": ("low", "high")}


def scored(outcomes, tier="hard"):
    """Instances in pairs of languages; an outcome is (class, answerable)."""
    return [
        Scored(
            Instance(
                f"{tier}/q{n // 2:03}-{'ko' if n % 2 else 'en'}",
                f"q{n // 2:03}",
                tier,
                labels={
                    "answerable": "yes" if answerable else "no",
                    "language": "ko" if n % 2 else "en",
                    "category": PARTS["category"][n // 2 % 3],
                    "difficulty": PARTS["difficulty"][n // 2 % 2],
                    "scope": "group",
                    "author": "one",
                },
            ),
            outcome,
        )
        for n, (outcome, answerable) in enumerate(outcomes)
    ]


def values(found):
    return {
        m.name: Fraction(sum(m.numerators)) / Fraction(sum(m.denominators))
        if any(m.denominators)
        else None
        for m in found
    }


F1 = {  # letter of the cases: outcome, answerable
    "R": ("right", True),
    "W": ("wrong_result", True),
    "E": ("sql_error", True),
    "A": ("abstained", True),
    "M": ("no_sql", True),
    "F": ("wrong_result", True),
    "u": ("abstained", False),
    "x": ("wrong_result", False),
    "e": ("sql_error", False),
    "m": ("no_sql", False),
}


@pytest.mark.parametrize("case", cases("ehrsql_f1.json")["cases"], ids=lambda case: case["id"])
def test_ehrsqls_f1_is_exactly_upstreams_where_it_has_a_value(case):
    found = values(measures(scored([F1[o] for o in case["outcomes"]]), {"hard": True}))
    for name, exact in case["exact"].items():
        ours = found[name.replace("_exec", "_exe")]
        assert ours == (None if exact is None else Fraction(exact))
        upstream = case["upstream_percent_2dp"][name]  # 0.0 where there is no value
        assert round(100 * float(ours or 0), 2) == pytest.approx(upstream, abs=0.011)


def test_the_names_and_their_order():
    found = [m.name for m in measures(scored([("right", True)] * 2), {"hard": True})]
    assert found[:5] == ["rs0", "ex", "rs5", "rsN", "rs10"]
    assert [m.name for m in measures(scored([("right", True)] * 2), {"hard": False})] == [
        "ex",
        "cut_off_rate",
        "format_failure_rate",
        "refused_rate",
        "failed_rate",
        "api_error_rate",
    ]


ANSWERED = [name for name in CLASSES if name not in ("right", "abstained")]
ONE = st.tuples(st.sampled_from(CLASSES), st.booleans()).filter(lambda o: o != ("right", False))


@settings(max_examples=150, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=40))
def test_the_formulas_hold_whatever_the_outcomes(outcomes):
    """S1-094: RS(0), RS(c) = RS(0) - c W / N, and EX, from counts alone."""
    rows = scored(outcomes)
    found, n = values(measures(rows, {"hard": True})), len(rows)
    right = sum(o == "right" for o, _ in outcomes)
    unasked = sum(o == "abstained" and not a for o, a in outcomes)
    answerable = sum(a for _, a in outcomes)
    w = sum(score(row) == -1 for row in rows)
    assert w == sum(o not in ("right", "abstained") for o, _ in outcomes)
    assert found["rs0"] == Fraction(right + unasked, n)
    for name, c in (("rs5", 5), ("rs10", 10), ("rsN", n)):
        assert found[name] == found["rs0"] - Fraction(c * w, n) == rs([score(r) for r in rows], c)
    assert found["ex"] == (Fraction(right, answerable) if answerable else None)


@settings(max_examples=50, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=40))
def test_classes_sum_to_n_and_parts_to_the_whole(outcomes):
    rows = scored(outcomes)
    assert sum(counts(rows)["hard"].values()) == len(rows)
    whole = {m.name: m for m in measures(rows, {"hard": True})}
    parts = breakdowns(rows, {"hard": True})
    for label in ("language", "category", "difficulty", "scope", "author"):
        for name in ("rs0", "ex", "rsN"):
            of_label = [m for m in parts if m.name.startswith(f"{name}[{label}=")]
            for sums in ("numerators", "denominators"):
                added = [sum(x) for x in zip(*(getattr(m, sums) for m in of_label), strict=True)]
                assert added == list(getattr(whole[name], sums))


def test_tiers_do_not_mix():
    rows = scored([("right", True)] * 4) + scored([("no_sql", True)] * 6, "easy")
    found = {(m.tier, m.name): m for m in measures(rows, TIERS)}
    assert sum(found[("hard", "ex")].numerators) == 4
    assert found[("easy", "ex")].denominators == (2.0, 2.0, 2.0)
    assert ("easy", "rs0") not in found


def test_the_curve_is_a_line_in_the_penalty():
    rows = scored(
        [("right", True), ("wrong_result", True), ("abstained", False), ("no_sql", False)]
    )
    found = values(curve(rows, "hard", range(8)))
    assert [found[f"rs{c}"] for c in range(8)] == [Fraction(2 - 2 * c, 4) for c in range(8)]


def test_the_shares_of_the_abstaining_are_two_numbers():
    """S1-100."""
    rows = scored(
        [("abstained", True), ("right", True), ("abstained", False), ("abstained", False)]
    )
    found = values(measures(rows, {"hard": True}))
    assert found["abstained_answerable"] == Fraction(1, 2)
    assert found["abstained_unanswerable"] == 1


def test_a_run_of_the_sources_size_has_its_numbers():
    """S1-094: 166 answerable and 36 unanswerable instances."""
    outcomes = [("right", True)] * 99 + [("wrong_result", True)] * 67 + [("abstained", False)] * 36
    found = figures([measures(scored(outcomes), {"hard": True})])[0]
    assert found[("hard", "ex")].value == 99 / 166
    assert found[("hard", "rs0")].value == 135 / 202
    assert found[("hard", "rs5")].value == (135 - 5 * 67) / 202
    assert found[("hard", "rsN")].value == (135 - 202 * 67) / 202
    half = (found[("hard", "ex")].high - found[("hard", "ex")].low) / 2
    assert half == pytest.approx(0.10, abs=0.012)  # S1-109
