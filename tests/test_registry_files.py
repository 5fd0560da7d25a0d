"""Files are replaced whole, hashes are canonical, records are chained."""

import errno
import json
import multiprocessing
from pathlib import Path

import pytest

from registry import events, files
from registry.canonical import canonical, sha256_json, sha256_text
from registry.events import Event
from registry.reader import FormatError


def test_canonical_json_is_sorted_compact_and_not_escaped():
    """S1-004: our own canonical form, since the source's cannot be found."""
    assert canonical({"b": 1, "a": "환자"}) == '{"a":"환자","b":1}'
    assert sha256_json({"b": 1, "a": None}) == sha256_text('{"a":null,"b":1}')


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"x": value})


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.yaml"
    files.replace(path, "old")

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.replace(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.yaml"]


def test_a_second_writer_waits_and_then_says_so(tmp_path):
    path = tmp_path / "a.yaml"
    with (
        files.locked(path),
        pytest.raises(files.BusyError, match="another benchtoward process"),
        files.locked(path, wait_s=0.05),
    ):
        pass


def record(tmp_path, count=3):
    path = events.record_path(tmp_path, "demo-hard-v0")
    events.append(path, [Event("draft", "rule/template@1", item=f"i{n}") for n in range(count)])
    return path


def test_events_come_back_in_order_and_chained(tmp_path):
    path = record(tmp_path)
    loaded = events.load(path)
    assert [(e.seq, e.item) for e in loaded] == [(1, "i0"), (2, "i1"), (3, "i2")]
    assert loaded[0].previous == events.FIRST
    assert events.head(path) == sha256_text(path.read_text().splitlines()[-1])


@pytest.mark.parametrize("line", [0, 1])
def test_a_changed_line_breaks_the_chain_by_its_number(tmp_path, line):
    path = record(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    lines[line] = lines[line].replace("i", "j", 1)
    path.write_text("".join(lines))
    with pytest.raises(FormatError):
        events.load(path)


def test_a_removed_line_is_found(tmp_path):
    path = record(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    with pytest.raises(FormatError, match="1: the chain is broken"):
        events.load(path)


@pytest.mark.parametrize("half", [b'{"kind":"verd', '{"body":{"reason":"환'.encode()[:-1]])
def test_a_half_written_last_line_is_not_an_event(tmp_path, half):
    path = record(tmp_path)
    with path.open("ab") as out:
        out.write(half)
    assert len(events.load(path)) == 3
    events.append(path, [Event("drop", "owner", item="i0")])
    assert [e.kind for e in events.load(path)] == ["draft", "draft", "draft", "drop"]


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[" * 100_000], ids=["not UTF-8", "deep"])
def test_a_line_that_nothing_can_read_is_named(tmp_path, line):
    path = record(tmp_path)
    with path.open("ab") as out:
        out.write(line + b"\n")
    with pytest.raises(FormatError, match="4: not an event"):
        events.load(path)
    with pytest.raises(FormatError, match="not an event"):
        events.append(path, [Event("drop", "owner", item="i0")])


def _append_ten(path: Path, name: str) -> None:
    for n in range(10):
        events.append(path, [Event("edit", name, {"n": n})])


def test_two_processes_append_without_loss(tmp_path):
    path = events.record_path(tmp_path, "x")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_ten, args=(path, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(events.load(path)) == 20
    assert all(json.loads(line) for line in path.read_text().splitlines())
