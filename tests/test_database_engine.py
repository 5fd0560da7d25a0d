"""Running SQL: limits are exact, failures are data, a cancelled query is gone, values keep their type."""

import asyncio
import contextlib
import datetime
import math
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import duckdb
import psutil
import pytest

from database import process
from database.build import build
from database.engine import LIMITS, Limits, QueryError, near_limit, open_database
from database.result import Failure, Result, results_match
from database.session import DuckSession

ROOT = Path(__file__).parent.parent
# DuckDB cannot interrupt these; the first may also meet the memory limit before the time limit.
BOMB = "SELECT repeat('x', 2000000000)"
STUCK = "SELECT list_sort(list_transform(range(100000000), lambda x: hash(x)))[1]"
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


def nested(value, levels=600):
    """A value within a value, so many times."""
    return (
        "WITH RECURSIVE t(n, v) AS (SELECT 0, 1::VARIANT UNION ALL "
        f"SELECT n + 1, {value}::VARIANT FROM t WHERE n < {levels}) "
        "SELECT v FROM t ORDER BY n DESC LIMIT 1"
    )


@pytest.fixture(scope="module")
def database(eunomia):
    with open_database(eunomia, limits=Limits(time_s=1)) as database:
        yield database


def children():
    return {child.pid for child in psutil.Process().children()}


def gone(pids, within_s=2.0):
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(psutil.pid_exists(pid) and not zombie(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_the_default_limits_are_the_protocols():
    """S1-082: 30 s, 10,000 rows."""
    assert (LIMITS.time_s, LIMITS.rows, LIMITS.memory_mb) == (30.0, 10_000, 512)


def test_exactly_the_row_limit_is_allowed_and_one_more_is_not(database):
    allowed = database.run("SELECT i FROM range(10000) t(i)")
    assert isinstance(allowed, Result)
    assert len(allowed.rows) == 10_000
    assert database.run("SELECT i FROM range(10001) t(i)").reason == "too_many_rows"


def test_a_result_over_the_byte_limit_is_too_large(eunomia):
    with open_database(eunomia, limits=Limits(bytes=1 << 20)) as database:
        assert isinstance(database.run("SELECT repeat('x', 1000000)"), Result)
        assert database.run("SELECT repeat('x', 1100000)").reason == "too_large"
        assert database.run("SELECT repeat('x', 1000) FROM range(2000)").reason == "too_large"


def test_an_empty_result_has_its_columns(database):
    found = database.run("SELECT person_id AS a, birth_datetime AS b FROM person WHERE false")
    assert (found.columns, found.types, found.rows) == (("a", "b"), ("BIGINT", "DATE"), ())


VALUES = {
    "170141183460469231731687303715884105727::HUGEINT": 2**127 - 1,
    "1.50::DECIMAL(10, 2)": Decimal("1.50"),
    "DATE '2019-07-03'": datetime.date(2019, 7, 3),
    "TIMESTAMP '2019-07-03 01:02:03.5'": datetime.datetime(2019, 7, 3, 1, 2, 3, 500000),
    "TIMESTAMPTZ '2020-02-29 23:30:00+00'": datetime.datetime(
        2020, 2, 29, 23, 30, tzinfo=datetime.UTC
    ),
    "CAST(TIMESTAMPTZ '2020-02-29 23:30:00+00' AS DATE)": datetime.date(2020, 2, 29),
    "TIME '10:00'": datetime.time(10, 0),
    "INTERVAL 3 DAY": datetime.timedelta(days=3),
    "'00000000-0000-0000-0000-000000000001'::UUID": UUID(int=1),
    "'x'::BLOB": b"x",
    "[1, NULL]": [1, None],
    "{'a': 1}": {"a": 1},
    "MAP {'k': 1.5::DOUBLE}": {"k": 1.5},
    "NULL": None,
    "1 / 0": math.inf,
    "'환자'": "환자",
    "true": True,
}


def test_values_cross_the_process_border_as_they_are(database):
    found = database.run("SELECT " + ", ".join(VALUES))
    assert list(found.rows[0]) == list(VALUES.values())
    assert [type(cell) for cell in found.rows[0]] == [type(value) for value in VALUES.values()]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("DATE '99999-01-01'", "99999-01-01"),
        ("MAP {[1]: 2}", {"key": [[1]], "value": [2]}),
        ("'-inf'::DOUBLE", -math.inf),
        ("TIME '24:00:00'", "24:00:00"),
        ("1::UHUGEINT", 1),
    ],
)
def test_a_value_that_python_has_no_like_of_comes_as_the_engine_writes_it(
    expression, value, database
):
    assert database.run(f"SELECT {expression}").rows == ((value,),)


def test_a_value_nested_a_hundred_times_comes_and_matches_itself(database):
    found = database.run(nested("[v]", 100))
    assert results_match(found, found, ordered=True)


@pytest.mark.parametrize("broken", [duckdb.FatalException, duckdb.InternalException])
def test_an_engine_that_broke_down_serves_no_other_query(eunomia, broken):
    session = DuckSession(eunomia, 512)
    assert not session.spent
    session.failed(broken("INTERNAL Error"), "SELECT 1", trusted=False)
    assert session.spent


def test_a_value_that_cannot_come_at_all_is_an_error(database):
    assert database.run("SELECT INTERVAL 10000000 YEAR").reason == "error"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param("SELECT nope FROM person", "error", id="an unknown column"),
        pytest.param("DROP TABLE person", "refused", id="a write"),
        pytest.param(ENDLESS, "time_out", id="an endless query"),
        pytest.param(STUCK, "time_out", id="one that cannot be interrupted"),
        pytest.param("WITH a AS (" * 20, "time_out", id="one that the parser cannot finish"),
        pytest.param("SELECT length(repeat('x', 4000000000))", "memory", id="a huge value"),
        pytest.param(nested("[v]"), "too_large", id="a list nested too deep"),
        pytest.param(nested("{'a': v}"), "too_large", id="a struct nested too deep"),
        pytest.param(
            "SELECT list_transform(range(1500), lambda x: []::INT[]) FROM range(400)",
            "too_large",
            id="many small lists, which weigh more here than encoded",
        ),
    ],
)
def test_whatever_goes_wrong_is_data_and_the_next_query_runs(sql, reason, database):
    failed = database.run(sql)
    assert isinstance(failed, Failure)
    assert failed.reason == reason
    assert database.run("SELECT 1").rows == ((1,),)


def test_a_query_that_cannot_be_interrupted_is_dead_a_second_after_its_limit(database):
    database.run("SELECT 1")
    started = time.monotonic()
    assert database.run(STUCK).reason == "time_out"
    assert time.monotonic() - started < 2.0
    assert database.run("SELECT 1").elapsed_s < 0.5


def test_a_worker_that_grows_too_large_is_killed_before_its_time(eunomia, monkeypatch):
    monkeypatch.setattr(process, "RESIDENT_BYTES", 300 << 20)
    with open_database(eunomia) as database:
        outcome = database.run(STUCK)
        assert (outcome.reason, outcome.message) == ("memory", "killed at the memory limit")
        assert outcome.elapsed_s < 20
        assert database.run("SELECT 1").rows == ((1,),)


def test_a_limit_of_its_own_holds_for_one_query(database):
    started = time.monotonic()
    assert database.run(ENDLESS, time_s=0.2).reason == "time_out"
    assert time.monotonic() - started < 0.9


def test_a_killed_worker_is_replaced_and_the_query_runs_again(database):
    """A worker that something else killed is not the query's doing: it runs once more."""
    first = next(iter(database._pool._living))
    os.kill(first.process.pid, signal.SIGKILL)
    assert database.run("SELECT 1").rows == ((1,),)


def test_a_query_whose_workers_are_killed_from_outside_is_lost_and_no_score(database):
    """A failure of our worker that the query did not cause: lost, twice in a row."""
    done = threading.Event()

    def killer():
        while not done.wait(0.05):
            for worker in list(database._pool._living):
                worker.process.send_signal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(killer)
        outcome = database.run(ENDLESS, time_s=20)
        done.set()
        running.result()
    assert outcome.reason == "lost"


def test_a_query_sees_nothing_that_another_one_left(database):
    """Even our own SQL, which passes no gate, leaves nothing in the connection."""
    database.read("CREATE TEMP TABLE person AS SELECT 1 AS person_id")
    database.read("CREATE TEMP VIEW concept AS SELECT 1 AS a")
    assert database.run("SELECT count(*) FROM person").rows == ((2694,),)
    assert database.run("SELECT count(*) FROM concept").rows == ((442,),)


def test_nothing_that_a_query_left_changes_what_the_gate_admits(database):
    """The tables it knows and its parser's connection are those of the worker's start."""
    database.read("CREATE TEMP TABLE secret AS SELECT 1 AS a")
    database.read("PREPARE tree AS SELECT '{}' || $1")
    database.read("CREATE TEMP MACRO json_serialize_sql(x) AS 'nothing'")
    for sql in ("SELECT * FROM secret", "SELECT now()", "SELECT * FROM temp.secret"):
        assert database.run(sql).reason == "refused"
    assert database.run("SELECT count(*) FROM person").rows == ((2694,),)


def test_many_threads_share_the_workers(eunomia):
    with open_database(eunomia, workers=2) as database, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: database.run(f"SELECT {n}").rows[0][0], range(200)))
        assert found == list(range(200))
        assert len(children()) >= 2


def test_a_cancelled_task_ends_the_query_within_a_second(eunomia):
    with open_database(eunomia) as database:
        busy = {worker.process.pid for worker in database._pool._living}

        async def cancelled():
            task = asyncio.create_task(database.arun(BOMB))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        assert gone(busy, within_s=1.0)
        assert database.run("SELECT 1").rows == ((1,),)


def test_a_task_that_waits_for_a_worker_can_be_cancelled_too(eunomia):
    with open_database(eunomia) as database:

        async def crowd():
            tasks = [asyncio.create_task(database.arun(ENDLESS)) for _ in range(5)]
            await asyncio.sleep(0.2)
            for task in tasks:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        ended = asyncio.run(crowd())
        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        started = time.monotonic()
        assert database.run("SELECT 1").rows == ((1,),)
        assert time.monotonic() - started < 1.5


def script(body, path):
    """A Python process of its own that runs a bomb; prints its workers' ids first."""
    code = f"""
        import asyncio, signal, sys, threading
        from pathlib import Path
        from database.engine import open_database
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        database = open_database(Path({str(path)!r}))
        pids = [worker.process.pid for worker in database._pool._living]
        print(*pids, flush=True)
        {body}
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    return parent, [int(pid) for pid in parent.stdout.readline().split()]


@pytest.mark.parametrize(
    ("body", "kill"),
    [
        pytest.param(f"database.run({BOMB!r})", signal.SIGKILL, id="killed"),
        pytest.param(f"database.run({BOMB!r})", signal.SIGINT, id="Ctrl-C"),
        pytest.param(f"database.run({BOMB!r})", signal.SIGTERM, id="terminated"),
        pytest.param(
            f"asyncio.run(database.arun({BOMB!r}))", signal.SIGINT, id="Ctrl-C in asyncio"
        ),
    ],
)
def test_when_we_end_our_workers_end_within_a_second(body, kill, eunomia):
    parent, workers = script(body, eunomia)
    with parent:
        time.sleep(0.4)
        parent.send_signal(kill)
        assert gone(workers, within_s=1.0)
        parent.wait(5)


def test_an_ended_thread_does_not_take_the_workers_with_it(eunomia):
    """PDEATHSIG means the thread that started a worker, not the process."""
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_database(eunomia)))
    thread.start()
    thread.join()
    with opened[0] as database:
        time.sleep(0.2)
        pids = {worker.process.pid for worker in database._pool._living}
        assert database.run("SELECT 1").rows == ((1,),)
        assert pids == {worker.process.pid for worker in database._pool._living}


def test_closing_leaves_no_process_and_ends_what_runs(eunomia):
    before = children()
    database = open_database(eunomia, workers=2)
    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(database.run, ENDLESS) for _ in range(2)]
        time.sleep(0.5)
        database.close()
        assert [future.result().reason for future in running] == ["lost", "lost"]
    database.close()
    assert children() == before
    with pytest.raises(QueryError, match="closed"):
        database.run("SELECT 1")


def test_a_query_run_again_alone_waits_for_the_others_and_keeps_its_time(eunomia):
    with (
        open_database(eunomia, limits=Limits(time_s=0.5), workers=2) as database,
        ThreadPoolExecutor(2) as threads,
    ):
        other = threads.submit(database.run, ENDLESS)
        time.sleep(0.1)
        alone = database.run_again_alone(ENDLESS)
        assert other.done()
        assert alone.reason == "time_out"
        assert alone.elapsed_s >= 1.0  # twice the limit
        assert isinstance(database.run_again_alone("SELECT 1"), Result)


@pytest.mark.parametrize(
    ("elapsed_s", "near"), [(14.9, False), (15, True), (30, True), (60, True), (60.1, False)]
)
def test_what_took_15_to_60_seconds_is_near_the_limit(elapsed_s, near):
    assert near_limit(elapsed_s) is near


def test_the_worker_has_no_environment_and_cannot_write(eunomia, database):
    """Asked with SQL of our own: the gate would refuse it long before."""
    for sql in (
        "SELECT content FROM read_text('/proc/self/environ')",
        "COPY (SELECT 1) TO 'x.csv'",
        "SET enable_external_access = true",
        "ATTACH 'x.db' AS x",
    ):
        with pytest.raises(QueryError):
            database.read(sql)
    worker = psutil.Process(next(iter(database._pool._living)).process.pid)
    with contextlib.suppress(psutil.AccessDenied):  # only root may look
        assert worker.environ() == {}
        assert Path(f"/proc/{worker.pid}/environ").read_bytes().strip(b"\0") == b""
    assert worker.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    assert worker.rlimit(psutil.RLIMIT_CORE) == (0, 0)
    assert worker.rlimit(psutil.RLIMIT_AS) == (3 << 30, 3 << 30)


@pytest.mark.parametrize("kept", [100, 1_000_000])
def test_a_database_that_is_cut_short_is_told_in_one_sentence(eunomia, tmp_path, kept):
    path = tmp_path / "short.duckdb"
    path.write_bytes(eunomia.read_bytes()[:kept])
    with pytest.raises(QueryError) as told, open_database(path) as database:
        assert database.fingerprint
    assert str(told.value) == (
        f"{path}: the file is damaged or cut short; delete it and `fetch` it again"
    )


def test_a_database_that_is_none_is_told_in_one_sentence(tmp_path):
    with pytest.raises(QueryError, match="no such database; `benchtoward fetch eunomia`"):
        open_database(tmp_path / "nothing.duckdb")
    (tmp_path / "text.duckdb").write_text("no database at all")
    with pytest.raises(QueryError, match="neither a DuckDB nor a SQLite database"):
        open_database(tmp_path / "text.duckdb")
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    with pytest.raises(QueryError, match=r"broken\.duckdb"):
        open_database(broken)


def test_a_worker_that_takes_anothers_place_opens_the_same_file_or_none(eunomia, tmp_path):
    path = Path(shutil.copy(eunomia, tmp_path / "eunomia.duckdb"))
    with open_database(path) as database:
        build(path, ["CREATE TABLE person AS SELECT 1 AS person_id"])
        assert database.run("SELECT count(*) FROM person").rows == ((2694,),)
        next(iter(database._pool._living)).process.kill()
        lost = database.run("SELECT count(*) FROM person")
        assert lost.reason == "lost"
        assert "replaced or changed while it was open" in lost.message


def test_our_own_sql_may_fail_with_its_text(database):
    with pytest.raises(QueryError, match="in: SELECT nope"):
        database.read("SELECT nope")
