"""Ledgers as files to keep, to read elsewhere, and to replay.

JSONL, one call a line in canonical JSON (compressed when the name ends in .gz or .xz):

    {"answer":{"text":"SELECT 1",...},"attempts":[...],"command":"exam","key":"...","request":{...},
     "role":"exam"}

Parquet holds the same, the request and the attempts as JSON text. A JSONL export can be replayed.
"""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from models.call import Answer
from models.ledger import Ledger
from models.ledger_rows import request_of
from models.spending import attempts, reading
from registry.canonical import canonical
from registry.files import replace
from registry.reader import FormatError

_BATCH = 10_000  # rows of Parquet that are in memory at once


def export(ledger: Path, target: Path) -> int:
    """Write a ledger's answered calls to a file, JSONL or Parquet by its name; returns how many.

    Raises: FormatError (no ledger, or another ending), OSError.
    """
    if target.suffix == ".parquet":
        return _parquet(ledger, target)
    if not {".jsonl", ".gz", ".xz"} & {target.suffix}:
        raise FormatError(target, None, "name it .jsonl, .jsonl.gz, .jsonl.xz or .parquet")
    return write_calls(calls(ledger), target)


def write_calls(made: Iterable[dict[str, Any]], target: Path) -> int:
    """Write calls, as `calls` yields them, to a JSONL file; returns how many."""
    lines = [canonical(call) + "\n" for call in made]
    replace(target, _packed("".join(lines).encode(), target.suffix))
    return len(lines)


def calls(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a ledger's answered calls, oldest first."""
    with reading(path) as db:
        ledger = Ledger(path)
        try:
            for key in ledger.answered():
                request, answer = ledger.request(key), ledger.find(key)
                command = db.execute("SELECT command FROM calls WHERE key = ?", (key,)).fetchone()
                assert request is not None
                assert answer is not None
                yield {
                    "key": key,
                    "role": request.role,
                    "command": command[0],
                    "request": request.decides,
                    "answer": asdict(answer),
                    "attempts": attempts(db, key),
                }
        finally:
            ledger.close()


def imported(source: Path, target: Path) -> Path:
    """Make a ledger of a JSONL export; returns its path.

    Raises: FormatError (a line that is no call, or whose key does not match its request; a packed file
    that is cut off or broken), OSError.
    """
    ledger = Ledger(target)
    try:
        with _unpacked(source) as lines:
            for number, line in enumerate(lines, 1):
                _import(ledger, line, f"{source}:{number}")
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise FormatError(source, None, f"cannot be unpacked: {error}") from None
    finally:
        ledger.close()
    return target


def _import(ledger: Ledger, line: bytes, where: str) -> None:
    try:
        call = json.loads(line)
        request = request_of(call["request"], role=call["role"])
        answer, command = _answer(call["answer"]), call["command"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(where, None, f"not an exported call: {error!r}") from None
    if request.key != call["key"]:
        raise FormatError(where, None, "the request is not the one that its key says")
    ledger.add(request, answer, command=command)


def _answer(found: dict[str, Any]) -> Answer:
    known = {f.name for f in fields(Answer)}
    entropies = found.get("token_entropies")
    kept = {name: value for name, value in found.items() if name in known}
    return Answer(**kept | {"token_entropies": None if entropies is None else tuple(entropies)})


def _parquet(ledger: Path, target: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [_flat(call) for call in calls(ledger)]
    if not rows:
        raise FormatError(ledger, None, "holds no answered call")
    with pq.ParquetWriter(target, pa.Table.from_pylist(rows).schema) as writer:
        for start in range(0, len(rows), _BATCH):
            writer.write_table(pa.Table.from_pylist(rows[start : start + _BATCH]))
    return len(rows)


def _flat(call: dict[str, Any]) -> dict[str, Any]:
    answer = {f"answer_{name}": value for name, value in call["answer"].items() if name != "key"}
    plain = {name: call[name] for name in ("key", "role", "command")}
    asked = {name: call["request"][name] for name in ("model", "route", "revision", "draw")}
    texts = {name: canonical(call[name]) for name in ("request", "attempts")}
    return plain | asked | texts | answer


def _packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    return lzma.compress(data) if suffix == ".xz" else data


def _unpacked(path: Path) -> IO[bytes] | gzip.GzipFile | lzma.LZMAFile:
    if path.suffix == ".gz":
        return gzip.open(path)
    if path.suffix == ".xz":
        return lzma.open(path)
    return path.open("rb")
