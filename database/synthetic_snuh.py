"""Synthetic-SNUH 4.0.0: 16 OMOP CDM v5.4 tables from a release folder, loaded into DuckDB (S1-073).

    folder/MD5SUMS            <md5>  <file>, one a line (any name that holds "md5")
    folder/README.md          states the rows of each table: `| person | 12,345 |`
    folder/person.csv ...     one file a table: .csv, .csv.gz or .parquet

`load` refuses a folder whose files do not have their MD5 sums, and a database whose row counts are not
those that the README publishes (S1-074). Its licence is CC BY-NC 4.0 (S1-076); the concept table is
never republished (S1-075). SYN-SNUH 1.0.0 is one DuckDB file, pinned by its sha256 (S2-041, S2-042).
"""

# ruff: noqa: S608 (names come from the release's own files and are quoted)

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from database.build import QueryError, build, literal, name
from database.cdm import TABLES, cdm_type

TABLE_COUNT = 16
SYN_SNUH_SHA256 = "fd2056b31cc74c171c3906a7e48482979b993d7a52471dbe5ddd3f3df21a87c8"
ENDINGS = (".csv", ".csv.gz", ".parquet")
_SUM = re.compile(r"^([0-9a-fA-F]{32})\s+\*?(.+?)\s*$")
_ROWS = re.compile(r"^\W*`?(\w+)`?(?:\.csv|\.csv\.gz|\.parquet)?`?\W+([\d,]+)\b", re.MULTILINE)


def load(folder: Path, path: Path) -> dict[str, int]:
    """Check a release folder, load its tables and check their rows; returns the rows a table.

    Raises: QueryError (what is missing or does not match, by name of file or table), OSError.
    """
    files = release_files(folder)
    check_md5(folder, files.values())
    expected = published_rows(folder, files)
    with tempfile.TemporaryDirectory(prefix="snuh-") as scratch:
        made = build(Path(scratch) / path.name, _statements(files))
        found = rows_of(made)
        if wrong := [t for t in expected if found[t] != expected[t]]:
            told = ", ".join(f"{t} {found[t]:,} instead of {expected[t]:,}" for t in wrong)
            raise QueryError(f"{folder}: rows are not what the README publishes: {told}")
        copy_whole(made, path)
    return found


def copy_pinned(source: Path, path: Path, sha256: str) -> None:
    """Copy a database file that is pinned by its sha256 (S2-041). Raises: QueryError, OSError."""
    found = file_hash(source, "sha256")
    if found != sha256:
        raise QueryError(f"{source}: sha256 is {found[:12]}…, the pin is {sha256[:12]}…")
    copy_whole(source, path)


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file beside its place and move it there in one step. Raises: OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    try:
        shutil.copyfile(source, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def release_files(folder: Path) -> dict[str, Path]:
    """Return the file of each table. Raises: QueryError unless they are 16 tables of the CDM."""
    if not folder.is_dir():
        raise QueryError(f"{folder}: no such folder; give the unpacked release with --from")
    files = {
        file.name.removesuffix(ending).lower(): file
        for ending in ENDINGS
        for file in sorted(folder.rglob(f"*{ending}"))
        if file.name.removesuffix(ending).lower() in TABLES
    }
    if len(files) != TABLE_COUNT:
        raise QueryError(
            f"{folder}: {len(files)} tables of the OMOP CDM found, expected {TABLE_COUNT}: "
            f"{', '.join(sorted(files)) or 'none'}"
        )
    return files


def check_md5(folder: Path, files: Iterable[Path]) -> None:
    """Compare each file with the release's MD5 sums. Raises: QueryError."""
    sums = {
        Path(found.group(2)).name: found.group(1).lower()
        for listing in sorted(folder.rglob("*"))
        if listing.is_file() and "md5" in listing.name.lower()
        for line in listing.read_text(errors="replace").splitlines()
        if (found := _SUM.match(line))
    }
    if not sums:
        raise QueryError(f"{folder}: no file of MD5 sums; the release has one (MD5SUMS)")
    for file in files:
        expected = sums.get(file.name)
        if expected is None:
            raise QueryError(f"{file}: not in the release's MD5 sums")
        if (md5 := file_hash(file, "md5")) != expected:
            raise QueryError(f"{file}: MD5 is {md5}, the release says {expected}")


def published_rows(folder: Path, files: dict[str, Path]) -> dict[str, int]:
    """Return the rows of each table as the README states them. Raises: QueryError."""
    found: dict[str, int] = {}
    for readme in sorted(folder.rglob("*")):
        if readme.is_file() and readme.name.lower().startswith("readme"):
            for table, rows in _ROWS.findall(readme.read_text(errors="replace")):
                found.setdefault(table.lower(), int(rows.replace(",", "")))
    if missing := sorted(files.keys() - found.keys()):
        raise QueryError(f"{folder}: the README states no row count for {', '.join(missing)}")
    return {table: found[table] for table in files}


def rows_of(path: Path) -> dict[str, int]:
    """Return the rows of each table of a database."""
    from database.engine import open_database

    with open_database(path) as database:
        return {table: rows for table, (rows, _) in database.fingerprint.tables.items()}


def file_hash(path: Path, kind: str) -> str:
    """Return a file's md5 or sha256, in hex. Raises: OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _statements(files: dict[str, Path]) -> Iterator[str]:
    for table, file in sorted(files.items()):
        cells = ", ".join(
            f"CAST({name(column)} AS {cdm_type(column.lower())}) AS {name(column.lower())}"
            for column in _header(file)
        )
        yield f"CREATE TABLE {name(table)} AS SELECT {cells} FROM {_reader(file)}"


def _reader(file: Path) -> str:
    if file.name.endswith(".parquet"):
        return f"read_parquet({literal(file)})"
    return f"read_csv({literal(file)}, all_varchar = true, header = true)"


def _header(file: Path) -> list[str]:
    """The names of a file's columns. Raises: QueryError."""
    import duckdb

    try:
        with duckdb.connect() as connection:
            described = connection.execute(f"FROM {_reader(file)} LIMIT 0").description
    except duckdb.Error as error:
        raise QueryError(f"{file}: {error}") from None
    return [str(column[0]) for column in described or []]
