"""`benchtoward demo`: the whole line on real data with no key, one command after the other.

It works in a folder of its own (work/demo) with a registry of its own, made from this repository's:
models, rosters, datasets, decisions, the task's draft and the easy questions, all without the results.
Each step is a command that can be typed alone; a killed demo goes on where it was.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from cli.options import REGISTRY

TASK = "eunomia-text2sql"
HERE = Path("work/demo")
MODEL = "huggingfacetb/smollm2-135m-instruct"
STEPS: tuple[str, ...] = (
    "fetch eunomia",
    "text2sql hard-generate --count 20 --roster embedded",
    "text2sql check",
    "text2sql llm-review --roster embedded",
    "text2sql hard-review --roster embedded",
    "text2sql llm-fix --roster embedded",
    "text2sql llm-decide --roster embedded",
    "text2sql llm-decide --freeze --yes --roster embedded",
    "eval-text2sql --model benchtoward/prior",
    "eval-text2sql --model benchtoward/text2sql-constant-query",
    "eval-text2sql --model benchtoward/oracle",
    f"eval-text2sql --model {MODEL}",
    "leaderboard",
)
SHARED = ("models.yaml", "rosters.yaml", "datasets.yaml")
PATIENCE_S = 5.0  # that an interrupted step has to end in
MARK = "made-by-benchtoward-demo"  # a folder without this file is somebody's: never used, never emptied


def a_step(words: str) -> str:
    """Return words that name a step, or none. Raises: BadParameter with the steps."""
    if words and not any(words in step for step in STEPS):
        steps = "\n  ".join(STEPS)
        raise typer.BadParameter(f"no step has the words {words!r}; the steps are\n  {steps}")
    return words


def own(folder: Path) -> Path:
    """Return a folder that a demo may work in and empty. Raises: BadParameter for anybody else's."""
    filled = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if filled and not (folder / MARK).exists():
        raise typer.BadParameter(
            f"{folder} holds something that no demo made (no file {MARK} is in it): "
            "name a folder that is empty or does not exist yet"
        )
    return folder


def demo(
    folder: Annotated[
        Path,
        typer.Option(help="Where it works; everything it writes is here.", callback=own),
    ] = HERE,
    registry: Annotated[
        Path, typer.Option(help="The registry it starts from.", exists=True)
    ] = REGISTRY,
    data: Annotated[Path | None, typer.Option(help="Where the database is kept.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew: empty the folder first.")
    ] = False,
    until: Annotated[
        str, typer.Option(help="Stop before the first step with these words.", callback=a_step)
    ] = "",
) -> None:
    """Make, review, freeze and sit a small benchmark on real data, with no key.

    Under five minutes on two cores. Example: benchtoward demo --fresh
    """
    import shutil

    started = time.monotonic()
    if fresh and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    prepare(registry, folder / "registry")
    for number, step in enumerate(STEPS, 1):
        if until and until in step:
            return
        print(f"\n[{number}/{len(STEPS)}] benchtoward {step}", flush=True)
        if step.startswith("text2sql") and _frozen(folder / "registry"):
            print("the task is frozen: nothing to make")
            continue
        _run(step, folder, data or folder / "data")
    print(f"\nThe whole line took {time.monotonic() - started:.0f} s. Everything is in {folder}:")
    for line in _written(folder):
        print(f"  {line}")


def prepare(source: Path, target: Path) -> None:
    """Make the demo's registry from another one, without what the demo is about to make.

    Nothing that is there is touched, so that a killed demo goes on.
    """
    from items.freeze import thawed
    from items.questions import unreviewed
    from registry.files import replace

    for name in SHARED:
        _copy(source / name, target / name)
    for path in sorted((source / "decisions").glob("*.yaml")):
        _copy(path, target / "decisions" / path.name)
    spec = target / "tasks" / f"{TASK}@0.yaml"
    if not spec.exists():
        easy = target / "drafts" / f"{TASK}-v0.yaml"
        replace(easy, unreviewed(source / "drafts" / easy.name))
        replace(spec, thawed(source / "tasks" / spec.name))


def _frozen(registry: Path) -> bool:
    from items.spec import load_spec

    return load_spec(registry / "tasks" / f"{TASK}@0.yaml").pins is not None


def _copy(source: Path, target: Path) -> None:
    from registry.files import replace

    if not target.exists():
        replace(target, source.read_bytes())


def _run(step: str, folder: Path, data: Path) -> None:
    """Run one command as its own process: what one types is what runs."""
    import subprocess

    command = [sys.executable, "-m", "cli", *step.split(), "--data", str(data)]
    if not step.startswith("fetch"):
        command += ["--registry", str(folder / "registry"), "--runs", str(folder / "runs")]
    with subprocess.Popen(command) as child:
        try:
            code = child.wait()
        except KeyboardInterrupt:  # a terminal sends it to both: the step ends in its own way
            with suppress(subprocess.TimeoutExpired):
                child.wait(PATIENCE_S)
            child.terminate()
            raise
    if code:
        print(f"\nThis step ended with exit code {code}. `benchtoward demo` goes on from here.")
        raise typer.Exit(code)


def _written(folder: Path) -> list[str]:
    return [
        f"{folder / 'registry' / 'drafts'}   the questions, their reviews and the decisions",
        f"{folder / 'registry' / 'records'}  every draft, verdict and vote, hash-chained",
        f"{folder / 'registry' / 'tasks'}    the frozen task with its pins",
        f"{folder / 'runs'}              the ledger of calls, checkpoints, answers and scores",
    ]
