"""How long a check of 100 items takes: new ones, then unchanged ones.

    python -m benchmarks.gate_speed [processes]

The items are written by the templates on a fresh copy of the Eunomia database, so that nothing is
remembered. Target (issue 6): under 60 s new on two cores, under 1 s unchanged.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from database.engine import open_database
from database.eunomia import TODAY, fetch
from items import templates
from items.checking import check_items
from items.checks import Ground
from items.memory import memory_of

COUNT = 100


def main() -> None:
    """Print both times."""
    processes = int(sys.argv[1]) if sys.argv[1:] else 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eunomia.duckdb"
        fetch(path)
        with open_database(path) as database:
            written = [templates.write(slot, database, TODAY) for slot in templates.plan(COUNT)]
            items = [item for item in written if item is not None]
            work = [(item, Ground(database, TODAY, others=tuple(items))) for item in items]
            for name in ("new", "unchanged"):
                memory_of.cache_clear()
                started, cpu = time.monotonic(), os.times()
                done = check_items(work, lambda _name: None, processes=processes)
                took = time.monotonic() - started
                now = os.times()
                used = (now.user + now.children_user) - (cpu.user + cpu.children_user)
                problems = sum(len(one.problems) for one in done)
                print(
                    f"{len(done)} items {name}: {took:.1f} s ({used:.1f} s CPU), {problems} problems"
                )


if __name__ == "__main__":
    main()
