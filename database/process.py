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

from database.build import QueryError
from database.frames import HEAD, write_frame

WATCH_S = 0.02  # how often a waiting thread looks at the worker
START_S = 30.0
ADDRESS_BYTES = 3 << 30
RESIDENT_BYTES = 2_500_000_000
PIPE_BYTES = 1 << 20
LARGEST_ANSWER = 2 << 30
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
                env={},
                cwd="/",
                start_new_session=True,  # Ctrl-C is for us, who then end the worker
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(theirs)
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
            raise QueryError(f"{setup['path']}: {head['failed']}")
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
        size = self._read(HEAD.size, deadline, stop)
        head, body = HEAD.unpack(size)
        if head + body > LARGEST_ANSWER:
            raise Died("an answer that no limit allows")
        return json.loads(self._read(head, deadline, stop)), self._read(body, deadline, stop)

    def _read(self, size: int, deadline: float, stop: Stop) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(deadline, stop)
            piece = os.read(self.reader, min(size - len(data), 1 << 20))
            if not piece:
                raise Died("the worker ended without an answer")
            data += piece
        return data

    def _wait(self, deadline: float, stop: Stop) -> None:
        poll = select.poll()
        poll.register(self.reader, select.POLLIN | select.POLLHUP)
        while not poll.poll(WATCH_S * 1000):
            if stop():
                raise Cancelled
            if time.monotonic() > deadline:
                raise TimeoutError
            if self.resident() > RESIDENT_BYTES:
                raise MemoryError

    def resident(self) -> int:
        """Return the worker's resident memory in bytes; 0 when it is gone."""
        try:
            statm = Path(f"/proc/{self.process.pid}/statm").read_text()
        except OSError:
            return 0
        return int(statm.split()[1]) * _PAGE

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
        self.reader = -1


def _command() -> list[str]:
    """The worker's command line: isolated, without site-packages but the engine's own folder."""
    spec = importlib.util.find_spec("duckdb")
    folders = [str(_ROOT)]
    if spec is not None and spec.origin:
        folders.append(str(Path(spec.origin).parent.parent))
    code = f"import sys; sys.path[:0] = {folders!r}; from database.worker import main; main()"
    return [sys.executable, "-I", "-S", "-c", code]
