"""A client of the gateway that may be killed: told over stdin to start runs, it prints their process ids.

litellm takes seconds to import: it is imported once here, and each run is a fork.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from models.gateway import open_gateway
from models.hosted import library
from tests.models_setup import QUICK, SQL, ask


async def run(registry: Path, runs: Path, first: int, last: int) -> None:
    async with open_gateway(registry, runs, retries=QUICK) as gateway:
        requests = [gateway.request(SQL, ask(f"q{n}"), max_tokens=9) for n in range(first, last)]
        await asyncio.gather(*(gateway(request) for request in requests))


if __name__ == "__main__":
    library()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            asyncio.run(run(Path(job["registry"]), Path(job["runs"]), job["first"], job["last"]))
            os._exit(0)
        print(pid, flush=True)
