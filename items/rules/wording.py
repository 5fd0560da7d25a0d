"""What a question asks for, read from its words: a small, strict reading in English and Korean.

Rules use it to see whether the query and the question mean the same: what is counted, whether days
are counted inclusively, whether missing values are spoken of. A phrase that is not known here is
not guessed at.
"""

import re
from dataclasses import dataclass
from functools import cached_property

PEOPLE = (
    "patient", "patients", "people", "person", "persons", "individual", "individuals", "man", "men",
    "woman", "women", "adult", "adults", "child", "children", "subject", "subjects", "females", "males",
    "infants", "newborns", "babies", "boys", "girls", "smokers", "survivors", "seniors", "inpatients",
    "outpatients",
)  # fmt: skip
VISITS = (
    "visit", "visits", "admission", "admissions", "hospitalisation", "hospitalisations",
    "hospitalization", "hospitalizations", "hospital stay", "hospital stays", "stays", "encounters",
)  # fmt: skip
DRUGS = ("drug", "drugs", "medication", "medications", "medicine", "medicines", "ingredients")
KINDS = {  # what "different X" counts: the id in its table
    "drug_concept_id": (*DRUGS, "vaccine", "vaccines"),
    "condition_concept_id": ("condition", "conditions", "diagnosis", "diagnoses", "disease",
                             "diseases", "disorders"),
    "procedure_concept_id": ("procedure", "procedures", "operations"),
    "measurement_concept_id": ("measurement", "measurements", "test", "tests", "lab tests"),
    "observation_concept_id": ("observation", "observations"),
}  # fmt: skip
RECORDS = (
    "record", "records", "row", "rows", "entry", "entries", "time", "times", "occurrence",
    "occurrences", "event", "events", "exposure", "exposures", "prescription", "prescriptions",
    "episode", "episodes", "periods", "eras", "scans", "doses", "injections", "vaccinations",
    "immunizations", "screenings", "sessions", "transfusions",
)  # fmt: skip
THINGS = ("days", "months", "years", "weeks", "concepts", "identifiers", "dates", "notes", "values")
STOPS = ("who", "that", "which", "have", "has", "had", "were", "was", "is", "are", "did", "does", "with",
         "in", "of", "by", "on", "to", "for", "from", "at", "per", "during", "after", "before", "between",
         "been", "do", "got", "took", "received")  # fmt: skip
DIFFERENT = r"(?:different|distinct|unique|separate|kinds? of|types? of|various)"
COUNTS = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|thirty|ninety"
RELATIVE = re.compile(  # "its last day" and "the last month of 2018" count from no today
    rf"\b(?:last|past|previous|recent)\s+(?:\d+|{COUNTS})\s+(?:full\s+|calendar\s+)*"
    r"(?:day|week|month|quarter|year)s?\b"
    r"|\b(?:last|past|previous|recent)\s+(?:full\s+|calendar\s+)*(?:week|month|quarter|year)s?\b(?! of\b)"
    r"|(?<!the )(?<!its )(?<!and )(?<!their )\b(?:last|past) day\b|\bin the (?:last|past) day\b"
    rf"|\b(?:\d+|{COUNTS})\s+(?:day|week|month|quarter|year)s?\s+ago\b"
    r"|\bthis\s+(?:week|month|quarter|year)\b|\b(?:as of )?today\b|\bcurrently\b|\bright now\b|\bto date\b"
    r"|\bso far\b",
    re.I,
)
OPEN = r"(?:still |those |ones )?(?:open|ongoing|unfinished|running)"
OUT = (
    r"left (?:out|aside)|leav(?:e|ing) (?:out|aside)|excluded|not counted|do not count|disregarded"
)
WITHOUT_OUT = (
    r"(?:leav(?:e|ing) out|exclud(?:e|ing)|omit\w*|ignor\w*|without) [\w ]{0,30}(?:without|with no)"
)
NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
}  # fmt: skip


@dataclass(frozen=True)
class Wording:
    """A question's two texts and what they say."""

    english: str
    korean: str

    def says(self, *patterns: str, korean: str = "") -> bool:
        """Return whether the English text matches a pattern as whole words, or the Korean its own."""
        found = any(re.search(rf"\b(?:{pattern})", self.english, re.I) for pattern in patterns)
        return found or bool(korean and re.search(korean, self.korean))

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """What is counted, in the order asked.

        person, visit, record, an id that "different X" has, or thing: a noun that fixes none of these.
        """
        found: list[str] = []
        phrase = (
            r"\b(?:how many|(?:the )?(?:total )?(?:number|count|share|proportion|percentage|fraction)"
            r" of(?: all)?|what (?:share|percentage|proportion|fraction|percent) of(?: all)?|"
            r"percent of(?: all)?)\s+((?:[\w'/-]+\s*){1,8})"
        )
        for match in re.finditer(phrase, self.english, re.I):
            kind = _counted(match.group(1).lower())
            if kind:
                found.append(kind)
        return tuple(found)

    @property
    def asks_people(self) -> bool:
        """Whether it counts people."""
        return "person" in self.counted or bool(
            re.search(r"몇\s*명|환자\s*수|사람\s*수", self.korean)
        )

    @property
    def asks_records(self) -> bool:
        """Whether it counts records, times or events."""
        words = "|".join(RECORDS)
        return "record" in self.counted or self.says(
            rf"(?:how many|number of) (?:\w+ )?(?:{words})\b",
            korean=r"몇\s*(?:건|번|회)|기록\s*수|건수",
        )

    @property
    def speaks_of_missing(self) -> bool:
        """Whether it says what is to be done with values that are missing."""
        return self.says(
            r"missing|null|unknown|not recorded|without an? (?:end|value|quantity|date)|no end date|"
            r"(?:empty|blank) for|(?:left|leave\w*|stays?) (?:empty|blank)|"
            r"still open|open visits?|an open|ongoing|with an? (?:recorded |known )?(?:end|value|quantity)",
            korean="누락|결측|빈 값|없는 경우|기록되지 않|종료일|비워",
        )

    @property
    def inclusive_days(self) -> bool:
        """Whether the first and the last day are both to be counted."""
        return self.says(
            r"calendar days?|inclusive|days? .*\btouch|both (?:the )?(?:first|start|admission)"
            r"|(?:first|start|admission) (?:day )?and (?:the )?(?:last|end|discharge) (?:day )?"
            r"(?:both )?(?:count|includ)|counting (?:both|the (?:first|last|day))|including (?:both|the "
            r"(?:first|last|day of))",
            korean="양 ?끝|당일 포함|포함하여|달력|첫날과 마지막|입원일과 퇴원일을 모두",
        )

    @property
    def any_kind(self) -> bool:
        """Whether subtypes, strengths and combinations are to be counted in."""
        return self.says(
            r"(?:of )?(?:any|all|every|whatever) (?:kinds?|types?|forms?|strengths?|sub-?types?|"
            r"variants?|products?|brands?|doses?)|includ\w+ (?:\w+ ){0,3}(?:sub-?types?|descendants?|"
            r"kinds|forms|variants|products)|sub-?types|descendants|and its (?:\w+ )?(?:kinds|forms)|"
            r"(?:and|or) (?:any|all) (?:of )?(?:its|their)",
            korean="종류를 가리지|모든 종류|종류에 상관|하위|아형|포함하|포함해|모든 용량|복합제",
        )

    @property
    def open_left_out(self) -> bool:
        """Whether it leaves out what has no end yet."""
        return self.says(
            rf"with an? (?:known |recorded )?end|that (?:have )?ended|closed|completed|finished|{OPEN}"
            rf"(?: ones)?(?: \w+){{0,2}} (?:are |is )?(?:{OUT})|(?:{OUT}|without|excluding|omit\w*|"
            rf"ignor\w*|no) (?:the )?(?:\w+ )?{OPEN}|(?:that|which) are over\b|recorded as ended|not open|"
            r"from (?:its |their |the )?start (?:date |day )?to (?:its |their |the )?end\b",
            korean=r"시작일부터 종료일까지|종료된|끝난|완료된|(?:끝나지|종료되지) 않은[^.?]*(?:제외|빼)|"
            r"(?:진행 ?중인|열린|종료일이 없는)[^.?]*(?:제외|빼)",
        )

    @property
    def each_of_all(self) -> bool:
        """Whether a row or a weight is wanted for everybody, also for those who have nothing."""
        return self.says(
            r"(?:for |of )?(?:each|every) (?:\w+ )?(?:patient|person|individual|subject)\b"
            r"(?! (?:who|that|with|having|whose)\b)|"
            r"per (?:patient|person|capita|head|individual|subject)|(?:each|every) (?:\w+ )?"
            r"(?:of the )?(?:patients|people)\b(?! (?:\d|who|that|with|having|whose))|"
            r"including (?:those|patients|people) (?:with(?:out| no))",
            korean="1인당|환자 ?(?:한 명|1명)당|모든 환자|환자당|사람당",
        )

    @property
    def only_those_with(self) -> bool:
        """Whether it restricts itself to those who have at least one."""
        return self.says(
            rf"{WITHOUT_OUT}|(?:recorded|known|measured) values? only|only (?:recorded|known|measured)|"
            r"(?:who|that|with|having|had|have) (?:\w+ ){0,3}(?:at least (?:one|1)|any|one or more|ever)"
            r"|among (?:the |those |patients |people )?(?:\w+ )?(?:who|with|that)|of (?:the |those )?"
            r"(?:\w+ )?(?:patients|people) who|with (?:at least|a|an|one)\b|who (?:had|have|were|ever|took|"
            r"visited|received)",
            korean="한 번이라도|적어도|이상 있는|있는 환자|받은 환자|앓은|가진",
        )

    @property
    def yes_no(self) -> bool:
        """Whether it is to be answered by yes or no."""
        start = r"^\s*(?:does|do|did|is|are|was|were|has|have|had|can)\b(?!.*\bhow (?:many|much)\b)"
        return bool(re.search(start, self.english, re.I))

    @property
    def relative(self) -> bool:
        """Whether it counts time from today."""
        return bool(RELATIVE.search(self.english))

    @property
    def words(self) -> tuple[str, ...]:
        """The English words, lower case."""
        return words(self.english)


def words(text: str) -> tuple[str, ...]:
    """Return a text's words and numbers, lower case, in order."""
    return tuple(re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower()))


def alike(one: str, other: str) -> bool:
    """Return whether two words are forms of one: equal, or equal in their first five letters or more."""
    if one == other:
        return True
    short = min(len(one), len(other))
    if short < 5 or one[0] != other[0]:
        return one.rstrip("s") == other.rstrip("s") and short > 2
    same = next((i for i in range(short) if one[i] != other[i]), short)
    return same >= 5 and same >= short - 3


def number(word: str) -> int | None:
    """Return the number that a word or digits say."""
    return int(word) if word.isdigit() else NUMBERS.get(word.lower())


def _counted(phrase: str) -> str:
    """Return what the words after "how many" count: the first noun that is known."""
    different = re.match(rf"(?:\w+\s+){{0,2}}?{DIFFERENT}\s+", phrase)
    tokens = re.findall(r"[\w'-]+", phrase)
    for place, token in enumerate(tokens):
        if token in STOPS:
            return ""
        pair = " ".join(tokens[place : place + 2])
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if following in RECORDS or token in RECORDS:
            return "record"
        if (
            following in PEOPLE
            or following in VISITS
            or following in ("days", "concepts", "tables")
        ):
            continue  # "inpatient visits", "hospital days": the last noun is the counted one
        if token in PEOPLE:
            return "person"
        if token in VISITS or pair in VISITS:
            return "visit"
        for id, nouns in KINDS.items():
            if token in nouns:
                return id if different or token in DRUGS else "thing"
        if token in THINGS:
            return "thing"
    return ""
