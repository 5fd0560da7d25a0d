"""The answer's columns and rows: names where names are asked, a label for each group, the asked direction."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare
from items.rules.sql import DIALECT

FALLING = (
    r"descending|from (?:the )?(?:most|highest|largest|longest|latest|newest|busiest)\b|"
    r"(?:most \w+|highest|largest|longest|latest|newest|most recent) (?:\w+ ){0,2}first|"
    r"(?:highest|largest|latest|newest) to (?:the )?(?:lowest|smallest|earliest|oldest)|"
    r"(?:most \w+|highest|largest|longest|latest|newest) (?:\w+ ){0,2}(?:on|at the) top"
)
RISING = (
    r"ascending|from (?:the )?(?:fewest|lowest|smallest|shortest|earliest)\b|chronological|"
    r"(?:fewest|lowest|smallest|shortest|earliest) (?:\w+ ){0,2}first|"
    r"(?:lowest|smallest|earliest) to (?:the )?(?:highest|largest|latest)|"
    r"(?:fewest|lowest|smallest|shortest|earliest) (?:\w+ ){0,2}(?:on|at the) top"
)
AGED = "{0} (?:\\w+ ){{0,2}}(?:first|on top|at the top)|{0} to (?:the )?{1}|from (?:the )?{0} to"
OLD_FIRST, YOUNG_FIRST = AGED.format("oldest", "youngest"), AGED.format("youngest", "oldest")
NUMBERED = r"(?:and|with|give|show) (?:the |its |their |a )?(?:number|count) of\b|and how many\b"
TOO = (
    r"(?:and|with|plus|along with|as well as|together with) (?:what (?:is|was) )?"
    r"(?:(?:the|their|its|his|her|an?) )*"
)
FEW = r"earliest|first|lowest|smallest|minimum|shortest|fewest"
MANY = r"latest|last|most recent|highest|largest|maximum|longest"
BOTH_ENDS = (
    rf"(?:{FEW}) (?:\w+ )?and (?:the |their |its )?(?:{MANY})|(?:{MANY}) and (?:the )?(?:{FEW})"
)
IN_STEPS = r"first,? (?:and )?then\b|, then (?:from|by|the)\b|within (?:each|every)\b"
NAME_THE = r"name the (?!(?:\w+ ){0,3}(?:patients?|people|persons?)\b)"  # people have numbers here
NAMED = r"(?:names? (?:of|and)|by name|(?:give|show|list|with|and) (?:the|their|its) names?)\b"


@rule("warning", source="arXiv 2601.08778 (answer shape): an id for a name")
def names_shown(case: Case) -> Iterator[Found | str]:
    """A question for names is answered with text, not with ids."""
    if case.rows is None or not case.wording.says(NAMED, "what (?:is|are) the names?", NAME_THE):
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


@rule("warning", source="arXiv 2601.08778 (answer shape): two numbers asked, one given")
def measures_shown(case: Case) -> Iterator[Found | str]:
    """The number and the mean are two numbers; the earliest and the latest are two ends."""
    if case.query is None or case.query.tree.find(exp.Anonymous):
        return
    tree = case.query.tree
    counted = case.wording.says(r"(?:number|count) of", "how many")
    if counted and case.wording.says(rf"{TOO}(?:mean|average|median)\b"):
        yield "asks for a number and a mean"
        if not tree.find(
            exp.Avg, exp.Div, exp.IntDiv, exp.Median, exp.PercentileCont, exp.Quantile
        ):
            yield Found("the question also asks for a mean; the query has none")
    if case.wording.says(rf"(?:mean|average|median) .*\b{TOO}(?:(?:number|count) of|how many)"):
        yield "asks for a mean and a number"
        if not tree.find(exp.Count, exp.Sum, exp.CountIf):
            yield Found("the question also asks for a number; the query counts nothing")
    both = case.wording.says(BOTH_ENDS) and not case.wording.inclusive_days
    if both and not tree.find(exp.Window, exp.Order, exp.Exists, exp.All):
        low, high = tree.find(exp.Min, exp.ArgMin), tree.find(exp.Max, exp.ArgMax)
        yield f"asks for both ends: {low is not None}, {high is not None}"
        if (low is None) != (high is None):
            yield Found("the question asks for both ends; the query takes one")


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
    first = _leading(case, order.expressions)
    falls, rises = case.wording.says(FALLING), case.wording.says(RISING)
    yield f"{first.sql(DIALECT)}; falling asked: {falls}, rising asked: {rises}"
    name = bare(first.this).sql(DIALECT).lower()
    if falls == rises:
        wanted = None if falls else _by_age(case, first)
    else:
        wanted = None if re.search(r"\bage|name|_id\b|rank", name) else falls
    if wanted is not None and bool(first.args.get("desc")) != wanted:
        asked = "falling" if wanted else "rising"
        yield Found(
            f"the question asks for {asked} order; the query has ORDER BY {first.sql(DIALECT)}"
        )


def _leading(case: Case, keys: list[exp.Ordered]) -> exp.Ordered:
    """Return the key that a direction is said of: the one behind labels, the falling one of several steps."""
    kinds = {}
    if case.rows is not None:
        named = zip(case.rows.columns, case.rows.types, strict=False)
        kinds = {name.lower(): kind.upper() for name, kind in named}
    if case.wording.says(IN_STEPS):
        return next((key for key in keys if key.args.get("desc")), keys[0])
    telling = (
        key for key in keys if not kinds.get(key.this.name.lower(), "").startswith("VARCHAR")
    )
    return next(telling, keys[0])


def _by_age(case: Case, first: exp.Expr) -> bool | None:
    """Return whether oldest or youngest first is a falling order: an age runs against a birthday."""
    old, young = case.wording.says(OLD_FIRST), case.wording.says(YOUNG_FIRST)
    kind = _kind(case, first.this)
    return None if old == young or not kind else (old if kind == "age" else young)


def _kind(case: Case, key: exp.Expr) -> str:
    """Return what an order goes by: birth, age, date, or nothing that is known."""
    top = case.query.top if case.query else None
    if case.query is None or top is None:
        return ""
    alias = key.name.lower() if isinstance(key, exp.Column) else ""
    shown = {output.alias_or_name.lower(): output for output in top.select.selects}
    if isinstance(key, exp.Column) and not key.table and alias in shown:
        key = shown[alias]
    made = case.query.derived(top, key)
    node = made[1] if made else key
    while isinstance(node, (exp.Min, exp.Max, exp.AnyValue, exp.Cast, exp.Paren)):
        node = node.this
    if isinstance(node, exp.Column):
        name = node.name.lower()
        return "birth" if "birth" in name else "date" if "date" in name else ""
    names = [column.name.lower() for column in node.find_all(exp.Column)]
    years = isinstance(node, (exp.Sub, exp.DateDiff, exp.Anonymous))
    return "age" if years and any("birth" in name for name in names) else ""
