"""The words of a package: dataset card, citation, errata, form text, and the head of its metadata.

Everything is said by the spec: nothing here knows a task, a person or a machine.
"""

from collections.abc import Mapping
from typing import Any

from items.questions import QuestionFile
from items.spec import Spec
from registry.writer import to_yaml

HOME = "https://github.com/benchtoward/benchmarks"  # S1-120; until an archive gives the items an address
COLUMNS = {
    "id": "The item's id, unique in its tier.",
    "question_ko": "The question in Korean.",
    "question_en": "The question in English.",
    "reference_sql": "The reference SQL in DuckDB's dialect; empty for an unanswerable question.",
    "order_matters": "Whether the order of the rows is part of the answer.",
    "answerable": "Whether the database can answer the question.",
    "category": "What makes the question what it is.",
    "difficulty": "easy, medium or hard.",
    "scope": "patient, group or none: whom the question is about.",
    "witness": "For an unanswerable question: the empty table or the column that is NULL in every row.",
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def texts(spec: Spec, tiers: Mapping[str, QuestionFile], version: str) -> dict[str, str]:
    """Return the package's text files by name."""
    return {
        "README.md": _card(spec, tiers, version),
        "CITATION.cff": _citation(spec, version),
        "ERRATA.md": _errata(spec, version),
        "FORM.md": _form(spec, tiers, version),
    }


def croissant_head(spec: Spec, version: str) -> dict[str, Any]:
    """Return what Croissant says of the dataset as a whole."""
    assert spec.pins is not None
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": spec.slug,
        "description": f"{spec.title}: questions in Korean and English with reference SQL.",
        "license": spec.license,
        "version": version,
        "datePublished": spec.pins.frozen.isoformat(),
        "citeAs": _cite(spec, version),
        "url": spec.items_release.get("url", HOME),
        "inLanguage": ["ko", "en"],
        "keywords": ["text-to-SQL", "OMOP CDM", "electronic health records", "benchmark"],
    }


def _card(spec: Spec, tiers: Mapping[str, QuestionFile], version: str) -> str:
    assert spec.pins is not None
    rows = "".join(
        f"| {tier} | {pins.questions} | {pins.answerable} | {pins.instances} | `{pins.sha256}` |\n"
        for tier, pins in spec.pins.tiers.items()
    )
    columns = "".join(f"| `{name}` | {said} |\n" for name, said in COLUMNS.items())
    today = "".join(
        f"- {tier}: {file.today.isoformat() if file.today else 'no current date'}\n"
        for tier, file in tiers.items()
    )
    return f"""# {spec.title}

Version {version} of the items of the task `{spec.task}`{", a preview" if spec.preview else ""}, frozen on
{spec.pins.frozen.isoformat()}. Each question is asked in Korean and in English; the reference is one SELECT
in DuckDB's dialect over the OMOP CDM. A model may abstain where its tier has unanswerable questions.

| tier | questions | answerable | instances | sha256 of the items |
|---|---|---|---|---|
{rows}
The hash of a tier is the sha256 of the canonical JSON (sorted keys, no spaces, UTF-8) of its items' fields,
`witness` left out, sorted by id. The database is `{spec.dataset}`; its logical fingerprint is
`{spec.pins.database}`. "Today" in the questions:

{today}
## Fields
| field | what it is |
|---|---|
{columns}
## How it was made
{_list(spec.deviations)}
## Limitations
{_list(spec.limitations)}
## Licence
{spec.license}

No row of the database and none of its concept table is part of this package. A file in `neighbours/`, where
there is one, holds recipes: small databases that BenchToward makes where the task's own database is at hand,
on which a right answer that was luck gives itself away (`eval-text2sql --neighbours`). A recipe names the
fingerprint of the database it belongs to.

## Canary
Please keep this text out of training data. BENCHTOWARD CANARY {spec.pins.canary}
"""


def _citation(spec: Spec, version: str) -> str:
    assert spec.pins is not None
    return to_yaml(
        {
            "cff-version": "1.2.0",
            "message": "If you use these items, please cite them with their version.",
            "type": "dataset",
            "title": spec.title,
            "version": version,
            "date-released": spec.pins.frozen,
            "authors": [{"name": "The BenchToward maintainers"}],
            "abstract": f"Items of the benchmark task {spec.task}. Licence: {spec.license}",
            "identifiers": [
                {
                    "type": "other",
                    "value": f"sha256:{pins.sha256}",
                    "description": f"the {tier} tier's items",
                }
                for tier, pins in spec.pins.tiers.items()
            ],
        }
    )


def _errata(spec: Spec, version: str) -> str:
    return f"""# Errata of {spec.slug} {version}

None is known. An error in an item is corrected in a new version of the task, never in this one: scores on
`{spec.task}` stay comparable. Each erratum names the item, the field, what is wrong, who found it, and the
version that corrects it.

| date | item | field | what is wrong | corrected in |
|---|---|---|---|---|
"""


def _form(spec: Spec, tiers: Mapping[str, QuestionFile], version: str) -> str:
    assert spec.pins is not None
    questions = sum(pins.questions for pins in spec.pins.tiers.values())
    return f"""# Text for the archive's form

Title: {spec.title}
Version: {version}
Identifier: {spec.slug}@{version}
Kind: questions with reference SQL (text), no patient data
Size: {questions} questions in {len(tiers)} tiers, each in Korean and in English
Abstract: Questions a clinician or data manager might ask of a hospital database in the OMOP Common Data
Model, with reference SQL; some cannot be answered from the data, and a good system says so.
Licence: {spec.license}
Source database: {spec.dataset} (not part of this submission)
Personal data: none. Questions may name a person_id of the source database.
Limitations: {" ".join(spec.limitations)}

## Steps of a submission
1. `benchtoward verify --task {spec.task}` ends with "follows".
2. Build this package; compare the tier hashes above with the spec's pins.
3. Upload the folder as it is; SHA256SUMS lists every file.
4. After the archive's review, put its identifier and DOI into the spec of the next version (`items_release`).
"""


def _cite(spec: Spec, version: str) -> str:
    assert spec.pins is not None
    year = spec.pins.frozen.year
    return f"The BenchToward maintainers. {spec.title}, version {version}. {year}."


def _list(lines: tuple[str, ...]) -> str:
    return "".join(f"- {line}\n" for line in lines)
