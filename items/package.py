"""A frozen task as a dataset for an archive (S1-120, S1-121): the items, and nothing of the database.

    <slug>-<version>/
      README.md               the dataset card, with licence, limitations and canary from the spec
      data/hard.jsonl, .parquet    one item a line: the fields that the tier's hash covers, and the witness
      neighbours/hard.jsonl   recipes of the items' neighbour databases (items/neighbour.py), where made
      croissant.json          Croissant 1.0 metadata (validated by mlcroissant in a test)
      CITATION.cff  ERRATA.md  SHA256SUMS
      FORM.md                 the text for the archive's form, with the steps of a submission

`package_items` reads a package back: its tiers have the pinned hashes, or it is not that package. No row
of a concept table is in it (S1-075): questions and references may name concepts.
"""

import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from items import cards
from items.freeze import content_differences
from items.model import Item
from items.neighbour import Recipe
from items.questions import QuestionFile
from items.spec import Spec, spec_path
from registry import files
from registry.canonical import canonical, json_lines
from registry.reader import FormatError

VERSION = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")  # semver.org, plain
COLUMNS = tuple(f.name for f in fields(Item))


def build_package(
    spec: Spec,
    tiers: Mapping[str, QuestionFile],
    folder: Path,
    version: str,
    recipes: Mapping[str, Sequence[Recipe]] | None = None,
) -> Path:
    """Write the package of a frozen task and return its folder.

    tiers:   the question files by tier; every field of their kept items must be the pinned one.
    recipes: by tier, sealed on the task's own database; a recipe holds constants of the reference, the
             database's fingerprint and the hash of its rows, never a row.
    Raises: FormatError (a draft, items that are not the pinned ones, or another package in that
    folder: what was given out under a version stays as it was), OSError.
    """
    path = spec_path(Path("registry"), spec.task)
    if spec.pins is None:
        raise FormatError(path, None, f"{spec.task} is a draft; only a frozen task is packaged")
    for difference in content_differences(spec, tiers):
        raise FormatError(path, None, f"{difference}: the items are not the pinned ones")
    written = _files(spec, tiers, version, recipes or {})
    _room_for(folder, written)
    for name, data in written.items():
        files.replace(folder / name, data)
    return folder


def package_items(folder: Path) -> dict[str, tuple[Item, ...]]:
    """Return a package's items by tier, read from the JSONL.

    Raises: FormatError where a file is not what SHA256SUMS says, or the two forms differ.
    """
    listed = {"SHA256SUMS"}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        sha256, _, name = line.partition("  ")
        listed.add(name)
        if not (folder / name).is_file() or _sha256((folder / name).read_bytes()) != sha256:
            raise FormatError(folder / name, None, "missing, or not what SHA256SUMS says")
    for name in sorted(_names(folder) - listed):
        raise FormatError(folder / name, None, "SHA256SUMS does not list this file")
    found = {}
    for path in sorted((folder / "data").glob("*.jsonl")):
        rows = [json.loads(line) for line in json_lines(path.read_text(encoding="utf-8"))]
        if rows != _parquet_rows(path.with_suffix(".parquet")):
            raise FormatError(path, None, "the Parquet file beside it holds other rows")
        found[path.stem] = tuple(Item(**row) for row in rows)
    return found


def _files(
    spec: Spec,
    tiers: Mapping[str, QuestionFile],
    version: str,
    recipes: Mapping[str, Sequence[Recipe]],
) -> dict[str, bytes]:
    """Return the content of every file of a package by its name."""
    written: dict[str, bytes] = {}
    for tier, file in tiers.items():
        written |= _tables(tier, file)
    for tier, made in recipes.items():
        lines = "".join(canonical(recipe.as_json()) + "\n" for recipe in made)
        written[f"neighbours/{tier}.jsonl"] = lines.encode()
    written |= {name: text.encode() for name, text in cards.texts(spec, tiers, version).items()}
    written["croissant.json"] = _croissant(spec, tiers, version, written)
    sums = [f"{_sha256(data)}  {name}\n" for name, data in sorted(written.items())]
    return {**written, "SHA256SUMS": "".join(sums).encode()}


def _room_for(folder: Path, written: Mapping[str, bytes]) -> None:
    """Refuse a folder that holds another package, or files that this one has not."""
    for name in sorted(_names(folder)):
        if written.get(name) != (folder / name).read_bytes():
            problem = "belongs to another package: choose another --version, or delete the folder"
            raise FormatError(folder / name, None, problem)


def _names(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return {path.relative_to(folder).as_posix() for path in found}


def _tables(tier: str, file: QuestionFile) -> dict[str, bytes]:
    """Return a tier's items as JSONL and as Parquet."""
    import pyarrow
    from pyarrow import parquet

    rows = [asdict(item) for item in file.kept]
    kinds = {name: pyarrow.string() for name in COLUMNS}
    kinds |= {"order_matters": pyarrow.bool_(), "answerable": pyarrow.bool_()}
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(kinds.items())))
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    lines = "".join(canonical(row) + "\n" for row in rows)
    return {f"data/{tier}.jsonl": lines.encode(), f"data/{tier}.parquet": sink.getvalue()}


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _croissant(
    spec: Spec, tiers: Mapping[str, QuestionFile], version: str, written: Mapping[str, bytes]
) -> bytes:
    objects, sets = [], []
    for tier in tiers:
        name = f"data/{tier}.jsonl"
        objects.append(_file_object(tier, name, written[name]))
        sets.append(_record_set(tier))
    described = cards.croissant_head(spec, version) | {"distribution": objects, "recordSet": sets}
    return (json.dumps(described, ensure_ascii=False, indent=1) + "\n").encode()


def _file_object(tier: str, name: str, data: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{tier}-items",
        "name": f"{tier}-items",
        "contentUrl": name,
        "encodingFormat": "application/jsonlines",
        "sha256": _sha256(data),
    }


def _record_set(tier: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": tier,
        "name": tier,
        "key": {"@id": f"{tier}/id"},
        "field": [_field(tier, column) for column in COLUMNS],
    }


def _field(tier: str, column: str) -> dict[str, Any]:
    truth = column in ("order_matters", "answerable")
    return {
        "@type": "cr:Field",
        "@id": f"{tier}/{column}",
        "name": column,
        "description": cards.COLUMNS[column],
        "dataType": "sc:Boolean" if truth else "sc:Text",
        "source": {"fileObject": {"@id": f"{tier}-items"}, "extract": {"column": column}},
    }


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
