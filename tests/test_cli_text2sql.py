"""The making line as commands: write, check, review, fix, vote, freeze; killed anywhere, it goes on."""

import json
import multiprocessing
import os
import pty
import re
import signal
import sqlite3
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cli.main import app
from items.approvals import approval
from items.questions import load_questions, save_questions
from items.records import record_of
from items.spec import load_spec, save_spec, spec_path
from registry.events import load
from registry.reader import FormatError
from tests import line
from tests.server import Server, in_background

COMMANDS = (
    "hard-generate --count 4",
    "check",
    "hard-review",
    "llm-fix",
    "llm-decide",
    "llm-decide --freeze --yes --by Kim",
)
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.preload"])


@pytest.fixture
def site(tmp_path, eunomia):
    """A folder with a registry, the database and a server of scripted models."""
    line._written.clear()
    (tmp_path / "data").symlink_to(eunomia.parent)  # with its copies and what the gate remembers
    with in_background(Server(line.script)) as server:
        line.registry(tmp_path, server.api_base)
        yield tmp_path, server


def arguments(command: str, folder) -> list[str]:
    """A command line in a folder of its own."""
    words = ["text2sql", *command.split(), "--registry", str(folder / "registry")]
    if not command.startswith(("show", "status")):
        words += ["--runs", str(folder / "runs"), "--data", str(folder / "data")]
    if not command.startswith(("check", "show", "status", "evidence")):
        words += ["--roster", "trial"]
    return words


def told(command: str, folder, code: int = 0) -> str:
    """Run a command in this process and return what it printed."""
    result = CliRunner().invoke(app, arguments(command, folder), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def frozen(folder):
    """What the line ends with: tier hash and item hashes."""
    pins = load_spec(spec_path(folder / "registry", line.TASK)).pins
    return pins and {name: (tier.sha256, tier.items) for name, tier in pins.tiers.items()}


def test_a_plan_says_what_would_be_asked_and_asks_nothing(site):
    folder, server = site
    said = told("hard-generate --count 6 --plan", folder)
    assert "acme/a-1b: 2 conversations (0 begun before), 4 requests" in said
    assert said.count("conversations") == 3
    assert "at most an unknown price; nothing was asked" in said
    assert server.bodies == []


def test_the_line_writes_reviews_fixes_votes_and_freezes(site):
    folder, _ = site
    said = {command: told(command, folder) for command in COMMANDS}
    path = folder / "registry" / "drafts" / "small-text2sql-hard-v0.yaml"
    file, events = load_questions(path), load(record_of(path))
    assert len(file.kept) == 4
    assert all(approval(events, item).approved for item in file.kept)
    assert [d.tally for d in file.decisions] == ["3 of 3", "3 of 3"]
    assert [event.kind for event in events][-1] == "freeze"
    assert frozen(folder)
    spec = load_spec(spec_path(folder / "registry", line.TASK))
    assert spec.review == {"review_batch": "one", "output_format": "one"}
    assert [(s.key, s.by, s.tally) for s in spec.decisions] == [
        ("review.output_format", "panel", "3 of 3"),
        ("review.review_batch", "panel", "3 of 3"),
    ]
    mended = next(event.item for event in events if event.kind == "fix")
    assert f"{mended}: fix by" in said["llm-fix"]
    life = told(f"show {mended}", folder)
    assert "\n    -" in life[life.index("fix by") :]
    assert "\n    +" in life[life.index("fix by") :]
    assert life.index("draft by") < life.index("verdict by") < life.index("fix by")
    assert "approved: 4" in told("status", folder)
    assert "is frozen since" in told("llm-decide --freeze --yes", folder)


def test_a_freeze_that_nobody_answers_waits_at_the_desk_and_is_taken_there(site):
    folder, _ = site
    for command in COMMANDS[:-1]:
        told(command, folder)
    said = told("llm-decide --freeze", folder, code=1)
    assert "the freeze waits for the owner" in said
    assert "hard in: hard-001, hard-002, hard-003, hard-004" in said
    assert not frozen(folder)
    assert "freeze of" in told("desk", folder)
    told("desk freeze --act drop --by Kim --reason later", folder, code=1)
    assert not frozen(folder)
    assert "0 wait for the owner" in told("desk", folder)
    told("llm-decide --freeze", folder, code=1)
    assert "frozen:" in told("desk freeze --act approve --by Kim --reason agreed", folder)
    record = load(record_of(next(folder.glob("registry/drafts/*hard*"))))
    assert [(e.kind, e.by, e.body["reason"]) for e in record[-2:]] == [
        ("owner", "Kim", "later"),
        ("freeze", "Kim", "agreed"),
    ]
    assert record[-1].body["asked"]
    assert frozen(folder)


def broken(folder):
    """Write two items and break the first by hand: nobody is counted by its reference."""
    told("hard-generate --count 2", folder)
    path = next(folder.glob("registry/drafts/*hard*.yaml"))
    file = load_questions(path)
    first = replace(file.questions[0], reference_sql="SELECT count(*) AS n FROM person WHERE 1 = 2")
    save_questions(path, replace(file, questions=(first, *file.questions[1:])))
    return path, first.item


def typed(
    command: str, folder, prompt: str, answer: str, meanwhile=lambda: None
) -> tuple[int, str]:
    """Run a command at a terminal of its own and type the answer to its prompt; code and text."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "cli", *arguments(command, folder)])
    said, waits = "", True
    with suppress(OSError):  # the terminal closes when the command ends
        while chunk := os.read(terminal, 4096).decode(errors="replace"):
            said += chunk
            if waits and prompt in said:
                meanwhile()
                os.write(terminal, f"{answer}\n".encode())
                waits = False
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), said


def test_a_person_at_a_terminal_is_shown_the_plan_and_asked_before_a_freeze(site):
    folder, _ = site
    for command in COMMANDS[:-1]:
        told(command, folder)
    code, said = typed("llm-decide --freeze --by Kim --reason agreed", folder, "Freeze?", "n")
    assert (code, frozen(folder)) == (1, None), said
    assert said.index("hard in: hard-001") < said.index("Freeze?")
    code, said = typed("llm-decide --freeze --by Kim --reason agreed", folder, "Freeze?", "y")
    assert code == 0, said
    assert frozen(folder)
    record = load(record_of(next(folder.glob("registry/drafts/*hard*"))))
    assert [(e.kind, e.by) for e in record[-2:]] == [("owner", "Kim"), ("freeze", "Kim")]
    assert record[-1].body["asked"]


def test_what_was_edited_while_the_freeze_was_asked_is_not_frozen(site):
    folder, _ = site
    for command in COMMANDS[:-1]:
        told(command, folder)
    path = next(folder.glob("registry/drafts/*hard*"))

    def edit():
        file = load_questions(path)
        changed = replace(file.questions[0], question_en="How many are there in all?")
        save_questions(path, replace(file, questions=(changed, *file.questions[1:])))

    code, said = typed("llm-decide --freeze --by Kim --reason yes", folder, "Freeze?", "y", edit)
    assert (code, frozen(folder)) == (2, None), said
    assert "three seats approve its present content" in said or "not frozen" in said


def test_a_vote_without_a_majority_is_decided_by_the_owner_at_the_desk(site):
    folder, server = site

    def split(body):
        if "option" not in body["response_format"]["json_schema"]["schema"]["properties"]:
            return line.script(body)
        vote = {"a-1b": "one", "b-2b": "ten"}.get(body["model"], "neither")
        return json.dumps({"reason": "So I say.", "option": vote})

    server.script = split
    told("hard-generate --count 2", folder)
    said = told("llm-decide", folder, code=1)
    assert "not decided: review_batch" in said
    assert "decision review_batch: Which review_batch? [one, ten]" in told("desk", folder)
    assert "--option decides it" in told("desk review_batch", folder)
    refused = CliRunner().invoke(
        app, arguments("desk review_batch --option six --by Kim --reason why", folder)
    )
    assert refused.exit_code == 2
    evidence = next(folder.glob("registry/evidence/*/*-evidence.yaml"))
    newer = evidence.with_name(evidence.name.replace("-1-", "-2-"))
    newer.write_text(evidence.read_text() + "# another look\n")
    assert "0 wait for the owner" in told("desk", folder)
    with pytest.raises(FormatError, match="'review_batch' does not wait for the owner"):
        told("desk review_batch --option ten --by Kim --reason cheaper", folder)
    newer.unlink()
    with pytest.raises(FormatError, match="no task"):
        told("desk --task nonsense@9", folder)
    told("desk review_batch --option ten --by Kim --reason cheaper", folder)
    (decided,) = load_questions(next(folder.glob("registry/drafts/*hard*"))).decisions
    assert (decided.option, decided.by, decided.reason) == ("ten", "owner", "cheaper")
    assert "0 wait for the owner" in told("desk", folder)
    told("llm-decide", folder)


def test_a_broken_rule_waits_at_the_desk_and_a_waiver_is_written_to_file_and_record(site):
    folder, _ = site
    path, item = broken(folder)
    assert f"broken: 1: {item.id}" in told("hard-review", folder)
    assert "stopped: 1" in told("status", folder)
    said = told("desk", folder)
    assert f"{item.id} (trial) needs an edit or a waiver: " in said
    rules = re.findall(r"(?:waiver|;) ?:? ?(\w+): ", said)
    assert "broken: " in told(f"desk {item.id}", folder)
    seen = json.loads(told(f"desk {item.id} --json", folder))
    assert (seen["item"]["id"], list(seen["results"])) == (item.id, ["reference"])
    assert [problem.partition(":")[0] for problem in seen["problems"]] == rules
    for name in ("\x1b[31mKim", "Kim\u202e", "Kim\udcff"):
        words = arguments(f"desk {item.id} --act drop --reason why", folder)
        refused = CliRunner().invoke(app, [*words, "--by", name])
        assert refused.exit_code == 2, refused.output
        assert "\x1b" not in refused.output
    with pytest.raises(FormatError, match="takes --act waive with --rule"):
        told(f"desk {item.id} --act waive --rule nothing --by Kim --reason meant", folder)
    with pytest.raises(FormatError, match="takes --act waive, edit, drop, not approve"):
        told(f"desk {item.id} --act approve --by Kim --reason meant", folder)
    for rule in rules:
        told(f"desk {item.id} --act waive --rule {rule} --by Kim --reason meant", folder)
    assert [(w.rule, w.by) for w in load_questions(path).settings.waivers] == [
        (rule, "Kim") for rule in rules
    ]
    assert "0 wait for the owner" in told("desk", folder)
    kinds = [e.kind for e in load(record_of(path)) if e.item == item.id]
    assert kinds.index("waiver") < kinds.index("verdict")


def test_a_broken_item_is_mended_by_hand_at_the_desk_and_judged(site):
    folder, _ = site
    path, item = broken(folder)
    told("hard-review", folder)
    words = arguments(f"desk {item.id} --act edit --by Kim --reason mended", folder)
    sql = "SELECT count(*) AS n FROM person"
    result = CliRunner().invoke(app, [*words, "--sql", sql], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    now = load_questions(path).question(item.id)
    assert (now.reference_sql, len(now.reviews)) == (sql, 3)


def test_an_unapproved_item_stops_the_freeze_and_is_not_left_out_in_silence(site):
    folder, _ = site
    for command in ("hard-generate --count 4", "check", "hard-review", "llm-decide"):
        told(command, folder)
    path = next(folder.glob("registry/drafts/*hard*"))
    with pytest.raises(FormatError, match="seats approve its present content"):
        told("llm-decide --freeze --yes", folder)
    assert len(load_questions(path).kept) == 4
    assert not frozen(folder)


def killed_at(server: Server, call: int, folder, command: str) -> None:
    """Run a command in a process of its own and kill it when the server hears its n-th call."""
    heard = [0]

    def script(body):
        heard[0] += 1
        if heard[0] == call:
            os.kill(process.pid, signal.SIGKILL)
        return line.script(body)

    server.script = script
    process = FORKS.Process(target=run_alone, args=(arguments(command, folder),))
    process.start()
    process.join(120)
    server.script = line.script
    assert process.exitcode == -signal.SIGKILL


def run_alone(words: list[str]) -> None:
    """Run a command line as the shell would."""
    app(words, standalone_mode=True)


def attempts(folder) -> dict[str, int]:
    """How often each call was made that has an answer."""
    query = """SELECT c.key, count(t.id) FROM calls c JOIN answers a ON a.call = c.id
               LEFT JOIN attempts t ON t.call = c.id GROUP BY c.key"""
    with sqlite3.connect(folder / "runs" / "ledger.sqlite") as connection:
        return dict(connection.execute(query).fetchall())


def verdicts(folder) -> list[str]:
    """What the seats said, a line each: for the message of a failed test."""
    record = load(record_of(next(folder.glob("registry/drafts/*hard*"))))
    return [
        f"{e.item} round {e.body['round']} seat {e.body['seat']} repeat {e.body.get('repeat') or 0}: "
        f"{e.body['verdict']} {e.body.get('problem', '')}"
        for e in record
        if e.kind == "verdict"
    ]


def test_a_line_that_is_killed_anywhere_ends_in_the_same_hashes_and_asks_nothing_twice(site):
    folder, server = site
    kills = {"hard-generate --count 4": 3, "hard-review": 10, "llm-fix": 2, "llm-decide": 2}
    for command in COMMANDS:
        if command in kills:
            killed_at(server, kills[command], folder, command)
            before = attempts(folder)
            told(command, folder)
            assert {key: attempts(folder)[key] for key in before} == before
        else:
            told(command, folder)
    assert frozen(folder)
    kinds = [event.kind for event in load(record_of(next(folder.glob("registry/drafts/*hard*"))))]
    assert (kinds.count("draft"), kinds.count("fix"), kinds.count("freeze")) == (4, 1, 1)
    said = verdicts(folder)  # which items are judged a second time follows from their content
    assert len([line for line in said if "repeat 0" in line]) == 4 * 3 + 3, said
    assert kinds.count("ballot") == 2 * 3


def test_a_batched_review_that_is_killed_asks_for_no_group_twice(site):
    folder, server = site
    path = spec_path(folder / "registry", line.TASK)
    save_spec(path, replace(load_spec(path), review={"batch": 3}))
    told("hard-generate --count 4", folder)
    before = len(server.bodies)
    killed_at(server, 8, folder, "hard-review")
    made = attempts(folder)
    told("hard-review", folder)
    assert {key: attempts(folder)[key] for key in made} == made
    asked = [b for b in server.bodies[before:] if "## Question 1" in b["messages"][1]["content"]]
    assert len(set(map(str, asked))) == 3 * 2 * 2  # seats, groups, passes
    file = load_questions(next(folder.glob("registry/drafts/*hard*")))
    assert [len(question.reviews) for question in file.questions] == [3] * 4
