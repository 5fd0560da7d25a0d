"""The diff of a fix: what was taken out, what was put in, and nothing that moves the cursor."""

from dataclasses import asdict, replace

from cli.differing import change_lines, difference
from items.records import content_event
from tests.making import COUNT


def test_the_diff_shows_both_languages_and_the_sql():
    after = replace(
        COUNT, question_en="How many?", question_ko="몇 명인가요?", reference_sql="SELECT 1"
    )
    lines = difference(asdict(COUNT), asdict(after))
    for text in (COUNT.question_en, COUNT.question_ko):
        assert f"-{text}" in lines
    assert {"+How many?", "+몇 명인가요?", "+SELECT 1"} <= set(lines)


def test_a_removed_sql_comment_is_shown_and_a_control_code_is_not():
    was = {"reference_sql": "SELECT 1\n-- all\n", "difficulty": "easy"}
    now = {"reference_sql": "SELECT 1\n\x1b[2J", "difficulty": "hard"}
    lines = difference(was, now)
    assert lines == [
        "reference_sql:",
        " SELECT 1",
        "--- all",
        "+?[2J",
        "difficulty: 'easy' -> 'hard'",
    ]


def test_a_draft_and_a_fix_that_changes_nothing_have_no_diff():
    draft = replace(content_event("draft", COUNT, "a"), seq=1)
    fix = replace(content_event("fix", COUNT, "f", of=COUNT.sha256, round=1), seq=2)
    assert change_lines([draft, fix]) == {2: []}
