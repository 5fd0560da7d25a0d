"""An exam that goes out as a provider's batch scores like one that was asked call by call."""

import asyncio

import pytest

from database.engine import open_database
from eval.baselines import PRIOR
from eval.spec import open_task
from eval.take import Options, batched, take
from eval.text2sql import Text2Sql
from models.batches import fetch
from models.call import ModelError
from models.gateway import open_gateway
from tests import small
from tests.batch_server import BatchServer
from tests.models_setup import SQL
from tests.models_setup import registry as with_model


@pytest.fixture
def exam(tmp_path):
    registry, data = small.make(tmp_path)
    small.freeze(registry, data)
    with open_database(data / "eunomia.duckdb", workers=1) as database:
        yield Text2Sql(open_task(registry, small.TASK, database)), registry


def test_a_batch_is_sent_fetched_and_scored(exam, tmp_path):
    task, registry = exam
    runs, options = tmp_path / "runs", Options(SQL)

    async def all_of_it():
        async with BatchServer(lambda body: "ABSTAIN") as server:
            with_model(registry, server.api_base, batch=True)
            (sent,) = await batched(task, registry, runs, options)
            server.done = True
            async with open_gateway(registry, runs) as gateway:
                await fetch(gateway)
            served = server.served
            taken = await take(task, registry, runs, options)
            return sent, taken, server.served - served

    sent, taken, more = asyncio.run(all_of_it())
    assert sent.calls == len(task.instances()) == taken.sitting.asked
    assert (taken.sitting.failed, more) == (0, 0)


def test_a_baseline_needs_no_batch(exam, tmp_path):
    task, registry = exam
    with pytest.raises(ModelError, match="needs no batch"):
        asyncio.run(batched(task, registry, tmp_path / "runs", Options(PRIOR)))
