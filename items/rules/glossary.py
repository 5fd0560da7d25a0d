"""What diseases, bones and tests are called in both languages: pneumonia is 폐렴, not 폐기종.

Only an exchange is told: one language names a thing that the other does not, and the other way round.
"""

import re
from collections.abc import Iterator

from items.rules.base import Case, Found, rule

TERMS = (  # English, Korean
    (r"pneumonia", "폐렴(?!구균|알균|사슬)"),
    (r"emphysema", "폐기종|기종성"),
    (r"bronchitis", "기관지염"),
    (r"(?<!childhood )asthma", "(?<!소아 )(?<!소아)천식"),
    (r"childhood asthma|p(?:a)?ediatric asthma", "소아 ?천식|어린이 천식"),
    (r"sinus(?:itis| infection)", "부비동염|축농증|코곁굴염"),
    (r"pharyngitis|sore throat|strep throat", "인두염|인후염|목감기|인후통"),
    (r"otitis|ear infection", "중이염|외이염"),
    (r"rhinitis|hay fever", "비염"),
    (r"osteoarthritis", "골관절염|퇴행성 ?관절염|골관절증"),
    (r"rheumatoid", "류마티스|류머티즘"),
    (r"osteoporosis", "골다공증"),
    (r"fractur\w+|broken|breaks?\b", "골절|부러"),
    (r"sprain\w*", "염좌|삐|접질"),
    (r"lacerat\w+|cuts?\b", "열상|찢"),
    (r"burn(?:s|ed|t)?\b", "화상"),
    (r"concussion", "뇌진탕"),
    (r"whiplash", "편타|채찍"),
    (r"ulcerative colitis", "궤양성 ?(?:대장염|결장염)"),
    (r"peptic ulcer|stomach ulcer", "소화성 ?궤양|위궤양"),
    (r"polyps?\b", "용종|폴립"),
    (r"diverticul\w+", "게실"),
    (r"o?esophagitis", "식도염"),
    (r"appendic\w+|appendectom\w+", "충수|맹장"),
    (r"gallstones?|cholelithiasis", "담석"),
    (r"cholecyst\w+|gallbladder", "담낭|쓸개"),
    (r"cystitis|bladder infection", "방광염"),
    (r"pyelonephritis", "신우신염"),
    (r"stroke|cerebrovascular", "뇌졸중|뇌혈관|중풍"),
    (r"heart attack|myocardial infarction", "심근경색"),
    (r"cardiac arrest", "심정지|심장 ?마비"),
    (r"atrial fibrillation", "심방 ?세동"),
    (r"coronary", "관상 ?동맥"),
    (r"hypertension|high blood pressure", "고혈압"),
    (r"diabet\w+", "당뇨"),
    (r"an(?:a)?emia", "빈혈"),
    (r"hypothyroid\w+", "갑상선 ?(?:기능)? ?저하"),
    (r"hyperthyroid\w+", "갑상선 ?(?:기능)? ?항진"),
    (r"alzheimer\w*", "알츠하이머"),
    (r"epilep\w+", "뇌전증|간질"),
    (r"seizures?", "발작"),
    (r"attention deficit", "주의력 ?결핍"),
    (r"depressi\w+", "우울"),
    (r"migraines?", "편두통"),
    (r"dermatitis|eczema", "피부염|습진"),
    (r"gout\b", "통풍"),
    (r"cystic fibrosis", "낭포성 ?섬유"),
    (r"forearms?", "팔뚝|전완|아래팔"),
    (r"wrists?", "손목"),
    (r"ankles?", "발목"),
    (r"hips?\b", "고관절|엉덩|대퇴골"),
    (r"clavicles?|collar ?bones?", "쇄골|빗장뼈"),
    (r"ribs?\b", "갈비뼈|늑골"),
    (r"knees?\b", "무릎|슬관절"),
    (r"shoulders?", "어깨|견관절"),
    (r"vertebra\w*|spin(?:e|al)", "척추|척수"),
    (r"thighs?", "허벅지|대퇴(?!골)|넓적다리"),
    (r"h(?:a)?emoglobin", "헤모글로빈|혈색소"),
    (r"h(?:a)?ematocrit", "헤마토크릿|적혈구 ?용적"),
    (r"creatinine", "크레아티닌"),
    (r"glucose|blood sugar", "포도당|혈당"),
    (r"platelets?", "혈소판"),
    (r"sodium\b(?! chloride)", "나트륨|소듐"),
    (r"potassium", "칼륨|포타슘"),
    (r"electrocardiogra\w+|\becg\b|\bekg\b", "심전도"),
    (r"electroencephalogra\w+|\beeg\b", "뇌파"),
    (r"bone density", "골밀도"),
    (r"spirometry", "폐활량|폐 ?기능"),
    (r"vasectom\w+", "정관"),
    (r"tubal ligation", "난관"),
    (r"polio\w*", "소아마비|폴리오"),
    (r"tetanus", "파상풍"),
    (r"zoster|shingles", "대상포진"),
    (r"varicella|chicken ?pox", "수두"),
    (r"pneumococc\w+", "폐렴 ?(?:구균|알균|사슬)"),
    (r"meningococc\w+", "수막 ?구균"),
    (r"influenza\b(?! type)(?! b)|flu\b", "독감|인플루엔자(?! ?균)"),
    (r"hepatitis", "간염"),
)  # fmt: skip


@rule("warning", source="EHRSQL paraphrase errors: another disease in the other language")
def illness_in_korean(case: Case) -> Iterator[Found | str]:
    """A disease, a bone or a test that one language names is not another one in the other language."""
    english, korean = case.wording.english, case.wording.korean
    if not re.search("[가-힣]", korean):
        return
    said = {
        place for place, term in enumerate(TERMS) if re.search(rf"\b(?:{term[0]})", english, re.I)
    }
    told = {place for place, term in enumerate(TERMS) if re.search(term[1], korean)}
    yield f"{len(said)} terms in English, {len(told)} in Korean"
    if said - told and told - said:
        one, other = min(said - told), min(told - said)
        left = re.search(rf"\b(?:{TERMS[one][0]})", english, re.I)
        right = re.search(TERMS[other][1], korean)
        yield Found(
            f"{left.group(0)!r} in English, {right.group(0)!r} in Korean" if left and right else ""
        )
