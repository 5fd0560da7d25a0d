"""Shares: what the question calls the whole is what stands below the line."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT, Part, Query
from items.rules.wording import alike, words

SHARE = r"share|proportion|percentage|percent|fraction"
ALL_PEOPLE = (
    r"(?:of|among) (?:all|the) (?:the )?(?:patients|people|persons)(?: in the (?:database|data\w*))?"
    r"(?! (?:who|with|that|whose|having|born|aged|older|younger|on|under|in|ever|without|recei\w+|treated))\b"
)
VERB = r"(?:also |ever )?(?:have|has|had|were|was|are|is|did|took|take|received|got|belongs?|made)"
WHOLES = (
    re.compile(
        rf"\b(?:of|among|out of) (?P<whole>[^,?.]+), (?:what|which) (?P<rest>(?:{SHARE})\b.+)", re.I
    ),
    re.compile(rf"\b(?:{SHARE}) of (?P<whole>[^,?.]+?) (?P<rest>{VERB}\b.+)", re.I),
)
RELATIVE = re.compile(rf"\b(?:who|that|which) (?:{VERB} )+", re.I)
WOMEN, MEN = ("women", "woman", "female"), ("men", "man", "male")
SEXES: dict[object, tuple[str, ...]] = {
    8532: WOMEN, "F": WOMEN, "FEMALE": WOMEN, 8507: MEN, "M": MEN, "MALE": MEN,
}  # fmt: skip
Thing = tuple[str, ...]  # the names that a constant of the query goes by


@rule("warning", source="arXiv 2601.08778 (error class E1): a share of another whole")
def share_of_whole(case: Case) -> Iterator[Found | str]:
    """A share of those with A is divided by the number of those with A."""
    said = _whole(case.item.question_en)
    if case.query is None or said is None:
        return
    whole, rest = said
    for part in case.query.parts:
        for ratio in part.own(exp.Div):
            below = _scalar(case.query, part, ratio.expression)
            if below is None:
                continue
            counted = _things(case, _reached(case.query, below))
            asked = [t for t in _things(case, case.query.tree.walk()) if _says(whole, t)]
            yield f"{ratio.expression.sql(DIALECT)[:80]}: {sorted(counted)}; the whole is {whole!r}"
            missing = [t for t in asked if t not in counted and not _says(rest, t)]
            if missing:
                yield Found(
                    f"the question asks for a share of {whole!r}; what is divided by, "
                    f"{ratio.expression.sql(DIALECT)}, has no condition on {missing[0][0]}"
                )


@rule(
    "problem", source="arXiv 2601.08778 (error class E1): all patients, read as those with a record"
)
def share_of_all(case: Case) -> Iterator[Found | str]:
    """A share of all patients is divided by the people of the database, not by those with a record."""
    if (
        case.query is None
        or not case.wording.says(ALL_PEOPLE)
        or not case.facts.has("person", "person_id")
    ):
        return
    every = case.facts.rows("SELECT count(*) FROM person")[0][0]
    for part in case.query.parts:
        for ratio in part.own(exp.Div):
            below, home = _counted_people(case.query, part, ratio.expression)
            if below is None or any(_is_person(source) for source in home.sources.values()):
                continue
            rows = case.ask(case.query.body(home, [below.sql(DIALECT)]))
            yield f"{below.sql(DIALECT)}: {rows[0][0] if rows else '?'} of {every}"
            if rows and rows[0][0] != every:
                yield Found(
                    f"divided by {rows[0][0]:,} people who have a record, not by all {every:,}"
                )


@rule("problem", source="arXiv 2601.08778 (error class E1): a share of the rest")
def share_of_rest(case: Case) -> Iterator[Found | str]:
    """A share is divided by the whole, not by those that do not have it."""
    if case.query is None or not case.wording.says(SHARE, "how many percent", korean="비율|퍼센트"):
        return
    for ratio in case.query.tree.find_all(exp.Div):
        above, below = _conditions(ratio.this), _conditions(ratio.expression)
        yield ratio.sql(DIALECT)[:120]
        if above and below and any(one == (not is_, what) for is_, what in above for one in below):
            yield Found(
                f"{ratio.expression.sql(DIALECT)[:120]} counts those that do not: the whole is both"
            )


def _conditions(node: exp.Expr) -> set[tuple[bool, str]]:
    """Return what an expression counts by: (it is so, `column value`)."""
    return {
        (isinstance(one, exp.EQ), f"{one.this.sql(DIALECT)} {one.expression.sql(DIALECT)}")
        for one in node.find_all(exp.EQ, exp.NEQ)
    }


def _counted_people(query: Query, part: Part, node: exp.Expr) -> tuple[exp.Count | None, Part]:
    """Return the count of different people that is divided by, with the SELECT that counts."""
    inner = _scalar(query, part, node)
    home = next((one for one in query.parts if one.select is inner), part)
    found = (inner.selects[0] if inner is not None else node).find(exp.Count)
    people = found is not None and isinstance(found.this, exp.Distinct)
    names = {column.name.lower() for column in found.find_all(exp.Column)} if found else set()
    return (found if people and names == {"person_id"} else None), home


def _is_person(source: object) -> bool:
    return isinstance(source, exp.Table) and source.name.lower() == "person"


def _whole(english: str) -> tuple[str, str] | None:
    """Return what a share is asked of, and what is asked about it."""
    text = RELATIVE.sub("with ", english)
    match = next((found for one in WHOLES if (found := one.search(text))), None)
    return (match.group("whole"), match.group("rest")) if match else None


def _scalar(query: Query, part: Part, node: exp.Expr) -> exp.Select | None:
    """Return the SELECT of its own that a number comes from; None where it is counted in place."""
    node = bare(node)
    while isinstance(node, (exp.Cast, exp.Nullif)):
        node = bare(node.this)
    if isinstance(node, exp.Subquery):
        return node.this if isinstance(node.this, exp.Select) else None
    made = query.derived(part, node) if isinstance(node, exp.Column) else None
    if made is None or made[0].select is part.select or not made[1].find(exp.AggFunc):
        return None
    return made[0].select


def _reached(query: Query, select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the nodes of a SELECT and of the CTEs that it reads, and those read in turn."""
    made = {cte.alias.lower(): cte for cte in query.tree.find_all(exp.CTE)}
    todo: list[exp.Expr] = [select]
    seen: set[str] = set()
    while todo:
        for node in todo.pop().walk():
            yield node
            name = node.name.lower() if isinstance(node, exp.Table) else ""
            if name in made and name not in seen:
                seen.add(name)
                todo.append(made[name])


def _things(case: Case, nodes: Iterator[exp.Expr]) -> set[Thing]:
    """Return the concepts and sexes that conditions name."""
    found: set[Thing] = set()
    for node in nodes:
        if not isinstance(node, (exp.EQ, exp.In)) or not isinstance(node.this, exp.Column):
            continue
        name = node.this.name.lower()
        values = [node.expression] if isinstance(node, exp.EQ) else node.expressions
        for value in map(literal, values):
            if name.startswith("gender") and value in SEXES:
                found.add(SEXES[value])
            elif name.endswith("concept_id") and isinstance(value, int):
                concept = case.facts.concept(value)
                found |= {concept.names} if concept else set()
            elif name == "concept_name" and isinstance(value, str):
                found.add(SEXES.get(value.upper(), (value,)))
    return found


def _says(text: str, thing: Thing) -> bool:
    """Whether a text has all words of one of the names."""
    said = words(text)
    return any(
        bool(words(name)) and all(any(alike(word, one) for one in said) for word in words(name))
        for name in thing
    )
