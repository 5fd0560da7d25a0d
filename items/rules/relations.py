"""Relations: the first, the latest, never, all of them, before and after: said, and done by the query.

A word that asks for one of these leaves its trace in a right query: a minimum, a negation, a HAVING, a
comparison of two dates. Where none is found, the words were most likely overlooked.
"""

from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import literal
from items.rules.sql import DIALECT

FIRST = (
    r"first (?:time|ever|diagnos\w+|use\b|visit|dose|record\w*|prescri\w+|exposure|episode|bleed|occurrence"
    r"|start\w*|measurement|admission|hospital\w*|vaccin\w+)|newly (?:diagnosed|started)|"
    r"(?:very first|earliest) (?:\w+ ){0,2}(?:visit|dose|exposure|episode|measurement|reading|admission|"
    r"record|diagnosis|value|result)\b"
)
FIRST_KOREAN = (
    "처음(?:으로)? ?(?:진단|복용|시작|방문|입원|받|생|투여|처방)|"
    "첫 ?(?:진단|방문|입원|복용|투여|처방|번째)"
)
LATEST = (
    r"(?:most recent|latest|last) (?:visit|diagnos\w+|value|measurement|record|dose|admission|exposure)|"
    r"(?:most recent|latest|newest) (?!first)(?:[\w%/]+ ){0,3}(?:visit|value|measurement|reading|result|test|"
    r"record|dose|admission|exposure|stay|discharge|level)\b|(?:measured|recorded|taken) most recently"
)
LATEST_KOREAN = (
    "(?:가장|제일) 최근(?:에)? ?[가-힣]|마지막(?:으로)? ?(?:측정|검사|방문|입원|진단|투여)"
)
NEVER = (
    r"never\b|without (?:a|an|any|having)\b|(?:had|have|has|received|took|made) no\b|(?:not|n't) "
    r"(?:been|have|had|recorded|received|taken)\b|leave out|leaving out|exclud\w+|except\b"
)
NONE_ON_RECORD = (
    r"(?:have|has|had|with) no\b [\w ()]{0,60}\b(?:on record|recorded|record|diagnos\w+)"
)
TAKEN_IN = r"as well|included|including|also\b|too\b|count\w* as (?:zero|0)"
NO_ROW = (
    r"(?:leav\w+|left) out (?:the |any |all )?(?:months|quarters|years|weeks|days|decades|periods|groups|"
    r"pairs|combinations) (?:with(?:out| no(?:ne|thing)?)|(?:that|which) ha(?:ve|d) no|in which no\w*)\b"
)
ZERO = (
    r"(?:show\w*|list\w*|get|gets|appear\w*|count\w*|as) (?:\w+ ){0,2}(?:0|zero)\b"
    r"(?! (?:days?|hours?|years?))"
)
ZERO_KOREAN = r"(?<!\d)0(?:으로|을|를|건|회)"
ALL_OF = (
    r"all (?:two|three|four|five|of (?:them|these|the following))\b|every (?:single )?one of\b|"
    r"each (?:one )?of (?:them|the (?:two|three|four|five))\b|"
    r"both\b(?! (?:sexes|genders|tables|years|days|the first))|"
    r"in (?:19|20)\d\d (?:as well as|and again) in (?:19|20)\d\d"
)
ORDERED = (
    r"(?:before|after|prior to|following) (?:the|their|his|her|its|a|an|any|they|it|being|having|start\w+|"
    r"receiving|taking)\b(?! (?:start|beginning|end|first day|turn|age|year|month) )|"
    r"(?:afterwards|thereafter|beforehand)\b|"
    r"within \w+ (?:days?|weeks?|months?|years?) (?:of|after|before|from|following) (?!today)"
)
COMPARED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.EQ)
PICKS_ONE = (
    exp.Min,
    exp.Max,
    exp.ArgMin,
    exp.ArgMax,
    exp.First,
    exp.Last,
    exp.Window,
    exp.Exists,
    exp.Limit,
)


@rule("warning", source="OHDSI cohort definitions: earliest event; Eunomia question cd1")
def first_or_latest(case: Case) -> Iterator[Found | str]:
    """A first or latest event is picked out of all events."""
    if case.query is None:
        return
    for name, english, korean in (
        ("first", FIRST, FIRST_KOREAN),
        ("latest", LATEST, LATEST_KOREAN),
    ):
        asked = case.wording.says(english, korean=korean)
        yield f"asks for the {name}: {asked}"
        done = case.query.tree.find(*PICKS_ONE) is not None or _none_later(case)
        if asked and not done and not _only_shown(case):
            yield Found(f"the question speaks of the {name} event; the query takes every event")


@rule("warning", source="arXiv 2601.08778 (error class E1): negation overlooked")
def negation_done(case: Case) -> Iterator[Found | str]:
    """Never, without and no are a negation in the query, too."""
    if case.query is None or not case.wording.says(NEVER) or case.wording.says(TAKEN_IN):
        return
    if case.wording.says(NO_ROW) and not case.wording.says(r"never\b"):
        return  # a group without rows has none in the answer
    if case.wording.says(ZERO, korean=ZERO_KOREAN):
        yield "those who have none are shown with 0"
        if not keeps_those_without(case.query.tree):
            yield Found("the question wants a 0 for those who have none; the query leaves them out")
        return
    tree = case.query.tree
    negated = (
        tree.find(exp.Not, exp.NEQ, exp.NullSafeNEQ, exp.Except, exp.Is, exp.Nullif) is not None
    )
    strict = any(literal(node.expression) == 0 for node in tree.find_all(exp.EQ))
    none = case.wording.says(r"never\b", r"without (?:a|any)\b") or (
        case.wording.asks_people
        and case.wording.says(r"ha(?:ve|d|s) no\b(?! (?:more|later|earlier|fewer|less)\b)")
    )
    sided = tree.find(*COMPARED[:4]) is not None and not none
    rest = any(
        node.find(exp.Count) for node in tree.find_all(exp.Sub)
    )  # all, less those that have it
    yield f"negations in the query: {negated or strict or rest}"
    anti = any(join.kind == "ANTI" or join.side == "ANTI" for join in tree.find_all(exp.Join))
    if not (negated or strict or sided or anti or rest):
        yield Found(
            "the question leaves something out (never, without, no); nothing in the query does"
        )
    elif (
        case.wording.says(r"never\b", NONE_ON_RECORD)
        and case.wording.asks_people
        and not (anti or rest or _of_sets(tree))
    ):
        yield Found(
            "never, or none on record, is said of a person; the query only leaves out rows: NOT EXISTS "
            "says it"
        )


def _of_sets(tree: exp.Query) -> bool:
    """Whether a query leaves out people, by a subquery, a set or a count, and not only rows."""
    if tree.find(exp.Except, exp.Having, exp.Is, exp.Filter, exp.Case) is not None:
        return True
    return any(node.find(exp.Select) is not None for node in tree.find_all(exp.Not, exp.NEQ))


@rule("warning", source="Eunomia question cd2: all three of a list")
def all_of_a_list(case: Case) -> Iterator[Found | str]:
    """Both and all three want each of them, IN wants any."""
    if case.query is None or not case.wording.says(ALL_OF):
        return
    tree = case.query.tree
    lists = [node for node in tree.find_all(exp.In) if len(node.expressions) > 1]
    either = [node for node in tree.find_all(exp.Or) if node.find(exp.EQ)]
    counted = (
        tree.find(exp.Having, exp.Intersect) is not None or len(list(tree.find_all(exp.Exists))) > 1
    )
    names = [table.name.lower() for table in tree.find_all(exp.Table)]
    again = any(names.count(name) > 1 for name in names)
    yield f"{len(lists)} lists; counted: {counted or again}"
    shown = tree.args.get("group") is not None  # a row for each of them
    for listed in lists:
        yield from _records_for_all(case, listed)
    if (lists or either) and not (counted or again or shown):
        where = (lists or either)[0]
        yield Found(f"{where.sql(DIALECT)} takes any of them; the question wants each")


def _records_for_all(case: Case, listed: exp.In) -> Iterator[Found]:
    """Tell a HAVING that counts records where it has to count the different ones of a list."""
    select = listed.find_ancestor(exp.Select)
    having = select.args.get("having") if select else None
    if case.query is None or having is None:
        return
    for node in having.find_all(exp.Count):
        wanted = literal(getattr(node.parent, "expression", None))
        if isinstance(node.this, exp.Distinct) or wanted != len(listed.expressions):
            continue
        different = exp.Count(this=exp.Distinct(expressions=[listed.this.copy()]))
        other = case.changed(case.query.exchanged(node, different))
        if other is not None:
            yield Found(
                f"{node.sql(DIALECT)} counts records: {wanted} of one kind pass, too; "
                f"{different.sql(DIALECT)} counts the kinds",
                evidence=case.told(other),
            )


@rule("warning", source="OHDSI cohort definitions: the order of events; arXiv 2601.08778")
def order_in_time(case: Case) -> Iterator[Found | str]:
    """Before and after another event is a comparison of two dates."""
    if case.query is None or not case.wording.says(ORDERED):
        return
    dated = [
        node
        for node in case.query.tree.find_all(*COMPARED, exp.DateDiff, exp.Sub)
        if len(
            {column.sql(DIALECT) for column in node.find_all(exp.Column) if _is_date(case, column)}
        )
        > 1
    ]
    events = {table.name.lower() for table in case.query.tree.find_all(exp.Table)} - {
        "concept",
        "person",
    }
    tables = [
        t.name.lower() for t in case.query.tree.find_all(exp.Table) if t.name.lower() in events
    ]
    events_read = [t for t in tables if case.facts.has(t, "person_id")]
    yield f"{len(dated)} comparisons of two dates over {len(events_read)} event tables"
    if not dated and len(events_read) > 1:
        yield Found("the question puts two events in an order; the query compares no two dates")


def _is_date(case: Case, column: exp.Column) -> bool:
    """Whether a column is a date: by its type in the database, or made of one, by its name."""
    name = column.name.lower()
    for part in case.query.parts if case.query else ():
        if column.table not in part.scope.sources:
            continue
        made = case.query.derived(part, column) if case.query else None
        for inner in made[1].find_all(exp.Column) if made else ():
            origin = case.query.origin(made[0], inner) if made and case.query else None
            known = case.facts.tables.get(origin[0], {}).get(origin[1], "") if origin else ""
            if known.upper().startswith(("DATE", "TIMESTAMP")):
                return True
    return "date" in name or "time" in name


def _none_later(case: Case) -> bool:
    """Whether rows of one table are compared by the same date: none of them may be later, or earlier."""
    for node in case.query.tree.find_all(*COMPARED[:4]) if case.query else ():
        sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
        if len(sides) == 2 and sides[0].name == sides[1].name and _is_date(case, sides[0]):
            return True
    return False


def keeps_those_without(tree: exp.Query) -> bool:
    """Whether a query can show those who have none: an outer join, a count for each row, a condition."""
    outer = any(join.side in ("LEFT", "RIGHT", "FULL") for join in tree.find_all(exp.Join))
    inner = any(
        node.find(exp.Count, exp.Sum) and not isinstance(node.parent, (exp.From, exp.Join))
        for node in tree.find_all(exp.Subquery)
    )
    coalesced = tree.find_all(exp.Coalesce)  # USING makes some, too: those without a constant
    filled = any(node.find(exp.Literal) for node in coalesced)
    return outer or inner or filled or tree.find(exp.Filter, exp.Case, exp.Union) is not None


def _only_shown(case: Case) -> bool:
    """Whether every event is listed in order, so that the first or last can be seen."""
    tree = case.query.tree if case.query else None
    return (
        tree is not None and tree.args.get("order") is not None and tree.find(exp.AggFunc) is None
    )
