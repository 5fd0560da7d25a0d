"""What the ledger costs: CPU a call, a look-up among a million rows, opening such a file.

    python -m benchmarks.models_ledger [--rows 1000000]

Aims: at most 0.15 ms of CPU a call (look-up, claim, attempt, answer); a look-up under 1 ms; opening
under 0.2 s.
"""

import argparse
import asyncio
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from models.call import Answer, Message, Request
from models.ledger import Ledger
from registry.canonical import sha256_text

SCHEMA = (
    "CREATE TABLE person (person_id BIGINT, year_of_birth INTEGER);\n" * 300
)  # as long as a real one


def main() -> None:
    """Measure and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{1000 * per_call_s(Path(folder), options.calls):.3f} ms of CPU a call")
        path = filled(Path(folder) / "large.sqlite", options.rows)
        print(f"{path.stat().st_size / 1e6:.0f} MB with {options.rows:,} answered calls")
        opened_s = measured_s(lambda: Ledger(path).close())
        print(f"{opened_s:.3f} s to open it (with its close)")
        ledger = Ledger(path)
        draws = random.Random(0).choices(range(options.rows), k=1_000)
        hits = [measured_s(lambda n=n: ledger.find(sha256_text(str(n)))) for n in draws]
        misses = [measured_s(lambda n=n: ledger.find(sha256_text(f"no {n}"))) for n in draws]
        for name, times in (("found", hits), ("missed", misses)):
            worst = sorted(times)[int(0.99 * len(times))]
            print(
                f"{1000 * statistics.median(times):.3f} ms a look-up that {name} (99%: {1000 * worst:.3f} ms)"
            )
        print(f"{1000 * per_call_s(Path(folder), options.calls, path):.3f} ms of CPU a call on it")
        ledger.close()


def measured_s(work) -> float:
    """Seconds that a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def per_call_s(folder: Path, calls: int, path: Path | None = None) -> float:
    """CPU seconds a call, 64 at once, above the same loop without a ledger."""
    requests = [
        Request(
            "a/b",
            (Message("system", SCHEMA), Message("user", f"What is {n}?")),
            64,
            route=str(path),
        )
        for n in range(calls)
    ]
    assert all(request.key for request in requests)  # made once, with a ledger or without
    idle = cpu_s(lambda: asyncio.run(asked(None, iter(requests))))
    ledger = Ledger(path or folder / "small.sqlite")
    used = cpu_s(lambda: asyncio.run(asked(ledger, iter(requests))))
    ledger.close()
    return (used - idle) / calls


async def asked(ledger: Ledger | None, requests: Iterator[Request]) -> None:
    """Do with each request what the gateway does."""

    async def work() -> None:
        for request in requests:
            key = request.key
            if ledger:
                assert ledger.find(key) is None
                claim = await ledger.claim(request)
            await asyncio.sleep(0.02)
            if ledger:
                answer = Answer("SELECT 1", input_tokens=9, output_tokens=3, key=key)
                await ledger.keep(claim, answer)

    await asyncio.gather(*(work() for _ in range(64)))


def cpu_s(work) -> float:
    """CPU seconds of this process for a piece of work."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def filled(path: Path, rows: int) -> Path:
    """Make a ledger with this many answered calls."""
    Ledger(path).close()
    with sqlite3.connect(path) as db:
        keys = ((n + 1, sha256_text(str(n))) for n in range(rows))
        db.executemany(
            "INSERT INTO calls VALUES (?, ?, 'a/b', 'r', 'exam', 'bench', 0, 1.0, '{\"messages\":[]}')",
            keys,
        )
        db.executemany(
            "INSERT INTO answers (call, answered_at, route, text, reasoning, stop, native_stop, refusal, "
            "latency_s) VALUES (?, 1.0, 'r', 'SELECT 1', '', 'stop', 'stop', '', 1.0)",
            ((n + 1,) for n in range(rows)),
        )
        db.executemany(
            "INSERT INTO attempts (call, number, process, started_at, outcome) "
            "VALUES (?, 1, 'p', 1.0, 'answer')",
            ((n + 1,) for n in range(rows)),
        )
    db.close()
    return path


if __name__ == "__main__":
    main()
