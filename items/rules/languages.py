"""Two languages: the Korean and the English question ask for the same, and for what the query says.

Numbers, dates, units, negations and the asked quantity are compared by form; drugs by their sound
(naming.py). What a disease is called in Korean is not known here; reviewers see to that.
"""

import re
from collections.abc import Iterator
from datetime import date

from sqlglot import exp

from items.rules import figures
from items.rules.base import Case, Found, rule
from items.rules.facts import as_date
from items.rules.figures import shown

UNITS = {  # English unit: its Korean forms
    "day": "일", "week": "주", "month": "개월|달", "year": "년|해", "hour": "시간", "percent": "퍼센트|%",
}  # fmt: skip
TYPED = r"\b(?:[Hh]epatitis|[Tt]ype|[Gg]roup|[Ii]nfluenza|[Vv]itamin|[Ff]actor) ([A-E])\b"
TYPED_KOREAN = r"(?<![A-Za-z])([A-E])형|비타민 ?([A-E])(?![A-Za-z])"
NOT_ENGLISH = r"\bnot\b|n't\b|\bnever\b|\bwithout\b|\bnobody\b|\bno[ -]one\b|\bnothing\b"
NOT_KOREAN = r"않(?!고)|지 않고|못|없"
ANY_NOT_ENGLISH = NOT_ENGLISH + (
    r"|\bno\b|\bnone\b|\bexclud|\bexcept|\bleave out|\bother than|\bonly\b|\black|\bmissing|\bempty"
    r"|\bnull\b|\bun\w+|\bnon-?\w+|\bregardless|\bany\b|\boutside|\bfree of|\bneither|\bdead|\bblank|\bfail"
    r"|\bleft out|\bleft aside|\bleaving out|\bomit|\bignor|\bunless\b|\bcannot\b|\bnor\b|\bnowhere\b"
    r"|\bopen\b|\bongoing\b|\bor later\b|\borphan|\bdangl|\bin\w+valid|\binvalid|\bstill\b"
)
ANY_NOT_KOREAN = "않|없|못|안 |제외|빼|아닌|아니|미|벗어|누락|비어|결측|외에|무"
EXAMPLES = (
    re.compile(  # what only shows how an answer looks: (1 to 12), (1900s, 1910s, ...), such as 0
        r"\([^()]*(?:\.\.\.|…|\be\.g\.|\bfor example\b|\bsuch as\b)[^()]*\)|"
        r"\(\s*\d+ ?(?:to|through|-|–) ?\d+\s*\)"
    )
)
QUANTITIES = (  # English form, Korean form: one needs the other
    (r"\bmean\b|\baverage\b", "평균"),
    (r"\bmedian\b", "중앙값|중간값|중위"),
    (
        r"\bpercent\b|\bpercentage\b|%|\bshare\b(?! (?:the|an?|it|one|this|that|their) )|\bproportion\b|"
        r"\bfraction\b",
        "퍼센트|%|비율|백분율|비중|몇 분",
    ),
)


@rule("warning", source="S1-049: each item has both languages")
def written_in(case: Case) -> Iterator[Found | str]:
    """The Korean question is in Korean and the English one in English."""
    yield "letters of both questions"
    if case.item.question_ko.strip() and not re.search("[가-힣]", case.item.question_ko):
        yield Found("question_ko has no Korean letter")
    if re.search("[가-힣]", case.item.question_en):
        yield Found("question_en has Korean letters")


@rule("problem", source="EHRSQL paraphrase errors")
def numbers_agree(case: Case) -> Iterator[Found | str]:
    """Every number and date stands in both questions."""
    texts = case.item.question_en, case.item.question_ko
    english, korean = figures.english(texts[0]), figures.korean(texts[1])
    implied = [figures.implied(text) for text in texts]
    yield f"English {sorted(english)}, Korean {sorted(korean)}"
    if not _korean(case):
        return
    pairs = ((english, korean, implied[1], "Korean"), (korean, english, implied[0], "English"))
    for one, other, also, where in pairs:
        missing = sorted(n for n in one - other - also if not figures.said_otherwise(n, other))
        if missing:
            yield Found(f"{', '.join(map(shown, missing))} is not in the {where} question")


@rule("problem", source="an item asks the same in both languages")
def units_agree(case: Case) -> Iterator[Found | str]:
    """A number has the same unit in both questions."""
    if not _korean(case):
        return
    pattern = "|".join(UNITS)
    for number, unit in re.findall(
        rf"\b(\d+)[\s-](?:\w+\s)?({pattern})s?\b", case.item.question_en.lower()
    ):
        yield f"{number} {unit}"
        found = re.search(rf"(?<!\d){number}\s?([가-힣%]+)", case.item.question_ko)
        if found and not re.match(UNITS[unit], found.group(1)):
            other = next((u for u, k in UNITS.items() if re.match(k, found.group(1))), None)
            if other:
                yield Found(f"{number} {unit}s in English, {number}{found.group(1)} in Korean")


@rule("warning", source="an item asks the same in both languages")
def negation_agrees(case: Case) -> Iterator[Found | str]:
    """A negation in one question is in the other."""
    if not _korean(case):
        return
    english, korean = case.item.question_en.lower(), case.item.question_ko
    korean = re.sub(
        r"가리지 않|상관 ?없|관계 ?없|구분 ?없|구별 ?없|빠짐없|있는지 없는지|중복 ?없|[은는] 포함하지 않",
        "",
        korean,
    )
    yield "negations"
    if re.search(NOT_ENGLISH, english) and not re.search(ANY_NOT_KOREAN, korean):
        yield Found(
            "the English question says not, never, without or nobody; the Korean one does not"
        )
    if re.search(NOT_KOREAN, korean) and not re.search(ANY_NOT_ENGLISH, english):
        yield Found("the Korean question has a negation (않, 없, 못); the English one does not")


@rule("warning", source="an item asks the same in both languages")
def quantity_agrees(case: Case) -> Iterator[Found | str]:
    """Both questions ask for the same quantity: a count of people, a mean, a share."""
    if not _korean(case):
        return
    english, korean = case.item.question_en, case.item.question_ko
    yield f"counted in English: {', '.join(case.wording.counted) or 'nothing named'}"
    for left, right in QUANTITIES:
        in_english, in_korean = re.search(left, english, re.I), re.search(right, korean)
        rated = in_korean and re.search(
            r"\b(?:ratio|rate)s?\b", english, re.I
        )  # 비율 of two numbers
        if bool(in_english) != bool(in_korean) and not rated:
            found, where = (in_english, "English") if in_english else (in_korean, "Korean")
            yield Found(f"only the {where} question asks for {found.group(0) if found else ''!r}")
    once = r"\b(?:different|distinct|unique|various|separate|kinds?|types?|which)\b"
    if re.search("서로 다른", korean) and not re.search(once, english, re.I):
        yield Found(
            "the Korean question counts different ones (서로 다른), the English one does not"
        )
    share = re.search(r"percent|%|share|proportion|fraction", english, re.I)
    if (
        case.wording.counted == ("person",)
        and not share
        and not re.search(r"명|사람|인원|환자\s*수|환자가", korean)
    ):
        yield Found("the English question counts people, the Korean one does not say 명 or 환자 수")
    only_records = "record" in case.wording.counted and "person" not in case.wording.counted
    if only_records and re.search(r"몇\s*명", korean):
        yield Found("the English question counts records, the Korean one people (몇 명)")


@rule("warning", source="S3-006: values drawn from the database stand in both")
def constants_said(case: Case) -> Iterator[Found | str]:
    """The numbers of the question are in the query, as they are or worked out from today."""
    if case.query is None:
        return
    have, days = _constants(case)
    names = {n for value in have if isinstance(value, int) for n in _concept_numbers(case, value)}
    yield f"constants of the query: {sorted(map(str, have))[:12]}"
    asked = figures.english(case.item.question_en)
    names |= {12.0} if case.wording.says("months?") else set()
    names |= {float(n) for n in re.findall(r"\b(\d{3}0)s\b", case.item.question_en)}  # years.py
    names |= {
        n for n in asked for m in asked if abs(n - m) in have
    }  # turned 70 in 2020: born in 1950
    for number in sorted(figures.english(EXAMPLES.sub("", case.item.question_en))):
        if number in names or _explained(number, have, days, case.ground.today):
            continue
        yield Found(f"the question says {shown(number)}; nothing in the query comes from it")


@rule("problem", source="EHRSQL paraphrase errors: another type of one disease")
def letters_agree(case: Case) -> Iterator[Found | str]:
    """Hepatitis B is B형 간염, not A형."""
    english = set(re.findall(TYPED, case.item.question_en))
    korean = {a or b for a, b in re.findall(TYPED_KOREAN, case.item.question_ko)}
    yield f"{sorted(english)} in English, {sorted(korean)} in Korean"
    if english and korean and english != korean:
        yield Found(
            f"{', '.join(sorted(english))} in English, {', '.join(sorted(korean))} in Korean"
        )


def _korean(case: Case) -> bool:
    return bool(re.search("[가-힣]", case.item.question_ko))


def _constants(case: Case) -> tuple[set[float | int], set[date]]:
    """Return the numbers of a query, those inside its texts and dates too, and its dates."""
    have: set[float | int] = set()
    days: set[date] = set()
    tree = case.query.tree if case.query else exp.Select()
    for node in tree.find_all(exp.Literal):
        text = str(node.this)
        for number in re.findall(r"\d+(?:\.\d+)?", text):
            have.add(float(number) if "." in number else int(number))
        day = as_date(text) if re.match(r"\d{4}-\d{2}-\d{2}", text) else None
        if day:
            days.add(day)
    have |= {length for length in _lengths(tree) if length > 2}
    have.add(len(tree.selects) if isinstance(tree, exp.Select) else 0)
    return have, days


def _lengths(tree: exp.Query) -> Iterator[int]:
    """Yield how many things a query lists: by IN, by OR, by one condition or one EXISTS for each."""
    listed: dict[str, set[str]] = {}
    for node in tree.find_all(exp.In):
        yield len(node.expressions)
        texts = (choice.sql() for choice in node.expressions)
        listed.setdefault(node.this.name.lower(), set()).update(texts)
    for equal in tree.find_all(exp.EQ):
        for one, other in ((equal.this, equal.expression), (equal.expression, equal.this)):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal):
                listed.setdefault(one.name.lower(), set()).add(other.sql())
    yield from map(len, listed.values())
    yield len([*tree.find_all(exp.Exists)])
    yield len([*tree.find_all(exp.SetOperation)]) + 1
    yield len({table.name.lower() for table in tree.find_all(exp.Table)})


def _concept_numbers(case: Case, value: int) -> list[float]:
    concept = case.facts.concept(value) if value < 2**31 else None
    names = " ".join(concept.names) if concept else ""
    return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", names)]


def _explained(number: float, have: set[float | int], days: set[date], today: date | None) -> bool:
    """Whether a number of the question is one of the query's, or a span that its dates have."""
    whole = int(number)
    near = {
        number,
        number - 1,
        number + 1,
        number * 7,
        number * 12,
        number * 24,
        number / 100,
        number - 1900,
    }
    near |= {number * days_of for days_of in (28, 30, 30.5, 31, 365, 365.25, 366)}
    if near & {float(n) for n in have} or whole in (0, 1, 2, 100):
        return True
    if any(whole in (day.year, day.month, day.day) for day in days):
        return True
    ends = [*days, *([today] if today else [])]
    if today and {float(today.year - whole), float(today.year - whole - 1)} & {
        float(n) for n in have
    }:
        return True
    for later in ends:
        for earlier in ends:
            gap = (later - earlier).days
            months = (later.year - earlier.year) * 12 + later.month - earlier.month
            if gap > 0 and (
                abs(gap - whole) <= 1 or months in (whole, whole * 12) or gap // 7 == whole
            ):
                return True
    return False
