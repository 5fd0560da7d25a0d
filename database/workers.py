"""A pool of processes that run SQL and may be killed: native limit first, kill second.

    pool = Pool({"engine": "duckdb", "path": "data/eunomia.duckdb", "memory_mb": 512}, workers=2)
    outcome = pool.run(Job("SELECT 1", time_s=30, rows=10_000, bytes=32 << 20))   # Result or Failure

The thread that waits for an answer watches the worker: over its time (plus GRACE_S) or its memory it
is killed. A query that runs for SPARE_S gets its worker's successor started, so that the seat is
ready as soon as the old one is dead. When a worker dies by itself the query runs once more on a new
one: dying twice is the query's doing, dying once was ours.

All workers are started by one thread that lives as long as the pool: on Linux a process that asked to
die with its parent dies with the *thread* that started it.
"""

import contextlib
import json
import signal
import threading
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from database.build import QueryError
from database.frames import load_rows
from database.process import Died, Stop, Worker, never
from database.result import Failure, Result
from database.seats import Seat, Seats

GRACE_S = 0.3  # after the native limit, before the kill
SPARE_S = 0.5
KEPT_BYTES = 1_200 << 20  # a worker larger than this after its query is replaced


@dataclass(frozen=True)
class Job:
    """A query on its way to a worker. Trusted SQL is our own and passes no gate."""

    sql: str
    time_s: float
    rows: int
    bytes: int
    trusted: bool = False


class Pool:
    """A fixed number of seats, the workers in them, and the thread that starts workers."""

    def __init__(self, setup: dict[str, Any], workers: int) -> None:
        """Start the first worker, which shows that the database opens. Raises: QueryError."""
        self.setup = setup
        self.seats = Seats(workers)
        self._starter = ThreadPoolExecutor(1, "database-starter")
        self._burier = ThreadPoolExecutor(1, "database-burier")  # starting waits for no burial
        self._lock = threading.Lock()
        self._spare: Future[Worker] | None = None
        self._living: set[Worker] = set()
        weakref.finalize(self, _kill_all, self._living)  # who forgets to close leaves no process
        try:
            first = self._launch()
            self.tables = first.result().tables
        except BaseException as error:
            self._starter.shutdown()
            if isinstance(error, Died | TimeoutError):
                raise QueryError(f"{setup['path']}: no worker could be started: {error}") from None
            raise
        self.seats.free[-1].worker = first

    def run(self, job: Job, stop: Stop = never) -> Result | Failure:
        """Run a query on the next free worker. Raises: Cancelled, QueryError (closed)."""
        with self.seats.one(stop) as seat:
            return self._settle(seat, job, stop)

    def run_alone(self, job: Job, stop: Stop = never) -> Result | Failure:
        """Run a query while no other one runs in this pool. Raises: Cancelled, QueryError."""
        with self.seats.all(stop) as seat:
            return self._settle(seat, job, stop)

    def close(self) -> None:
        """End every worker; queries that still run become `lost`. A second call does nothing."""
        with self._lock:
            if self.seats.closed:
                return
            self.seats.closed = True
        self._starter.shutdown(wait=True)
        for worker in list(self._living):
            worker.end()  # who waits for it finds its pipe closed and gives the seat back
        self.seats.close()
        self._burier.shutdown(wait=True)
        _kill_all(self._living)

    def _settle(self, seat: Seat, job: Job, stop: Stop) -> Result | Failure:
        """Run a query; if its worker dies, once more on a new one."""
        code = 0
        for _ in range(2):
            try:
                worker = self._worker(seat)
            except (QueryError, Died, OSError) as error:
                return Failure("lost", f"no worker could be started: {error}")
            try:
                return self._try(seat, worker, job, stop)
            except Died:
                code = worker.exit_code()
                self._replace(seat, worker)
            if self.seats.closed:
                return Failure("lost", "the database was closed while the query ran")
        return _died(code)

    def _try(self, seat: Seat, worker: Worker, job: Job, stop: Stop) -> Result | Failure:
        """One attempt. Raises: Died, Cancelled."""
        started = time.monotonic()

        def watch() -> bool:
            if time.monotonic() - started > SPARE_S:
                self._prepare()
            return stop()

        try:
            worker.send(_request(job))
            head, body = worker.receive(started + job.time_s + GRACE_S, watch)
            outcome, spent = _outcome(head, body), head["spent"]
        except Died:
            raise
        except TimeoutError:
            self._replace(seat, worker)
            return Failure("time_out", "killed at the time limit", time.monotonic() - started)
        except MemoryError:
            self._replace(seat, worker)
            return Failure("memory", "killed at the memory limit", time.monotonic() - started)
        except BaseException:  # cancelled, Ctrl-C: whatever it is, this worker is in mid-query
            self._replace(seat, worker)
            raise
        out_of_memory = isinstance(outcome, Failure) and outcome.reason == "memory"
        if spent or out_of_memory or worker.resident() > KEPT_BYTES:
            self._replace(seat, worker)  # the next query finds all that this one did
        return outcome

    def _worker(self, seat: Seat) -> Worker:
        """The worker of a seat. Raises: QueryError, Died, OSError (it could not be started)."""
        if seat.worker is None:
            seat.worker = self._next()
        try:
            return seat.worker.result()
        except BaseException:
            seat.worker = None
            raise

    def _replace(self, seat: Seat, worker: Worker) -> None:
        worker.process.kill()
        seat.worker = None if self.seats.closed else self._next()
        with contextlib.suppress(RuntimeError):  # closed meanwhile: `close` buries it
            self._burier.submit(self._bury, worker)

    def _bury(self, worker: Worker) -> None:
        """Wait for a killed process: gigabytes take a moment to free, and nobody waits for that."""
        worker.kill()
        self._living.discard(worker)

    def _prepare(self) -> None:
        """Start a spare worker unless there is one."""
        with self._lock:
            if self._spare is None and not self.seats.closed:
                self._spare = self._launch()

    def _next(self) -> "Future[Worker]":
        with self._lock:
            spare, self._spare = self._spare, None
        return spare or self._launch()

    def _launch(self) -> "Future[Worker]":
        try:
            return self._starter.submit(self._start)
        except RuntimeError:  # closed meanwhile
            failed: Future[Worker] = Future()
            failed.set_exception(Died("the database was closed"))
            return failed

    def _start(self) -> Worker:
        worker = Worker(self.setup)
        self._living.add(worker)
        return worker


def _kill_all(workers: set[Worker]) -> None:
    for worker in list(workers):
        worker.kill()
    workers.clear()


def _died(code: int) -> Failure:
    """Two workers died of one query: by a signal of the engine's own (SIGABRT, SIGSEGV) its doing.

    SIGKILL and SIGTERM come from outside, and an exit code from our own code: not the query's doing.
    """
    if code in (-signal.SIGKILL, -signal.SIGTERM):
        return Failure("lost", "two workers were killed from outside")
    if code >= 0:
        return Failure("lost", f"our worker failed on this query (exit {code})")
    return Failure("memory", f"the engine died twice on this query (exit {code})")


def _request(job: Job) -> bytes:
    fields = {"sql": job.sql, "time_s": job.time_s, "rows": job.rows, "bytes": job.bytes}
    return json.dumps({**fields, "trusted": job.trusted}).encode()


def _outcome(head: dict[str, Any], body: bytearray) -> Result | Failure:
    if "reason" in head:
        return Failure(head["reason"], head["message"], head["elapsed_s"])
    rows = tuple(load_rows(body))
    return Result(tuple(head["columns"]), tuple(head["types"]), rows, head["elapsed_s"])
