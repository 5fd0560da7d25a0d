"""Events: the first of all, before any filter, and those that reach into a period from before it."""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import conjuncts, literal
from items.rules.sql import DIALECT, Part

FIRST_EVER = (
    r"very first\b|first[- ]ever\b|first (?:time )?(?:ever|in (?:their|his|her) li(?:fe|ves))\b|new.onset\b|"
    r"newly diagnosed\b"
)
FIRST_TIME = r"for the first time\b"
ITS_DATE = (
    r"when\b|(?:which|what) (?:date|day|month)|date of"  # the first of the period may be meant
)
AT_SOME_TIME = (
    r"at (?:some|any) (?:time|point|moment|stage) (?:during|in|of|on|within|between)|"
    r"(?:on|at) (?:any|some) (?:day|date|time|moment) (?:of|in|during|between)|"
    r"(?:inpatients?|in (?:the )?hospital|hospitali[sz]ed) (?:at (?:some|any) \w+ )?(?:in|during)\b"
)
STATE = (
    r"(?:were|was|are|is|been|being|lay|stayed) (?:on|in|an?|taking|using|under|inpatients?|ongoing)\b|"
    r"(?:was|were|been) hospitali[sz]ed at|in (?:the )?hospital|inpatients?|taking\b|active\b|ongoing\b|"
    r"overlap\w*"
)
BEGINNING = (
    r"start\w*|beg[aiu]n\w*|admitted|admissions?|prescri\w+|diagnos\w+|receiv\w+|given|got\b|came\b|new\b|"
    r"visited|entered|initiat\w+"
)
LOWER, UPPER = (exp.GT, exp.GTE), (exp.LT, exp.LTE)


@rule("warning", source="OHDSI cohort definitions: earliest event, then its date")
def first_of_all(case: Case) -> Iterator[Found | str]:
    """The first ever is picked out of all events; only then is its date looked at."""
    said = case.wording.says(FIRST_EVER, korean="생애 ?처음|난생") or (
        case.wording.says(FIRST_TIME) and not case.wording.says(ITS_DATE)
    )
    if case.query is None or not said:
        return
    for part in case.query.parts:
        columns = {
            _text(node.this) for node in part.own(exp.Min) if isinstance(node.this, exp.Column)
        }
        for node in conjuncts(part.select.args.get("where")):
            if not _limits_alone(node, columns):
                continue
            yield node.sql(DIALECT)
            other = case.changed(case.query.exchanged(part.select, _limited_later(part, node)))
            if other is not None:
                yield Found(
                    f"{node.sql(DIALECT)} is looked at before the MIN: that is the first of the period, "
                    "not the first of all; write it in HAVING or outside",
                    evidence=case.told(other),
                )


@rule("warning", source="S3-006; OHDSI forum: stays measured by their start alone")
def reaches_into(case: Case) -> Iterator[Found | str]:
    """What went on at some time of a period may have started before it: its end counts, too."""
    says = case.wording.says
    if case.query is None or not (says(AT_SOME_TIME) and says(STATE)) or says(BEGINNING):
        return
    if any("_end_" in column.name.lower() for column in case.query.tree.find_all(exp.Column)):
        return
    for part in case.query.parts:
        for node, start, low in _from_constants(case, part):
            yield node.sql(DIALECT)
            ended = exp.column(start.name.lower().replace("_start_", "_end_"), table=start.table)
            late = exp.Coalesce(this=ended, expressions=[start.copy()])
            new: exp.Expr = exp.GTE(this=late, expression=low.copy())
            if isinstance(node, exp.Between):
                before = exp.LTE(this=start.copy(), expression=node.args["high"].copy())
                new = exp.Paren(this=exp.And(this=before, expression=new))
            other = case.changed(case.query.exchanged(node, new))
            if other is not None:
                yield Found(
                    f"{node.sql(DIALECT)} leaves out what started earlier and went on; compare "
                    f"{ended.sql(DIALECT)}, too",
                    evidence=case.told(other),
                )


def _text(node: exp.Expr) -> str:
    return node.sql(DIALECT).lower()


def _limits_alone(node: exp.Expr, columns: set[str]) -> bool:
    """Whether a condition limits one of some columns by constants, and reads nothing else."""
    read = {_text(column) for column in node.find_all(exp.Column)}
    compared = isinstance(node, (exp.EQ, exp.Between, *LOWER, *UPPER))
    return compared and len(read) == 1 and read <= columns and node.find(exp.Select) is None


def _limited_later(part: Part, node: exp.Expr) -> exp.Select:
    """Return a SELECT that limits the first date and not the dates that it is picked from."""
    copy = part.select.copy()
    kept = [other.copy() for other in conjuncts(part.select.args["where"]) if other is not node]
    copy.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    later = exp.Paren(this=node.copy())
    for column in list(later.find_all(exp.Column)):
        column.replace(exp.Min(this=column.copy()))
    return copy.having(later, dialect=DIALECT)


def _from_constants(case: Case, part: Part) -> Iterator[tuple[exp.Expr, exp.Column, exp.Expr]]:
    """Yield the lower limits of starts that have an upper one, too: condition, column, limit."""
    held = conjuncts(part.select.args.get("where"))
    above = {
        _text(node.this) for node in held if isinstance(node, UPPER) and literal(node.expression)
    }
    for node in held:
        start = node.this
        if not isinstance(start, exp.Column) or "_start_" not in start.name.lower():
            continue
        origin = case.query.origin(part, start) if case.query else None
        table = isinstance(part.scope.sources.get(start.table), exp.Table)
        if not (origin and table) or not case.facts.has(
            origin[0], origin[1].replace("_start_", "_end_")
        ):
            continue
        if isinstance(node, exp.Between) and literal(node.args["low"]):
            yield node, start, node.args["low"]
        elif isinstance(node, LOWER) and literal(node.expression) and _text(start) in above:
            yield node, start, node.expression
