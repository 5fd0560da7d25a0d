"""Korean particles by the sound before them: 환자는, 진단을, 3일, CT를, 아스피린(Aspirin)은.

    f"{Korean('심방세동'):을/를}"   -> 심방세동을
    particle("2018", "은/는")      -> "은" (팔 ends in ㄹ)

A final Hangul syllable says itself whether it closes; a digit is read in Sino-Korean (2018 as …팔); an
abbreviation is spelled letter by letter (CT: 티); another Latin word is taken as Koreans write it (a
closing l, m, n or ng is heard, most other endings get a vowel). What stands in brackets at the end is
not read. Source: National Institute of Korean Language, 한글 맞춤법 and 외래어 표기법.
"""

import re

HANGUL, LAST = 0xAC00, 0xD7A3
FINALS = 28
RIEUL = 8  # ㄹ: 로, not 으로
DIGITS = {"1": "ㄹ", "7": "ㄹ", "8": "ㄹ", "0": "ㅇ", "3": "ㅁ", "6": "ㄱ"}
LETTERS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "r": "ㄹ"}  # 엘, 엠, 엔, 알
UNITS = {
    "mg": "ㅁ",
    "kg": "ㅁ",
    "mcg": "ㅁ",
    "ml": "",
    "dl": "",
    "cm": "",
    "mm": "",
}  # 밀리그램, 밀리리터
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_SOUND = re.compile(r"[가-힣0-9A-Za-z]")


class Korean(str):
    """A word whose format spec is the pair of particles that follows it."""

    def __format__(self, pair: str) -> str:
        return str(self) + (particle(self, pair) if pair else "")


def particle(word: str, pair: str) -> str:
    """Return the particle of a pair (은/는, 이/가, 을/를, 과/와, 으로/로) that follows a word.

    pair: the form after a closed syllable first. Raises: ValueError for another pair.
    """
    closed, sep, bare = pair.partition("/")
    if not sep:
        raise ValueError(f"{pair!r} is no pair of particles; expected one such as 을/를")
    final = closing(word)
    if closed == "으로" and final == "ㄹ":
        return bare
    return closed if final else bare


def closing(word: str) -> str:
    """Return what closes a word's last syllable: "ㄹ", another consonant (any), or ""."""
    read = _BRACKETS.sub("", word)
    sounds = _SOUND.findall(read)
    if not sounds:
        return ""
    last = sounds[-1]
    if HANGUL <= ord(last) <= LAST:
        final = (ord(last) - HANGUL) % FINALS
        return "ㄹ" if final == RIEUL else "ㄱ" if final else ""
    return DIGITS.get(last, "") if last.isdigit() else _latin(read, last)


def _latin(read: str, last: str) -> str:
    word = re.findall(r"[A-Za-z]+", read)[-1]
    if word.lower() in UNITS:
        return UNITS[word.lower()]
    if word.isupper():
        return LETTERS.get(last.lower(), "")
    if word.lower().endswith("ng"):
        return "ㅇ"
    return LETTERS.get(last.lower(), "") if last.lower() != "r" else ""
