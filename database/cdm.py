"""The OMOP Common Data Model: which tables it has, and the type of each column, told by its name.

`cdm_type("visit_start_date")` is `DATE`. The CDM's integers are BIGINT here: identifiers of real
releases outgrow 32 bits. Source: OHDSI, OMOP CDM 5.3.1 and 5.4.
"""

from database.words import words

TABLES = words("""
    care_site cdm_source cohort cohort_attribute cohort_definition concept concept_ancestor
    concept_class concept_relationship concept_synonym condition_era condition_occurrence cost death
    device_exposure domain dose_era drug_era drug_exposure drug_strength episode episode_event
    fact_relationship location measurement metadata note note_nlp observation observation_period
    payer_plan_period person procedure_occurrence provider relationship source_to_concept_map specimen
    visit_detail visit_occurrence vocabulary
""")
# What none of these says is text.
_TEXT_IDS = {
    "domain_id",
    "vocabulary_id",
    "concept_class_id",
    "relationship_id",
    "reverse_relationship_id",
    "source_vocabulary_id",
    "target_vocabulary_id",
    "unique_device_id",
    "specimen_source_id",
}
_WHOLE = {
    "year_of_birth",
    "month_of_birth",
    "day_of_birth",
    "quantity",
    "days_supply",
    "refills",
    "gap_days",
    "box_size",
    "offset",
    "drug_exposure_count",
    "condition_occurrence_count",
    "min_levels_of_separation",
    "max_levels_of_separation",
    "is_hierarchical",
    "defines_ancestry",
    "fact_id_1",
    "fact_id_2",
}
_FRACTIONS = {
    "value_as_number",
    "range_low",
    "range_high",
    "dose_value",
    "amount_value",
    "numerator_value",
    "denominator_value",
    "amount_allowed",
    "paid_by_payer",
    "paid_by_patient",
    "paid_patient_copay",
    "paid_patient_coinsurance",
    "paid_patient_deductible",
    "paid_by_primary",
    "paid_ingredient_cost",
    "paid_dispensing_fee",
    "total_charge",
    "total_cost",
    "total_paid",
}


def cdm_type(column: str) -> str:
    """Return the CDM's type of a column, as DuckDB names it."""
    if column.endswith("_datetime"):
        return "TIMESTAMP"
    if column.endswith("_date"):
        return "DATE"
    if column in _FRACTIONS:
        return "DOUBLE"
    whole = column.endswith(("_id", "_id_1", "_id_2")) and column not in _TEXT_IDS
    return "BIGINT" if whole or column in _WHOLE else "VARCHAR"
