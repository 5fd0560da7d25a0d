"""Many queries mixed with bombs leave no process, no file and no growing memory.

`make test` runs 200, `make soak` 2,000 (its figures are printed: pytest -m soak -s).
"""

import gc
import random
import shutil
import time
from pathlib import Path

import psutil
import pytest
import yaml

from database.engine import open_database
from database.result import Result

CASES = Path(__file__).parent / "cases"
BOMBS = [  # each ends at the limit of 0.2 s, by the engine or by a kill
    "SELECT repeat('x', 2000000000)",
    "SELECT list_sort(list_transform(range(200000000), lambda x: hash(x)))[1]",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
    "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT max(length(s)) FROM t",
    "SELECT a.*, b.*, c.* FROM measurement a, measurement b, measurement c",
    "SELECT repeat('x', 1000000) FROM person",
    "WITH a AS (" * 20,
]


def queries():
    """What runs, what is refused and what fails, in one list."""
    legitimate = yaml.safe_load((CASES / "legitimate.yaml").read_text())
    attacks = yaml.safe_load((CASES / "attacks.yaml").read_text())
    refused = [case["sql"] for case in attacks if "sql" in case and case["expected"] == "rejected"]
    return [sql for group in legitimate.values() for sql in group] + refused


def soak(path, count):
    """Run so many queries, every tenth a bomb; return what is left behind and the figures."""
    chosen = random.Random(0)
    plain, me = queries(), psutil.Process()
    before = (len(me.children()), me.num_fds(), sorted(path.parent.iterdir()))
    started = time.monotonic()
    memory, largest, ended = [], 0, []
    with open_database(path, workers=2) as database:
        for number in range(count):
            bomb = number % 10 == 9
            sql = chosen.choice(BOMBS if bomb else plain)
            outcome = database.run(sql, time_s=0.2 if bomb else None)
            assert not (bomb and isinstance(outcome, Result))
            ended.append(getattr(outcome, "reason", "ok"))
            if number % 10 == 0:
                gc.collect()
                memory.append(me.memory_info().rss)
                largest = max([largest, *(worker.resident() for worker in database._pool._living)])
    after = (len(me.children()), me.num_fds(), sorted(path.parent.iterdir()))
    growth = memory[-1] - memory[len(memory) // 4]
    figures = {
        "queries": count,
        "seconds": round(time.monotonic() - started, 1),
        "outcomes": {reason: ended.count(reason) for reason in sorted(set(ended))},
        "our growth in MB": round(growth / (1 << 20), 1),
        "largest worker between queries in MB": round(largest / (1 << 20)),
    }
    return before, after, growth, figures


def check(source, count, folder):
    path = Path(shutil.copy(source, folder / "alone.duckdb"))  # a folder where nobody else writes
    before, after, growth, figures = soak(path, count)
    assert after == before, figures
    assert growth < 50 << 20, figures
    assert "lost" not in figures["outcomes"], figures
    return figures


def test_200_queries_mixed_with_bombs_leave_nothing_behind(eunomia, tmp_path):
    check(eunomia, 200, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_2000_queries_mixed_with_bombs_leave_nothing_behind(eunomia, tmp_path):
    print(check(eunomia, 2_000, tmp_path))
