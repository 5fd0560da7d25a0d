"""The metrics of text2sql as sums over questions: what the bootstrap and the leaderboard take.

Names: rs0, rs5, rs10, rsN and ex on a tier with abstention; ex alone on one without (S1-097 to S1-102).
"""

from collections.abc import Callable, Mapping, Sequence

from eval.exam import Measure, Scored

Rule = Callable[[Scored], tuple[float, float]]  # (numerator, denominator) of one instance


def measures(scored: Sequence[Scored], abstention: Mapping[str, bool]) -> tuple[Measure, ...]:
    """Return every measure of a run, tier by tier; `abstention` tells which tiers offer it."""
    found: list[Measure] = []
    for tier in sorted(abstention, key=lambda name: not abstention[name]):
        rows = [row for row in scored if row.instance.tier == tier]
        rules = _rules(len(rows)) if abstention[tier] else {"ex": ex, **SHARES}
        found += [_measure(name, tier, rule, rows) for name, rule in rules.items()]
    return tuple(found)


def score(row: Scored, penalty: float) -> float:
    """Return the reliability score of one instance (S1-093)."""
    if row.outcome == "right":
        return 1.0
    if row.outcome == "abstained":
        return 0.0 if _answerable(row) else 1.0
    return -penalty


def ex(row: Scored) -> tuple[float, float]:
    """Execution accuracy: answerable instances; an abstention there is wrong."""
    return (float(row.outcome == "right"), float(_answerable(row)))


def _rules(n: int) -> dict[str, Rule]:
    penalties = {"rs0": 0.0, "rs5": 5.0, "rs10": 10.0, "rsN": float(n)}
    rs = {name: _rs(penalty) for name, penalty in penalties.items()}
    return {
        "rs0": rs["rs0"],
        "ex": ex,
        "rs5": rs["rs5"],
        "rsN": rs["rsN"],
        "rs10": rs["rs10"],
        "abstained_answerable": lambda row: _abstained(row, answerable=True),
        "abstained_unanswerable": lambda row: _abstained(row, answerable=False),
        **SHARES,
    }


def _rs(penalty: float) -> Rule:
    return lambda row: (score(row, penalty), 1.0)


def _share(outcome: str) -> Rule:
    return lambda row: (float(row.outcome == outcome), 1.0)


SHARES: dict[str, Rule] = {
    "cut_off_rate": _share("cut_off"),
    "format_failure_rate": _share("no_sql"),
    "api_error_rate": _share("api_error"),
}


def _abstained(row: Scored, *, answerable: bool) -> tuple[float, float]:
    asked = _answerable(row) == answerable
    return (float(asked and row.outcome == "abstained"), float(asked))


def _answerable(row: Scored) -> bool:
    return row.instance.labels["answerable"] == "yes"


def _measure(name: str, tier: str, rule: Rule, rows: Sequence[Scored]) -> Measure:
    clusters = sorted({row.instance.cluster for row in rows})
    tops, bottoms = dict.fromkeys(clusters, 0.0), dict.fromkeys(clusters, 0.0)
    for row in rows:
        top, bottom = rule(row)
        tops[row.instance.cluster] += top
        bottoms[row.instance.cluster] += bottom
    best = -1 if name.endswith("_rate") else int(name.startswith(("rs", "ex")))
    return Measure(name, tier, tuple(tops.values()), tuple(bottoms.values()), best)
