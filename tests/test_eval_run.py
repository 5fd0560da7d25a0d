"""The runner, with a toy kind of two dependent turns: no answer is asked twice, none is invented."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.exam import Prediction
from eval.leaderboard import board
from eval.rows import RunFolder, read_rows, run_folder, writing
from eval.run import Asking, first, lend, sit
from eval.score import load_run, score
from eval.statistics import figures
from models.call import Answer, ModelError
from registry.files import BusyError
from registry.reader import FormatError
from tests.toy import Toy, header

MODEL = {"model": "toy/parrot-1b"}


class Parrot:
    """Answers the first turn with the number asked for, the second with its double; counts calls."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[str] = []
        self.fails = fails

    async def __call__(self, request):
        question = request.messages[-1].content
        self.calls.append(question)
        if self.fails and self.fails in question:
            raise ModelError(f"toy/parrot-1b failed 4 times; last: 503 on {question!r}")
        number = int(question.split()[-1])
        return Answer(str(number if question.startswith("say") else 2 * number), key=request.key)


@pytest.fixture
def folder(tmp_path):
    made = run_folder(tmp_path, "exam", "toy@0", "toy/parrot-1b")
    made.write_header(header("toy/parrot-1b"))
    return made


def asking(model, **more) -> Asking:
    return Asking(model, MODEL, more.pop("earlier", {}), **more)


def sat(folder, model, exam=None, **more):
    return asyncio.run(sit(exam or Toy(), folder, asking(model), **more))


def outcomes(folder, exam=None) -> dict[str, str]:
    (run,) = asyncio.run(score(exam or Toy(), folder))
    return {row.instance.id: row.outcome for row in run.scored}


def test_every_turn_is_asked_once_and_the_second_rests_on_the_first(folder):
    model = Parrot()
    done = sat(folder, model)
    assert (done.asked, done.kept, done.failed) == (16, 0, 0)
    assert "say 3" in model.calls
    assert "double 3" in model.calls
    assert set(outcomes(folder).values()) == {"right"}


def test_a_second_call_asks_nothing(folder):
    sat(folder, Parrot())
    again = Parrot()
    assert sat(folder, again).kept == 16
    assert again.calls == []


def test_a_failed_route_leaves_its_instance_open_and_is_asked_again(folder):
    assert sat(folder, Parrot(fails="double 3")).failed == 1
    assert outcomes(folder)["toy/q3-en"] == "api_error"
    again = Parrot()
    assert sat(folder, again).asked == 1
    assert again.calls == ["double 3"]
    assert outcomes(folder)["toy/q3-en"] == "right"


def test_a_spent_budget_ends_the_run_and_the_rest_is_not_asked(folder):
    class Spent(ModelError):
        pass

    class Poor(Parrot):
        async def __call__(self, request):
            if len(self.calls) == 3:
                raise Spent("the budget of 1.00 USD would be passed")
            return await super().__call__(request)

    done = asyncio.run(sit(Toy(), folder, asking(Poor(), stops=(Spent,), at_once=1)))
    assert isinstance(done.stopped, Spent)
    assert list(outcomes(folder).values()).count("not_asked") == 7


def test_a_changed_prompt_asks_again_and_keeps_the_old_rows(folder):
    sat(folder, Parrot())
    assert sat(folder, Parrot(), exam=Toy(word="please say")).asked == 16
    assert len(read_rows(folder.answers)) == 32


def test_rows_of_another_run_are_lent_where_the_request_is_equal(folder, tmp_path):
    sat(folder, Parrot())
    other = run_folder(tmp_path, "dry", "toy@0", "toy/parrot-1b")
    other.write_header(header("toy/parrot-1b"))
    model = Parrot()
    done = asyncio.run(sit(Toy(), other, asking(model, earlier=lend([folder]))))
    assert (done.reused, model.calls) == (16, [])
    assert {row.source for row in read_rows(other.answers)} == {"earlier:toy--parrot-1b"}


def test_a_row_that_a_kill_left_half_written_is_asked_again(folder):
    sat(folder, Parrot())
    whole = folder.answers.read_bytes()
    folder.answers.write_bytes(whole[:-20])
    model = Parrot()
    assert sat(folder, model).asked == 1
    assert len(read_rows(folder.answers)) == 16


def test_a_letter_that_a_kill_cut_in_two_is_half_a_line(folder):
    sat(folder, Parrot())
    with folder.answers.open("ab") as out:
        out.write('{"answer":{"text":"환'.encode()[:-1])
    assert len(read_rows(folder.answers)) == 16


@pytest.mark.parametrize(
    "line", [b"\xff", b"[" * 100_000, b"[1]"], ids=["not UTF-8", "deep", "a list"]
)
def test_a_line_that_is_no_row_is_named(folder, line):
    sat(folder, Parrot())
    with folder.answers.open("ab") as out:
        out.write(line + b"\n")
    with pytest.raises(FormatError, match="17: not a row of a run"):
        read_rows(folder.answers)


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_model_whose_name_leads_elsewhere_has_no_run(tmp_path, name):
    with pytest.raises(FormatError, match="cannot name a run"):
        run_folder(tmp_path, "exam", "toy@0", name)


def test_a_model_whose_name_is_no_folders_is_told_how_long_it_may_be(tmp_path):
    with pytest.raises(FormatError, match="has at most 200 bytes; this one has 201"):
        run_folder(tmp_path, "exam", "toy@0", "a" * 201)


def test_two_processes_never_write_one_run(folder):
    with writing(folder), pytest.raises(BusyError, match="another benchtoward process"):
        sat(folder, Parrot(), header={"model": "another"})
    assert folder.header()["model"] == "toy/parrot-1b"


def test_a_full_disk_ends_the_run_with_its_own_error(folder):
    class Full(Parrot):
        async def __call__(self, request):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        sat(folder, Full())


def test_a_run_killed_anywhere_goes_on_where_it_was(tmp_path):
    """SIGKILL in the middle, then the same command: each request is asked at most once more."""
    script = Path(__file__).parent / "toy.py"
    command = [sys.executable, str(script), str(tmp_path)]
    root = Path(__file__).parent.parent
    process = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    answers = tmp_path / "exam" / "toy@0" / "toy--parrot-1b" / "answers.jsonl"
    while not answers.exists() or answers.read_bytes().count(b"\n") < 5:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(read_rows(answers))
    model = Parrot()
    done = sat(RunFolder(answers.parent), model)
    assert done.kept == before
    assert done.asked == 16 - before
    assert set(outcomes(RunFolder(answers.parent)).values()) == {"right"}


def test_a_limit_takes_whole_questions_from_every_tier():
    assert [i.id for i in first(Toy(), 2)] == ["toy/q1-en", "toy/q1-ko", "toy/q2-en", "toy/q2-ko"]


def test_a_score_is_stale_when_the_rows_or_the_pins_changed(folder):
    exam = Toy()
    sat(folder, Parrot(fails="double 3"))
    asyncio.run(score(exam, folder))
    assert load_run(exam, folder) is not None
    sat(folder, Parrot())
    assert load_run(exam, folder) is None
    asyncio.run(score(exam, folder))
    assert load_run(Toy(protocol=2), folder) is None


def test_a_score_that_was_edited_by_hand_is_made_again(folder):
    sat(folder, Parrot())
    asyncio.run(score(Toy(), folder))
    path = folder.path / "scored.jsonl"
    path.write_text(path.read_text().replace('"outcome":"right"', '"outcome":"wrong"', 1))
    assert load_run(Toy(), folder) is None


def test_a_reply_may_hold_what_other_programs_take_for_a_line_end(folder):
    """U+2028 and U+0085 stand unescaped in JSON: only a newline ends a row."""

    class Odd(Parrot):
        async def __call__(self, request):
            return Answer("1\u20282\x853", key=request.key)

    class Lenient(Toy):
        def parse(self, instance, turn, answer):
            return Prediction("number", answer.text)

    sat(folder, Odd())
    (run,) = asyncio.run(score(Lenient(), folder))
    assert run.scored[0].facts["said"] == "1\u20282\x853"
    assert load_run(Lenient(), folder).scored == run.scored


def test_what_was_scored_loads_as_it_was(folder):
    sat(folder, Parrot(fails="double 3"))
    (run,) = asyncio.run(score(Toy(), folder))
    assert load_run(Toy(), folder).scored == run.scored
    assert run.open == 1
    head = json.loads((folder.path / "scored.jsonl").read_text().splitlines()[0])
    assert head["pins"] == {"protocol": 1}


def test_a_toy_kind_is_ranked_with_intervals(folder, tmp_path):
    """Neither the bootstrap nor the leaderboard knows what a kind of exam is about."""
    half = run_folder(tmp_path, "exam", "toy@0", "toy/half-1b")
    half.write_header({**header("toy/half-1b"), "address": MODEL})
    sat(folder, Parrot())
    sat(half, Parrot(), exam=Toy(word="please say"))
    runs = asyncio.run(score(Toy(word="please say"), half)) + asyncio.run(score(Toy(), folder))
    shown = board(Toy(), [runs[0], runs[1]])
    assert [(e.model, e.rank) for e in shown.entries] == [("toy/parrot-1b", 1), ("toy/half-1b", 2)]
    wrong = shown.entries[1].figures[("toy", "both_right")]
    assert (wrong.value, wrong.low, wrong.high) == (0.0, 0.0, 0.0)


def test_an_open_toy_run_has_bounds(folder):
    sat(folder, Parrot(fails="double 3"))
    (run,) = asyncio.run(score(Toy(), folder))
    (entry,) = board(Toy(), [run]).entries
    assert (entry.rank, entry.bounds) == (None, (7 / 8, 1.0))


def test_the_interval_is_that_of_whole_questions():
    """Both languages of a question move together: one right question of four is 0 to 3/4 or so."""
    (measure,) = Toy().measures(
        [Toy().assume(i, right=i.cluster == "q1") for i in Toy().instances()]
    )
    figure = figures([[measure]])[0][("toy", "both_right")]
    assert figure.value == 0.25
    assert (figure.low, figure.high) == (0.0, 0.75)
