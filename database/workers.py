"""A pool of processes that run SQL and may be killed: native limit first, kill second.

    pool = Pool({"engine": "duckdb", "path": "data/eunomia.duckdb", "memory_mb": 512, ...}, workers=2)
    outcome = pool.run(Job("SELECT 1"))            # Result or Failure; thread-safe, blocking

The thread that waits for an answer watches the worker: over its time (plus GRACE_S) or its memory it
is killed, and a new one starts at once. When a worker dies by
itself the query runs once more on a new one: dying twice is the query's doing, dying once was ours.

All workers are started by one thread that lives as long as the pool: on Linux a process that asked to
die with its parent dies with the *thread* that started it.
"""

import contextlib
import importlib.util
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from database.build import QueryError
from database.frames import HEAD, load_rows, write_frame
from database.result import Failure, Result

GRACE_S = 0.4  # after the native limit, before the kill
WATCH_S = 0.02  # how often a waiting thread looks at the worker
START_S = 30.0
KEPT_MB = 1_200  # a worker larger than this after its query is replaced
ADDRESS_BYTES = 3 << 30
RESIDENT_BYTES = 2_500 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Job:
    """A query on its way to a worker. Trusted SQL is our own and passes no gate."""

    sql: str
    time_s: float
    rows: int
    bytes: int
    trusted: bool = False


class Cancelled(Exception):
    """The asker no longer wants the answer; the worker was killed."""


class Died(Exception):
    """The worker ended without an answer."""


class Worker:
    """One process and its two pipes."""

    def __init__(self, setup: dict[str, Any]) -> None:
        """Start the process. Raises: QueryError (it cannot open the database), Died."""
        reader, theirs = os.pipe()
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
        head, _ = self.receive(time.monotonic() + START_S, lambda: False)
        if "failed" in head:
            raise QueryError(f"{setup['path']}: {head['failed']}")
        return frozenset(head["tables"])

    def send(self, head: bytes) -> None:
        assert self.process.stdin is not None
        try:
            write_frame(self.process.stdin, head)  # type: ignore[arg-type]
        except OSError:
            raise Died("the worker is gone") from None

    def receive(
        self, deadline: float, stop: Callable[[], bool]
    ) -> tuple[dict[str, Any], bytearray]:
        """Wait for an answer and watch the worker.

        Raises: TimeoutError (over time), MemoryError (over RESIDENT_BYTES), Cancelled, Died.
        """
        size = self._read(HEAD.size, deadline, stop)
        head, body = HEAD.unpack(size)
        return json.loads(self._read(head, deadline, stop)), self._read(body, deadline, stop)

    def _read(self, size: int, deadline: float, stop: Callable[[], bool]) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(deadline, stop)
            piece = os.read(self.reader, min(size - len(data), 1 << 20))
            if not piece:
                raise Died("the worker ended without an answer")
            data += piece
        return data

    def _wait(self, deadline: float, stop: Callable[[], bool]) -> None:
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


class Pool:
    """A fixed number of seats, each with a worker or the promise of one."""

    def __init__(self, setup: dict[str, Any], workers: int) -> None:
        """Start the first worker, which shows that the database opens. Raises: QueryError."""
        self.setup, self.size = setup, workers
        self._starter = ThreadPoolExecutor(1, "database-starter")
        self._seats: queue.LifoQueue[Future[Worker] | None] = queue.LifoQueue()
        self._alone = threading.Lock()
        self._closed = False
        self._all: set[Worker] = set()
        weakref.finalize(self, _kill_all, self._all)  # whoever forgets to close leaves no process
        try:
            first = self._start()
            self.tables = first.result().tables
        except BaseException:
            self._starter.shutdown()
            raise
        for _ in range(workers - 1):
            self._seats.put(None)  # started when first needed
        self._seats.put(first)

    def run(self, job: Job, stop: Callable[[], bool] = lambda: False) -> Result | Failure:
        """Run a query on the next free worker. Raises: Cancelled, QueryError (closed)."""
        with self._seat() as seat:
            return self._settle(seat, job, stop)

    def run_alone(self, job: Job, stop: Callable[[], bool] = lambda: False) -> Result | Failure:
        """Run a query while no other one runs in this pool. Raises: Cancelled, QueryError."""
        with self._alone:
            held = [self._take() for _ in range(self.size)]
            try:
                seat = Seat(held[0])
                try:
                    return self._settle(seat, job, stop)
                finally:
                    held[0] = seat.worker
            finally:
                for worker in held:
                    self._seats.put(worker)

    def close(self) -> None:
        """End every worker; queries that still run become `lost`. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._starter.shutdown(wait=True)
        for worker in list(self._all):
            worker.end()  # whoever waits for it finds its pipe closed and gives the seat back
        for _ in range(self.size):
            self._seats.get()
        for worker in list(self._all):
            worker.kill()
        self._all.clear()

    def _settle(self, seat: "Seat", job: Job, stop: Callable[[], bool]) -> Result | Failure:
        """Run a query; if its worker dies, once more on a new one."""
        for last in (False, True):
            if stop():
                raise Cancelled
            try:
                worker = self._worker(seat)
            except (QueryError, Died, OSError) as error:
                return Failure("lost", f"no worker could be started: {error}")
            outcome = self._try(seat, worker, job, stop)
            if outcome is not None:
                return outcome
            if self._closed or last:
                break
        if self._closed:
            return Failure("lost", "the database was closed while the query ran")
        return _died(worker.process.returncode)

    def _try(
        self, seat: "Seat", worker: Worker, job: Job, stop: Callable[[], bool]
    ) -> Result | Failure | None:
        """One attempt; None when the worker died by itself. Raises: Cancelled."""
        started = time.monotonic()
        try:
            worker.send(_request(job))
            head, body = worker.receive(started + job.time_s + GRACE_S, stop)
            outcome = _outcome(head, body)
        except TimeoutError:
            outcome = Failure("time_out", "killed at the time limit", time.monotonic() - started)
        except MemoryError:
            outcome = Failure("memory", "killed at the memory limit", time.monotonic() - started)
        except Died:
            self._replace(seat, worker)
            return None
        except BaseException:
            self._replace(seat, worker)
            raise
        else:
            if worker.resident() > KEPT_MB << 20:
                self._replace(seat, worker)
            return outcome
        self._replace(seat, worker)
        return outcome

    @contextmanager
    def _seat(self) -> "Iterator[Seat]":
        with self._alone:  # waits while someone runs alone
            seat = Seat(self._take())
        try:
            yield seat
        finally:
            self._seats.put(seat.worker)

    def _take(self) -> Future[Worker] | None:
        if self._closed:
            raise QueryError(f"{self.setup['path']}: the database is closed")
        return self._seats.get()

    def _worker(self, seat: "Seat") -> Worker:
        if seat.worker is None:
            seat.worker = self._start()
        try:
            return seat.worker.result()
        except BaseException:
            seat.worker = None
            raise

    def _replace(self, seat: "Seat", worker: Worker) -> None:
        self._all.discard(worker)
        worker.kill()
        seat.worker = None if self._closed else self._start()

    def _start(self) -> Future[Worker]:
        def start() -> Worker:
            worker = Worker(self.setup)
            self._all.add(worker)
            return worker

        return self._starter.submit(start)


def _kill_all(workers: set[Worker]) -> None:
    for worker in list(workers):
        worker.kill()


@dataclass
class Seat:
    """Who holds it may run one query; the worker in it may change."""

    worker: Future[Worker] | None


def _died(code: int) -> Failure:
    """Two workers died of one query. SIGKILL and SIGTERM come from outside: not the query's doing."""
    if code in (-signal.SIGKILL, -signal.SIGTERM):
        return Failure("lost", "two workers were killed from outside")
    return Failure("memory", f"the engine died twice on this query (exit {code})")


def _request(job: Job) -> bytes:
    fields = {"sql": job.sql, "time_s": job.time_s, "rows": job.rows, "bytes": job.bytes}
    return json.dumps({**fields, "trusted": job.trusted}).encode()


def _outcome(head: dict[str, Any], body: bytearray) -> Result | Failure:
    if "reason" in head:
        return Failure(head["reason"], head["message"], head["elapsed_s"])
    rows = tuple(load_rows(body))
    return Result(tuple(head["columns"]), tuple(head["types"]), rows, head["elapsed_s"])


def _command() -> list[str]:
    """The worker's command line: isolated, without site-packages but the engine's own folder."""
    spec = importlib.util.find_spec("duckdb")
    folders = [str(_ROOT)]
    if spec is not None and spec.origin:
        folders.append(str(Path(spec.origin).parent.parent))
    code = f"import sys; sys.path[:0] = {folders!r}; from database.worker import main; main()"
    return [sys.executable, "-I", "-S", "-c", code]
