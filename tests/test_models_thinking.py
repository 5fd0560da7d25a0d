"""A thinking switch is measured: one works, one is ignored, one is not there."""

import asyncio

import pytest

from models.call import ModelError
from models.gateway import open_gateway
from models.thinking import measure
from tests.models_setup import QUICK, SQL, registry
from tests.server import Server, completion

OFF = {"chat_template_kwargs": {"thinking": False}}
THOUGHT = completion("", message={"content": "14", "reasoning_content": "17 - 9 + 4 - 6"})
IN_THE_REPLY = completion("17 - 9 + 4 - 6</think>14")  # S2-018


def measured(tmp_path, script, thinking_off=OFF):
    async def all_of_it():
        async with Server(script) as server:
            place = registry(tmp_path / "r", server.api_base, thinking_off=thinking_off)
            async with open_gateway(place, tmp_path / "runs", retries=QUICK) as gateway:
                return await measure(gateway, SQL)

    return asyncio.run(all_of_it())


def is_off(body):
    return body.get("chat_template_kwargs") == {"thinking": False}


def test_a_switch_that_works(tmp_path):
    found = measured(tmp_path, lambda body: "14" if is_off(body) else THOUGHT)
    assert (found.plain.thought, found.off.thought) == (1.0, 0.0)
    assert found.finding.startswith("thinking_off works")


@pytest.mark.parametrize("reply", [THOUGHT, IN_THE_REPLY], ids=["apart", "in the reply"])
def test_a_switch_that_is_ignored(tmp_path, reply):
    found = measured(tmp_path, lambda body: reply)
    assert found.finding.startswith("thinking_off does not work: 100% of the replies")


def test_a_route_without_the_switch_says_so(tmp_path):
    with pytest.raises(ModelError, match="no `thinking_off`"):
        measured(tmp_path, ["14"], thinking_off={})
