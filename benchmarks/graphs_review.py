"""What the review graph itself costs: 300 items, three scripted reviewers, one round of fixes.

    .venv/bin/python benchmarks/graphs_review.py [items]

The gate and the database are left out (a gate that finds nothing, reviewers that only answer); what is
left is graph, checkpoints, record and rendering. Target: under 30 s, 500 MB, 50 MB of checkpoints.
"""

import asyncio
import resource
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from agents.seats import Commit, Fix, FixTask, Issue, ReviewTask, Seat, Verdict
from database.engine import open_database
from graphs import pipeline, sitting
from graphs.workbook import open_workbook
from items.checks import Finding, Ground
from items.model import Item
from items.questions import Question, QuestionFile, save_questions

OBJECTION = Issue("boundary", "Whether the limit counts is open.", "before 1960")


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registry" / "drafts" / "bench-hard-v0.yaml"
        path.parent.mkdir(parents=True)
        save_questions(path, QuestionFile("bench", "hard", date(2019, 7, 3), questions=made(count)))
        started, cpu = time.monotonic(), time.process_time()
        most = asyncio.run(run(path, Path(folder) / "runs"))
        wall, cpu = time.monotonic() - started, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{count} items x 3 reviewers, 1 in 5 fixed: {wall:.1f} s, {cpu:.1f} s CPU")
        print(f"memory {memory:.0f} MB, checkpoints at most {most / 1e6:.1f} MB")


def made(count: int) -> tuple[Question, ...]:
    """Return questions as long as real ones."""
    item = Item(
        id="",
        question_ko="1960년 이전에 태어난 환자 가운데 고혈압 약을 처방받은 사람은 몇 명인가요? "
        * 2,
        question_en="How many patients born before 1960 were prescribed a drug for it? " * 2,
        reference_sql="SELECT count(DISTINCT p.person_id) AS patients FROM person AS p\n" * 6,
        order_matters=False,
        answerable=True,
        category="cohort_definition",
        difficulty="hard",
        scope="group",
    )
    return tuple(Question.of(replace(item, id=f"hard-{n:03d}"), "a") for n in range(count))


async def judge(task: ReviewTask) -> Verdict:
    """Object to every fifth item in its first round."""
    await asyncio.sleep(0.001)
    bad = task.round == 1 and int(task.item.id[-3:]) % 5 == 0
    commit = Commit(task.item.reference_sql, True, "1 rows")
    return Verdict("revise" if bad else "approve", (OBJECTION,) * bad, "m", commit, ("k" * 64,) * 2)


async def mend(task: FixTask) -> Fix:
    """Change a word."""
    return Fix(replace(task.item, question_en=f"{task.item.question_en}?"), "plainer", "f")


def nothing(item: Item, ground: Ground) -> tuple[Finding, ...]:
    """Find nothing wrong: the gate's own cost stands in benchmarks/gate_*.py."""
    return ()


async def run(path: Path, runs: Path) -> int:
    """Review everything; returns the largest size of the checkpoint files."""
    sizes = [0]
    with open_database(Path("data/eunomia.duckdb")) as database, open_workbook(path) as book:
        seats = tuple(Seat(n, "m", judge) for n in (1, 2, 3))
        fixers = (Seat(1, "f", mend),)
        context = sitting.Context(book, Ground(database), seats, fixers, gate=nothing)
        work = [(context, question.id) for question in book.questions]

        def step(_: str) -> None:
            sizes.append(sum(file.stat().st_size for file in runs.glob("checkpoints*")))

        await pipeline.review_items(work, runs, panel="bench", rounds=1, step=step)
        assert all(book.panel(question.item).approved for question in book.questions)
    return max(sizes)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
