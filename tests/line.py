"""A whole making line against a scripted server: a registry of three models, and what they say.

The authors write the questions of tests/cases/eunomia_questions.yaml; the reviewers answer them well
and approve, but seat 2 objects to one until it is mended; the voters agree on every decision.
"""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from items.questions import QuestionFile, save_questions
from items.spec import save_spec, spec_path
from registry.writer import to_yaml
from tests.small import SPEC

CASES = Path(__file__).parent / "cases" / "eunomia_questions.yaml"
WITNESS = {"haemoglobin": "measurement.value_as_number", "died": "death"}
MODELS = ("acme/a-1b", "bolt/b-2b", "cora/c-3b")
MENDED = " Count all records."
TASK = "small-text2sql@0"


def registry(folder: Path, api_base: str) -> Path:
    """Write a registry whose models are reached at `api_base`; the hard file is still to be written."""
    root = folder / "registry"
    for part in ("drafts", "decisions", "tasks"):
        (root / part).mkdir(parents=True)
    cards = [_card(model, api_base) for model in MODELS]
    (root / "models.yaml").write_text(to_yaml({"models": cards}))
    seats = [{"model": model} for model in MODELS]
    roles = dict.fromkeys(("authors", "reviewers", "fixers", "voters"), seats)
    (root / "rosters.yaml").write_text(to_yaml({"rosters": [{"id": "trial", **roles}]}))
    tiers = {"hard": SPEC.tiers["hard"]}
    save_spec(spec_path(root, TASK), replace(SPEC, tiers=tiers, preview=False))
    for id, freeze in (("review_batch", False), ("output_format", True)):
        (root / "decisions" / f"{id}.yaml").write_text(to_yaml(_decision(id, freeze)))
    return root


def easy_file(root: Path) -> None:
    """Give the task an easy tier of two questions."""
    cases = [case for case in _cases() if case["answerable"]][-2:]
    from items.questions import Question

    questions = tuple(
        Question(
            id=f"easy-{n}",
            **{key: case[key] for key in ("question_ko", "question_en", "difficulty", "scope")},
            reference_sql=case["reference_sql"].strip(),
            order_matters=case.get("order_matters", False),
            category="aggregation",
            author="rule/line@1",
        )
        for n, case in enumerate(cases, 1)
    )
    path = root / SPEC.tiers["easy"].file
    save_questions(path, QuestionFile("small-text2sql", "easy", questions=questions))
    save_spec(spec_path(root, TASK), replace(SPEC, preview=False))


def script(body: dict[str, Any]) -> str:
    """Return what the model of a request says."""
    said = [message["content"] for message in body["messages"]]
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    if "option" in schema:
        reply = {"reason": "The figures say so.", "option": sorted(schema["option"]["enum"])[0]}
    elif "verdict" in schema:
        reply = _judged(body["model"], _case_in(said[1]), said[1])
    elif "answers" in schema:
        reply = {"answers": [{"n": n, **_answer(case)} for n, case in _numbered(said[1])]}
    elif "verdicts" in schema:
        judged = [
            {"n": n, **_judged(body["model"], case, said[1])} for n, case in _numbered(said[1])
        ]
        reply = {"verdicts": judged}
    elif "reading" in schema:
        reply = _answer(_case_in(said[1]))
    elif "check" in schema:
        reply = _draft(said[1])
    else:
        reply = _fix(_case_in(said[1]))
    return json.dumps(reply, ensure_ascii=False)


def _card(model: str, api_base: str) -> dict[str, Any]:
    route = {"name": "here", "litellm": f"openai/{model.split('/')[1]}", "api_base": api_base}
    card = {"id": model, "vendor": model.split("/")[0], "open": True, "context": 65536}
    return {**card, "output_limit": 8192, "routes": [{**route, "prices": []}]}


def _decision(id: str, freeze: bool) -> dict[str, Any]:
    options = [{"id": name, "text": f"{name} items", "value": name} for name in ("one", "ten")]
    asked = {"id": id, "question": f"Which {id}?", "scope": "task", "protocol": f"review.{id}"}
    return {**asked, "freeze": freeze, "options": options}


@cache
def _cases() -> tuple[dict[str, Any], ...]:
    found = yaml.safe_load(CASES.read_text(encoding="utf-8"))["questions"]
    return tuple(case for case in found if case["answerable"] or _witness(case))


def _witness(case: dict[str, Any]) -> str | None:
    if case["answerable"]:
        return None
    return next((w for word, w in WITNESS.items() if word in case["question_en"]), None)


def _case_in(text: str) -> dict[str, Any]:
    return next(case for case in _cases() if case["question_en"] in text)


_written: dict[str, dict[str, Any]] = {}


def _draft(words: str) -> dict[str, Any]:
    """Write the next question that the place allows; the same place gets the same one again."""
    place = words + str(len(words))
    if place not in _written:
        used = [case["id"] for case in _written.values()]
        wants = "category: unanswerable" not in words
        free = [c for c in _cases() if c["answerable"] == wants and c["id"] not in used]
        free = [c for c in free if c["question_en"] not in words] or [_cases()[0]]
        _written[place] = free[0]
    return {"action": "submit", "sql": None, "check": "Limits.", "item": _content(_written[place])}


def _content(case: dict[str, Any]) -> dict[str, Any]:
    answerable = case["answerable"]
    return {
        "question_en": case["question_en"],
        "question_ko": case["question_ko"],
        "answerable": answerable,
        "reference_sql": case["reference_sql"] if answerable else None,
        "order_matters": case.get("order_matters", False),
        "witness": _witness(case),
    }


def _answer(case: dict[str, Any]) -> dict[str, Any]:
    sql = case["reference_sql"] if case["answerable"] else ""
    action = "answer" if case["answerable"] else "abstain"
    return {"action": action, "sql": sql, "reading": "As it is written."}


def _judged(model: str, case: dict[str, Any], shown: str) -> dict[str, Any]:
    plain = model != "b-2b" or case["id"] != _cases()[0]["id"] or MENDED in shown
    issue = {"kind": "boundary", "sentence": "What counts is open.", "evidence": "ever"}
    return {"issues": [] if plain else [issue], "verdict": "approve" if plain else "revise"}


def _numbered(text: str) -> list[tuple[int, dict[str, Any]]]:
    parts = re.split(r"^## Question (\d+)$", text, flags=re.MULTILINE)[1:]
    return [(int(n), _case_in(part)) for n, part in zip(parts[::2], parts[1::2], strict=True)]


def _fix(case: dict[str, Any]) -> dict[str, Any]:
    content = _content(case)
    content["question_en"] = re.sub(r"\s*$", MENDED, content["question_en"])
    return {"action": "submit", "sql": None, "reason": "Said what counts.", "item": content}
