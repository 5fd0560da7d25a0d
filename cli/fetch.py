"""`benchtoward fetch`: the databases, made or checked on this machine."""

import typer

from cli.options import DATA, DataOption

app = typer.Typer(help="Make or check the databases.", no_args_is_help=True)


@app.command("eunomia")
def eunomia(data: DataOption = DATA) -> None:
    """Make data/eunomia.duckdb, the bundled default, unless a good one is there.

    Example: benchtoward fetch eunomia
    """
    from database.engine import open_database
    from database.eunomia import fetch

    path = data / "eunomia.duckdb"
    made = fetch(path)
    with open_database(path) as database:
        rows = sum(rows for rows, _ in database.fingerprint.tables.values())
        tables, sha256 = len(database.tables), database.fingerprint.sha256
    print(f"{path}: {'made' if made else 'good, nothing to do'}; {tables} tables, {rows:,} rows")
    print(f"fingerprint {sha256}")
