"""Labels: a column called women counts women, one called p25 is the 25th percentile, one called latest is."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.nodes import bare, literal
from items.rules.sql import DIALECT
from items.rules.wording import words

WOMEN = ("women", "woman", "female", "females", "여성", "여자", "여")
MEN = ("men", "man", "male", "males", "남성", "남자", "남")
SEX_OF: dict[object, tuple[str, ...]] = {8532: WOMEN, "F": WOMEN, 8507: MEN, "M": MEN}
LOW = (
    "earliest",
    "first",
    "lowest",
    "smallest",
    "minimum",
    "min",
    "shortest",
    "youngest",
    "oldest_date",
)
HIGH = ("latest", "last", "highest", "largest", "maximum", "max", "longest", "newest")
SHARES = (exp.Quantile, exp.PercentileCont, exp.PercentileDisc)
MORE = r"\bmore (women|men|female\w*|male\w*) (?:\w+ ){0,2}than (?:\w+ )?(women|men|female\w*|male\w*)\b"
RATIO = (
    r"\bratio of (?:the )?(women|men|female\w*|male\w*) to (?:the )?(women|men|female\w*|male\w*)\b"
)
MINUS = r"\b(women|men|female\w*|male\w*) minus (?:\w+ )?(women|men|female\w*|male\w*)\b"


@rule("problem", source="arXiv 2601.08778 (answer shape): two columns under each other's name")
def labels_true(case: Case) -> Iterator[Found | str]:
    """A column's name says what is in it: the sex, the percentile, the end."""
    for output in _outputs(case):
        alias = words(output.alias_or_name)
        inner = output.unalias()
        for wrong in (
            _other_sex(alias, inner),
            _other_share(alias, inner),
            _other_end(alias, inner),
        ):
            if wrong:
                yield Found(f"{output.alias_or_name} is {wrong}: {inner.sql(DIALECT)[:120]}")
        yield f"{output.alias_or_name}: {inner.sql(DIALECT)[:80]}"


@rule("problem", source="reported for generated SQL: CASE branches under each other's label")
def branches_true(case: Case) -> Iterator[Found | str]:
    """WHEN female THEN 'men' is nobody."""
    for branch in case.query.tree.find_all(exp.Case) if case.query else ():
        for one in branch.args["ifs"]:
            held = (
                one.this if branch.this is None else exp.EQ(this=branch.this, expression=one.this)
            )
            told = literal(one.args["true"])
            sexes = _sexes(held)
            yield f"{one.sql(DIALECT)}"
            said = words(told) if isinstance(told, str) else ()
            if isinstance(told, str) and (wrong := _other_range(told, one.this)):
                yield Found(f"{one.this.sql(DIALECT)} is called {told!r}: {wrong}")
            for sex, other in ((WOMEN, MEN), (MEN, WOMEN)):
                if sexes == {sex[0]} and set(said) & set(other) and not set(said) & set(sex):
                    yield Found(f"{held.sql(DIALECT)} is called {told!r}")


@rule("problem", source="arXiv 2601.08778: a difference the other way round")
def difference_turned(case: Case) -> Iterator[Found | str]:
    """Women minus men takes the men from the women, women to men divides by the men."""
    text = case.wording.english
    match = next((m for shape in (MORE, MINUS, RATIO) if (m := re.search(shape, text, re.I))), None)
    if case.query is None or match is None:
        return
    first, second = (
        WOMEN if "w" in g.lower()[:1] or "fem" in g.lower() else MEN for g in match.groups()
    )
    for node in case.query.tree.find_all(exp.Sub, exp.Div):
        left, right = _sexes(node.this), _sexes(node.expression)
        yield f"{match.group(0)!r}: {node.sql(DIALECT)[:120]}"
        if first != second and left == {second[0]} and right == {first[0]}:
            yield Found(
                f"the question asks for {match.group(0)!r}; the query takes them the other way"
            )


@rule("warning", source="arXiv 2601.08778 (conditions of the question that the query lacks)")
def sex_said(case: Case) -> Iterator[Found | str]:
    """A question for women only has a condition on the sex."""
    said = [
        bool(re.search(rf"\b(?:{'|'.join(sex[:4])})\b", case.wording.english, re.I))
        for sex in (WOMEN, MEN)
    ]
    if (
        case.query is None
        or said[0] == said[1]
        or not case.facts.has("person", "gender_concept_id")
    ):
        return
    names = {column.name.lower() for column in case.query.tree.find_all(exp.Column)}
    yield f"columns: {', '.join(sorted(names))}"
    texts = {str(literal(node)).lower() for node in case.query.tree.find_all(exp.Literal)}
    if not any("gender" in name or "sex" in name for name in names) and not texts & {
        "8532",
        "8507",
    }:
        yield Found(
            f"the question asks for {'women' if said[0] else 'men'}; the query knows no sex"
        )


def _outputs(case: Case) -> Iterator[exp.Expr]:
    """Yield the columns of every SELECT that have a name of their own."""
    for part in case.query.parts if case.query else ():
        yield from (output for output in part.select.selects if isinstance(output, exp.Alias))


def _sexes(node: exp.Expr) -> set[str]:
    """Return the sexes that the conditions inside an expression ask for."""
    found = set()
    for equal in node.find_all(exp.EQ):
        name = equal.this.name.lower() if isinstance(equal.this, exp.Column) else ""
        value = literal(equal.expression)
        if name.startswith("gender") and value in SEX_OF:
            found.add(SEX_OF[value][0])
    return found


def _other_sex(alias: tuple[str, ...], inner: exp.Expr) -> str:
    """Return what a column named for one sex counts where that is the other one alone."""
    named = [sex for sex in (WOMEN, MEN) if set(alias) & set(sex)]
    if len(named) != 1 or not inner.find(exp.AggFunc) or inner.find(exp.Div):
        return ""
    sexes, other = _sexes(inner), MEN if named[0] is WOMEN else WOMEN
    negated = inner.find(exp.Not, exp.NEQ) is not None
    return f"a count of {other[0]}" if sexes == {other[0]} and not negated else ""


def _other_range(label: str, held: exp.Expr) -> str:
    """Return what is wrong with the upper limit of a group that is labelled `40 to 59` or `under 40`."""
    span = re.fullmatch(r"\D*(\d+)\s*(?:to|-|–|~)\s*(\d+)\D*", label)
    under = re.fullmatch(r"\s*(?:under|below|less than|<)\s*(\d+)\D*", label, re.I)
    for node in held.find_all(exp.LTE, exp.LT, exp.Between):
        value = literal(node.args.get("high") or node.expression)
        closed = not isinstance(node, exp.LT)
        last = int(span.group(2)) if span else -1
        if value in (last, last + 1) and closed == (value == last + 1):
            return f"it goes up to {value if closed else last - 1}"
        if under and value == int(under.group(1)) and closed:
            return f"it takes {value} in"
    return ""


def _other_share(alias: tuple[str, ...], inner: exp.Expr) -> str:
    """Return which percentile a column named for another one holds."""
    told = [int(n) for word in alias for n in re.findall(r"\d{1,2}", word)]
    node = bare(inner)
    while isinstance(node, (exp.Round, exp.Cast)):
        node = bare(node.this)
    if len(told) != 1 or not isinstance(node, SHARES):
        return ""
    share = literal(node.args.get("quantile") or node.expression or node.this)
    near = isinstance(share, (int, float)) and round(share * 100) != told[0] and 0 < share < 1
    return f"the percentile at {share}" if near else ""


def _other_end(alias: tuple[str, ...], inner: exp.Expr) -> str:
    """Return which end a column named for the other one holds: the latest, taken by MIN."""
    node = bare(inner)
    named = bool(set(alias) & set(LOW)), bool(set(alias) & set(HIGH))
    if not isinstance(node, (exp.Min, exp.Max)) or named[0] == named[1]:
        return ""
    if any("birth" in column.name.lower() for column in node.find_all(exp.Column)):
        return ""  # the youngest is born last
    taken = isinstance(node, exp.Max)
    return f"the {'highest' if taken else 'lowest'}" if taken == named[0] else ""
