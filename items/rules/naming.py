"""What the question names: the same drug in both languages, and nothing that the query leaves out."""

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from items.rules.base import Case, Found, rule
from items.rules.concepts import EMPTY_WORDS
from items.rules.sql import Origin
from items.rules.wording import alike, words
from items.sounds import consonants, opens_with_vowel

EVENTS: tuple[Origin, ...] = (
    ("condition_occurrence", "condition_concept_id"),
    ("drug_exposure", "drug_concept_id"),
    ("procedure_occurrence", "procedure_concept_id"),
    ("measurement", "measurement_concept_id"),
    ("observation", "observation_concept_id"),
    ("device_exposure", "device_concept_id"),
)
LONG = 7  # letters of a word that names a drug; valent is 폴란드
SOUNDS = 4  # consonants that two words do not share by chance
SYLLABLES = 3
FORMS = {
    "tablet", "capsule", "solution", "injection", "injectable", "suspension", "extended", "release",
    "chewable", "vaccine", "topical", "inhaler", "inhalant", "metered", "powder", "ointment", "patch",
    "implant", "delayed", "prefilled", "syringe", "transdermal", "system", "monthly", "hydrochloride",
    "sodium", "product", "containing", "adsorbed", "bitartrate", "bromide", "chloride", "conjugate",
    "fumarate", "hydrobromide", "inactivated", "ingredients", "injector", "intrauterine",
    "macrocrystals", "modified", "monohydrate", "mucosal", "potassium", "preservative", "propionate",
    "succinate", "sulfate", "toxoids",
    "vaginal",
}  # fmt: skip


COMMON = (
    "치료",
    "진료",
    "처방",
    "투여",
    "복용",
    "시행",
    "측정",
    "기록",
    "입원",
    "퇴원",
    "환자",
    "병동",
)
COLUMNS_SAID = (
    (
        "standard_concept",
        r"(?:how many|number of|which|list \w+) standard concepts\b",
        "표준 개념은 몇",
    ),
)
TABLES_SAID = (
    ("condition_era", r"condition eras?\b", "질환 ?에라|condition_era"),
    ("drug_era", r"drug eras?\b", "약물 ?에라|drug_era"),
    ("observation_period", r"observation periods?\b", "관찰 ?기간(?! ?중)"),
)


@rule("warning", source="EHRSQL paraphrase errors")
def drug_in_korean(case: Case) -> Iterator[Found | str]:
    """A drug that the Korean question names is in the English one or in the query, by its sound."""
    table, column = origin = EVENTS[1]
    if not case.facts.has(table, column):
        return
    known = _drugs(case.facts.used(origin).values())
    meant = {s for word in (*case.wording.words, *_names(case)) for s in consonants(word)}
    for token in re.findall("[가-힣]+", case.item.question_ko):
        sounded = None if token.startswith(COMMON) else _sounded(token, known)
        if sounded is None:
            continue
        said, drug = sounded
        yield f"{said}: {drug}"
        if not consonants(drug) & meant:
            yield Found(
                f"the Korean question says {said} ({drug}); the English one and the query do not"
            )


@rule("warning", source="arXiv 2601.08778 (conditions of the question that the query lacks)")
def named_unused(case: Case) -> Iterator[Found | str]:
    """What the question calls by the full name of a concept, the query speaks of, too."""
    if case.query is None:
        return
    have = [*_names(case)]
    for origin in EVENTS:
        if not case.facts.has(*origin):
            continue
        for id, name in case.facts.used(origin).items():
            wanted = _telling(name)
            if not _in_full(wanted, case.wording.words):
                continue
            yield f"{name!r} ({id})"
            nearer = _shorter(case, wanted)
            if nearer:
                yield Found(f"the question says {name!r} ({id}); the query has {nearer!r}")
                return
            if not any(alike(word, other) for word in wanted for other in have):
                yield Found(f"the question says {name!r} ({id}); the query has nothing of it")
                return


@rule("warning", source="OMOP: eras are not occurrences, periods are not visits")
def table_named(case: Case) -> Iterator[Found | str]:
    """A question for eras or observation periods is answered from their table."""
    for name, english, korean in TABLES_SAID:
        if case.query is None or not case.facts.has(name, "person_id"):
            continue
        if case.wording.says(english, korean=korean):
            yield f"the question names {name}"
            if name not in case.query.tables:
                yield Found(
                    f"the question asks for {name}; the query reads {', '.join(sorted(case.query.tables))}"
                )


@rule("warning", source="OMOP: concept holds non-standard ones, too")
def column_named(case: Case) -> Iterator[Found | str]:
    """Standard concepts are those that standard_concept says are."""
    for name, english, korean in COLUMNS_SAID:
        if case.query is None or not case.wording.says(english, korean=korean):
            continue
        read = {column.name.lower() for column in case.query.tree.find_all(exp.Column)}
        yield f"the question needs {name}"
        if name not in read and case.facts.has("concept", name):
            yield Found(f"the question needs {name}; the query does not look at it")


def _drugs(names: Iterable[str]) -> dict[str, str]:
    """Return the words that name drugs, by their consonants."""
    found: dict[str, str] = {}
    for word in {word for name in names for word in words(name)}:
        if len(word) >= LONG and word not in FORMS:
            found |= {sound: word for sound in consonants(word) if len(sound) >= SOUNDS}
    return found


def _sounded(token: str, known: dict[str, str]) -> tuple[str, str] | None:
    """Return how a Korean word begins and the drug that sounds so: particles follow it."""
    for end in range(len(token), SYLLABLES - 1, -1):
        (sound,) = consonants(token[:end])
        if sound in known and opens_with_vowel(token) == opens_with_vowel(known[sound]):
            return token[:end], known[sound]
    return None


def _names(case: Case) -> Iterator[str]:
    """Yield the words of the query's texts, and of the concepts whose ids it has."""
    tree = case.query.tree if case.query else exp.Select()
    for node in tree.find_all(exp.Literal):
        for name in _called(case, str(node.this)):
            yield from words(name)


def _shorter(case: Case, wanted: tuple[str, ...]) -> str:
    """Return a concept's name in the query that has some of the words of the one asked for and no others."""
    literals = case.query.tree.find_all(exp.Literal) if case.query else ()
    names = {name for node in literals for name in _called(case, str(node.this))}
    told = [(name, set(_telling(name))) for name in sorted(names)]
    if any(set(wanted) <= have for _, have in told):
        return ""
    return next((name for name, have in told if have and have < set(wanted)), "")


def _called(case: Case, text: str) -> tuple[str, ...]:
    """Return the names of a concept by its id, or the text itself."""
    concept = case.facts.concept(int(text)) if text.isdigit() and len(text) < 10 else None
    return tuple(concept.names) if concept else (text,)


def _telling(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name) if word not in EMPTY_WORDS)


def _in_full(wanted: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """Whether all words of a name stand in the question one after the other; one word must be long."""
    if not wanted or (len(wanted) == 1 and len(wanted[0]) <= LONG):
        return False
    asked = tuple(word for word in asked if word not in EMPTY_WORDS)
    return any(
        all(alike(one, other) for one, other in zip(wanted, asked[place:], strict=False))
        and len(asked) - place >= len(wanted)
        for place in range(len(asked))
    )
