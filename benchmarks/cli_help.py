"""How long `benchtoward --help` takes, as a ratio to Python's own start.

    python benchmarks/cli_help.py

Prints the median of 15 runs of each, in turn. Aim: under 0.3 s.
"""

import statistics
import subprocess
import sys
import time

PAIRS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "a bare typer": [sys.executable, "-c", "import typer; typer.Typer()"],
    "benchtoward --help": [sys.executable, "-m", "cli", "--help"],
}


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    runs: dict[str, list[float]] = {name: [] for name in PAIRS}
    for _ in range(15):
        for name, command in PAIRS.items():
            runs[name].append(seconds(command))
    floor = statistics.median(runs["python -c pass"])
    for name, times in runs.items():
        middle = statistics.median(times)
        print(f"{name:20} {middle:.3f} s  {middle / floor:.1f} x python")


if __name__ == "__main__":
    main()
