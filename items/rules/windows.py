"""Windows and self-joins that forget the person: the row before is the same patient's, not anybody's."""

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.counting import source_of
from items.rules.nodes import conjuncts
from items.rules.sql import DIALECT, Part

SAME = (
    r"(?:same|each|every|one|a|per|of the) (?:patient|person|individual)\b|(?:patient|person)['’]s\b|"
    r"consecutive"
)
SAME_KOREAN = "같은 환자|환자별|환자마다|동일 환자|한 환자|연속된"
TOP_OF_EACH = (
    r"(?:for|of|in|per) (?:each|every) (?!of\b)\w+[^.?]{0,40}\b(?:which|what|the|top)\b[^.?]{0,20}"
    r"\b(?:\d+|one|two|three|four|five|ten|most|largest|highest|latest)\b"
)
PAIRS = (
    r"pairs?\b|(?:an)?other (?:patient|person)|two (?:different )?(?:patients|people)|each other"
)
GREW = r"exceed\w*|increas\w+|grew|grow\w*|rose|rise\w*|more than (?:in )?the (?:\w+ )?before|change from"
FELL = r"decreas\w+|fell|declin\w+|drop\w*|fewer than (?:in )?the (?:\w+ )?before"
OF_ONE = ("person_id", "visit_occurrence_id")


@rule("problem", source="reported for generated SQL: LAG over all patients")
def window_of_each(case: Case) -> Iterator[Found | str]:
    """LAG and LEAD look at the same person's rows: PARTITION BY person."""
    of_one = case.wording.says(SAME, korean=SAME_KOREAN) or case.wording.asks_people
    if case.query is None or not of_one:
        return
    for part in case.query.parts:
        for step in part.own(exp.Lag, exp.Lead):
            window = step.find_ancestor(exp.Window)
            person = source_of(case, part, "person")
            if window is None or window.args.get("partition_by") or person is None:
                continue
            yield window.sql(DIALECT)
            twin = window.copy()
            twin.set("partition_by", [person])
            other = case.changed(case.query.exchanged(window, twin))
            if other is not None:
                yield Found(
                    f"{step.sql(DIALECT)} looks at the row before, whoever's it is; PARTITION BY "
                    f"{person.sql(DIALECT)}",
                    evidence=case.told(other),
                )


@rule("warning", source="reported for generated SQL: the change with its sign turned")
def change_turned(case: Case) -> Iterator[Found | str]:
    """An increase is this one less the one before, not the one before less this one."""
    if (
        case.query is None
        or not case.wording.says(GREW, korean="늘었|증가")
        or case.wording.says(FELL)
    ):
        return
    for node in case.query.tree.find_all(exp.Sub):
        left, right = node.this.unnest(), node.expression.unnest()
        before = left.this if isinstance(left, exp.Window) else None
        yield node.sql(DIALECT)
        if isinstance(before, exp.Lag) and before.this.sql() == right.sql():
            yield Found(f"{node.sql(DIALECT)} is negative where it grew")


@rule("warning", source="reported for generated SQL: the top of all in place of the top of each")
def top_of_each(case: Case) -> Iterator[Found | str]:
    """The three most of each sex are numbered within each sex: PARTITION BY."""
    if case.query is None or not case.wording.says(TOP_OF_EACH):
        return
    for window in case.query.tree.find_all(exp.Window):
        numbered = isinstance(window.this, (exp.RowNumber, exp.Rank, exp.DenseRank))
        limited = isinstance(window.parent, (exp.LTE, exp.LT, exp.EQ))
        yield window.sql(DIALECT)
        if numbered and limited and not window.args.get("partition_by"):
            yield Found(
                f"{window.sql(DIALECT)} numbers all rows; the question wants the top of each"
            )


@rule("problem", source="arXiv 2601.08778 (error class E1): a join on the day alone")
def person_joined(case: Case) -> Iterator[Found | str]:
    """Two events of one patient are joined by the patient, not by the day or the concept alone."""
    if case.query is None:
        return
    for part in case.query.parts:
        events = _events(case, part)
        held = [*conjuncts(part.select.args.get("where"))]
        held += [
            c
            for join in part.select.args.get("joins") or ()
            for c in conjuncts(join.args.get("on"))
        ]
        for one, other in pairwise(events):
            if _tied(held, events) or not _met(held, one, other):
                continue
            yield f"{one} and {other}"
            join = next(j for j in part.select.args["joins"] if j.this.alias_or_name == other)
            person = exp.EQ(
                this=exp.column("person_id", table=one),
                expression=exp.column("person_id", table=other),
            )
            on = join.args.get("on")
            if on is None:
                continue
            with_person = exp.And(this=exp.Paren(this=on.copy()), expression=person)
            changed = case.changed(case.query.exchanged(on, with_person))
            if changed is not None or not case.wording.says(PAIRS):
                yield Found(
                    f"{one} and {other} are joined without the person: anybody's rows meet",
                    evidence=case.told(changed) if changed else "",
                    severity=None if changed else "warning",
                )


def _events(case: Case, part: Part) -> list[str]:
    """Return the joined tables that have a person, in the order they stand."""
    joined = [join.this.alias_or_name for join in part.select.args.get("joins") or ()]
    start = part.select.args.get("from_")
    names = [start.this.alias_or_name, *joined] if start else []
    tables = {n: s for n, s in part.sources.items() if isinstance(s, exp.Table)}
    return [n for n in names if n in tables and case.facts.has(tables[n].name.lower(), "person_id")]


def _tied(held: list[exp.Expr], events: list[str]) -> bool:
    """Whether any condition holds persons or visits of two tables together."""
    return any(
        isinstance(node, exp.EQ)
        and isinstance(node.this, exp.Column)
        and isinstance(node.expression, exp.Column)
        and node.this.name.lower() == node.expression.name.lower()
        and node.this.name.lower() in OF_ONE
        for node in held
    )


def _met(held: list[exp.Expr], one: str, other: str) -> bool:
    """Whether some condition reads both tables."""
    return any(
        {one, other} <= {column.table for column in node.find_all(exp.Column)} for node in held
    )
