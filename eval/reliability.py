"""The reliability score: right, or say that you do not know (S1-091 to S1-096).

    +1  a right answer to an answerable question, an abstention on an unanswerable one
     0  an abstention on an answerable question
    -c  any other answer: wrong, failing or missing; any query on an unanswerable question

RS(c) is their mean, a fraction between -c and 1 (EHRSQL-2024 prints it times 100). In closed form
RS(c) = RS(0) - c * W / N with W the -c outcomes and N the scored instances; RS(N) takes c = N.
Source: Lee, Chay, Cho and Choi 2024 (TrustSQL); EHRSQL-2024 scoring_utils.py, `reliability_score` and
`penalize`, restated. The original is called instead when it lies beside its ORIGIN (vendored.py).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

PENALTIES = (0, 5, 10)  # S1-095; RS(N) beside them


def reliability_score(outcome: str, *, answerable: bool) -> int:
    """Return what an outcome is worth before the penalty: 1, 0 or -1.

    outcome: `right`, `abstained`, or the name of any other class: all of those are wrong.
    Raises: ValueError for a right answer to an unanswerable question, which there is not.
    """
    if outcome == "abstained":
        return 0 if answerable else 1
    if outcome != "right":
        return -1
    if not answerable:
        raise ValueError("an unanswerable question has no right query")
    return 1


def penalize(scores: Iterable[int], penalty: int) -> list[int]:
    """Return the scores with every -1 turned into -penalty."""
    return [-penalty if score == -1 else score for score in scores]


def rs(scores: Sequence[int], penalty: int) -> Fraction | None:
    """Return RS(penalty) of scores that are not penalized yet, exactly; None of no scores.

    Upstream gives NaN for no scores, with a warning.
    """
    return Fraction(sum(penalize(scores, penalty)), len(scores)) if scores else None
