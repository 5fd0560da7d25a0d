"""A rule's verdict: it approves what it has nothing against, and says that a rule looked."""

from collections.abc import Sequence

from agents.seats import Issue, Verdict


def verdict(by: str, issues: Sequence[Issue]) -> Verdict:
    """Return approve without issues, revise with some."""
    return Verdict("revise" if issues else "approve", tuple(issues), by)
