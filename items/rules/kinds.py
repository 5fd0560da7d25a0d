"""Kinds: a concept among its descendants, every product of an ingredient, with and without."""

import re
from collections.abc import Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.concepts import concepts_named, said_of
from items.rules.nodes import literal
from items.rules.sql import DIALECT
from items.rules.values import equalities
from items.rules.wording import alike, words

BELOW_ONLY = (
    r"sub-?types?|sub-?kinds|descendants?|children|narrower|more specific|other than|itself|"
    r"(?:which|what|list|name) (?:\w+ ){0,3}(?:kinds?|types?|forms?)"
)
BELOW_TOO = (
    r"includ\w+|(?:and|or|with) (?:of )?(?:all |any )?(?:of )?(?:its|their)|"
    r"(?:taken together|together with)\b"
)
ANY_PRODUCT = (
    r"any (?:\w+ ){0,2}(?:product|preparation|form|strength|dose|formulation|brand)s?\b|"
    r"(?:in|of) (?:any|every|whatever) (?:form|strength|dose|formulation)|"
    r"(?:products?|preparations?|medicines?|drugs?|anything) (?:that |which )?contain\w*|"
    r"(?:whatever|regardless of|no matter) (?:the |what |which |of )*(?:strength|dose|form|product|brand)"
)
ONE_PRODUCT = r"alone\b|plain\b|pure\b|single.ingredient|\d+ ?(?:mg|mcg|g|ml|milligrams?)\b"
NO_NAME = {
    "vaccine",
    "acid",
    "sodium",
    "hydrochloride",
    "injection",
    "solution",
    "capsule",
    "sulfate",
}
WITHOUT = ("without", "no", "not", "never", "non", "lacking")
SIDES = dict.fromkeys(WITHOUT, False) | {"with": True, "having": True}
JOINING = {"a", "an", "and", "any", "by", "in", "of", "on", "or", "the", "to", "due", "from"}


@rule("warning", source="OMOP: concept_ancestor holds the concept itself at level 0")
def itself_left_out(case: Case) -> Iterator[Found | str]:
    """A concept's own records count with those of its descendants, unless subtypes alone are asked."""
    if case.query is None or (
        case.wording.says(BELOW_ONLY, korean="하위|아형") and not case.wording.says(BELOW_TOO)
    ):
        return
    for node in case.query.tree.find_all(exp.GT, exp.GTE, exp.NEQ):
        levels = node.this
        named = isinstance(levels, exp.Column) and levels.name.lower().endswith(
            "levels_of_separation"
        )
        least = 1 if isinstance(node, exp.GTE) else 0
        if not named or literal(node.expression) != least:
            continue
        yield node.sql(DIALECT)
        other = case.changed(case.query.exchanged(node, exp.true()))
        if other is not None:
            yield Found(
                f"{node.sql(DIALECT)} leaves out the records of the concept itself",
                evidence=case.told(other),
            )


@rule("warning", source="OMOP: drugs are recorded as products; Eunomia question ct3")
def one_product(case: Case) -> Iterator[Found | str]:
    """Any product with an ingredient is all of them, not one."""
    if case.query is None or not case.wording.says(ANY_PRODUCT) or case.wording.says(ONE_PRODUCT):
        return
    wide = "concept_ancestor" in case.query.tables or case.query.tree.find(exp.Like, exp.ILike)
    if wide or case.query.tree.find(exp.RegexpLike, exp.Contains, exp.StartsWith):
        return
    listed = {value for _, _, value, _ in equalities(case)}
    for id, names, origin in concepts_named(case):
        if not origin[1].startswith("drug"):
            continue
        found = list(said_of(case, names[0])[1])
        telling = [word for word in found if len(word) > 4 and word not in NO_NAME]
        others = {
            other: name
            for other, name in case.facts.used(origin).items()
            if other not in listed and set(found) <= set(words(name))
        }
        yield f"{id} {names[0]!r}: {len(others)} other products with {' '.join(found)!r}"
        if telling and others:
            yield Found(
                f"the question wants every product with {' '.join(found)}; the query has {names[0]!r} "
                f"({id}) and not {next(iter(others.values()))!r}",
                evidence=f"{len(others)} other products in {'.'.join(origin)}",
            )


@rule("warning", source="bird-bench/mini_dev#45 (question 1199): a neighbour with a like name")
def with_or_without(case: Case) -> Iterator[Found | str]:
    """With and without something are two concepts; the question's is the query's."""
    listed = {value for _, _, value, _ in equalities(case)}
    for id, names, origin in concepts_named(case):
        side, rest = _side(names[0])
        if side is None or not _mostly_said(case, rest[0]) or _excluded(case, id):
            continue
        for other, name in case.facts.used(origin).items():
            opposite = _side(name)
            if opposite != (not side, rest) or {other, name} & listed:
                continue
            asked = _asked_side(case, rest[1])
            yield f"{names[0]!r} beside {name!r}; the question's side: {asked}"
            if asked is (not side):
                yield Found(
                    f"the query has {names[0]!r} ({id}); the question says {name!r} ({other})"
                )


def _side(name: str) -> tuple[bool | None, tuple[frozenset[str], frozenset[str]]]:
    """Return whether a name says with or without, the words before that and those after it."""
    told = words(name)
    places = [place for place, word in enumerate(told) if word in SIDES]
    if not places:
        return None, (frozenset(), frozenset())
    last = places[-1]
    before = frozenset(told[: places[0]]) - JOINING
    return SIDES[told[last]], (before, frozenset(told[last + 1 :]) - JOINING)


def _mostly_said(case: Case, before: frozenset[str]) -> bool:
    """Whether the question speaks of the thing itself: of half of its words or more."""
    said = [part for part in before if any(alike(word, part) for word in case.wording.words)]
    return 2 * len(said) >= len(before)


def _excluded(case: Case, id: int) -> bool:
    """Whether the query leaves out those who have a concept."""
    numbers = case.query.tree.find_all(exp.Literal) if case.query else ()
    found = [node for node in numbers if literal(node) == id]
    return any(node.find_ancestor(exp.Not, exp.Except) is not None for node in found)


def _asked_side(case: Case, after: frozenset[str]) -> bool | None:
    """Return whether the question says what follows with "with" (True) or "without"; None: neither."""
    asked = words(re.sub(r"n[’']t\b", " not", case.wording.english))
    for place, word in enumerate(asked):
        if any(len(part) > 3 and alike(word, part) for part in after):
            near = [SIDES[told] for told in asked[max(0, place - 4) : place] if told in SIDES]
            return near[-1] if near else None
    return None
