"""The whole review with scripted models: what they say, lie, or fail to say never invents an approval."""

import re

import pytest

from graphs import authoring, decision, review
from items.approvals import approval
from items.records import record_of
from models.budget import BudgetError
from models.call import ModelError
from registry.events import load
from tests.making import (
    APPROVE,
    COUNT,
    DEATHS,
    ITEMS,
    OBJECTION,
    PANEL,
    REJECT,
    REVISE,
    answer,
    file_of,
    first_pass,
    reviewed,
    says,
    submits,
    words,
)

GOLD = COUNT.reference_sql
MENDED = COUNT.__class__(
    **{
        **COUNT.__dict__,
        "question_en": "How many patients were born in 1959 or earlier?",
        "question_ko": "1959년이나 그 이전에 태어난 환자는 모두 몇 명인가요?",
    }
)


@pytest.mark.parametrize("module", [authoring, decision, review], ids=lambda m: m.__name__)
def test_the_docstring_draws_the_graphs_arrows(module):
    drawn = re.findall(r"^    (\w+)\s+--> (\w+)", module.__doc__, re.MULTILINE)
    built = {(edge.source, edge.target) for edge in module.build().get_graph().edges}
    assert set(drawn) == built


def events(folder):
    return load(record_of(folder / "registry" / "drafts" / "demo-hard-v0.yaml"))


def approved(folder, item=COUNT):
    return approval(events(folder), item).approved


def test_three_approvals_on_the_present_content_approve_it(tmp_path, eunomia):
    file, model = reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)))
    assert approved(tmp_path)
    assert [r.verdict for r in file.questions[0].reviews] == ["approve"] * 3
    assert len(model.asked) == 6  # two passes a seat


LIES = {
    "garbage": lambda request: "I approve this item!!",
    "a failed call": lambda request: ModelError("503"),
    "an empty reply": lambda request: "",
    "approve with an issue": says(words({"issues": [OBJECTION], "verdict": "approve"})),
    "reject without an issue": says(words({"issues": [], "verdict": "reject"})),
    "an unknown verdict": says(words({"issues": [], "verdict": "APPROVED"})),
    "an invented issue kind": says(
        words({"issues": [{**OBJECTION, "kind": "x"}], "verdict": "revise"})
    ),
    "a first pass without SQL": lambda request: answer("") if first_pass(request) else APPROVE,
    "a verdict before the answer": lambda request: APPROVE,
    "probing for ever": lambda request: words(
        {"action": "probe", "sql": "SELECT 1", "reading": ""}
    ),
    "a reject": says(REJECT),
    "a revise": says(REVISE),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
@pytest.mark.parametrize("seat", [0, 2])
def test_no_approval_without_three_valid_verdicts(tmp_path, eunomia, lie, seat):
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD)) | {PANEL[seat]: lie}
    reviewed(tmp_path, eunomia, scripts)
    assert not approved(tmp_path)
    verdicts = [event for event in events(tmp_path) if event.kind == "verdict"]
    assert len(verdicts) == 3


def test_a_rule_that_is_broken_keeps_an_item_from_the_reviewers(tmp_path, eunomia):
    broken = COUNT.__class__(
        **{**COUNT.__dict__, "reference_sql": "SELECT count(*) FROM person WHERE 1 = 2"}
    )
    _, model = reviewed(
        tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)), items=(broken,)
    )
    assert model.asked == []
    assert [event.kind for event in events(tmp_path)] == ["draft", "problem"]


def test_an_edit_voids_the_approval(tmp_path, eunomia):
    from dataclasses import replace

    from items.questions import load_questions, save_questions

    reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)))
    path = tmp_path / "registry" / "drafts" / "demo-hard-v0.yaml"
    file = load_questions(path)
    edited = replace(file.questions[0], question_en="How many patients were born before 1950?")
    save_questions(path, replace(file, questions=(edited,)))
    scripts = dict.fromkeys(PANEL, says(REVISE, GOLD))
    file, model = reviewed(tmp_path, eunomia, scripts)
    assert not approval(events(tmp_path), edited.item).approved
    assert len(model.asked) == 6


def test_a_reviewer_answers_before_it_sees_the_reference(tmp_path, eunomia):
    _, model = reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)))
    for request in filter(first_pass, model.asked):
        shown = "".join(message.content for message in request.messages)
        assert COUNT.question_en in shown
        assert "year_of_birth < 1960" not in shown


def test_no_request_names_the_author_or_another_reviewer(tmp_path, eunomia):
    _, model = reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(REVISE, GOLD)))
    shown = "".join(message.content for request in model.asked for message in request.messages)
    assert not any(name in shown for name in PANEL)


@pytest.mark.parametrize(
    ("item", "sql", "matches"),
    [
        pytest.param(COUNT, GOLD, True, id="the same result"),
        pytest.param(COUNT, "SELECT 1", False, id="another result"),
        pytest.param(COUNT, "SELECT nothing", False, id="a query that fails"),
        pytest.param(COUNT, None, False, id="abstaining where there is an answer"),
        pytest.param(DEATHS, None, True, id="abstaining where there is none"),
        pytest.param(DEATHS, "SELECT count(*) FROM death", False, id="a query where there is none"),
    ],
)
def test_what_a_reviewer_committed_to_stands_in_the_record(tmp_path, eunomia, item, sql, matches):
    reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, sql)), items=(item,))
    commits = [event.body["commit"] for event in events(tmp_path) if event.kind == "verdict"]
    assert [commit["matches"] for commit in commits] == [matches] * 3
    assert [commit["sql"] for commit in commits] == [sql] * 3


def test_one_model_in_three_seats_is_three_calls_and_marked(tmp_path, eunomia):
    panel = (PANEL[0],) * 3
    scripts = {PANEL[0]: says(APPROVE, GOLD)}
    _, model = reviewed(tmp_path, eunomia, scripts, panel=panel, single_model=True)
    assert len({request.key for request in model.asked}) == 6
    verdicts = [event for event in events(tmp_path) if event.kind == "verdict"]
    assert [event.body["single_model"] for event in verdicts] == [True] * 3
    assert approval(events(tmp_path), COUNT).preview_only


def test_one_objection_reaches_the_fixer_with_its_reason(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD)) | {
        PANEL[1]: lambda request: (
            answer(GOLD)
            if first_pass(request)
            else (REVISE if "before 1960" in request.messages[1].content else APPROVE)
        ),
        "fixer/f-1b": [submits(MENDED)],
    }
    file, model = reviewed(tmp_path, eunomia, scripts, rounds=2)
    asked = [request for request in model.asked if request.role == "fixer"]
    assert OBJECTION["sentence"] in asked[0].messages[1].content
    assert file.questions[0].item == MENDED
    assert approved(tmp_path, MENDED)
    assert not approved(tmp_path, COUNT)


def test_a_fixed_item_is_judged_anew_by_all_three(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(REVISE, GOLD)) | {"fixer/f-1b": [submits(MENDED)]}
    reviewed(tmp_path, eunomia, scripts, rounds=1)
    verdicts = [event for event in events(tmp_path) if event.kind == "verdict"]
    rounds = sorted((event.body["round"], event.body["seat"]) for event in verdicts)
    assert rounds == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]


def test_what_is_not_approved_in_time_is_dropped_with_its_reasons(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(REVISE, GOLD)) | {"fixer/f-1b": [submits(MENDED)]}
    file, _ = reviewed(tmp_path, eunomia, scripts, rounds=1, unsettled="drop")
    assert file.questions[0].status == "dropped"
    assert OBJECTION["sentence"] in file.questions[0].history[-1]


def test_a_seat_that_gave_no_verdict_keeps_an_item_from_the_fixer(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(REVISE, GOLD)) | {PANEL[0]: lambda r: ModelError("503")}
    file, model = reviewed(tmp_path, eunomia, scripts, rounds=1, unsettled="drop")
    assert not [request for request in model.asked if request.role == "fixer"]
    assert file.questions[0].status == "draft"


def test_the_seat_that_gave_none_is_asked_again_and_no_other(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD))
    reviewed(tmp_path, eunomia, scripts | {PANEL[0]: lambda r: ModelError("503")})
    _, model = reviewed(tmp_path, eunomia, scripts)
    assert {request.model for request in model.asked} == {PANEL[0]}
    assert approved(tmp_path)


def test_a_fixer_may_drop_an_item_and_says_why(tmp_path, eunomia):
    drop = words({"action": "drop", "sql": None, "reason": "Nobody can mend it.", "item": None})
    scripts = dict.fromkeys(PANEL, says(REVISE, GOLD)) | {"fixer/f-1b": [drop]}
    file, _ = reviewed(tmp_path, eunomia, scripts, rounds=1)
    assert file.questions[0].status == "dropped"
    assert "Nobody can mend it." in file.questions[0].history[-1]


def test_many_items_are_reviewed_side_by_side(tmp_path, eunomia):
    scripts = dict.fromkeys(PANEL, says(APPROVE, GOLD))
    file, _ = reviewed(tmp_path, eunomia, scripts, items=ITEMS)
    assert all(approved(tmp_path, item) for item in ITEMS)
    assert [len(q.reviews) for q in file.questions] == [3, 3, 3]


def test_reviewing_again_asks_nobody(tmp_path, eunomia):
    reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)))
    before = events(tmp_path)
    _, model = reviewed(tmp_path, eunomia, {})
    assert model.asked == []
    assert events(tmp_path) == before


def test_a_command_works_on_a_file_alone(tmp_path):
    from graphs.workbook import open_workbook
    from registry.files import BusyError

    path = file_of(tmp_path)
    with (
        open_workbook(path),
        pytest.raises(BusyError, match="wait for that one"),
        open_workbook(path),
    ):
        pass


def test_a_spent_budget_stops_the_review_and_the_next_run_goes_on(tmp_path, eunomia):
    calls = []

    def dear(request):
        calls.append(request)
        return says(APPROVE, GOLD)(request) if len(calls) < 4 else BudgetError("$1.00 are spent")

    with pytest.raises(BudgetError):
        reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, dear), items=ITEMS)
    assert not any(event.body.get("valid") is False for event in events(tmp_path))
    reviewed(tmp_path, eunomia, dict.fromkeys(PANEL, says(APPROVE, GOLD)), items=ITEMS)
    assert all(approved(tmp_path, item) for item in ITEMS)
