"""The ledger: found again, claimed once, durable, brought up to date."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from models import ledger_file
from models.call import Answer, Message, Request
from models.ledger import Claim, Ledger
from models.ledger_file import LedgerError
from tests.models_setup import registry
from tests.server import Server, in_background

ROOT = Path(__file__).parent.parent
LONG = "CREATE TABLE person (person_id BIGINT);\n" * 100
REQUEST = Request(
    "a/b", (Message("system", LONG), Message("user", "환자는?")), 64, route="r", role="exam"
)
ANSWER = Answer(
    text="SELECT 1",
    reasoning="hm",
    input_tokens=7,
    cost_usd=0.5,
    token_entropies=(0.5, 0.25),
    route="r",
    key=REQUEST.key,
)


@pytest.fixture
def ledger(tmp_path):
    opened = Ledger(tmp_path / "ledger.sqlite", command="exam")
    yield opened
    opened.close()


def kept(ledger, request=REQUEST, answer=ANSWER):
    async def all_of_it():
        claim = await ledger.claim(request)
        await ledger.keep(claim, answer)

    asyncio.run(all_of_it())


def test_what_is_kept_is_found_by_key_whole(ledger):
    kept(ledger)
    assert ledger.find(REQUEST.key) == ANSWER
    assert ledger.request(REQUEST.key) == REQUEST
    assert ledger.request(REQUEST.key).role == "exam"


def test_a_shared_beginning_of_prompts_is_written_once(ledger, tmp_path):
    for draw in range(3):
        request = Request("a/b", REQUEST.messages, 64, route="r", draw=draw)
        kept(ledger, request, Answer("x", key=request.key))
    with sqlite3.connect(tmp_path / "ledger.sqlite") as file:
        assert file.execute("SELECT count(*) FROM texts").fetchone() == (1,)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "a/c"},
        {"route": "other"},
        {"revision": "2"},
        {"messages": (Message("user", "y"),)},
        {"max_tokens": 65},
        {"temperature": 0.1},
        {"schema": '{"type":"object"}'},
        {"logprobs": 5},
        {"extras": '{"top_k":1}'},
        {"draw": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_part_that_decides_an_answer_is_in_the_key(change):
    """Agreements 1; S4-010."""
    from dataclasses import replace

    assert replace(REQUEST, **change).key != REQUEST.key


def test_the_role_is_for_the_sums_only():
    from dataclasses import replace

    assert replace(REQUEST, role="other").key == REQUEST.key


def test_another_process_waits_for_a_claim_and_not_after_its_release(tmp_path, ledger):
    async def all_of_it():
        other = Ledger(tmp_path / "ledger.sqlite")
        try:
            claim = await ledger.claim(REQUEST)
            assert await other.claim(REQUEST) is None
            await ledger.failed(claim, "server", 500, "no", None)
            assert isinstance(await other.claim(REQUEST), Claim)
        finally:
            other.close()

    asyncio.run(all_of_it())


@pytest.mark.parametrize(
    "dead",
    [
        pytest.param("UPDATE claims SET until = 0", id="its lease ran out"),
        pytest.param(
            "UPDATE claims SET process = replace(process, ':{pid}:', ':4194300:')",
            id="its process is gone",
        ),
    ],
)
def test_a_dead_claim_is_taken_over(tmp_path, ledger, dead):
    async def all_of_it():
        await ledger.claim(REQUEST)
        with sqlite3.connect(tmp_path / "ledger.sqlite") as file:
            file.execute(dead.format(pid=os.getpid()))
        other = Ledger(tmp_path / "ledger.sqlite")
        try:
            assert isinstance(await other.claim(REQUEST), Claim)
        finally:
            other.close()

    asyncio.run(all_of_it())


def test_an_answer_is_on_disk_before_keep_returns(tmp_path, ledger):
    kept(ledger)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as file:
        assert file.execute("SELECT text FROM answers").fetchone() == ("SELECT 1",)


def test_a_full_disk_is_a_clear_sentence_and_spoils_nothing(tmp_path, ledger):
    kept(ledger)
    pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
    ledger._connection.execute(f"PRAGMA max_page_count={pages}")
    large = Request("a/b", (Message("user", "x" * 200_000),), 64)
    with pytest.raises(LedgerError, match="is the disk full"):
        asyncio.run(ledger.claim(large))
    assert ledger.find(REQUEST.key) == ANSWER


def test_a_change_that_breaks_fails_alone_and_the_others_of_its_group_are_kept(ledger):
    async def all_of_it():
        claims = await asyncio.gather(*(ledger.claim(draw(n)) for n in range(3)))
        answers = [Answer("x", key=draw(n).key) for n in (0, 1)]
        broken = Answer("half a character: \ud83d", key=draw(2).key)
        return await asyncio.gather(
            *(
                ledger.keep(c, a)
                for c, a in zip(claims, [answers[0], broken, answers[1]], strict=True)
            ),
            return_exceptions=True,
        )

    assert [type(done).__name__ for done in asyncio.run(all_of_it())] == [
        "NoneType",
        "UnicodeEncodeError",
        "NoneType",
    ]


def draw(number):
    return Request("a/b", (Message("user", "x"),), 9, draw=number)


def test_what_is_no_ledger_is_refused(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_text("this is a text file, and longer than a header would be " * 20)
    with pytest.raises(LedgerError, match="is it a ledger"):
        Ledger(path)


def test_a_ledger_of_a_newer_program_is_refused(tmp_path, ledger):
    with sqlite3.connect(tmp_path / "ledger.sqlite") as file:
        file.execute("PRAGMA user_version=99")
    with pytest.raises(LedgerError, match=r"version 99.*newer benchtoward"):
        Ledger(tmp_path / "ledger.sqlite")


def test_a_ledger_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "ledger.sqlite"
    _first_version(path)
    ledger = Ledger(path)
    try:
        assert ledger.find(REQUEST.key) == ANSWER
        assert ledger.request(REQUEST.key) == REQUEST
    finally:
        ledger.close()


def _first_version(path):
    """A ledger as the first version of the program wrote it."""
    from registry.canonical import canonical, sha256_text

    decides = REQUEST.decides
    with sqlite3.connect(path, isolation_level=None) as file:
        ledger_file.MIGRATIONS[0](file)
        file.execute("PRAGMA user_version=1")
        for message in decides["messages"]:
            body = message["content"]
            message["content"] = sha256_text(body)
            file.execute("INSERT INTO texts VALUES (?, ?)", (sha256_text(body), body))
        file.execute(
            "INSERT INTO calls VALUES (?, 'a/b', 'r', 'exam', 'exam', 0, 1.0, ?)",
            (REQUEST.key, canonical(decides)),
        )
        values = ("r", "SELECT 1", "hm", "stop", "", "", 7, None, None, None, 0.5, None, 0.0)
        file.execute(
            f"INSERT INTO answers VALUES ({', '.join('?' * 16)})",
            (REQUEST.key, 1.0, *values, "[0.5, 0.25]"),
        )
        file.execute(
            "INSERT INTO attempts VALUES (1, ?, 1, 'p', 1.0, 2.0, 'answer', NULL, NULL, '')",
            (REQUEST.key,),
        )
    file.close()


@pytest.fixture(scope="module")
def client():
    """The process that forks runs which may be killed: litellm is imported once."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.models_client"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def started(client, **job) -> int:
    client.stdin.write(json.dumps(job) + "\n")
    client.stdin.flush()
    return int(client.stdout.readline())


def ended(pid, within_s=60.0):
    deadline = time.monotonic() + within_s
    while psutil.pid_exists(pid):
        assert time.monotonic() < deadline, f"{pid} did not end"
        time.sleep(0.01)


def answered(path) -> set[str]:
    if not path.exists():
        return set()
    with sqlite3.connect(path) as file:
        rows = file.execute("SELECT request FROM calls JOIN answers ON call = id").fetchall()
    return {json.loads(text)["messages"][0]["content"] for (text,) in rows}


@pytest.mark.parametrize(
    ("kills", "calls"), [(5, 150), pytest.param(50, 1500, marks=pytest.mark.soak)]
)
def test_a_run_killed_anywhere_pays_only_for_calls_in_flight_twice(tmp_path, client, kills, calls):
    """Served - distinct keys <= concurrency x kills; a key at most 1 + the kills while it was in flight."""
    concurrency, chance = 8, random.Random(5)
    path = tmp_path / "runs" / "ledger.sqlite"
    in_flight: Counter[str] = Counter()
    with in_background(Server(lambda _: "x", latency_s=0.02)) as server:
        folder = registry(tmp_path / "registry", server.api_base, concurrency=concurrency)
        job = {"registry": str(folder), "runs": str(tmp_path / "runs"), "first": 0, "last": calls}
        for _ in range(kills):
            pid = started(client, **job)
            time.sleep(chance.uniform(0.0, 0.4))
            os.kill(pid, signal.SIGKILL)
            ended(pid)
            in_flight.update(set(asked(server)) - answered(path))
        ended(started(client, **job))
        served = asked(server)
    assert len(answered(path)) == len(served) == calls
    assert served.total() - calls <= concurrency * kills
    assert all(served[key] <= 1 + in_flight[key] for key in served)


def asked(server) -> Counter[str]:
    return Counter(body["messages"][0]["content"] for body in server.bodies)


def test_two_processes_on_one_ledger_ask_each_call_once(tmp_path, client):
    with in_background(Server(lambda _: "x", latency_s=0.02)) as server:
        folder = registry(tmp_path / "registry", server.api_base, concurrency=8)
        job = {"registry": str(folder), "runs": str(tmp_path / "runs"), "first": 0, "last": 100}
        both = [started(client, **job), started(client, **job)]
        for pid in both:
            ended(pid)
        assert asked(server).total() == 100
    assert len(answered(tmp_path / "runs" / "ledger.sqlite")) == 100
