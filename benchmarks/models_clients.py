"""Those of models_asking.py that run in our environment: bare aiohttp, litellm, and our own eval.

python -m benchmarks.models_clients benchtoward API_BASE CALLS AT_ONCE FOLDER
"""

import asyncio
import sys
from pathlib import Path

MODEL = "bench/trivial-1b"
CARD = """
models:
  - id: bench/trivial-1b
    vendor: Bench
    open: true
    context: 8192
    output_limit: 64
    routes:
      - {{name: bench, litellm: openai/trivial, api_base: "{base}", lane: bulk, concurrency: {at_once}}}
"""


def question(number: int) -> str:
    """The trivial task: every question its own."""
    return f"What is {number} + {number}?"


async def aiohttp_bare(base: str, calls: int, at_once: int, folder: Path) -> None:
    """What any asyncio client pays."""
    import aiohttp

    numbers = iter(range(calls))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for number in numbers:
                messages = [{"role": "user", "content": question(number)}]
                body = {
                    "model": "trivial",
                    "messages": messages,
                    "max_tokens": 64,
                    "temperature": 0,
                }
                async with session.post(f"{base}/chat/completions", json=body) as reply:
                    text = (await reply.json())["choices"][0]["message"]["content"]
                    assert text

        await asyncio.gather(*(work() for _ in range(at_once)))


async def litellm_bare(base: str, calls: int, at_once: int, folder: Path) -> None:
    """`acompletion`, tuned as our litellm lane is, without a ledger."""
    from models.call import Message, Request
    from models.hosted import Hosted
    from models.roster import Route

    ask = Hosted(Route("bench", "openai/trivial", api_base=base))
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            assert (await ask(Request(MODEL, (Message("user", question(number)),), 64))).text

    await asyncio.gather(*(work() for _ in range(at_once)))


async def benchtoward(base: str, calls: int, at_once: int, folder: Path) -> None:
    """`eval.run.sit` through the gateway: ledger and run rows on disk."""
    from eval.rows import RunFolder
    from eval.run import Asking, sit
    from models.gateway import open_gateway
    from models.requests import build_request

    registry = folder / "registry"
    registry.mkdir()
    (registry / "models.yaml").write_text(CARD.format(base=base, at_once=at_once))
    async with open_gateway(registry, folder / "runs", command="bench") as gateway:
        built = build_request(gateway.cards[MODEL], (), max_tokens=64, role="exam")
        address = {name: getattr(built, name) for name in ("model", "route", "extras", "role")}
        asking = Asking(gateway, address, {}, at_once=at_once)
        done = await sit(Trivial(calls), RunFolder(folder / "run"), asking)
    assert done.asked == calls


class Trivial:
    """A kind of exam with one turn a question and nothing to score."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def instances(self):
        from eval.exam import Instance

        return tuple(Instance(f"t/q{n}-en", f"q{n}", "t", "test") for n in range(self.calls))

    def next_request(self, instance, replies):
        from models.call import Message, Request

        if replies:
            return None
        return Request("", (Message("user", question(int(instance.cluster[1:]))),), 64)

    def parts(self, request):
        return {}


ASKING = {"aiohttp": aiohttp_bare, "litellm": litellm_bare, "benchtoward": benchtoward}

if __name__ == "__main__":
    who, base, calls, at_once, folder = sys.argv[1:]
    asyncio.run(ASKING[who](base, int(calls), int(at_once), Path(folder)))
