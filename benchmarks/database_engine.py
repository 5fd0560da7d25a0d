"""What running SQL behind the gate and in workers costs, and how soon a bomb is dead.

    .venv/bin/python -m benchmarks.database_engine            # all figures, about two minutes
    .venv/bin/python -m benchmarks.database_engine bombs      # small result content mixed copies attacks

Ratios are taken in one run on the same machine. Bounds (issue "SQL that a model wrote …"): a small query
at most 1.5 ms over a bare cursor; 1,000 mixed queries on two workers at most 1.3 times bare DuckDB with two
callers; a bomb dead 1 s after its limit and the seat ready 0.5 s later; 100 references on the copies
under 5 s; every attack as expected with no worker above 2.6 GB.
"""

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psutil
import yaml

from database.copies import order_dependence
from database.engine import Database, Limits, open_database
from database.eunomia import fetch
from database.result import Result

ROUNDS = 3
CASES = Path(__file__).parent.parent / "tests" / "cases"
BOMBS = {
    "repeat": "SELECT repeat('x', 2000000000)",
    "lpad": "SELECT length(lpad('x', 2000000000, 'y'))",
    "list sort": "SELECT list_sort(list_transform(range(200000000), lambda x: hash(x)))[1]",
    "printf width": "SELECT length(printf('%2000000000d', 1))",
    "map": "SELECT cardinality(map(range(50000000), range(50000000)))",
    "parser": "WITH a AS (" * 20,
    "25 doubling CTEs": "WITH c0 AS (SELECT 1 AS x), "
    + ", ".join(
        f"c{n} AS NOT MATERIALIZED (SELECT a.x FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 26)
    )
    + " SELECT count(*) FROM c25",
}


def references() -> list[str]:
    """The handed correct references, and the legitimate statements that run."""
    questions = yaml.safe_load((CASES / "eunomia_questions.yaml").read_text())["questions"]
    return [q["reference_sql"] for q in questions if q.get("reference_sql")]


def mixed(count: int) -> list[str]:
    """So many different queries: the references with a constant of their own in a comment."""
    base = references()
    return [f"{base[n % len(base)]}\n-- {n}" for n in range(count)]


def small(path: Path) -> None:
    """A small query, through a kept worker and through a bare cursor in this process."""
    sql = "SELECT count(*) FROM person WHERE year_of_birth > 1980"
    with duckdb.connect(str(path), read_only=True) as connection, open_database(path) as database:
        connection.execute("SET threads = 1")
        cursor = connection.cursor()
        pairs = [
            (timed(lambda: cursor.execute(sql).fetchall()), timed(lambda: database.run(sql)))
            for _ in range(500)
        ]
    bare, worker = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"small query: bare {bare:.2f} ms, worker {worker:.2f} ms, {worker - bare:+.2f} (<= 1.5)")


def result(path: Path) -> None:
    """10,000 rows of 16 columns, fetched here and brought over the process border."""
    sql = "SELECT * EXCLUDE (stop_reason, provider_id) FROM condition_occurrence LIMIT 10000"
    sql = f"SELECT *, 1.5 AS a, 'x' AS b FROM ({sql})"
    with duckdb.connect(str(path), read_only=True) as connection, open_database(path) as database:
        connection.execute("SET threads = 1")
        pairs = [
            (timed(lambda: connection.execute(sql).fetchall()), timed(lambda: database.run(sql)))
            for _ in range(20)
        ]
    bare, worker = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"10,000 x 16: bare {bare:.0f} ms, worker {worker:.0f} ms")


def content(path: Path) -> None:
    """The fingerprint of Eunomia, computed and kept; and what opening costs."""
    kept = path.with_name(f".{path.name}.fingerprint.json")
    kept.unlink(missing_ok=True)
    with open_database(path) as database:
        computed = timed(lambda: database.fingerprint)
    opened = timed(lambda: open_database(path).close())
    with open_database(path) as database:
        again = timed(lambda: database.fingerprint)
    print(
        f"fingerprint: {computed / 1000:.2f} s, kept {again:.1f} ms; open and close {opened:.0f} ms"
    )


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def mixed_queries(path: Path) -> None:
    """1,000 mixed reference queries on two workers, against bare DuckDB on two threads.

    Bare DuckDB is two callers on two connections, each on one thread as a worker is: the strict
    reading. One connection with threads = 2 takes longer and is printed beside it. The rounds
    alternate; the medians of wall and of CPU seconds count. Every text differs, so nothing that is
    kept of one query can serve another.
    """
    queries = mixed(1_000)
    local = threading.local()
    with (
        duckdb.connect(str(path), read_only=True) as connection,
        open_database(path, workers=2) as database,
    ):

        def bare(sql: str) -> object:
            if not hasattr(local, "cursor"):
                local.cursor = connection.cursor()
            return local.cursor.execute(sql).fetchall()

        for _ in range(2):
            spread(database.run, queries[:20])
        rounds = []
        for _ in range(ROUNDS):
            connection.execute("SET threads = 1")
            two_callers = used(lambda: spread(bare, queries))
            workers = used(lambda: spread(database.run, queries))
            connection.execute("SET threads = 2")
            one_caller = used(lambda: [connection.execute(sql).fetchall() for sql in queries])
            rounds.append((*two_callers, *workers, *one_caller))
    wall, cpu, our_wall, our_cpu, one_wall, _ = map(statistics.median, zip(*rounds, strict=True))
    print(
        f"1,000 mixed queries, medians of {ROUNDS}: bare, two callers {wall:.2f} s ({cpu:.2f} CPU); "
        f"two workers {our_wall:.2f} s ({our_cpu:.2f} CPU), ratio {our_wall / wall:.2f} (<= 1.3), of "
        f"CPU {our_cpu / cpu:.2f}; bare, one caller with threads = 2 {one_wall:.2f} s"
    )


def used(work: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process and its children."""
    before, started = cpu_seconds(), time.perf_counter()
    work()
    return time.perf_counter() - started, cpu_seconds() - before


def cpu_seconds() -> float:
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children())]
    return sum(one.user + one.system for one in times)


def spread(work: Callable[[str], object], queries: list[str]) -> None:
    """Run the queries from two threads."""
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, queries))


def bombs(path: Path) -> None:
    """Work that the engine cannot interrupt: dead how long after its limit, and the next query."""
    late, again = [], []
    with open_database(path, limits=Limits(time_s=2)) as database:
        for name, sql in BOMBS.items():
            started = time.perf_counter()
            outcome = database.run(sql)
            over = time.perf_counter() - started - 2
            ready = time.perf_counter()
            assert isinstance(database.run("SELECT 1"), Result)
            again.append(time.perf_counter() - ready)
            late.append(over)
            reason = getattr(outcome, "reason", "a result")
            print(
                f"  {name}: {reason}, {over:+.2f} s after the limit, next {again[-1]:.2f} s later"
            )
    print(f"bombs: at most {max(late):.2f} s late (<= 1), next within {max(again):.2f} s (<= 0.5)")


def copies(path: Path) -> None:
    """The determinism check of 100 references, once the copies are there."""
    queries = mixed(100)
    with open_database(path) as database:
        started = time.perf_counter()
        database.copies  # noqa: B018 (made on the first look)
        made = time.perf_counter() - started
        started = time.perf_counter()
        found = [told for sql in queries if (told := order_dependence(database, sql))]
        taken = time.perf_counter() - started
    print(f"copies: made in {made:.2f} s; 100 references {taken:.2f} s (< 5), {len(found)} alarms")


def attacks(path: Path) -> None:
    """Every handed case at 2 s, with the largest worker seen."""
    cases = yaml.safe_load((CASES / "attacks.yaml").read_text())
    wrong = []
    with open_database(path, limits=Limits(time_s=2), workers=2) as database, peak() as largest:
        for case in cases:
            sql = case.get("sql") or "".join(text * times for text, times in case["sql_parts"])
            if not as_expected(database, sql.replace("{db}", str(path)), case):
                wrong.append(case["name"])
    print(
        f"attacks: {len(cases) - len(wrong)} of {len(cases)} as expected {wrong or ''}; "
        f"largest worker {largest[0] / (1 << 30):.2f} GB (< 2.6)"
    )


def as_expected(database: Database, sql: str, case: dict[str, object]) -> bool:
    outcome = database.run(sql)
    word = (
        "ok"
        if isinstance(outcome, Result)
        else {"refused": "rejected", "error": "rejected"}.get(outcome.reason, "timeout")
    )
    expected = "ok" if case["expected"] == "unstable" else case["expected"]
    return word == expected or word in case.get("also_accepted", [])  # type: ignore[operator]


@contextmanager
def peak() -> Iterator[list[int]]:
    """Watch the largest resident memory of any child process, in bytes."""
    largest, done = [0], threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not done.wait(0.01):
            for child in me.children():
                with_suppressed(lambda child=child: largest.append(child.memory_info().rss))
            largest[:] = [max(largest)]

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield largest
    finally:
        done.set()
        thread.join()


def with_suppressed(work: Callable[[], object]) -> None:
    try:
        work()
    except psutil.Error:
        return


PARTS = {
    "small": small,
    "result": result,
    "content": content,
    "mixed": mixed_queries,
    "bombs": bombs,
    "copies": copies,
    "attacks": attacks,
}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eunomia.duckdb"
        fetch(path)
        for name in chosen:
            PARTS[name](path)


if __name__ == "__main__":
    main()
