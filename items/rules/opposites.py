"""Opposites: what one question calls the first, the other must not call the last; nor >= what is >.

Only a clear contradiction is told: one language says one side alone, the other language the other side.
"""

import re
from collections.abc import Iterator

from items.rules.base import Case, Found, rule
from items.rules.figures import KOREAN_ONES
from items.rules.limits import PHRASES
from items.rules.wording import number

SPAN = r"(?! (?:\d+ |\w+ )?(?:days?|weeks?|months?|years?|quarters?)\b)"  # the last 30 days
LIMIT = (
    r"(?! (?:more|less|fewer|older|younger|later|earlier|longer|higher|over|above|below|before"
    r"|after|on)\b)"
)
OPPOSITES = (  # English, its Korean; the opposite in English, its Korean
    (
        r"\b(?:wom[ae]n|females?|girls?)\b",
        "여성|여자|여아|여학생",
        r"\b(?:m[ae]n|males?|boys?)\b",
        "남성|남자|남아|남학생",
    ),
    (
        rf"\b(?:first|earliest|initial|new|newly)\b{SPAN}",
        "첫|처음|최초|가장 이른|가장 먼저",
        rf"\b(?:last|latest|most recent|final)\b{SPAN}",
        "마지막|가장 최근|가장 늦은|최종",
    ),
    (
        r"\b(?:before|prior to|preceding|earlier than)\b",
        r"이전|(?<!오)전(?:에|까지|의|인|이| \d)|앞서",
        r"\b(?:after|since|later than)\b",
        r"이후|(?<!오)후(?:에|의|인| \d)|뒤에|[일월년]부터",
    ),
    (
        r"(?<!at )\bmost\b(?! recent)|\b(?:highest|largest|longest|maximum|oldest|greatest)\b",
        "가장 (?:많|높|큰|긴|오래)|최대|최고|최장",
        r"(?<!at )\bleast\b|\b(?:fewest|lowest|smallest|shortest|minimum|youngest)\b",
        "가장 (?:적|낮|작|짧|어린)|최소|최저|최단",
    ),
    (
        r"\b(?:inpatient|hospitali[sz]\w+|admi(?:ssion|tted)\w*)\b",
        "입원",
        r"\b(?:outpatient|ambulatory)\b",
        "외래",
    ),
    (
        r"\bboth\b|\ball (?:two|three|four)\b",
        r"둘 다|(?:두|세|네) (?:가지|약|개)[를을]? ?모두|[과와] (?:\S+ ){0,2}\S+[을를이가] 모두",
        rf"\beither\b|\bor\b{LIMIT}",
        "또는|혹은|하나라도|중 하나",
    ),
    (
        r"\b(?:most recent|newest|latest) (?:\w+ )?first\b",
        "최근 [가-힣]*부터|최신순|최근순",
        r"\b(?:oldest|earliest) (?:\w+ )?first\b",
        "오래된 [가-힣]*부터|오래된 순|이른 [가-힣]*부터",
    ),
    (
        r"\b(?:most \w+|largest|highest|longest)(?: \w+){0,2} first\b|\bfrom (?:the )?(?:most|highest)\b",
        r"(?:많은|높은|큰|긴)[가-힣 ]{0,8}(?:순|부터)|내림차순",
        r"\b(?:fewest|smallest|lowest|shortest)(?: \w+){0,2} first\b|\bfrom (?:the )?(?:fewest|lowest)\b",
        r"(?:적은|낮은|작은|짧은)[가-힣 ]{0,8}(?:순|부터)|오름차순",
    ),
    (
        r"\b(?:start\w*|began|begun)\b",
        "시작",
        r"\b(?:ended|stopped|finished)\b",
        "끝|종료|중단",
    ),
)
SPOKEN = "|".join(sorted(KOREAN_ONES, key=len, reverse=True))
UNIT = r"\s?(?:[가-힣%]{1,3}?)?(?:을|를|이|가|의)?\s?"
KOREAN_LIMITS = (
    (r"이상", ">="),
    (r"이하", "<="),
    (r"미만", "<"),
    (r"초과", ">"),
    (r"보다 (?:더 )?(?:많|높|크|큰|길|긴|오래|늦)", ">"),
    (r"(?:을|를)? ?넘", ">"),
    (r"보다 (?:더 )?(?:적|낮|작|짧|어린|어리|이른)", "<"),
)


@rule("warning", source="arXiv 2601.08778 (questions that differ by a word)")
def opposites_agree(case: Case) -> Iterator[Found | str]:
    """The first is not the last in the other language, women not men, before not after."""
    english, korean = case.wording.english, case.wording.korean
    korean = re.sub(r"소수(?:점)? ?(?:아래 )?첫째", "", korean)  # a decimal place is no first event
    if re.search(r"\bfrom\b|\bbetween\b", english, re.I):
        korean = korean.replace("부터", "")  # an interval has both ends
    for one, ein, other, anders in OPPOSITES:
        said = bool(re.search(one, english, re.I)), bool(re.search(other, english, re.I))
        told = bool(re.search(ein, korean)), bool(re.search(anders, korean))
        yield f"{said} in English, {told} in Korean"
        if said[0] != said[1] and told == (said[1], said[0]):
            left = re.search(one if said[0] else other, english, re.I)
            right = re.search(ein if told[0] else anders, korean)
            if left and right:
                yield Found(f"{left.group(0)!r} in English, {right.group(0)!r} in Korean")


@rule("problem", source="FACTS §5 (limits that the data hides)")
def limits_agree(case: Case) -> Iterator[Found | str]:
    """More than N is N 초과, at least N is N 이상: both questions take the limit in, or neither does."""
    told = dict(_korean_limits(case.wording.korean))
    for pattern, sign in PHRASES:
        for match in re.finditer(pattern, case.wording.english, re.I):
            value = number(match.group(1).replace(",", ""))
            korean = told.get(value) if value is not None else None
            yield f"{match.group(0)!r} is {sign}; in Korean {korean}"
            if korean and korean != sign:
                yield Found(f"{match.group(0)!r} in English is {sign}, in Korean {value} {korean}")


@rule("warning", source="an item asks the same in both languages")
def as_many_asked(case: Case) -> Iterator[Found | str]:
    """Two numbers asked in one language are two in the other."""
    english = len(re.findall(r"\bhow (?:many|much)\b", case.wording.english, re.I))
    korean = len(re.findall("몇|얼마", case.wording.korean))
    named = len(
        re.findall(r"[가-힣] ?수(?=[와과를는가,. ])|건수|비율|평균|각각|각 ", case.wording.korean)
    )
    spoken = len(
        re.findall(
            r"\b(?:number|count|share|percent\w*|proportion|average|mean|median|total|which|what|when"
            r"|each|per|by|and)\b",
            case.wording.english,
            re.I,
        )
    )
    yield f"{english} in English, {korean} in Korean"
    if english > 1 and korean + named < english and korean:
        yield Found(f"the English question asks how many {english} times, the Korean one {korean}")
    if korean > 1 and english + spoken < korean and english:
        yield Found(f"the Korean question asks 몇 {korean} times, the English one {english}")


@rule("problem", source="rounding errors in BIRD, here between two languages")
def decimals_agree(case: Case) -> Iterator[Found | str]:
    """Both questions ask for the same number of decimals."""
    english = re.search(r"\b(?:to|with) (\w+) decimals?\b", case.wording.english, re.I)
    korean = re.search(r"소수(?:점)? ?(?:아래 )?(첫|둘|셋|넷|[1-4])", case.wording.korean)
    if english is None or korean is None:
        return
    told = {"첫": 1, "둘": 2, "셋": 3, "넷": 4}.get(korean.group(1)) or int(korean.group(1))
    said = number(english.group(1).lower())
    yield f"{said} in English, {told} in Korean"
    if said is not None and said != told:
        yield Found(f"{english.group(0)!r} in English, {korean.group(0)!r} in Korean")


def _korean_limits(text: str) -> Iterator[tuple[int, str]]:
    for phrase, sign in KOREAN_LIMITS:
        for match in re.finditer(rf"(\d[\d,]*){UNIT}{phrase}", text):
            yield int(match.group(1).replace(",", "")), sign
        for match in re.finditer(
            rf"(?<![가-힣])({SPOKEN}) (?:번|명|건|가지|회|개|일|차례)(?:을|를)? ?{phrase}", text
        ):
            yield KOREAN_ONES[match.group(1)], sign
