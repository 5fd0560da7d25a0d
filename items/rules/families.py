"""Concepts whose names differ by a word: of the first, second and third degree, each that is named."""

from collections.abc import Callable, Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.concepts import EMPTY_WORDS, concepts_named
from items.rules.nodes import literal
from items.rules.wording import words

LEFT_OUT = (
    r"not?\b|never\b|without\b|except\w*|exclud\w+|other than\b|only\b|leav\w+ out\b|rather than\b|"
    r"but\b"
)
WIDE = (exp.Like, exp.ILike, exp.RegexpLike, exp.Contains, exp.StartsWith)


@rule("warning", source="arXiv 2601.08778: one of several named kinds left out of the list")
def sibling_left_out(case: Case) -> Iterator[Found | str]:
    """Of kinds that differ by a word, the query has each that the question names."""
    if _wide(case) or case.wording.says(LEFT_OUT):
        return
    listed = _listed(case)
    for id, names, origin in concepts_named(case):
        for other, name in case.facts.used(origin).items():
            differing = _differing(names[0], name)
            if other in listed or differing is None or not _in_one_list(case, differing, name):
                continue
            yield f"{names[0]!r} ({id}) beside {name!r} ({other})"
            shared = set(words(name)) - set(differing) - EMPTY_WORDS
            if all(map(_says(case), shared)):
                yield Found(f"the question also names {name!r} ({other}); the query does not")
                return


def _wide(case: Case) -> bool:
    """Whether the query takes concepts in by their family or by a pattern."""
    return (
        case.query is None
        or "concept_ancestor" in case.query.tables
        or case.query.tree.find(*WIDE) is not None
    )


def _listed(case: Case) -> set[object]:
    """Return all ids that stand in the query, and those of the names that stand there."""
    nodes = list(case.query.tree.find_all(exp.Literal)) if case.query else []
    return {literal(node) for node in nodes} | {id for id, _, _ in concepts_named(case)}


def _differing(one: str, other: str) -> tuple[str, str] | None:
    """Return the one word in which two names differ."""
    left, right = words(one), words(other)
    apart = [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]]
    return apart[0] if len(left) == len(right) > 1 and len(apart) == 1 else None


def _in_one_list(case: Case, differing: tuple[str, str], name: str) -> bool:
    """Whether two words stand in one list of the question: first, second or third."""
    asked = case.wording.words
    places = [[i for i, word in enumerate(asked) if word == one] for one in differing]
    shared = set(words(name)) | {"or", "and", "either", "both", "a", "an", "the"}
    for left in places[0]:
        for right in places[1]:
            between = asked[min(left, right) + 1 : max(left, right)]
            others = [word for word in between if word not in shared and f"{word}s" not in shared]
            if len(others) <= max(0, len(between) - 1) // 2 and len(between) < 5:
                return True
    return False


def _says(case: Case) -> Callable[[str], bool]:
    """Return a test whether the question has a word, in singular or plural."""
    said = {word.rstrip("s") for word in case.wording.words}
    return lambda word: word.rstrip("s") in said
