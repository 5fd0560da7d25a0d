"""What asking costs: the same trivial task by BenchToward, bare aiohttp, litellm, lm-eval and inspect-ai.

    python -m benchmarks.models_asking                  # ours, aiohttp, litellm
    python -m benchmarks.models_asking --peers VENV     # and lm-eval and inspect-ai, which stand in a virtual
                                                        # environment of their own:
    python -m venv VENV && VENV/bin/pip install "lm-eval[api]==0.4.13" inspect-ai==0.3.285 openai

All ask one loopback server, a process of its own, the same number of times with as many calls at once and
the same time a reply takes. Told are wall and CPU seconds and peak memory of the whole asking process,
its start included; ours keeps its ledger and its run rows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
SETTINGS = ((0.02, 64), (0.2, 64), (0.2, 512))


@dataclass(frozen=True)
class Cost:
    """What one whole process took."""

    who: str
    latency_s: float
    at_once: int
    calls: int
    wall_s: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Measure everyone in every setting and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument(
        "--peers", type=Path, help="a virtual environment with lm-eval and inspect-ai"
    )
    parser.add_argument("--only", nargs="*", help="names of those who ask")
    parser.add_argument("--settings", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    costs = []
    for latency_s, at_once in (SETTINGS[number] for number in options.settings):
        with server(latency_s) as base:
            for who, command in contenders(options.peers).items():
                if not options.only or who in options.only:
                    cost = measure(who, command, base, options.calls, latency_s, at_once)
                    print(told(cost), flush=True)
                    costs.append(cost)
    if options.json:
        options.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1))


def contenders(peers: Path | None) -> dict[str, list[str]]:
    """Who asks, and the command that takes: api_base, calls, calls at once."""
    ours = [sys.executable, "-m", "benchmarks.models_clients"]
    found = {name: [*ours, name] for name in ("aiohttp", "benchtoward", "litellm")}
    if peers:
        python = str(peers / "bin" / "python")
        for name in ("lm_eval", "inspect_ai"):
            found[name] = [python, str(HERE / "models_peers.py"), name]
    return found


@contextmanager
def server(latency_s: float) -> Iterator[str]:
    """The loopback server in a process of its own; gives its api_base."""
    command = [sys.executable, "-m", "tests.server", "--latency", str(latency_s)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(
    who: str, command: list[str], base: str, calls: int, latency_s: float, at_once: int
) -> Cost:
    """Run one asking process to its end."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        started = time.monotonic()
        process = subprocess.Popen(
            [*command, base, str(calls), str(at_once), folder],
            cwd=HERE.parent,
            stdout=nowhere,
            env=os.environ | {"OPENAI_API_KEY": "none-needed", "NO_COLOR": "1"},
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - started
    if process.returncode:
        raise SystemExit(f"{who} failed with exit code {process.returncode}")
    return Cost(
        who, latency_s, at_once, calls, wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    )


def told(cost: Cost) -> str:
    """One line."""
    floor = cost.calls * cost.latency_s / cost.at_once
    return (
        f"{cost.latency_s * 1000:4.0f} ms x {cost.at_once:3d}  {cost.who:12s} wall {cost.wall_s:6.1f} s "
        f"({cost.wall_s / floor:5.2f} x the floor)  CPU {cost.cpu_s:6.1f} s  peak {cost.peak_mb:4.0f} MB"
    )


if __name__ == "__main__":
    main()
