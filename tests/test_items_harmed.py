"""No byte of a frozen task's records, replies and hashed fields can be changed without a finding."""

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.rereading import reread
from items.evidence import Receipt
from items.questions import QuestionFile
from items.spec import Spec
from items.verify import Frozen, verify
from registry.reader import FormatError, read
from tests.frozen import findings, frozen_registry

COMMITTED = Path(__file__).parent.parent / "registry"
VICTIMS = (
    "records/demo-hard-v0.jsonl",
    "evidence",
    "drafts/demo-hard-v0.yaml",
    "tasks/demo@0.yaml",
)
HASHED = ("question_ko:", "question_en:", "  id: hard", "sha256:", "hard-00")


def spans(path: Path, data: bytes) -> list[tuple[int, int]]:
    """Where a change must be found: the whole of records and replies, the hashed values of YAML."""
    if path.suffix != ".yaml":
        return [(0, len(data))]
    found = []
    for name in HASHED:
        start = data.find(name.encode())
        while start >= 0:
            begin, end = start + len(name.encode()) + 1, data.find(b"\n", start)
            if end > begin:
                found.append((begin, end))
            start = data.find(name.encode(), end)
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return frozen_registry(tmp_path_factory.mktemp("registry"))


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(draw=st.data())
def test_a_flipped_or_deleted_byte_is_always_found(shared, draw):
    victim = shared / draw.draw(st.sampled_from(VICTIMS), label="file")
    if victim.is_dir():
        victim = next(victim.rglob("*.jsonl.gz"))
    whole = victim.read_bytes()
    begin, end = draw.draw(st.sampled_from(spans(victim, whole)), label="span")
    place = draw.draw(st.integers(begin, end - 1), label="place")
    byte = draw.draw(st.none() | st.integers(0, 255), label="byte")
    changed = whole[:place] + (b"" if byte is None else bytes([byte])) + whole[place + 1 :]
    if changed == whole:
        return
    try:
        victim.write_bytes(changed)
        assert any(not line.startswith("unverifiable: ") for line in findings(shared))
    finally:
        victim.write_bytes(whole)


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    return shutil.copytree(COMMITTED, tmp_path_factory.mktemp("committed") / "registry")


def held(path):
    """What a file says when it is read, or None where it cannot be."""
    try:
        if path.suffix == ".jsonl":
            return path.read_bytes()
        return read(path, {"drafts": QuestionFile, "tasks": Spec}.get(path.parent.name, Receipt))
    except FormatError:
        return None


def harmed(data: bytes, chance: random.Random) -> bytes:
    """A byte flipped, a bit flipped, some bytes deleted, or one doubled."""
    at = chance.randrange(len(data))
    return chance.choice(
        (
            data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
            data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :],
            data[:at] + data[at + chance.choice((1, 6, 60)) :],
            data[: at + 1] + data[at:],
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "records/eunomia-text2sql-hard-v0.jsonl",
        "records/eunomia-text2sql-v0.jsonl",
        "drafts/eunomia-text2sql-hard-v0.yaml",
        "drafts/eunomia-text2sql-v0.yaml",
        "tasks/eunomia-text2sql@0.yaml",
        "evidence/eunomia-text2sql@0/receipt.yaml",
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_the_committed_task_does_not_follow_once_a_byte_of_it_is_harmed(committed, name, seed):
    """Whole files, not only what is hashed: nothing that a file says can change unseen."""
    path = committed / name
    whole, before = path.read_bytes(), held(path)
    try:
        path.write_bytes(harmed(whole, random.Random(f"{name} {seed}")))
        failing = (f for f in verify(Frozen(committed, "eunomia-text2sql@0", reread)) if f.fails)
        assert next(failing, None) or held(path) == before
    finally:
        path.write_bytes(whole)
