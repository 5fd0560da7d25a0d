"""The metrics of text2sql, each as two sums over questions (S1-093 to S1-104, S3-014; Agreements 8).

On a tier with abstention, in this order (a tier without has `ex` and the rates):

    rs0, ex, rs5, rsN, rs10         RS(c) over all instances; ex over the answerable ones, where an
                                    abstention is wrong. N of rsN is the tier's, also in breakdowns
    abstained_answerable, abstained_unanswerable
                                    shares of those instances that were answered with ABSTAIN
    precision_ans, recall_ans, f1_ans, precision_exe, recall_exe, f1_exe
                                    EHRSQL's, with `answered` every instance that was not abstained on
    cut_off_rate, format_failure_rate, refused_rate, failed_rate, api_error_rate
                                    shares of all instances, by outcome class

EHRSQL's: P = both / answered and R = both / answerable, with `both` the answerable ones answered (ans) or
answered right (exe); F1 = 2 both / (answered + answerable), their harmonic mean. Where a denominator
is 0 there is no value, and no F1 without both P and R; upstream adds 1e-10 to every denominator and so
prints 0.0 there, and 99.99999999 for a perfect score.
"""

from collections.abc import Callable, Mapping, Sequence

from eval.exam import Measure, Scored
from eval.outcomes import CLASSES
from eval.reliability import PENALTIES
from eval.vendored import scorer

Rule = Callable[[Scored], tuple[float, float]]  # (numerator, denominator) of one instance
BREAKDOWNS = ("language", "category", "difficulty", "scope", "author")
FAILED = ("sql_refused", "sql_error", "time_out", "too_many_rows", "too_large")


def measures(scored: Sequence[Scored], abstention: Mapping[str, bool]) -> tuple[Measure, ...]:
    """Return every measure of a run, tiers with abstention first; `abstention` tells which those are."""
    found: list[Measure] = []
    for tier, rows in _tiers(scored, abstention):
        rules = _rules(len(rows)) if abstention[tier] else {"ex": ex, **RATES}
        found += [_measure(name, tier, rule, rows) for name, rule in rules.items()]
    return tuple(_no_half_f1(found))


def breakdowns(scored: Sequence[Scored], abstention: Mapping[str, bool]) -> tuple[Measure, ...]:
    """Return the measures that rank, for each part of each tier, e.g. `rs0[category=cohort_definition]`.

    They are over the same clusters as the tier's own, so that they rest on the same resamples.
    """
    found: list[Measure] = []
    for tier, rows in _tiers(scored, abstention):
        rules = {"rs0": _rs(0), "ex": ex, "rsN": _rs(len(rows))} if abstention[tier] else {"ex": ex}
        for label in BREAKDOWNS:
            for part in sorted({row.instance.labels.get(label, "") for row in rows} - {""}):
                found += [
                    _measure(f"{name}[{label}={part}]", tier, _only(rule, label, part), rows)
                    for name, rule in rules.items()
                ]
    return tuple(found)


def curve(scored: Sequence[Scored], tier: str, penalties: Sequence[int]) -> tuple[Measure, ...]:
    """Return RS(c) of one tier for each penalty c, as measures `rs0`, `rs1`, ..."""
    rows = [row for row in scored if row.instance.tier == tier]
    return tuple(_measure(f"rs{c}", tier, _rs(c), rows) for c in penalties)


def counts(scored: Sequence[Scored]) -> dict[str, dict[str, int]]:
    """Return tier -> outcome class -> instances; every class is there, and they sum to N."""
    found: dict[str, dict[str, int]] = {}
    for row in scored:
        of_tier = found.setdefault(row.instance.tier, dict.fromkeys(CLASSES, 0))
        of_tier[row.outcome] += 1
    return dict(sorted(found.items()))


def score(row: Scored) -> int:
    """Return the reliability score of one instance before the penalty (S1-093)."""
    return scorer().reliability_score(row.outcome, answerable=answerable(row))


def answerable(row: Scored) -> bool:
    """Tell whether an instance's question has an answer."""
    return row.instance.labels["answerable"] == "yes"


def ex(row: Scored) -> tuple[float, float]:
    """Execution accuracy: right answers of the answerable instances."""
    return (float(row.outcome == "right"), float(answerable(row)))


def _rules(n: int) -> dict[str, Rule]:
    return {
        "rs0": _rs(0),
        "ex": ex,
        "rs5": _rs(5),
        "rsN": _rs(n),
        **{f"rs{c}": _rs(c) for c in PENALTIES if c not in (0, 5)},
        "abstained_answerable": lambda row: _abstained(row, of_answerable=True),
        "abstained_unanswerable": lambda row: _abstained(row, of_answerable=False),
        **EHRSQL,
        **RATES,
    }


def _rs(penalty: int) -> Rule:
    return lambda row: (float(scorer().penalize(score(row), penalty)), 1.0)


def _share(*outcomes: str) -> Rule:
    return lambda row: (float(row.outcome in outcomes), 1.0)


RATES: dict[str, Rule] = {
    "cut_off_rate": _share("cut_off"),
    "format_failure_rate": _share("no_sql"),
    "refused_rate": _share("refused"),
    "failed_rate": _share(*FAILED),
    "api_error_rate": _share("api_error"),
}


def _abstained(row: Scored, *, of_answerable: bool) -> tuple[float, float]:
    asked = answerable(row) == of_answerable
    return (float(asked and row.outcome == "abstained"), float(asked))


def _answered(row: Scored) -> bool:
    return row.outcome != "abstained"


def _both(row: Scored, *, right: bool) -> float:
    return float(row.outcome == "right" if right else answerable(row) and _answered(row))


def _ehrsql(suffix: str, *, right: bool) -> dict[str, Rule]:
    def precision(row: Scored) -> tuple[float, float]:
        return (_both(row, right=right), float(_answered(row)))

    def recall(row: Scored) -> tuple[float, float]:
        return (_both(row, right=right), float(answerable(row)))

    def f1(row: Scored) -> tuple[float, float]:
        return (2 * _both(row, right=right), float(_answered(row)) + float(answerable(row)))

    return {f"precision_{suffix}": precision, f"recall_{suffix}": recall, f"f1_{suffix}": f1}


EHRSQL: dict[str, Rule] = {**_ehrsql("ans", right=False), **_ehrsql("exe", right=True)}


def _no_half_f1(found: Sequence[Measure]) -> list[Measure]:
    """Leave an F1 without a value where its precision or its recall has none."""
    without = {
        (measure.tier, measure.name.split("_")[-1])
        for measure in found
        if measure.name.startswith(("precision_", "recall_")) and not any(measure.denominators)
    }
    return [
        Measure(m.name, m.tier, (0.0,) * len(m.numerators), (0.0,) * len(m.denominators), m.best)
        if m.name.startswith("f1_") and (m.tier, m.name.removeprefix("f1_")) in without
        else m
        for m in found
    ]


def _only(rule: Rule, label: str, part: str) -> Rule:
    def of_part(row: Scored) -> tuple[float, float]:
        return rule(row) if row.instance.labels.get(label) == part else (0.0, 0.0)

    return of_part


def _tiers(
    scored: Sequence[Scored], abstention: Mapping[str, bool]
) -> list[tuple[str, list[Scored]]]:
    order = sorted(abstention, key=lambda name: (not abstention[name], name))
    return [(tier, [row for row in scored if row.instance.tier == tier]) for tier in order]


def _measure(name: str, tier: str, rule: Rule, rows: Sequence[Scored]) -> Measure:
    clusters = sorted({row.instance.cluster for row in rows})
    tops, bottoms = dict.fromkeys(clusters, 0.0), dict.fromkeys(clusters, 0.0)
    for row in rows:
        top, bottom = rule(row)
        tops[row.instance.cluster] += top
        bottoms[row.instance.cluster] += bottom
    return Measure(name, tier, tuple(tops.values()), tuple(bottoms.values()), _best(name))


def _best(name: str) -> int:
    if name.endswith("_rate"):
        return -1
    return 0 if name.startswith("abstained") else 1
