"""Left out: those who have nothing, lost in a join though the question asks for their zero.

SELECT v.visit_occurrence_id, count(c.person_id) FROM visit_occurrence v
JOIN condition_occurrence c USING (visit_occurrence_id) GROUP BY 1    -- visits without a diagnosis
"""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from items.rules.base import Case, Found
from items.rules.nodes import conjuncts
from items.rules.sql import DIALECT, Part

WHO = "those|patients|people|women|men|persons|visits|providers|ones"
ZEROS = (
    r"(?:show\w*|count\w*|give\w*|get\w*|list\w*|report\w*|as|with|is|are) (?:as |a |an? )*"
    r"(?:0|zeros?)\b(?! (?:and|to|or|days?|hours?)\b)",
    rf"(?:{WHO}) (?:who (?:were|have|had) )?(?:never|without|with no|with none)[^.;,?]* "
    r"(?:included|too|as well)\b",
    rf"including (?:the )?(?:{WHO}) (?:who )?(?:\w+ )?(?:never|without|with no|with none)",
)
ZEROS_KOREAN = r"(?<!\d)0(?:건|명|회|번)?(?:으로|도 )|없는 [^.?,]*(?:도|까지) 포함"


def zeros_asked(case: Case) -> bool:
    """Return whether those who have nothing are to have their zero, said in so many words."""
    return case.wording.says(*ZEROS, korean=ZEROS_KOREAN)


def joined_away(case: Case, part: Part) -> Iterator[Found]:
    """Yield who is lost where a list of people (visits, providers) meets what they may not have.

    A source with one row a key is such a list, unless the aggregates read it or it counts itself.
    """
    joins = part.select.args.get("joins") or ()
    if (
        case.query is None
        or not joins
        or any(join.side for join in joins)
        or part.correlated
        or filled_up(part)
    ):
        return
    if not part.select.args.get("group") and not any(map(_counts, part.sources.values())):
        return
    read = {c.table for node in part.own(exp.Count, exp.Sum) for c in node.find_all(exp.Column)}
    for key in _keys(part):
        if key.table in read or _counts(part.sources[key.table]):
            continue
        listed, kept = _listed(case, part, key), _kept(case, part, key)
        if listed and kept is not None and kept < listed:
            yield Found(
                f"{listed - kept:,} of {listed:,} {key.name} have no row: the join leaves them out, and "
                "the question asks for their 0"
            )


def _keys(part: Part) -> Iterator[exp.Column]:
    """Yield the columns that the joins compare and the groups (or a grouped source) go by."""
    group = part.select.args.get("group")
    grouped = {c.sql(DIALECT) for c in group.find_all(exp.Column)} if group else set()
    for join in part.select.args.get("joins") or ():
        for equal in join.find_all(exp.EQ):
            pair = [side for side in (equal.this, equal.expression) if isinstance(side, exp.Column)]
            sources = [part.sources.get(key.table) for key in pair]
            if len(pair) < 2 or None in sources or any(map(_concept, sources)):
                continue
            if grouped & {key.sql(DIALECT) for key in pair} or any(map(_counts, sources)):
                yield from pair


def _listed(case: Case, part: Part, key: exp.Column) -> int | None:
    """Return how many keys a source lists under its own conditions; None if it repeats one."""
    if case.query is None:
        return None
    own = [
        condition.sql(DIALECT)
        for condition in conjuncts(part.select.args.get("where"))
        if {column.table for column in condition.find_all(exp.Column)} == {key.table}
        and not condition.find(exp.Query)
    ]
    alone = exp.Select().select("count(*)", f"count(DISTINCT {key.sql(DIALECT)})", dialect=DIALECT)
    alone = alone.from_(_relation(part, key.table).copy())
    for condition in own:
        alone = alone.where(condition, dialect=DIALECT)
    for cte in case.query.visible(part.select):
        alone = alone.with_(cte.alias, as_=cte.this.copy(), dialect=DIALECT)
    rows = case.ask(alone.sql(DIALECT))
    return rows[0][1] if rows and rows[0][0] == rows[0][1] else None


def _kept(case: Case, part: Part, key: exp.Column) -> int | None:
    text = f"count(DISTINCT {key.sql(DIALECT)})"
    rows = case.ask(case.query.body(part, [text])) if case.query else ()
    return rows[0][0] if rows else None


def _relation(part: Part, name: str) -> exp.Expr:
    joins = part.select.args.get("joins") or ()
    named: list[exp.Expr] = [part.select.args["from_"].this, *(join.this for join in joins)]
    return next(relation for relation in named if relation.alias_or_name == name)


def _concept(source: exp.Table | Scope | None) -> bool:
    """Whether a source is the vocabulary: it gives names and lists nobody."""
    return isinstance(source, exp.Table) and source.name.lower().startswith("concept")


def _counts(source: exp.Table | Scope | None) -> bool:
    """Whether a source is a subquery that counts or adds up by group."""
    select = source.expression if isinstance(source, Scope) else None
    if not isinstance(select, exp.Select) or not select.args.get("group"):
        return False
    return any(output.find(exp.Count, exp.Sum) for output in select.selects)


def filled_up(part: Part) -> bool:
    """Return whether a SELECT is what an outer join, a UNION or a COALESCE adds to a whole list."""
    node: exp.Expr | None = part.select.parent
    while node is not None:
        if isinstance(node, (exp.SetOperation, exp.Exists, exp.In)):
            return True
        if isinstance(node, (exp.Subquery, exp.CTE)) and _added(node):
            return True
        node = node.parent
    return False


def _added(inner: exp.Expr) -> bool:
    """Whether a subquery or CTE is outer joined, or looked up by a scalar subquery."""
    tables = inner.root().find_all(exp.Table) if inner.alias else ()
    uses = [inner, *(table for table in tables if table.name == inner.alias)]
    joined = any(
        isinstance(use.parent, exp.Join) and use.parent.side in ("LEFT", "FULL") for use in uses
    )
    selects = [use.find_ancestor(exp.Select) for use in uses[1:]]
    nested = [s.parent for s in selects if s is not None and isinstance(s.parent, exp.Subquery)]
    return joined or any(not isinstance(outer.parent, (exp.From, exp.Join)) for outer in nested)
