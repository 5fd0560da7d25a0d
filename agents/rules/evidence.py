"""The rule voter: it reads the figures of the evidence and says which of them decided.

Figures it knows (cli/evidence.py builds them): `answerable`, `unanswerable` (hard items), `instances` (all
tiers), `candidates` {model: {"room": tokens left in its context beside the prompt, "tokens_per_s": ...}},
`reference` {"strong": ..., "weak": ...} or null, `easy_ex` [lowest, highest].
All three seats hold the same rule, so its vote is always 3 of 3; the record says `single_model`.
"""

from collections.abc import Callable
from typing import Any

from agents.seats import BallotTask, Briefing, NoReply, Vote

BY = "rule/evidence@1"
EXAM_S = 240.0  # the longest that a preview's exam may take a candidate
Figures = dict[str, Any]
Choice = tuple[str, str]  # an option's id, and the reason


def evidence(task: BallotTask, briefing: Briefing) -> Vote | NoReply:
    """Vote by the figures; a decision it knows nothing of gets no vote."""
    choose = CHOICES.get(task.decision)
    if choose is None:
        return NoReply(f"no figure decides {task.decision!r}", BY)
    option, reason = choose(task, task.figures)
    if option not in {o.id for o in task.options}:
        return NoReply(f"the figures point to {option!r}, which is no option", BY)
    return Vote(option, f"By rule, from the evidence: {reason}", BY)


def output_limit(task: BallotTask, figures: Figures) -> Choice:
    """Take the largest limit that every candidate has room and time for."""
    options = sorted((int(option.id) for option in task.options), reverse=True)
    candidates = figures.get("candidates", {}).values()
    for limit in options if candidates else ():
        if all(_fits(limit, card, figures) for card in candidates):
            return str(limit), f"every candidate has room and time for {limit} output tokens"
    return str(options[-1]), "no figure shows that every candidate has room and time for more"


def _fits(limit: int, card: Figures, figures: Figures) -> bool:
    room, speed = card.get("room"), card.get("tokens_per_s")
    if room is not None and limit > room:
        return False
    return speed is None or limit * figures.get("instances", 0) / speed <= EXAM_S


def headline_metric(task: BallotTask, figures: Figures) -> Choice:
    """Take RS(0) where there is something to abstain on, else EX."""
    unanswerable = figures.get("unanswerable", 0)
    if unanswerable:
        return (
            "rs0",
            f"{unanswerable} hard questions are unanswerable; EX would not see an abstention",
        )
    return "hard_ex", "no hard question is unanswerable"


def second_round(task: BallotTask, figures: Figures) -> Choice:
    """Take the blind round: a rule judges the new content alone."""
    return "blind", "a rule judges the present content and has no use for earlier reasons"


def review_batch(task: BallotTask, figures: Figures) -> Choice:
    """Take one at a time: a rule reads one item."""
    return "1", "a rule reads one item at a time"


def output_format(task: BallotTask, figures: Figures) -> Choice:
    """Take the source's reading: what is cut off says nothing about the format."""
    return "model_failure", "an answer cut off at the limit shows no format that could be wrong"


def easy_tier_publication(task: BallotTask, figures: Figures) -> Choice:
    """Take the easy tier beside the headline: its questions are few and meant to be easy."""
    low, high = figures.get("easy_ex") or (None, None)
    seen = f"the dry runs' easy EX is {low} to {high}" if low is not None else "no dry run ranks it"
    return "beside", f"{seen}; it is shown, not ranked"


def reference_roster(task: BallotTask, figures: Figures) -> Choice:
    """Take the roster's own strong and weak model where it names them."""
    if figures.get("reference"):
        return "roster", "the roster names a strong and a weak model"
    return "none", "the roster names no strong and weak model, so no SOP check can be made"


CHOICES: dict[str, Callable[[BallotTask, Figures], Choice]] = {
    rule.__name__: rule
    for rule in (
        output_limit,
        headline_metric,
        second_round,
        review_batch,
        output_format,
        easy_tier_publication,
        reference_roster,
    )
}
