"""The third rule reviewer: queries next to the reference that this database cannot tell from it.

If most near misses (a date one day off, a comparison at its limit, a lost DISTINCT) give the reference's
own result, a wrong answer would be scored as right. An unanswerable question has no reference: there it
looks whether another item's query could answer it, which no rule can tell; it says nothing.
"""

from agents.rules.verdicts import verdict
from agents.seats import Briefing, Issue, ReviewTask, Verdict
from items.templates.telling import told_apart

BY = "rule/neighbour@1"
FLOOR = 0.25  # of the near misses; ours: below it a question tests little but the choice of tables


def neighbour(task: ReviewTask, briefing: Briefing) -> Verdict:
    """Run the near misses of the reference and count those with another result."""
    sql = task.item.reference_sql
    share = told_apart(sql or "", briefing.database)
    if share >= FLOOR:
        return verdict(BY, ())
    said = f"Only {share:.0%} of the near misses of the reference give another result."
    return verdict(BY, [Issue("boundary", said, sql or "")])
