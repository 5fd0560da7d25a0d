"""What a real model really says drives the whole line, offline: see tests/record.py.

A replay renders the prompts that it was recorded with; whether today's are others is a separate matter.
"""

import gzip
import json
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import prompts
from cli.main import app
from items.approvals import approval
from items.questions import load_questions
from items.records import record_of
from registry.events import load
from tests.record import RECORDINGS, STEPS, arguments, events

FOLDERS = sorted(path.parent for path in RECORDINGS.glob("*/about.yaml"))
recordings = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory, eunomia):
    """Replay a recording once: the folder it worked in."""
    done: dict[Path, Path] = {}

    def replay(folder: Path) -> Path:
        if folder not in done:
            work = done[folder] = tmp_path_factory.mktemp("replay")
            shutil.copytree(folder / "registry", work / "registry")
            (work / "data").mkdir()
            (work / "data" / "eunomia.duckdb").symlink_to(eunomia)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(prompts, "FOLDER", folder / "prompts")
                patch.setenv("BENCHTOWARD_REPLAY", str(folder / "calls.jsonl.gz"))
                for step, most in STEPS:
                    _run(step, most, work)
        return done[folder]

    return replay


def _run(step: str, most: int, work: Path) -> None:
    result = CliRunner().invoke(app, arguments(step, most, work))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception


@recordings
def test_every_draft_verdict_and_vote_of_the_recording_comes_about_again(folder, replayed):
    about = yaml.safe_load((folder / "about.yaml").read_text())
    again = events(replayed(folder) / "registry")
    assert about["events"]
    assert [event for event in about["events"] if event not in again] == []


@recordings
def test_no_approval_rests_on_less_than_three_valid_verdicts(folder, replayed):
    for path in (replayed(folder) / "registry" / "drafts").glob("*.yaml"):
        record = load(record_of(path))
        for question in load_questions(path).questions:
            if approval(record, question.item).approved:
                verdicts = [e for e in record if e.kind == "verdict" and e.item == question.id]
                assert sum(bool(e.body.get("valid")) for e in verdicts) >= 3


@recordings
def test_it_is_small_enough_to_be_kept(folder):
    with gzip.open(folder / "calls.jsonl.gz", "rt", encoding="utf-8") as lines:
        calls = [json.loads(line) for line in lines]
    assert 0 < len(calls) <= 60
    assert (folder / "calls.jsonl.gz").stat().st_size < 500_000


@recordings
def test_todays_prompts_are_those_of_the_recording(folder):
    """Never red: a better prompt is welcome. It says which prompts `make record` would refresh."""
    today = {name: prompts.text(name) for name in prompts.names()}
    kept = {
        str(path.relative_to(folder / "prompts").with_suffix("")): path.read_text(encoding="utf-8")
        for path in (folder / "prompts").rglob("*.md")
    }
    differ = sorted(name for name in today | kept if today.get(name) != kept.get(name))
    if differ:
        pytest.xfail(f"recorded with other prompts: {', '.join(differ)}")
