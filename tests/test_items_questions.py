"""Question files: strict in, readable out, and only what was approved stays approved."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import items.decisions
import items.questions
from items.approvals import approval
from items.decisions import load_decisions
from items.model import Item
from items.questions import Question, QuestionFile, load_questions, save_questions, unreviewed
from items.records import content_event, contents, decisions, record_of, verdict_event
from items.rendered import take_in, write
from registry.events import Event, load
from registry.reader import FormatError

REGISTRY = Path(__file__).parent.parent / "registry"
ITEM = Item(
    id="hard-001",
    question_ko="환자는 모두 몇 명인가요?",
    question_en="How many patients are there?",
    reference_sql="SELECT count(*) AS patients\nFROM person",
    order_matters=False,
    answerable=True,
    category="data_quality",
    difficulty="easy",
    scope="none",
)
FILE = QuestionFile(
    task="demo",
    tier="hard",
    today=date(2019, 7, 3),
    questions=(Question.of(ITEM, "rule/templates@1"),),
)


def sample(module) -> str:
    """The indented example of a module's docstring."""
    lines = re.findall(r"^    (.*)$", module.__doc__, flags=re.M)
    return "\n".join(lines) + "\n"


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "drafts" / "demo-hard-v0.yaml"
    save_questions(place, FILE)
    return place


def vote(seat, verdict="approve", item=ITEM, **body):
    body = {"seat": seat, "round": 1, "verdict": verdict, "valid": True, "issues": []} | body
    return verdict_event(item, f"model-{seat}", **body)


def test_the_sample_of_the_docstring_loads(tmp_path):
    place = tmp_path / "sample.yaml"
    place.write_text(sample(items.questions))
    file = load_questions(place)
    assert (
        file.questions[0].item.sha256
        == replace(ITEM, reference_sql="SELECT count(*) AS patients FROM person").sha256
    )
    assert file.settings.waivers[0].by == "Kim"


def test_the_sample_of_a_decision_loads(tmp_path):
    place = tmp_path / "decisions" / "output_limit.yaml"
    place.parent.mkdir()
    place.write_text(sample(items.decisions))
    assert load_decisions(tmp_path)[0].option("192").value == 192


def test_a_file_is_the_same_after_writing_and_reading(path):
    assert load_questions(path) == FILE
    assert "reference_sql: |-\n" in path.read_text()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("category: data_quality", "category: vocabulary_lookup", "none of the hard tier's"),
        ("scope: none", "scope: everybody", "expected one of patient, group, none"),
        (
            "  difficulty: easy\n",
            "  difficulty: easy\n  answerable: false\n",
            "an unanswerable one none",
        ),
        ("author:", "writer:", "unknown key 'writer'"),
    ],
)
def test_a_mistake_is_named_with_its_line(path, old, new, problem):
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FormatError, match=problem) as caught:
        load_questions(path)
    assert caught.value.line


def test_three_valid_approvals_on_the_present_content_approve():
    assert approval([vote(1), vote(2), vote(3)], ITEM).approved


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([vote(1), vote(2)], id="two seats"),
        pytest.param([vote(1), vote(2), vote(2)], id="one seat twice"),
        pytest.param([vote(1), vote(2), vote(3, "revise")], id="one objects"),
        pytest.param([vote(1), vote(2), vote(3, valid=False)], id="one reply did not parse"),
        pytest.param([vote(1), vote(2), vote(3, valid="yes")], id="a lie about being valid"),
        pytest.param([vote(1), vote(2), vote(3), vote(3, "reject")], id="one takes it back"),
        pytest.param(
            [vote(1), vote(2), vote(3), vote(3, valid=False)], id="asked again, no verdict"
        ),
        pytest.param([vote(1), vote(2), vote(3, repeat=1)], id="a retest is no verdict"),
        pytest.param(
            [vote(1), vote(2), vote(3, item=replace(ITEM, question_en="How many?"))],
            id="on an older content",
        ),
        pytest.param([vote(1), vote(2), vote(3), vote(4)], id="a fourth seat"),
        pytest.param([vote(1), vote(2), vote(7)], id="seats that no roster has"),
        pytest.param([vote(1), vote(2), vote("3")], id="a seat that is no number"),
        pytest.param(
            [vote(seat, panel=["model-1", "model-2", "model-9"]) for seat in (1, 2, 3)],
            id="one who did not hold the seat",
        ),
        pytest.param(
            [vote(seat, panel=["model-1", "model-2"]) for seat in (1, 2, 3)],
            id="a seat that the roster has not",
        ),
        pytest.param(
            [vote(1), vote(2), vote(3, issues=[{"kind": "other", "sentence": "no"}])],
            id="one approves and objects at once",
        ),
    ],
)
def test_anything_less_does_not(events):
    assert not approval(events, ITEM).approved


def test_a_rule_or_one_model_in_two_seats_is_for_previews():
    three = [replace(vote(seat), by=by) for seat, by in enumerate(["a", "b", "c"], 1)]
    assert not approval(three, ITEM).preview_only
    assert approval([*three[:2], replace(three[2], by="b")], ITEM).preview_only
    assert approval([*three[:2], replace(three[2], by="rule/lint@1")], ITEM).preview_only
    assert approval([*three[:2], replace(three[2], by="B")], ITEM).preview_only
    assert approval([*three[:2], replace(three[2], by="b@2026-11")], ITEM).preview_only
    told = [replace(event, body={**event.body, "single_model": True}) for event in three]
    assert approval(told, ITEM).preview_only


def test_the_latest_roster_counts_and_a_rule_may_have_a_newer_version():
    panel = ["rule/lint", "model-2", "model-3"]
    old = [vote(seat, panel=["model-8", "model-2", "model-3"]) for seat in (2, 3)]
    first = replace(vote(1, panel=panel), by="rule/lint@2", seq=9)
    assert approval([*old, first], ITEM).approved


def test_what_stands_in_the_file_alone_becomes_a_draft_of_its_author(path):
    take_in(path)
    (event,) = load(record_of(path))
    assert (event.kind, event.by, event.item_sha256) == ("draft", "rule/templates@1", ITEM.sha256)
    assert load_questions(path).questions[0].history[0].endswith("draft by rule/templates@1")


def test_taking_in_twice_changes_nothing(path):
    take_in(path)
    before = path.read_text(), load(record_of(path))
    take_in(path)
    assert (path.read_text(), load(record_of(path))) == before


def test_a_hand_edit_is_an_event_and_voids_the_approval(path):
    take_in(path)
    write(path, [vote(1), vote(2), vote(3)])
    path.write_text(path.read_text().replace("How many patients", "How many people"))
    file = take_in(path, by="Kim")
    events = load(record_of(path))
    assert (events[-1].kind, events[-1].by, events[-1].body["fields"]) == (
        "edit",
        "Kim",
        ["question_en"],
    )
    assert not approval(events, file.questions[0].item).approved
    assert len(file.questions[0].reviews) == 3


def test_a_removed_entry_is_dropped_and_stays(path):
    take_in(path)
    save_questions(path, replace(load_questions(path), questions=()))
    file = take_in(path)
    assert [q.status for q in file.questions] == ["dropped"]
    assert file.kept == ()


def test_a_dropped_entry_can_be_taken_back_by_hand(path):
    take_in(path)
    write(path, [Event("drop", "Kim", {"reason": "too easy"}, ITEM.id, ITEM.sha256)])
    path.write_text(path.read_text().replace("  status: dropped\n", ""))
    assert take_in(path).kept == (ITEM,)


def test_a_record_ahead_of_the_file_is_no_hand_edit(path):
    """A kill between the record and the file: the file is rendered anew, nothing is undone."""
    take_in(path)
    stale = path.read_text()
    fixed = replace(ITEM, question_en="How many people are there?")
    write(path, [content_event("fix", fixed, "model-1", reason="clearer", round=1)])
    path.write_text(stale)
    assert take_in(path).kept == (fixed,)
    assert len(load(record_of(path))) == 2


def test_a_hand_edit_of_a_file_that_lags_behind_keeps_what_the_record_knows(path):
    take_in(path)
    stale = path.read_text()
    write(path, [content_event("fix", replace(ITEM, difficulty="hard"), "model-1", reason="so")])
    path.write_text(stale.replace("How many patients", "How many people"))
    (item,) = take_in(path, by="Kim").kept
    assert (item.difficulty, item.question_en) == ("hard", "How many people are there?")


def test_a_new_waiver_is_recorded_with_its_reason_and_name(path):
    text = path.read_text().replace(
        "questions:",
        "settings:\n  waivers:\n"
        "  - {item: hard-001, rule: ties, reason: ranks are shared, by: Kim}\nquestions:",
    )
    path.write_text(text)
    take_in(path)
    kinds = [(e.kind, e.by, e.item) for e in load(record_of(path))]
    assert kinds[1:] == [("edit", "hand", None), ("waiver", "Kim", "hard-001")]
    take_in(path)
    assert len(load(record_of(path))) == 3


def test_decisions_show_every_vote_the_losing_one_and_the_missing_one():
    def ballot(seat, option, **body):
        return Event(
            "ballot",
            f"model-{seat}",
            {
                "decision": "d",
                "ballot": 1,
                "seat": seat,
                "vote": option,
                "reason": "so",
                "valid": True,
            }
            | body,
        )

    decided = {"decision": "d", "option": "a", "tally": "2 of 3", "by": "panel", "protocol": "x"}
    events = [
        ballot(1, "a"),
        ballot(2, "a"),
        ballot(3, "b", valid=False, reason="", problem="no reply"),
        Event("decided", "panel", decided, when="2026-11-30T12:00:00Z"),
    ]
    (found,) = decisions(events)
    assert [vote.vote for vote in found.votes] == ["a", "a", None]
    assert (found.tally, found.when, found.votes[2].reason) == ("2 of 3", "2026-11-30", "no reply")


def test_a_registry_that_starts_anew_has_no_reviews(path):
    take_in(path)
    write(path, [vote(1)])
    path.write_text(unreviewed(path))
    file = load_questions(path)
    assert (file.rendered_to, file.questions[0].reviews) == (0, ())


def test_contents_are_the_last_of_each_item():
    fixed = replace(ITEM, difficulty="medium")
    events = [content_event("draft", ITEM, "a"), content_event("fix", fixed, "b", reason="")]
    (question,) = contents(events).values()
    assert (question.item, question.author) == (fixed, "a")


def test_a_record_that_ends_before_what_the_file_shows_is_no_new_beginning(path):
    take_in(path)
    before = path.read_bytes()
    record_of(path).unlink()
    with pytest.raises(FormatError, match=r"it ends at event 0, .* shows event \d+: restore it"):
        take_in(path)
    assert path.read_bytes() == before
    assert not record_of(path).exists()
