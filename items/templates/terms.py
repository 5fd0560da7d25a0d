"""The words that fill a template: one meaning in English, in Korean and in SQL.

Condition values come from the database (S3-008); this glossary only says them in Korean, and a value
that it does not know is not drawn. English is the concept's own name, in lower case where that is right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from database.engine import Database

CONDITIONS = {
    28060: ("streptococcal sore throat", "연쇄상구균 인후염"),
    30753: ("esophagitis", "식도염"),
    78272: ("sprain of wrist", "손목 염좌"),
    81151: ("sprain of ankle", "발목 염좌"),
    81893: ("ulcerative colitis", "궤양성 대장염"),
    192671: ("gastrointestinal hemorrhage", "위장관 출혈"),
    195588: ("cystitis", "방광염"),
    257012: ("chronic sinusitis", "만성 부비동염"),
    260139: ("acute bronchitis", "급성 기관지염"),
    313217: ("atrial fibrillation", "심방세동"),
    317576: ("coronary arteriosclerosis", "관상동맥경화증"),
    372328: ("otitis media", "중이염"),
    378001: ("concussion with no loss of consciousness", "의식 소실이 없는 뇌진탕"),
    381316: ("cerebrovascular accident", "뇌졸중"),
    439777: ("anemia", "빈혈"),
    440448: ("appendicitis", "충수염"),
    4027663: ("peptic ulcer", "소화성 궤양"),
    4059173: ("fracture of ankle", "발목 골절"),
    4084167: ("acute allergic reaction", "급성 알레르기 반응"),
    4112343: ("acute viral pharyngitis", "급성 바이러스성 인두염"),
    4116491: ("Escherichia coli urinary tract infection", "대장균 요로감염"),
    4134304: ("fracture subluxation of wrist", "손목 골절 아탈구"),
    4142905: ("fracture of rib", "갈비뼈 골절"),
    4156265: ("facial laceration", "얼굴 열상"),
    4218389: ("whiplash injury to neck", "목 편타 손상"),
    4237458: ("fracture of clavicle", "쇄골 골절"),
    4266809: ("diverticular disease", "게실병"),
    4278672: ("fracture of forearm", "아래팔 골절"),
    4285898: ("polyp of colon", "대장 용종"),
    4294548: ("acute bacterial sinusitis", "급성 세균성 부비동염"),
    4329847: ("myocardial infarction", "심근경색"),
    40480160: ("pathological fracture due to osteoporosis", "골다공증으로 인한 병적 골절"),
    40481087: ("viral sinusitis", "바이러스성 부비동염"),
}
FAMILIES = {  # conditions with subtypes: only asked for together with them
    80502: ("osteoporosis", "골다공증"),
    4001336: ("concussion injury of brain", "뇌진탕"),
    4029498: ("seizure disorder", "발작 장애"),
}
INGREDIENTS = {
    920293: ("nitrofurantoin", "니트로푸란토인"),
    1102527: ("meperidine", "메페리딘"),
    1112807: ("aspirin", "아스피린"),
    1115008: ("naproxen", "나프록센"),
    1118084: ("celecoxib", "세레콕시브"),
    1124300: ("diclofenac", "디클로페낙"),
    1125315: ("acetaminophen", "아세트아미노펜"),
    1174888: ("hydrocodone", "하이드로코돈"),
    1177480: ("ibuprofen", "이부프로펜"),
    1322184: ("clopidogrel", "클로피도그렐"),
    1713332: ("amoxicillin", "아목시실린"),
    1729720: ("penicillin V", "페니실린 V"),
    1738521: ("doxycycline", "독시사이클린"),
}
LAY_TERMS = {  # concept_synonym_name -> how people say it
    "Bladder infection": ("bladder infection", "방광 감염"),
    "Collar bone fracture": ("collar bone fracture", "빗장뼈 골절"),
    "Forearm fracture": ("forearm fracture", "팔뚝 골절"),
    "Ankle fracture": ("ankle fracture", "발목 골절"),
    "Rib fracture": ("rib fracture", "갈비뼈 골절"),
}
TESTS = {
    3006322: ("oral temperature", "구강 체온"),
    3007461: ("platelet count", "혈소판"),
    3009542: ("hematocrit", "적혈구 용적률"),
    3016723: ("creatinine", "크레아티닌"),
    3023103: ("potassium", "칼륨"),
}
PROCEDURES = {
    4125906: ("suture open wound", "열린 상처 봉합"),
    4170947: ("bone immobilization", "뼈 고정"),
    4163872: ("plain chest X-ray", "흉부 단순 X선 촬영"),
    4195803: ("bone density scan", "골밀도 검사"),
    4198190: ("appendectomy", "충수 절제술"),
}


@dataclass(frozen=True)
class Term:
    """One value of a slot: English, Korean, and what stands in the SQL."""

    en: str
    ko: str
    sql: str


def number(value: int) -> Term:
    """Return a number, the same in all three."""
    return Term(str(value), str(value), str(value))


def drawn(
    database: Database, sql: str, glossary: dict[Any, tuple[str, str]], column: int = 0
) -> Iterator[tuple[Term, tuple[Any, ...]]]:
    """Yield the values of a column that the glossary can say, each with its whole row.

    sql: must have an order of its own: the draw is the same on every run.
    """
    for row in database.read(sql).rows:
        key = row[column]
        if key in glossary:
            text = f"'{key}'" if isinstance(key, str) else str(key)
            yield Term(*glossary[key], sql=text), row
