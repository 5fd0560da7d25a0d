"""A budget stops before the call that could pass it; an unknown price is unknown, never 0."""

import asyncio
from dataclasses import replace
from datetime import date

import pytest

from models.budget import Budget, BudgetError
from models.call import Answer, Message, ModelError, Request
from models.gateway import open_gateway
from models.prices import cost_usd, worst_usd
from models.roster import Price, PriceTier
from tests.models_setup import PRICE, QUICK, SQL, ask, registry
from tests.server import Fault, Server, completion

FULL = completion("x", usage={"prompt_tokens": 4, "completion_tokens": 100})
DAY = date(2026, 1, 1)


def run(tmp_path, texts, *, prices=(PRICE,), script=(FULL,), role="exam", **options):
    """Ask every text at once within a budget; returns results and the calls served."""

    async def all_of_it():
        async with Server(list(script)) as server:
            folder = registry(tmp_path / "registry", server.api_base, prices=list(prices))
            async with open_gateway(folder, tmp_path / "runs", retries=QUICK, **options) as gateway:
                requests = [gateway.request(SQL, ask(t), max_tokens=100, role=role) for t in texts]
                results = await asyncio.gather(
                    *(gateway(request) for request in requests), return_exceptions=True
                )
            return results, server.served, gateway.budget.spent_usd

    return asyncio.run(all_of_it())


# A call of these tests costs 4 x 1 + 100 x 2 = 204 millionths, at worst 65 x 1 + 200 = 265.
WORST, COST = 265e-6, 204e-6


def test_the_call_that_could_pass_the_budget_is_not_made(tmp_path):
    results, served, spent = run(tmp_path, ["a", "b", "c"], budget_usd=2 * COST + WORST - 1e-9)
    assert served == 2
    assert sum(isinstance(result, BudgetError) for result in results) == 1
    assert spent == pytest.approx(2 * COST)


def test_calls_that_fit_once_others_have_settled_wait_for_them(tmp_path):
    _, served, _ = run(tmp_path, ["a", "b", "c"], budget_usd=2 * COST + WORST)
    assert served == 3


def test_the_stop_says_how_to_go_on_and_ends_the_command_with_3(tmp_path):
    results, _, _ = run(tmp_path, ["a"], budget_usd=0.0001)
    assert "run the same command again with a larger --budget" in str(results[0])
    assert results[0].exit_code == 3


def test_what_the_ledger_holds_costs_nothing_again(tmp_path):
    run(tmp_path, ["a"])
    results, served, _ = run(tmp_path, ["a"], budget_usd=0.0)
    assert (results[0].text, served) == ("x", 0)


def test_a_roles_budget_stops_only_that_role(tmp_path):
    results, _, _ = run(tmp_path, ["a"], budgets={"reviewer": 0.0})
    assert results[0].text == "x"
    results, _, _ = run(tmp_path, ["b"], budgets={"reviewer": 0.0}, role="reviewer")
    assert "reviewer's budget" in str(results[0])


def test_an_unknown_price_blocks_a_budgeted_run(tmp_path):
    (error,), served, _ = run(tmp_path, ["a"], prices=(), budget_usd=5.0)
    assert isinstance(error, ModelError)
    assert "--allow-unknown-cost" in str(error)
    assert served == 0


def test_an_unknown_price_is_allowed_when_asked_for(tmp_path):
    (answer,), _, _ = run(tmp_path, ["a"], prices=(), budget_usd=5.0, allow_unknown_cost=True)
    assert answer.cost_usd is None


def test_a_call_that_may_have_been_billed_keeps_its_reserve(tmp_path):
    """A reply that never came may have been written, and paid."""
    script = [Fault("malformed")]
    _, served, spent = run(tmp_path, ["a"], script=script, budget_usd=5.0)
    assert served == QUICK.attempts
    assert spent == pytest.approx(served * WORST)


def test_an_attempt_that_may_pass_the_budget_is_not_made_either(tmp_path):
    script = [Fault("malformed")]
    (error,), served, _ = run(tmp_path, ["a"], script=script, budget_usd=2.5 * WORST)
    assert isinstance(error, BudgetError)
    assert served == 2


REQUEST = Request("a/b", (Message("user", "환자"),), 100)
ANSWER = Answer(
    "x",
    input_tokens=1_000,
    cached_tokens=800,
    written_tokens=100,
    output_tokens=100,
    reasoning_tokens=40,
)
PLAIN = Price(DAY, "test", input=10.0, output=50.0)


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        pytest.param(PLAIN, 1_000 * 10 + 100 * 50, id="input and output"),
        pytest.param(replace(PLAIN, call=0.01), 1_000 * 10 + 100 * 50 + 10_000, id="a fee a call"),
        pytest.param(
            replace(PLAIN, cached_input=1.0), 200 * 10 + 800 * 1 + 100 * 50, id="cached input"
        ),
        pytest.param(
            replace(PLAIN, cache_write=12.5), 900 * 10 + 100 * 12.5 + 100 * 50, id="cache writes"
        ),
        pytest.param(
            replace(PLAIN, reasoning=20.0), 1_000 * 10 + 60 * 50 + 40 * 20, id="thinking apart"
        ),
        pytest.param(
            replace(PLAIN, tiers=(PriceTier(999, 20.0, 60.0),)),
            1_000 * 20 + 100 * 60,
            id="a long prompt's tier",
        ),
        pytest.param(
            replace(PLAIN, tiers=(PriceTier(1_000, 20.0, 60.0),)),
            1_000 * 10 + 100 * 50,
            id="a prompt at the tier's edge is below it",
        ),
    ],
)
def test_a_cost_is_in_millionths_of_the_table(price, cost):
    assert cost_usd(price, ANSWER) == pytest.approx(cost / 1e6)


def test_a_batch_costs_its_factor():
    price = replace(PLAIN, batch=0.5)
    assert cost_usd(price, ANSWER, batch=True) == pytest.approx(cost_usd(price, ANSWER) / 2)


@pytest.mark.parametrize(
    ("price", "answer"), [(None, ANSWER), (PLAIN, replace(ANSWER, input_tokens=None))]
)
def test_an_unknown_cost_is_none(price, answer):
    assert cost_usd(price, answer) is None


@pytest.mark.parametrize("tiers", [(), (PriceTier(10, 20.0, 80.0),)])
def test_no_call_costs_more_than_its_worst_case(tiers):
    """Every byte of the prompt a token, written to the cache, and the whole limit used."""
    price = replace(PLAIN, tiers=tiers, cache_write=12.5)
    most = Answer("x", input_tokens=len("환자".encode()) + 60, output_tokens=100)
    assert worst_usd(price, REQUEST) >= cost_usd(price, most)


def test_without_a_limit_nothing_is_refused_and_all_is_counted():
    async def spent():
        budget = Budget()
        async with budget.reserve("exam", None) as receipt:
            receipt.settle(0.25)
        return budget.spent_usd

    assert asyncio.run(spent()) == 0.25
