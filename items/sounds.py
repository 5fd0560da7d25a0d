"""How a name sounds: its consonants, the same in Latin letters and in Hangul.

    consonants("ibuprofen")    -> {"pplpn"}
    consonants("이부프로펜")      -> {"pplpn"}

A loanword keeps its consonants in Korean, in classes that the two scripts share (p is b, f, v and ㅂ, ㅍ;
l is r and ㄹ). Vowels are left out: that is where the ways of writing one word differ. An r that closes a
syllable is written by some and left out by others (warfarin, 와파린), so that a Latin word may have two.
Source: National Institute of Korean Language, 외래어 표기법.
"""

import re

from items.korean import FINALS, HANGUL

_INITIALS = "kknttlmppss.jjjktph"  # ㄱ ㄲ ㄴ ㄷ ㄸ ㄹ ㅁ ㅂ ㅃ ㅅ ㅆ ㅇ ㅈ ㅉ ㅊ ㅋ ㅌ ㅍ ㅎ
_FINALS = ".kkknnntlkmpltplmppssnjjktph"  # by the letter that is written: 낙 k, 신 n, 강 n
_LATIN = {
    "b": "p", "c": "k", "d": "t", "f": "p", "g": "k", "h": "h", "j": "j", "k": "k", "l": "l", "m": "m",
    "n": "n", "p": "p", "q": "k", "r": "l", "s": "s", "t": "t", "v": "p", "x": "ks", "z": "j",
}  # fmt: skip
_SPELLED = (  # as it is written, as it is said
    (r"ph", "f"), (r"th", "t"), (r"ch|ck|qu", "k"), (r"ng\b", "n"), (r"^x", "s"), (r"c(?=[eiy])", "s"),
    (r"g(?=[eiy])", "j"), (r"(.)\1", r"\1"),
)  # fmt: skip


def consonants(word: str) -> frozenset[str]:
    """Return the consonants of a word in Hangul or Latin letters: one way, or two with a closing r."""
    if re.search("[가-힣]", word):
        return frozenset({_hangul(word)})
    spelled = word.lower()
    for written, said in _SPELLED:
        spelled = re.sub(written, said, spelled)
    without = re.sub(r"r(?![aeiouyh])", "", spelled)
    return frozenset({_latin(spelled), _latin(without)})


def opens_with_vowel(word: str) -> bool:
    """Return whether no consonant opens a word: 와파린 and warfarin, 아스피린 and aspirin."""
    opens = (ord(word[0]) - HANGUL) // (21 * FINALS)
    return _INITIALS[opens] == "." if "가" <= word[0] <= "힣" else word[0].lower() in "aeiouwy"


def _latin(word: str) -> str:
    return "".join(_LATIN.get(letter, "") for letter in word)


def _hangul(word: str) -> str:
    """Return the consonants of a Hangul word; ㄹ that closes and ㄹ that opens are one l (실린)."""
    sounds = before = ""
    for syllable in re.findall("[가-힣]", word):
        initial, rest = divmod(ord(syllable) - HANGUL, 21 * FINALS)
        opens, closes = _INITIALS[initial], _FINALS[rest % FINALS]
        sounds += "" if opens == before == "l" else opens.strip(".")
        sounds += closes.strip(".")
        before = closes
    return sounds
