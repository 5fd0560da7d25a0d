"""A witness that has to do with the question: an empty table of deaths proves nothing about cities."""

import re
from collections.abc import Iterator

from items.rules.base import Case, Found, rule

WHO = (
    r"doctors?|physicians?|providers?|clinicians?|nurses?|surgeons?|specialists?|specialt\w+|"
    r"\w+ologists?|prescribers?|"
    r"practitioners?|staff|therapists?|psychiatrists?|pharmacists?|dentists?|gps?\b|who\b|signed|attending"
)
WHERE = (
    r"wards?|departments?|units?|clinics?|hospitals?|sites?|facilit\w+|where|icu|intensive|floors?|"
    r"rooms?|beds?|centers?|"
    r"centres?|transfer\w*|location|place"
)
HOME = (
    r"cit(?:y|ies)|states?|count(?:y|ies|ry|ries)|zip|postal|postcodes?|regions?|addresses|address|"
    r"li(?:ve|ves|ved|ving)|where|"
    r"provinces?|districts?|areas?|urban|rural|towns?|villages?|resid\w+|far|distance|geograph\w+|"
    r"locations?|located|home|"
    r"neighbou?rhoods?"
)
DOSE = r"dos\w+|strengths?|mg|milligrams?|potency|concentrations?|amounts?|how much|units?"
ASKED = {  # what an empty table, or a column that is NULL everywhere, can be the witness for
    "death": r"di(?:e|ed|es|ing)|deaths?|dead|mortal\w+|surviv\w+|deceased|fatal\w*|alive|autops\w+|"
    r"kill\w+|passed away|"
    r"living|lived|lethal|outliv\w+",
    "provider": WHO,
    "care_site": WHERE,
    "visit_detail": WHERE,
    "location": HOME,
    "cost": r"costs?|pric\w+|charg\w+|bill\w*|pa(?:y|ys|id|ying|yments?)|expens\w+|dollars?|won|"
    r"money|reimburs\w+|financ\w+|"
    r"spen\w+|fees?|amounts?|budget\w*|cheap\w*|co-?pay\w*|\$|usd|krw|revenue",
    "payer_plan_period": r"insur\w+|uninsured|payers?|plans?|cover\w*|medicare|medicaid|premiums?|"
    r"deductibles?|sponsor\w*|"
    r"co-?pay\w*|enrol\w+|pay\w*|paid",
    "device_exposure": r"devices?|implant\w*|pacemakers?|stents?|prosthe\w+|catheters?|ventilat\w+|"
    r"pumps?|glasses|wheelchairs?|"
    r"hearing|lens\w*|defibrillators?|equipment|tubes?|braces?|casts?|crutch\w*|mask\w*|monitors?",
    "note": r"notes?|letters?|reports?|texts?|documents?|wrote|written|narratives?|summar\w+|"
    r"mention\w*|describ\w+|words?|write|writes|say|says|said|signed",
    "note_nlp": r"notes?|letters?|reports?|texts?|documents?|wrote|written|narratives?|summar\w+|"
    r"mention\w*|describ\w+|words?",
    "specimen": r"specimens?|samples?|biops\w+|tissues?|collect\w+|blood|urine|swabs?|cultures?|"
    r"drawn|tumou?rs?",
    "dose_era": DOSE,
    "drug_strength": DOSE + r"|ingredients?|contain\w*",
}  # fmt: skip
KEYS = {
    "location_id": "location",
    "care_site_id": "care_site",
    "provider_id": "provider",
    "visit_detail_id": "visit_detail",
}


@rule("warning", source="S1-060 (what it needs is what is missing)")
def witness_asked(case: Case) -> Iterator[Found | str]:
    """The witness is what the question needs: it speaks of what the empty table would hold."""
    named = (case.item.witness or "").strip().lower()
    table, _, column = named.partition(".")
    needed = ASKED.get(KEYS.get(column, "")) if column else ASKED.get(table)
    if case.item.answerable or needed is None:
        return
    said = re.search(rf"\b(?:{needed})\b", case.wording.english, re.I)
    yield f"{named}: {said.group(0) if said else 'not spoken of'}"
    if said is None:
        yield Found(f"the question asks for nothing that {named} would hold")
