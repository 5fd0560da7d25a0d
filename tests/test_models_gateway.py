"""The gateway asks once, tries again what may be tried again, and tells what it got."""

import asyncio
import sqlite3

import pytest

from models.call import ModelError
from models.export import export
from models.gateway import RouteDown, open_gateway
from registry.reader import FormatError
from tests.models_setup import PRICE, QUICK, SQL, ask, registry
from tests.server import Fault, Server, Status, completion


def run(tmp_path, script, *texts, route=None, inspect=None, **options):
    """Ask each text of one server; returns the answers or errors, and the server."""

    async def all_of_it():
        async with Server(script) as server:
            there = {"api_base": server.api_base, **(route or {})}
            folder = registry(tmp_path / "registry", **there)
            options.setdefault("retries", QUICK)
            async with open_gateway(folder, tmp_path / "runs", **options) as gateway:
                answers = []
                for text in texts:
                    request = gateway.request(SQL, ask(text), max_tokens=64, role="exam")
                    try:
                        answers.append(await gateway(request))
                    except ModelError as error:
                        answers.append(error)
                return answers, server, gateway.down

    return asyncio.run(all_of_it())


def attempts(tmp_path):
    with sqlite3.connect(tmp_path / "runs" / "ledger.sqlite") as ledger:
        return ledger.execute("SELECT outcome, status, wait_s FROM attempts ORDER BY id").fetchall()


def test_an_answer_is_asked_for_once_and_found_again(tmp_path):
    run(tmp_path, ["SELECT 1"], "How many?")
    (answer,), server, _ = run(tmp_path, ["never asked"], "How many?")
    assert answer.text == "SELECT 1"
    assert (answer.input_tokens, answer.output_tokens) == (10, 5)
    assert server.served == 0


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        pytest.param(Status(429), "rate_limit", id="too many requests"),
        pytest.param(Status(500), "server", id="a server error"),
        pytest.param(Status(503), "overloaded", id="an overloaded server"),
        pytest.param(Status(529), "overloaded", id="Anthropic's overloaded"),
        pytest.param(Fault("reset"), "connection", id="a reset in the middle"),
        pytest.param(Fault("truncated"), "connection", id="a truncated reply"),
    ],
)
def test_what_may_pass_is_tried_again_and_written_down(tmp_path, fault, outcome):
    (answer,), server, _ = run(tmp_path, [fault, "SELECT 2"], "x")
    assert answer.text == "SELECT 2"
    assert server.served == 2
    assert [row[0] for row in attempts(tmp_path)] == [outcome, "answer"]


@pytest.mark.parametrize("fault", [Fault("malformed"), Fault("type"), Fault("empty")])
def test_a_reply_that_is_none_is_tried_again(tmp_path, fault):
    (answer,), _, _ = run(tmp_path, [fault, "SELECT 2"], "x")
    assert answer.text == "SELECT 2"


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Status(400, "temperature must be 1"), id="a bad request"),
        pytest.param(Status(400, "maximum context length is 8192 tokens"), id="a long prompt"),
        pytest.param(Status(422), id="an unprocessable request"),
    ],
)
def test_what_stays_wrong_is_asked_once_and_leaves_the_route_up(tmp_path, fault):
    (error, answer), server, down = run(tmp_path, [fault, "SELECT 2"], "x", "y")
    assert isinstance(error, ModelError)
    assert answer.text == "SELECT 2"
    assert (server.served, down) == (2, {})


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Status(401, "wrong key"), id="a wrong key"),
        pytest.param(Status(403), id="no permission"),
        pytest.param(Status(429, "You exceeded your current quota"), id="an empty account"),
    ],
)
def test_what_concerns_the_route_stops_it_at_once(tmp_path, fault):
    (first, second), server, down = run(tmp_path, [fault, "SELECT 2"], "x", "y")
    assert not isinstance(first, RouteDown)
    assert isinstance(second, RouteDown)
    assert server.served == 1
    assert SQL in down


def test_nobody_listening_takes_the_route_down(tmp_path):
    (first, second), _, down = run(
        tmp_path, ["x"], "x", "y", route={"api_base": "http://127.0.0.1:9/v1"}
    )
    assert "failed 4 times; last: connection" in str(first)
    assert isinstance(second, RouteDown)
    assert "run the same command again" in str(second)
    assert SQL in down


def test_retry_after_is_waited_for(tmp_path):
    run(tmp_path, [Status(429, retry_after="0.3"), "SELECT 2"], "x")
    assert attempts(tmp_path)[0][2] >= 0.3


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(tmp_path):
    (error,), server, _ = run(tmp_path, [Status(429, retry_after="3600"), "SELECT 2"], "x")
    assert "failed once; last: 429 rate_limit" in str(error)
    assert server.served == 1


@pytest.mark.parametrize("kind", ["hang", "trickle"])
def test_a_reply_that_does_not_end_is_given_up(tmp_path, kind):
    (answer,), _, _ = run(tmp_path, [Fault(kind), "SELECT 2"], "x", route={"timeout_s": 0.5})
    assert answer.text == "SELECT 2"
    assert attempts(tmp_path)[0][0] == "time_out"


def test_a_content_policy_is_an_answer(tmp_path):
    """Agreements 7: refused by the provider is an answer, and is not asked again."""
    refusal = Status(400, "rejected by content_policy_violation", type="content_policy_violation")
    (answer,), _, _ = run(tmp_path, [refusal], "x")
    assert (answer.stop, answer.text) == ("content_filter", "")


def test_a_failure_is_never_found_again_as_an_answer(tmp_path):
    run(tmp_path, [Status(400)], "x")
    (answer,), _, _ = run(tmp_path, ["SELECT 2"], "x")
    assert answer.text == "SELECT 2"


def test_a_missing_key_names_its_variable_before_any_call(tmp_path, monkeypatch):
    monkeypatch.delenv("ACME_TEST_KEY", raising=False)
    with pytest.raises(ModelError, match="not set: ACME_TEST_KEY for acme"):
        run(tmp_path, ["x"], "x", route={"key": "ACME_TEST_KEY"}, models=[SQL])


def test_an_output_limit_below_the_tasks_is_not_run(tmp_path):
    """S1-113."""

    async def asked():
        folder = registry(tmp_path / "registry", "http://127.0.0.1:9/v1")
        async with open_gateway(folder, tmp_path / "runs") as gateway:
            gateway.request(SQL, ask("x"), max_tokens=16_384)

    with pytest.raises(ModelError, match=r"at most 4,096 tokens .* not run"):
        asyncio.run(asked())


def test_a_prompt_with_half_a_character_is_refused_before_any_call(tmp_path):
    (error,), server, _ = run(tmp_path, ["x"], "half: \ud83d")
    assert "half a character" in str(error)
    assert server.served == 0


def test_the_same_question_by_three_seats_is_three_calls(tmp_path):
    async def asked():
        async with Server(["SELECT 1"]) as server:
            folder = registry(tmp_path / "registry", server.api_base)
            async with open_gateway(folder, tmp_path / "runs") as gateway:
                seats = [
                    gateway.request(SQL, ask("x"), max_tokens=9, draw=seat) for seat in (1, 2, 3)
                ]
                await asyncio.gather(*(gateway(request) for request in seats))
            return server.served

    assert asyncio.run(asked()) == 3


def test_equal_requests_at_once_are_one_call(tmp_path):
    async def asked():
        async with Server(["SELECT 1"], latency_s=0.05) as server:
            folder = registry(tmp_path / "registry", server.api_base)
            async with open_gateway(folder, tmp_path / "runs") as gateway:
                request = gateway.request(SQL, ask("x"), max_tokens=9)
                answers = await asyncio.gather(*(gateway(request) for _ in range(5)))
            return server.served, {answer.text for answer in answers}

    assert asyncio.run(asked()) == (1, {"SELECT 1"})


def test_a_cancelled_call_releases_its_claim(tmp_path):
    async def asked():
        async with Server([Fault("hang"), "SELECT 2"]) as server:
            folder = registry(tmp_path / "registry", server.api_base)
            async with open_gateway(folder, tmp_path / "runs") as gateway:
                request = gateway.request(SQL, ask("x"), max_tokens=9)
                call = asyncio.create_task(gateway(request))
                await asyncio.sleep(0.2)
                assert server.served == 1
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
                return (await gateway(request)).text

    assert asyncio.run(asked()) == "SELECT 2"
    assert [row[0] for row in attempts(tmp_path)] == ["cancelled", "answer"]


def test_no_more_calls_are_at_once_than_the_route_takes(tmp_path):
    async def asked():
        async with Server(["SELECT 1"], latency_s=0.02) as server:
            folder = registry(tmp_path / "registry", server.api_base, concurrency=3)
            async with open_gateway(folder, tmp_path / "runs") as gateway:
                requests = [
                    gateway.request(SQL, ask(str(n)), max_tokens=9, draw=n) for n in range(12)
                ]
                await asyncio.gather(*(gateway(request) for request in requests))
            return server.most_at_once

    assert asyncio.run(asked()) == 3


def test_a_replay_answers_from_its_ledger_only(tmp_path):
    run(tmp_path, ["SELECT 1"], "How many people are there?")
    replay = tmp_path / "runs" / "ledger.sqlite"
    (known, missing), server, _ = run(
        tmp_path / "later", ["no"], "How many people are there?", "How many visits?", replay=replay
    )
    assert known.text == "SELECT 1"
    assert "'visits?', there 'people are there?'" in str(missing)
    assert server.served == 0


def test_a_replay_of_an_export_needs_no_key_and_no_server(tmp_path, monkeypatch):
    run(tmp_path, ["SELECT 1"], "How many?")
    export(tmp_path / "runs" / "ledger.sqlite", tmp_path / "calls.jsonl.gz")
    monkeypatch.setenv("BENCHTOWARD_REPLAY", str(tmp_path / "calls.jsonl.gz"))
    monkeypatch.delenv("ACME_TEST_KEY", raising=False)
    (answer,), server, _ = run(tmp_path, ["no"], "How many?", route={"key": "ACME_TEST_KEY"})
    assert (answer.text, server.served) == ("SELECT 1", 0)


def test_a_replay_of_nothing_is_a_clear_sentence(tmp_path):
    with pytest.raises(FormatError, match="nothing here to replay"):
        run(tmp_path, ["x"], "x", replay=tmp_path / "nothing.sqlite")


def test_a_cost_is_by_the_price_table_and_unknown_without_one(tmp_path):
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}
    (answer,), _, _ = run(
        tmp_path / "a", [completion("x", usage=usage)], "x", route={"prices": [PRICE]}
    )
    assert answer.cost_usd == pytest.approx(1.0 + 1.0)
    (answer,), _, _ = run(tmp_path / "b", ["x"], "x")
    assert answer.cost_usd is None
