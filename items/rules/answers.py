"""The answer's columns and rows: names where names are asked, a label for each group, the asked direction."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.sql import DIALECT, bare

FALLING = (
    r"descending|from (?:the )?(?:most|highest|largest|longest|latest|newest|busiest)\b|"
    r"(?:most \w+|highest|largest|longest|latest|newest|most recent) first|"
    r"(?:highest|largest|latest|newest) to (?:the )?(?:lowest|smallest|earliest|oldest)"
)
RISING = (
    r"ascending|from (?:the )?(?:fewest|lowest|smallest|shortest|earliest)\b|chronological|"
    r"(?:fewest|lowest|smallest|shortest|earliest) first|"
    r"(?:lowest|smallest|earliest) to (?:the )?(?:highest|largest|latest)"
)
NUMBERED = r"(?:and|with|give|show) (?:the |its |their |a )?(?:number|count) of\b|and how many\b"
NAMED = r"(?:names? (?:of|and)|by name|(?:give|show|list|with|and) (?:the|their|its) names?)\b"


@rule("warning", source="arXiv 2601.08778 (answer shape): an id for a name")
def names_shown(case: Case) -> Iterator[Found | str]:
    """A question for names is answered with text, not with ids."""
    if case.rows is None or not case.wording.says(NAMED, "what (?:is|are) the names?", "name the"):
        return
    kinds = [kind.upper() for kind in case.rows.types]
    yield f"columns: {', '.join(kinds)}"
    if not any(kind.startswith(("VARCHAR", "ENUM")) for kind in kinds):
        yield Found(f"the question asks for names; the query gives {', '.join(case.rows.columns)}")


@rule("warning", source="arXiv 2601.08778 (answer shape): a column that was asked for is not there")
def numbers_shown(case: Case) -> Iterator[Found | str]:
    """A question that also asks for a number is answered with one."""
    if case.rows is None or not case.wording.says(NUMBERED):
        return
    kinds = [kind.upper() for kind in case.rows.types]
    yield f"columns: {', '.join(kinds)}"
    if all(kind.startswith(("VARCHAR", "ENUM", "DATE", "TIMESTAMP")) for kind in kinds):
        yield Found(
            f"the question asks for a number; the query gives {', '.join(case.rows.columns)}"
        )


@rule("warning", source="bird-bench/mini_dev#45 (answer shape): groups without their label")
def groups_labelled(case: Case) -> Iterator[Found | str]:
    """Numbers of several groups stand beside what tells the groups apart."""
    top = case.query.top if case.query else None
    if top is None or case.rows is None or len(case.rows.rows) < 2:
        return
    group = top.select.args.get("group")
    if not group:
        return
    numbers = [output for output in top.select.selects if output.find(exp.AggFunc)]
    yield f"{len(top.select.selects)} outputs, {len(numbers)} of them aggregates"
    if len(numbers) == len(top.select.selects):
        keys = ", ".join(key.sql(DIALECT) for key in group.expressions)
        yield Found(f"{len(case.rows.rows)} groups without their label ({keys})")


@rule("warning", source="Spider's order rule: sorted the other way")
def order_direction(case: Case) -> Iterator[Found | str]:
    """From the latest to the earliest is DESC, lowest first is ASC."""
    order = case.query.tree.args.get("order") if case.query else None
    if not order or not case.item.order_matters:
        return
    first = order.expressions[0]
    falls, rises = case.wording.says(FALLING), case.wording.says(RISING)
    yield f"{first.sql(DIALECT)}; falling asked: {falls}, rising asked: {rises}"
    name = bare(first.this).sql(DIALECT).lower()
    if falls == rises or re.search(r"\bage|name|_id\b|rank", name):
        return
    if bool(first.args.get("desc")) != falls:
        asked = "falling" if falls else "rising"
        yield Found(
            f"the question asks for {asked} order; the query has ORDER BY {first.sql(DIALECT)}"
        )
