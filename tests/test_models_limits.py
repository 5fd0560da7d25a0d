"""How many calls go out: halved by a 429, grown by good ones, paced by the minute."""

import asyncio
import time

import pytest

from models.failures import RETRIED, CallFailed
from models.limits import Limit
from models.retries import Retries


def test_a_429_halves_the_calls_at_once_and_good_ones_bring_them_back():
    limit = Limit(8)
    limit.too_many()
    assert limit.allowed == 4
    for _ in range(60):
        limit.went_well()
    assert limit.allowed == 8


def test_the_429s_of_one_moment_halve_once():
    limit = Limit(8)
    for _ in range(5):
        limit.too_many()
    assert limit.allowed == 4


def test_at_least_one_call_goes_out():
    limit = Limit(1)
    limit.too_many()
    assert limit.allowed == 1


def took(limit, calls, tokens=1):
    async def all_of_it():
        async def call():
            async with limit.slot(tokens):
                pass

        started = time.monotonic()
        await asyncio.gather(*(call() for _ in range(calls)))
        return time.monotonic() - started

    return asyncio.run(all_of_it())


def test_requests_a_minute_are_paced():
    """600 a minute are 10 a second, and six seconds' worth may go at once."""
    assert took(Limit(100, requests_per_minute=600), 60) < 0.2
    assert took(Limit(100, requests_per_minute=600), 63) == pytest.approx(0.3, abs=0.15)


def test_tokens_a_minute_are_paced():
    assert took(Limit(100, tokens_per_minute=60_000), 8, tokens=800) == pytest.approx(0.4, abs=0.15)


def test_a_cancelled_wait_passes_its_turn_on():
    async def all_of_it():
        limit = Limit(1)
        entered = []

        async def call(name):
            async with limit.slot(1):
                entered.append(name)
                await asyncio.sleep(0.01)

        first, second, third = (asyncio.create_task(call(name)) for name in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return entered

    assert asyncio.run(all_of_it()) == ["a", "c"]


def failed(kind="server", **more):
    return CallFailed(kind, "x", **more)


def test_every_kind_of_failure_has_its_line_in_the_table():
    from typing import get_args

    from models.failures import Kind

    assert set(RETRIED) == set(get_args(Kind))


@pytest.mark.parametrize("kind", [kind for kind, again in RETRIED.items() if not again])
def test_what_stays_wrong_is_not_tried_again(kind):
    assert Retries().wait_s(failed(kind), 1, 0.0) is None


def test_waits_double_with_jitter_up_to_the_cap():
    retries = Retries(attempts=20, first_s=1.0, cap_s=8.0, deadline_s=1e9)
    for attempt, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (12, 8)):
        waits = [retries.wait_s(failed(), attempt, 0.0) for _ in range(50)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert len(set(waits)) > 1


def test_nobody_comes_back_before_retry_after():
    assert Retries().wait_s(failed("rate_limit", retry_after_s=20.0), 1, 0.0) >= 20.0


def test_the_waits_of_a_call_end_at_the_deadline():
    assert Retries(deadline_s=10.0).wait_s(failed(retry_after_s=5.0), 1, 6.0) is None


def test_attempts_are_counted():
    assert Retries(attempts=3).wait_s(failed(), 2, 0.0) is not None
    assert Retries(attempts=3).wait_s(failed(), 3, 0.0) is None
