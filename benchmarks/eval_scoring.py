"""Scoring 510 instances x 6 models on Eunomia, answers given, against bare DuckDB.

    python benchmarks/eval_scoring.py [data/eunomia.duckdb]

255 questions of two languages, made from the shared Eunomia questions; each model answers with the
reference's text, another spelling of it, or another query. Bare DuckDB runs every distinct query once,
in this process, one thread, all rows fetched. Aim: at most 1.5 x; peak memory (with workers) < 500 MB.
Processor seconds stand beside the wall's: on a busy machine only they say anything.
"""

import asyncio
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psutil
import yaml

from database.engine import open_database
from eval.exam import Instance, Prediction
from eval.outcomes import Judge
from items.model import Item

CASES = Path(__file__).parent.parent / "tests" / "cases" / "eunomia_questions.yaml"
QUESTIONS, MODELS = 255, 6


@dataclass(frozen=True)
class Asked:
    instance: Instance
    item: Item


def asked() -> list[tuple[Asked, str]]:
    """Every instance with a wrong query for it."""
    given = [
        q for q in yaml.safe_load(CASES.read_text(encoding="utf-8"))["questions"] if q["answerable"]
    ]
    found = []
    for n in range(QUESTIONS):
        source = given[n % len(given)]
        sql = f"{source['reference_sql'].strip()}\n-- {n}"
        other = f"{source.get('wrong_sql') or 'SELECT 1'}\n-- {n}"
        item = Item(
            f"q{n:03}", "", "", sql, bool(source.get("order_matters")), True, "a", "b", "none"
        )
        for language in ("ko", "en"):
            instance = Instance(f"hard/{item.id}-{language}", item.id, "hard")
            found.append((Asked(instance, item), other))
    return found


def predictions(instances: list[tuple[Asked, str]], seed: int) -> list[tuple[Asked, Prediction]]:
    chance = random.Random(seed)
    found = []
    for one, other in instances:
        sql = str(one.item.reference_sql)
        text = chance.choice([sql, sql, sql.lower() if "'" not in sql else f"{sql} ", other])
        found.append((one, Prediction("sql", text)))
    return found


def bare(path: Path, queries: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of the distinct queries alone."""
    with duckdb.connect(path, read_only=True) as connection:
        connection.execute("SET threads = 1")
        start, busy = time.perf_counter(), used()
        for sql in queries:
            connection.execute(sql).fetchmany(10_001)
        return time.perf_counter() - start, used() - busy


def used() -> float:
    """Processor seconds of this process and its workers so far."""
    process = psutil.Process()
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


async def watched(
    judge: Judge, given: list[tuple[Asked, Prediction]]
) -> tuple[int, float, float, int]:
    """Score: how many were right, wall and processor seconds, the peak memory of all processes."""
    peak = 0
    process = psutil.Process()

    async def watch() -> None:
        nonlocal peak
        while True:
            family = [process, *process.children(recursive=True)]
            peak = max(peak, sum(one.memory_info().rss for one in family if one.is_running()))
            await asyncio.sleep(0.05)

    watching = asyncio.create_task(watch())
    start, before = time.perf_counter(), used()
    outcomes = await judge.outcomes(given)
    took, busy = time.perf_counter() - start, used() - before
    watching.cancel()
    return sum(one.outcome == "right" for one in outcomes), took, busy, peak


def main(path: Path) -> None:
    instances = asked()
    given = [pair for model in range(MODELS) for pair in predictions(instances, model)]
    references = {str(one.item.reference_sql) for one, _ in instances}
    distinct = list(references | {str(prediction.text) for _, prediction in given})
    print(f"{len(given)} answers, {len(distinct)} distinct queries")
    bare(path, distinct)
    for workers in (1, 2):
        floor, floor_busy = bare(path, distinct)
        with open_database(path, workers=workers) as database:
            database.run("SELECT 1")  # the workers' start is not scoring
            right, took, busy, peak = asyncio.run(watched(Judge(database), given))
        print(
            f"{workers} worker(s): wall {took:.2f} s / {floor:.2f} s = {took / floor:.2f} x, "
            f"processor {busy:.2f} s / {floor_busy:.2f} s = {busy / floor_busy:.2f} x; {right} right; "
            f"peak {peak / 2**20:.0f} MB with its workers"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data/eunomia.duckdb"))
