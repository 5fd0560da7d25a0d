"""How long a check of 100 items takes: new ones, then unchanged ones.

    python -m benchmarks.gate_speed [processes] [items]

The items are written by the templates on a fresh copy of the Eunomia database, so that nothing is
remembered; writing them takes about as long as checking them and is told apart. Ends within three
minutes on two busy cores. Target: under 60 s new on two cores, under 1 s unchanged.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from database.engine import Database, open_database
from database.eunomia import TODAY, fetch
from items import templates
from items.checking import check_items
from items.checks import Ground
from items.memory import memory_of
from items.model import Item

COUNT = 100
Work = list[tuple[Item, Ground]]


def main() -> None:
    """Print both times, and how busy the machine was."""
    processes = int(sys.argv[1]) if sys.argv[1:] else 2
    count = int(sys.argv[2]) if sys.argv[2:] else COUNT
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eunomia.duckdb"
        fetch(path)
        with open_database(path) as database:
            work = _written(database, count)
            for name in ("new", "unchanged"):
                _check(name, work, processes)


def _written(database: Database, count: int) -> Work:
    """Return new items, each beside the others."""
    started = time.monotonic()
    slots = (templates.write(slot, database, TODAY) for slot in templates.plan(count))
    items = tuple(item for item in slots if item is not None)
    print(f"{len(items)} items written in {time.monotonic() - started:.1f} s", flush=True)
    return [(item, Ground(database, TODAY, others=items)) for item in items]


def _check(name: str, work: Work, processes: int) -> None:
    """Check items as a new process would, and print how long it took."""
    memory_of.cache_clear()
    started, cpu = time.monotonic(), _cpu_s()
    done = check_items(work, lambda _name: None, processes=processes)
    took, used = time.monotonic() - started, _cpu_s() - cpu
    problems = sum(len(one.problems) for one in done)
    load = os.getloadavg()[0]
    print(
        f"{len(done)} items {name}: {took:.1f} s ({used:.1f} s CPU of {processes} processes,",
        end="",
    )
    print(f" without the engine's workers), {problems} problems, load {load:.1f}", flush=True)


def _cpu_s() -> float:
    """Return the processor time of this process and of those it has ended."""
    now = os.times()
    return now.user + now.children_user


if __name__ == "__main__":
    main()
