"""`benchtoward demo`: the whole line, killed and started again, ends in the committed task's hashes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.demo import STEPS, TASK, prepare
from items.spec import load_spec
from registry import events

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "registry" / "tasks" / f"{TASK}@0.yaml"


def command(folder: Path, data: Path, *more: str) -> list[str]:
    start = ["demo", "--folder", str(folder), "--data", str(data)]
    return [sys.executable, "-m", "cli", *start, *more]


@pytest.fixture(scope="module")
def made(tmp_path_factory, eunomia):
    """A demo that was killed three times on its way to the freeze, then left to end."""
    folder = tmp_path_factory.mktemp("demo")
    data = eunomia.parent
    for name in ("text2sql hard-generate", "text2sql hard-review", "text2sql llm-decide"):
        _killed_in(folder, data, name)
    done = subprocess.run(
        command(folder, data, "--until", "eval-text2sql"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def _killed_in(folder: Path, data: Path, name: str) -> None:
    """Kill the demo, and the command it runs, some time into a step."""
    with subprocess.Popen(
        command(folder, data, "--until", "eval-text2sql"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if f"benchtoward {name}" in line:
                time.sleep(4)  # in the middle of it, wherever that is on this machine
                break
        subprocess.run(["kill", "-KILL", "--", f"-{running.pid}"], check=False)
        assert running.wait() == -signal.SIGKILL


@pytest.mark.timeout(600)
def test_a_demo_that_was_killed_ends_in_the_committed_hashes(made):
    ours = load_spec(made / "registry" / "tasks" / COMMITTED.name).pins
    committed = load_spec(COMMITTED).pins
    assert ours is not None
    assert committed is not None, "the committed task is a draft: run `make demo-task`"
    assert {name: tier.sha256 for name, tier in ours.tiers.items()} == {
        name: tier.sha256 for name, tier in committed.tiers.items()
    }
    assert ours.database == committed.database


@pytest.mark.timeout(600)
def test_a_demo_that_was_killed_did_nothing_twice(made):
    for path in sorted((made / "registry" / "records").glob("*.jsonl")):
        done = [
            (e.kind, e.item, e.item_sha256, e.by, e.body.get("seat"), e.body.get("round"))
            for e in events.load(path)
            if e.kind in ("draft", "verdict")
        ]
        assert done
        assert len(done) == len(set(done)), path


def test_a_demo_begins_without_what_it_is_about_to_make(tmp_path):
    prepare(ROOT / "registry", tmp_path)
    assert load_spec(tmp_path / "tasks" / COMMITTED.name).pins is None
    assert not (tmp_path / "drafts" / f"{TASK}-hard-v0.yaml").exists()
    assert not (tmp_path / "records").exists()
    assert "reviews" not in (tmp_path / "drafts" / f"{TASK}-v0.yaml").read_text()


def test_the_readme_names_what_the_demo_runs():
    readme = (ROOT / "README.md").read_text()
    for step in STEPS:
        assert " ".join(step.split()[:2]).split(" --")[0] in readme, step


def test_a_demo_neither_uses_nor_empties_a_folder_of_somebody(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    for more in ((), ("--fresh",)):
        done = subprocess.run(
            command(tmp_path, tmp_path, *more),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "no demo made" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_step_that_is_none_is_told_with_the_steps(tmp_path):
    done = subprocess.run(
        command(tmp_path / "new", tmp_path, "--until", "nosuchstep"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert STEPS[-1] in done.stderr
    assert not (tmp_path / "new").exists()


def test_an_interrupted_demo_says_how_to_go_on(tmp_path, eunomia):
    with subprocess.Popen(
        command(tmp_path / "new", eunomia.parent),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if "benchtoward text2sql check" in line:
                break
        os.killpg(running.pid, signal.SIGINT)
        rest = running.stdout.read()
        assert running.wait() == 130
    assert "run the same command again to go on" in rest
