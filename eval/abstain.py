"""A second run in which a model abstains by its own uncertainty (S3-015; `--abstain-by entropy`).

The model takes the exam once, with log-probabilities. A threshold is fitted on the queries of one tier;
on the tiers that offer ABSTAIN, every query whose highest token entropy lies above it becomes an
abstention. What the model abstained on, and what held no query, stays as it was. The run is its own, with
its own name, and says which threshold it rests on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import log
from typing import Any

from eval.exam import Exam, Prediction
from eval.rows import Row, RunFolder, stamped, writing
from eval.score import Sheet, sheets
from eval.uncertainty import PERCENTILE, Method, NoThreshold, Threshold, answers, fit, highest
from registry.events import now
from registry.reader import FormatError

SUFFIX = "+entropy"


@dataclass(frozen=True)
class Rule:
    """How the threshold is found: on the queries of which tier, and how."""

    fit_on: str
    method: Method = "two_means"
    percentile: float = PERCENTILE


def abstain_by_entropy(
    exam: Exam, asked: RunFolder, made: RunFolder, abstention: Mapping[str, bool], rule: Rule
) -> Threshold:
    """Write the run that abstains above the threshold, from a run with log-probabilities.

    abstention: which tiers offer ABSTAIN: only there it is used.
    Raises: FormatError (no log-probabilities, or no threshold), BusyError, OSError.
    """
    of_run = sheets(exam, asked)
    entropies = {s.instance.id: _entropies(s) for s in of_run if s.through and _gave_query(s)}
    fit_on = [sheet.instance.id for sheet in of_run if sheet.instance.tier == rule.fit_on]
    try:
        of_query = {id: highest(of_tokens) for id, of_tokens in entropies.items()}
        fitted = [of_query[id] for id in fit_on if id in of_query]
        threshold = fit(fitted, rule.method, percentile=rule.percentile)
    except NoThreshold as error:
        raise FormatError(
            asked.path, None, f"no threshold on tier {rule.fit_on!r}: {error}"
        ) from None
    with writing(made) as writer:
        for sheet in of_run:
            if sheet.through:
                of_tokens = entropies.get(sheet.instance.id)
                offered = abstention[sheet.instance.tier] and of_tokens is not None
                abstains = offered and not answers(of_tokens or (), threshold.value)
                writer.append(stamped(_row(asked, sheet, abstains=abstains)))
    made.write_header(_header(asked.header(), threshold, rule))
    return threshold


def _row(asked: RunFolder, sheet: Sheet, *, abstains: bool) -> Row:
    read = Prediction("abstain", reason="entropy") if abstains else sheet.predictions[0]
    source = f"earlier:{asked.path.name}"
    return Row(sheet.instance.id, 0, "", prediction=asdict(read), source=source)


def _gave_query(sheet: Sheet) -> bool:
    return sheet.predictions[0].kind == "sql"


def _entropies(sheet: Sheet) -> tuple[float, ...]:
    answer = sheet.rows[0].answer
    return (answer.token_entropies or ()) if answer else ()


def _header(asked: dict[str, Any], threshold: Threshold, rule: Rule) -> dict[str, Any]:
    told = {**asdict(threshold), "tier": rule.fit_on, "from": asked["model"]}
    if alternatives := asked["address"].get("logprobs"):
        told["ceiling"] = log(alternatives)  # a bound from k tokens cannot be higher
    return {**asked, "model": asked["model"] + SUFFIX, "abstain_by": told, "when": now()}
