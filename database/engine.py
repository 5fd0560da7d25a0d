"""Running SQL on a database: one guarded SELECT at a time, in a process that may be killed.

    with open_database(Path("data/eunomia.duckdb"), workers=2) as database:
        outcome = database.run("SELECT count(*) FROM person")      # Result, or Failure as data
        outcome = await database.arun(sql)                         # ends with its task
        rows = database.read("SELECT concept_id FROM concept").rows  # our own SQL only

Which engine (DuckDB, SQLite) stands behind is read from the file's first bytes; callers never know.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType

from database.build import QueryError, damage_of
from database.copies import PLANS, make_copies
from database.fingerprint import Fingerprint, fingerprint
from database.gate import unreadable
from database.result import Failure, Result
from database.stamp import stamp
from database.workers import Job, Pool

__all__ = ["LIMITS", "Database", "Limits", "QueryError", "near_limit", "open_database"]


@dataclass(frozen=True)
class Limits:
    """What a query may use. All four belong to the frozen protocol: they can decide a score.

    time_s:     seconds on one thread before the query is stopped (S1-082: 30).
    rows:       rows of a result; exactly so many are allowed (S1-082: 10,000).
    bytes:      bytes of a result's rows, encoded.
    memory_mb:  the engine's own memory limit.

    Beneath them, not part of the protocol (they keep this machine whole, see process.py): 3 GB of
    address space, a kill at 2.5 GB resident, no file writes, no core files.
    """

    time_s: float = 30.0
    rows: int = 10_000
    bytes: int = 32 << 20
    memory_mb: int = 512


LIMITS = Limits()
READ_TIME_S = 600.0
READ_ROWS = 10_000_000
READ_BYTES = 1 << 30


def near_limit(elapsed_s: float, limits: Limits = LIMITS) -> bool:
    """Tell whether a query took between half and twice the time limit (15 to 60 s): another machine
    might have decided otherwise, so reports list it."""
    return limits.time_s / 2 <= elapsed_s <= limits.time_s * 2


class Database(AbstractContextManager["Database"]):
    """An open database and its workers. Thread-safe."""

    def __init__(
        self, path: Path, limits: Limits, workers: int, settings: Sequence[str] = ()
    ) -> None:
        self.path, self.limits = path, limits
        self.engine = engine_of(path)
        setup = {
            "engine": self.engine,
            "path": str(path.resolve()),
            "stamp": stamp(path),
            "settings": settings,
            "memory_mb": limits.memory_mb,
        }
        self._pool = Pool(setup, workers)
        self._threads = ThreadPoolExecutor(workers, "database")
        self._lock = threading.Lock()
        self._copies: dict[str, Database] = {}

    @property
    def tables(self) -> frozenset[str]:
        """The names of its tables, lower case."""
        return self._pool.tables

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Its content's hash, whole and a table (see fingerprint.py). Raises: QueryError."""
        return fingerprint(self)

    @property
    def copies(self) -> dict[str, "Database"]:
        """The same rows in other orders and with other plans, by name; opened when first asked for."""
        with self._lock:
            if not self._copies:
                paths = make_copies(self.path, self.fingerprint.sha256, self.tables)
                self._copies = {
                    order + plan: Database(path, self.limits, 1, settings)
                    for plan, settings in PLANS.items()
                    for order, path in paths.items()
                }
            return self._copies

    def run(self, sql: str, *, time_s: float | None = None) -> Result | Failure:
        """Run SQL that a model wrote: gate, limits, worker. Never raises for what the SQL does."""
        if refusal := unreadable(sql):
            return Failure("refused", str(refusal))
        return self._pool.run(self._job(sql, time_s))

    def run_again_alone(self, sql: str) -> Result | Failure:
        """Run a query that timed out once more, while nothing else runs here, for twice the limit.

        Returns its Result only if it is within the limit; else a time-out that says how long it
        took, so that the record can list it as `near_limit`.
        """
        return self._within(self._pool.run_alone(self._job(sql, self.limits.time_s * 2)))

    def _within(self, outcome: Result | Failure) -> Result | Failure:
        if isinstance(outcome, Result) and outcome.elapsed_s > self.limits.time_s:
            return Failure("time_out", "over the limit also when run alone", outcome.elapsed_s)
        return outcome

    async def arun(self, sql: str, *, time_s: float | None = None) -> Result | Failure:
        """As `run`; a cancelled task ends the query at once."""
        if refusal := unreadable(sql):
            return Failure("refused", str(refusal))
        return await self._awaited(partial(self._pool.run, self._job(sql, time_s)))

    async def arun_again_alone(self, sql: str) -> Result | Failure:
        """As `run_again_alone`; a cancelled task ends the query at once."""
        job = self._job(sql, self.limits.time_s * 2)
        return self._within(await self._awaited(partial(self._pool.run_alone, job)))

    async def _awaited(
        self, work: Callable[[Callable[[], bool]], Result | Failure]
    ) -> Result | Failure:
        stop = threading.Event()
        try:
            future = self._threads.submit(work, stop.is_set)
        except RuntimeError:
            raise QueryError(f"{self.path}: the database is closed") from None
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            stop.set()
            raise

    def read(self, sql: str) -> Result:
        """Run SQL of our own (schema, witnesses, templates). Raises: QueryError."""
        job = Job(sql, READ_TIME_S, READ_ROWS, READ_BYTES, trusted=True)
        outcome = self._pool.run(job)
        if isinstance(outcome, Failure):
            raise damage_of(self.path, f"{outcome.message}\n  in: {sql[:200]}")
        return outcome

    def close(self) -> None:
        """End the workers. A second call does nothing."""
        for copy in self._copies.values():
            copy.close()
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _job(self, sql: str, time_s: float | None) -> Job:
        limits = self.limits
        return Job(sql, limits.time_s if time_s is None else time_s, limits.rows, limits.bytes)


def open_database(path: Path, *, limits: Limits = LIMITS, workers: int = 1) -> Database:
    """Open a database read-only. Raises: QueryError when there is none, or it is no database."""
    return Database(path, limits, workers)


def engine_of(path: Path) -> str:
    """Return `duckdb` or `sqlite` by the file's first bytes. Raises: QueryError."""
    if not path.is_file():
        raise QueryError(f"{path}: no such database; `benchtoward fetch eunomia` makes the default")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise QueryError(f"{path}: {error.strerror}") from None
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    raise QueryError(f"{path}: neither a DuckDB nor a SQLite database")
