"""One worker process as its parent sees it: started, asked, watched, killed.

The process is `database/worker.py` in an isolated interpreter with an empty environment and nothing of
site-packages but the engine's own folder. While we wait for its answer we look at the clock and at its
memory; both limits end in a kill, which nothing inside the process can put off.
"""

import contextlib
import fcntl
import importlib.util
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from database.build import damage_of
from database.frames import HEAD, write_frame

WATCH_S = 0.02  # how often a waiting thread looks at the worker
START_S = 30.0
ADDRESS_BYTES = 3 << 30
RESIDENT_BYTES = 2_500_000_000
PIPE_BYTES = 1 << 20
PIECE_BYTES = 1 << 20  # of an answer in one reading
LARGEST_ANSWER = 2 << 30
# A plan is thousands of small objects: glibc keeps more of them at hand for the next query, which is
# worth a twentieth of a query's time. It reads this when a process starts; the worker then wipes it.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=500"}
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ROOT = Path(__file__).resolve().parent.parent
Stop = Callable[[], bool]


def never() -> bool:
    """The answer of a question that nobody takes back."""
    return False


class Cancelled(Exception):
    """The asker no longer wants the answer; the worker was killed."""


class Died(Exception):
    """The worker ended without an answer."""


class Worker:
    """One process and its two pipes."""

    def __init__(self, setup: dict[str, Any]) -> None:
        """Start the process. Raises: QueryError (it cannot open the database), Died."""
        reader, theirs = os.pipe()
        with contextlib.suppress(OSError, AttributeError):  # a large result in few turns
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.reader = reader
        try:
            self.process = subprocess.Popen(
                _command(),
                stdin=subprocess.PIPE,
                stdout=theirs,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for us, who then end the worker
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(theirs)
        self.poll = select.poll()
        self.poll.register(reader, select.POLLIN | select.POLLHUP)
        self.statm = _statm(self.process.pid)
        try:
            self.tables = self._greet(setup)
        except BaseException:
            self.kill()
            raise

    def _greet(self, setup: dict[str, Any]) -> frozenset[str]:
        setup = {**setup, "parent": os.getpid(), "address_bytes": ADDRESS_BYTES}
        self.send(json.dumps(setup).encode())
        head, _ = self.receive(time.monotonic() + START_S)
        if "failed" in head:
            raise damage_of(setup["path"], head["failed"])
        return frozenset(head["tables"])

    def send(self, head: bytes) -> None:
        assert self.process.stdin is not None
        try:
            write_frame(self.process.stdin, head)  # type: ignore[arg-type]
        except OSError:
            raise Died("the worker is gone") from None

    def receive(self, deadline: float, stop: Stop = never) -> tuple[dict[str, Any], bytearray]:
        """Wait for an answer and watch the worker.

        Raises: TimeoutError (over time), MemoryError (over RESIDENT_BYTES), Cancelled, Died.
        """
        data = bytearray()
        self._read(data, HEAD.size, deadline, stop)
        head, body = HEAD.unpack_from(data)
        if head + body > LARGEST_ANSWER:
            raise Died("an answer that no limit allows")
        start = HEAD.size + head
        self._read(data, start + body, deadline, stop)
        return json.loads(data[HEAD.size : start]), data[start:]

    def _read(self, data: bytearray, size: int, deadline: float, stop: Stop) -> None:
        """Read until there are so many bytes: one turn for a small answer."""
        while len(data) < size:
            self._wait(deadline, stop)
            piece = os.read(self.reader, PIECE_BYTES)
            if not piece:
                raise Died("the worker ended without an answer")
            data += piece

    def _wait(self, deadline: float, stop: Stop) -> None:
        while not self.poll.poll(WATCH_S * 1000):
            if stop():
                raise Cancelled
            if time.monotonic() > deadline:
                raise TimeoutError
            if self.resident() > RESIDENT_BYTES:
                raise MemoryError

    def resident(self) -> int:
        """Return the worker's resident memory in bytes; 0 when it is gone."""
        try:
            return int(os.pread(self.statm, 64, 0).split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0

    def exit_code(self) -> int:
        """Return the exit code of a process that closed its pipe; -9 when it has to be killed."""
        try:
            return self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.end()
            return self.process.returncode

    def end(self) -> None:
        """End the process; its pipes stay for whoever reads them."""
        self.process.kill()
        self.process.wait()

    def kill(self) -> None:
        """End the process and close its pipes; a second call does nothing."""
        if self.reader < 0:
            return
        self.end()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # what was not sent is lost with the worker
            self.process.stdin.close()
        os.close(self.reader)
        if self.statm >= 0:
            os.close(self.statm)
        self.reader = self.statm = -1


def _statm(pid: int) -> int:
    """Open what the kernel tells about a process's memory; -1 when it is gone already."""
    try:
        return os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _command() -> list[str]:
    """The worker's command line: isolated, without site-packages but the engine's own folder."""
    spec = importlib.util.find_spec("duckdb")
    folders = [str(_ROOT)]
    if spec is not None and spec.origin:
        folders.append(str(Path(spec.origin).parent.parent))
    code = f"import sys; sys.path[:0] = {folders!r}; from database.worker import main; main()"
    return [sys.executable, "-I", "-S", "-c", code]
