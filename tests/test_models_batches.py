"""Batches: sent once, fetched into the ledger at the batch price, found again after a kill."""

import asyncio
import json
import sqlite3

import pytest
import typer

from cli.batches import batches as command
from models.batches import batches, fetch, send
from models.budget import BudgetError
from models.call import ModelError
from models.gateway import open_gateway
from tests.batch_server import BatchServer
from tests.models_setup import PRICE, QUICK, SQL, ask, registry
from tests.server import Status

HALF = {**PRICE, "batch": 0.5}


def run(tmp_path, work, *, script=("SELECT 1",), server=None, batch=True, **options):
    """Do `work(gateway, requests, server)` on two requests; the registry and ledger stay."""

    async def all_of_it():
        async with server or BatchServer(list(script)) as there:
            place = registry(tmp_path / "registry", there.api_base, batch=batch, prices=[HALF])
            async with open_gateway(place, tmp_path / "runs", retries=QUICK, **options) as gateway:
                requests = [gateway.request(SQL, ask(t), max_tokens=9, role="exam") for t in "ab"]
                return await work(gateway, requests, there)

    return asyncio.run(all_of_it())


async def sent_and_fetched(gateway, requests, server):
    await send(gateway, requests)
    server.done = True
    return await fetch(gateway)


def test_answers_land_in_the_ledger_at_the_batch_price(tmp_path):
    async def work(gateway, requests, server):
        (batch,) = await sent_and_fetched(gateway, requests, server)
        return batch, [await gateway(request) for request in requests], server.bodies

    batch, answers, bodies = run(tmp_path, work)
    assert (batch.status, batch.calls, batch.answered) == ("completed", 2, 2)
    assert [answer.text for answer in answers] == ["SELECT 1", "SELECT 1"]
    assert answers[0].cost_usd == pytest.approx((10 * 1.0 + 5 * 2.0) / 1e6 / 2)
    assert bodies[0]["max_tokens"] == 9


def test_a_call_that_waits_in_a_batch_is_not_made_by_itself(tmp_path):
    async def work(gateway, requests, server):
        await send(gateway, requests)
        with pytest.raises(ModelError, match=r"waits in batch .* `benchtoward batches`"):
            await gateway(requests[0])
        return server.served

    assert run(tmp_path, work) == 0


def test_what_is_answered_or_under_way_is_not_sent_again(tmp_path):
    async def work(gateway, requests, server):
        await gateway(requests[0])
        first = await send(gateway, requests)
        second = await send(gateway, requests)
        return first, second

    first, second = run(tmp_path, work)
    assert [batch.calls for batch in first] == [1]
    assert second == []


def test_a_batch_that_is_not_done_stays_open(tmp_path):
    async def work(gateway, requests, server):
        await send(gateway, requests)
        return await fetch(gateway)

    (batch,) = run(tmp_path, work)
    assert (batch.open, batch.status, batch.answered) == (True, "in_progress", 0)


def test_a_failed_line_is_an_attempt_and_can_be_asked_again(tmp_path):
    async def work(gateway, requests, server):
        await sent_and_fetched(gateway, requests, server)
        return await gateway(requests[0])

    assert run(tmp_path, work, script=[Status(500), "SELECT 2"]).text == "SELECT 2"
    with sqlite3.connect(tmp_path / "runs" / "ledger.sqlite") as ledger:
        outcomes = [o for (o,) in ledger.execute("SELECT outcome FROM attempts ORDER BY id")]
    assert sorted(outcomes) == ["answer", "answer", "server"]


def test_a_batch_sent_by_a_killed_run_is_found_again(tmp_path):
    """The kill came after the provider had the batch and before the ledger knew its id."""

    async def work(gateway, requests, server):
        await send(gateway, requests)
        await gateway.ledger.change(
            lambda db: db.execute("UPDATE batches SET provider_id = NULL, status = 'sending'")
        )
        server.done = True
        return await fetch(gateway)

    (batch,) = run(tmp_path, work)
    assert (batch.status, batch.answered) == ("completed", 2)


def test_a_batch_that_never_arrived_frees_its_calls(tmp_path):
    async def work(gateway, requests, server):
        await send(gateway, requests)
        await gateway.ledger.change(
            lambda db: db.execute("UPDATE batches SET provider_id = NULL, status = 'sending'")
        )
        server.made.clear()
        await fetch(gateway)
        return await gateway(requests[0])

    assert run(tmp_path, work).text == "SELECT 1"


def test_a_refused_batch_is_a_clear_sentence_and_frees_its_calls(tmp_path):
    async def work(gateway, requests, server):
        with pytest.raises(ModelError, match="no batches for you"):
            await send(gateway, requests)
        return await gateway(requests[0])

    assert run(tmp_path, work, server=BatchServer(["x"], refuse=True)).text == "x"


def test_a_route_without_batches_says_so(tmp_path):
    async def work(gateway, requests, server):
        await send(gateway, requests)

    with pytest.raises(ModelError, match="takes no batches"):
        run(tmp_path, work, batch=False)


def test_a_budget_stops_a_batch_before_it_is_sent(tmp_path):
    async def work(gateway, requests, server):
        with pytest.raises(BudgetError):
            await send(gateway, requests)
        return server.made, batches(gateway.ledger.db)

    assert run(tmp_path, work, budget_usd=0.0) == ({}, [])


def test_the_command_fetches_and_lists(tmp_path, capsys):
    server = BatchServer(["SELECT 1"])

    async def work(gateway, requests, there):
        await send(gateway, requests)
        there.done = True
        with pytest.raises(typer.Exit) as ended:
            await asyncio.to_thread(command, tmp_path / "registry", tmp_path / "runs", True)
        return ended.value.exit_code

    assert run(tmp_path, work, server=server) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["answered"]) == ("completed", 2)
