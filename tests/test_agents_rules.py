"""Seats that a rule holds: they pass sound items, see planted errors, and sign as rules."""

from dataclasses import replace

import pytest

from agents.rules import AUTHORS, FIXERS, REVIEWERS, VOTERS
from agents.seats import (
    AuthorSlot,
    BallotTask,
    Briefing,
    Draft,
    FixTask,
    Issue,
    NoReply,
    Option,
    ReviewTask,
    Vote,
)
from database.engine import open_database
from database.eunomia import TODAY
from items.model import Item

GOOD = Item(
    id="hard-001",
    question_ko="1979년 5월 25일 전까지(그날 제외) 발목 염좌 진단을 받은 환자는 몇 명인가요?",
    question_en="How many patients were diagnosed with sprain of ankle before May 25, 1979 (that day not"
    " included)?",
    reference_sql="SELECT count(DISTINCT person_id) AS patients\nFROM condition_occurrence\n"
    "WHERE condition_concept_id = 81151\n  AND condition_start_date < DATE '1979-05-25'",
    order_matters=False,
    answerable=True,
    category="cohort_definition",
    difficulty="medium",
    scope="group",
)


@pytest.fixture(scope="module")
def briefing(eunomia):
    with open_database(eunomia) as database:
        yield Briefing(database, "", "", TODAY, abstention=True)


def slot(number, category, **rest):
    return AuthorSlot(f"hard-{number + 1:03}", number, 20, category, "medium", "group", **rest)


@pytest.mark.parametrize("name", REVIEWERS)
def test_a_sound_item_is_approved_and_signed_by_the_rule(name, briefing):
    said = REVIEWERS[name](ReviewTask(GOOD, 1), briefing)
    assert (said.verdict, said.by.split("@")[0], said.calls) == ("approve", f"rule/{name}", ())


@pytest.mark.parametrize(
    ("name", "field", "text", "kind"),
    [
        ("languages", "question_ko", GOOD.question_ko.replace("25일", "26일"), "languages_differ"),
        (
            "languages",
            "question_ko",
            GOOD.question_ko.replace("진단을", "진단을 한 번도 "),
            "languages_differ",
        ),
        (
            "languages",
            "reference_sql",
            GOOD.reference_sql.replace("05-25", "05-26"),
            "wrong_result",
        ),
        (
            "languages",
            "reference_sql",
            GOOD.reference_sql.replace("81151", "28060"),
            "wrong_result",
        ),
        (
            "lint",
            "reference_sql",
            GOOD.reference_sql.replace("person_id", "patient_id"),
            "wrong_result",
        ),
        (
            "lint",
            "reference_sql",
            "SELECT avg(value_as_number) AS a FROM measurement",
            "wrong_result",
        ),
        (
            "languages",
            "reference_sql",
            GOOD.reference_sql.replace("condition_concept_id = 81151\n  AND ", ""),
            "wrong_result",
        ),
        ("lint", "reference_sql", "SELECT count(*) AS deaths FROM death", "unanswerable_after_all"),
        ("lint", "reference_sql", "SELECT * FROM cdm_source", "answer_shape"),
        ("lint", "reference_sql", "SELECT person_id FROM person LIMIT 3", "boundary"),
        (
            "neighbour",
            "reference_sql",
            "SELECT count(*) AS n FROM condition_occurrence WHERE"
            " condition_start_date < DATE '2024-01-01'",
            "boundary",
        ),
    ],
)
def test_a_planted_error_is_seen_by_its_rule(name, field, text, kind, briefing):
    said = REVIEWERS[name](ReviewTask(replace(GOOD, **{field: text}), 1), briefing)
    assert said.verdict == "revise"
    assert kind in {issue.kind for issue in said.issues}


def test_a_false_witness_is_seen(briefing):
    item = replace(GOOD, reference_sql=None, answerable=False, witness="person")
    (issue,) = REVIEWERS["lint"](ReviewTask(item, 1), briefing).issues
    assert issue.kind == "answerable_after_all"


@pytest.mark.parametrize("category", ["clinical_terms", "unanswerable"])
def test_the_template_author_writes_for_its_slot_and_another_after_a_problem(category, briefing):
    first = AUTHORS["template"](slot(0, category), briefing)
    second = AUTHORS["template"](slot(0, category, attempt=2), briefing)
    assert isinstance(first, Draft)
    assert isinstance(second, Draft)
    assert (first.item.id, first.item.category) == ("hard-001", category)
    assert first.item.question_en != second.item.question_en


def test_what_the_template_wrote_passes_all_three_reviewers(briefing):
    for number, category in ((1, "cohort_definition"), (3, "relative_time"), (4, "unanswerable")):
        item = AUTHORS["template"](slot(number, category), briefing).item
        verdicts = {name: rule(ReviewTask(item, 1), briefing) for name, rule in REVIEWERS.items()}
        assert {name: v.issues for name, v in verdicts.items() if v.verdict != "approve"} == {}


def test_without_a_template_there_is_no_reply(briefing):
    assert isinstance(AUTHORS["template"](slot(0, "patient_lookup"), briefing), NoReply)


def test_the_fixer_mends_white_space(briefing):
    fix = FIXERS["repair"](FixTask(replace(GOOD, question_en=GOOD.question_en + " "), ()), briefing)
    assert fix.item == GOOD


def test_the_fixer_draws_other_values_for_a_template_item(briefing):
    item = AUTHORS["template"](slot(0, "clinical_terms"), briefing).item
    fix = FIXERS["repair"](FixTask(item, (Issue("boundary", "weak"),)), briefing)
    assert fix.item.id == item.id
    assert fix.item != item


def test_the_fixer_drops_what_it_cannot_mend_and_says_why(briefing):
    fix = FIXERS["repair"](FixTask(GOOD, (Issue("ambiguous_question", "two readings"),)), briefing)
    assert (fix.item, fix.reason) == (None, "no rule can mend this: ambiguous_question")


LIMITS = tuple(Option(str(n), f"{n} tokens") for n in (16384, 192, 4096))


@pytest.mark.parametrize(
    ("figures", "option"),
    [
        ({}, "192"),
        ({"candidates": {"m": {"room": 3000, "tokens_per_s": None}}}, "192"),
        ({"candidates": {"m": {"room": 3000, "tokens_per_s": 80}}, "instances": 60}, "192"),
        ({"candidates": {"m": {"room": 100_000, "tokens_per_s": None}}}, "16384"),
        ({"candidates": {"m": {"room": 100_000}, "n": {"room": 5000}}}, "4096"),
    ],
)
def test_the_voter_takes_the_largest_limit_that_all_candidates_can_use(figures, option, briefing):
    task = BallotTask("output_limit", "?", LIMITS, "", 1, figures=figures)
    vote = VOTERS["evidence"](task, briefing)
    assert isinstance(vote, Vote)
    assert (vote.option, vote.by) == (option, "rule/evidence@1")


def test_the_voter_does_not_vote_on_what_no_figure_decides(briefing):
    task = BallotTask("colour", "?", LIMITS, "", 1)
    assert isinstance(VOTERS["evidence"](task, briefing), NoReply)
