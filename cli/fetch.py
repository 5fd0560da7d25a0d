"""`benchtoward fetch`: the databases, made or checked on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import DATA, REGISTRY, DataOption, RegistryOption

app = typer.Typer(
    help="Make or check the databases. Example: benchtoward fetch eunomia", no_args_is_help=True
)

FromFolder = Annotated[
    Path, typer.Option("--from", help="Folder of the unpacked release.", metavar="DIR")
]
FromFile = Annotated[Path, typer.Option("--from", help="The database file.", metavar="FILE")]


@app.command("eunomia")
def eunomia(data: DataOption = DATA) -> None:
    """Make data/eunomia.duckdb, the bundled default, unless a good one is there.

    Example: benchtoward fetch eunomia
    """
    from database.eunomia import fetch

    made = fetch(data / "eunomia.duckdb")
    told(data / "eunomia.duckdb", "made" if made else "good, nothing to do")


@app.command("synthetic-snuh")
def synthetic_snuh(
    folder: FromFolder, data: DataOption = DATA, registry: RegistryOption = REGISTRY
) -> None:
    """Load a Synthetic-SNUH release folder; its MD5 sums and row counts must match.

    Example: benchtoward fetch synthetic-snuh --from ~/synthetic-snuh-4.0.0
    """
    from database.datasets import dataset
    from database.synthetic_snuh import load

    path = data / dataset(registry, "synthetic-snuh").file
    load(folder, path)
    told(path, "loaded; MD5 sums and row counts match the release")


@app.command("syn-snuh")
def syn_snuh(file: FromFile, data: DataOption = DATA, registry: RegistryOption = REGISTRY) -> None:
    """Copy SYN-SNUH's DuckDB file; its sha256 must be the pinned one.

    Example: benchtoward fetch syn-snuh --from ~/synthetic_snuh.duckdb
    """
    from database.datasets import dataset
    from database.synthetic_snuh import copy_pinned

    pinned = dataset(registry, "syn-snuh")
    copy_pinned(file, data / pinned.file, pinned.sha256 or "")
    told(data / pinned.file, "copied; its sha256 is the pinned one")


@app.command("ehrsql")
def ehrsql(file: FromFile, data: DataOption = DATA) -> None:
    """Copy one of EHRSQL's SQLite databases (mimic_iii or eicu) and take its fingerprint.

    Example: benchtoward fetch ehrsql --from ~/mimic_iii.sqlite
    """
    from database.engine import QueryError, engine_of
    from database.synthetic_snuh import copy_whole

    if engine_of(file) != "sqlite":
        raise QueryError(f"{file}: a DuckDB file; EHRSQL's databases are SQLite files")
    path = data / f"ehrsql-{file.stem}.sqlite"
    copy_whole(file, path)
    told(path, "copied")


def told(path: Path, what: str) -> None:
    """Print what a database holds, and its fingerprint."""
    from database.engine import open_database

    with open_database(path) as database:
        found = database.fingerprint
    rows = sum(rows for rows, _ in found.tables.values())
    print(f"{path}: {what}; {len(found.tables)} tables, {rows:,} rows")
    print(f"fingerprint {found.sha256}")
