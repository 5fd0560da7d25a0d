"""The figures of a question in either language: digits, number words, and spans said in other words.

english("within a fortnight of 5 May")     -> {5.0}
implied("within a fortnight of 5 May")     -> {14.0, 2.0}: what another text may say for it
korean("2주 안에 세 번")                     -> {2.0, 3.0}
"""

import re

from items.rules.wording import NUMBERS

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
          "october", "november", "december")  # fmt: skip
KOREAN_NUMBERS = {
    "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
    "열두": 12, "열한": 11, "스무": 20, "서른": 30,
}  # fmt: skip
COUNTERS = r"\s?(?:가지|명|개|번|건|종|곳|달|주|해|차례|분|사람|종류|살|시간)"
SAME_SPAN = {12: 1, 24: 2, 36: 3, 7: 1, 14: 2, 21: 3, 60: 2, 90: 3, 180: 6, 365: 1}
SMALLER = {  # one unit in smaller ones: two weeks are 14 days
    "week": (7,), "month": (30,), "year": (12, 365), "day": (24,), "quarter": (3,), "decade": (10,),
}  # fmt: skip
SPOKEN = {  # words that stand for figures without being numbers
    "decade": (10,), "decades": (10,), "fortnight": (14, 2), "fortnights": (14,), "dozen": (12,),
    "century": (100,), "보름": (15,), "반년": (6,), "다스": (12,),
}  # fmt: skip
KOREAN_UNITS = {
    "주": "week",
    "달": "month",
    "개월": "month",
    "해": "year",
    "년": "year",
    "일": "day",
}
KOREAN_ONES = {"한": 1, "두": 2, **KOREAN_NUMBERS}
ORDINALS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "셋째": 3, "넷째": 4, "다섯째": 5, "세 번째": 3, "네 번째": 4, "다섯 번째": 5, "열 번째": 10,
}  # fmt: skip
ABOVE = (
    r"\b(?:older than|over|above|more than) (?:the age of )?(\d+)\b",
    r"(\d+)\s?[가-힣]{0,2}\s?(?:초과|를 넘|을 넘)",
)
ONE = ("a", "an", "last", "past", "previous")  # what stands before one unit: within a week
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"


def english(text: str) -> set[float]:
    """Return the figures of an English text, its months among them; one and two are no figures."""
    found = {
        float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", _split(text))
    }
    for ten, one in re.findall(rf"\b({TENS})-(\w+)\b", text.lower()):
        found.add(float(NUMBERS[ten] + NUMBERS.get(one, 0)))
    single = re.sub(rf"\b(?:{TENS})-\w+|\bnineteen[ -](?:{TENS}|\w+ties)\b", "", text.lower())
    lower = re.findall(r"[a-z]+", single)
    found |= {float(n) for word in lower if (n := NUMBERS.get(word, 0)) > 2 and word != "hundred"}
    for place, month in enumerate(MONTHS, 1):
        name = month.title()
        if re.search(rf"(?<!^)\b(?:{name}|{name[:3]}\.?(?=\s+\d))\b", text):
            found.add(float(place))
    return found


def korean(text: str) -> set[float]:
    """Return the figures of a Korean text."""
    found = {
        float(n.replace(",", ""))
        for n in re.findall(r"(?<![A-Za-z\d.])\d[\d,]*(?:\.\d+)?", _split(text))
    }
    for word, number in KOREAN_NUMBERS.items():
        if re.search(rf"(?<![가-힣]){word}{COUNTERS}", text):
            found.add(float(number))
    return found


def implied(text: str) -> set[float]:
    """Return what a text says without the figure: a dozen, the fifth, two weeks (14 days), over 80 (81)."""
    found = {float(n) for word, many in SPOKEN.items() if word in text.lower() for n in many}
    found |= {float(n) for word, n in ORDINALS.items() if word in text.lower()}
    found |= {
        float(n)
        for word, n in KOREAN_NUMBERS.items()
        if re.search(rf"(?<![가-힣]){word} (?=[가-힣])", text)
    }
    found |= {
        float(n) + 1 for above in ABOVE for n in re.findall(above, text)
    }  # 80을 넘으면 81 이상
    counts = "|".join((r"\d+", *NUMBERS, *ONE))
    for count, unit in re.findall(
        rf"\b({counts})[\s-](?:\w+\s)?({'|'.join(SMALLER)})s?\b", text.lower()
    ):
        number = int(count) if count.isdigit() else NUMBERS.get(count, 1)
        found |= {float(number * small) for small in SMALLER[unit]}
    for count, unit in re.findall(rf"(\d+|[가-힣]+)\s?({'|'.join(KOREAN_UNITS)})", text):
        many = int(count) if count.isdigit() else KOREAN_ONES.get(count, 0)
        found |= {float(many * small) for small in SMALLER[KOREAN_UNITS[unit]] if many}
    return found


def said_otherwise(number: float, other: set[float]) -> bool:
    """Whether the other language says the same span in another unit (12 months, 1 year) or as a word."""
    whole = int(number)
    if number != whole:
        return False
    turned = [small for large, small in SAME_SPAN.items() if large == whole]
    turned += [large for large, small in SAME_SPAN.items() if small == whole]
    return whole in (0, 1, 2) or any(float(n) in other for n in turned)


def shown(number: float) -> str:
    """Return a figure as it is written."""
    return f"{number:g}"


def _split(text: str) -> str:
    """Return a text with ISO dates as three numbers and without commas that only list."""
    text = re.sub(r"(\d{4})-(\d{2})-(\d{2})", r"\1 \2 \3", text)
    text = re.sub(r"(\d)(?:st|nd|rd|th)\b", r"\1 ", text)
    return re.sub(r"(\d),(?!\d{3}(?!\d))", r"\1 ", text)
