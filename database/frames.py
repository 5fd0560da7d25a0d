"""What crosses the border between a worker and us: frames of bytes on two pipes.

To the worker one JSON document a frame. From the worker a JSON head and, for rows, one pickle of a
list of tuples. The pickle is read with a closed list of classes, so that even a worker that was
taken over can make nothing but values here.
"""

import copyreg
import io
import pickle
import struct
from datetime import timedelta, timezone
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

HEAD = struct.Struct(">IQ")  # bytes of the JSON head, bytes of the pickle after it
PROTOCOL = 5
_VALUES = {
    ("builtins", "bytearray"),
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
    ("uuid", "SafeUUID"),
}


# The session's time zone is UTC, always; the fixed zone needs no data files where it is read.
def _utc(_zone: ZoneInfo) -> Any:
    return timezone, (timedelta(0),)


copyreg.pickle(ZoneInfo, _utc)


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _VALUES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a result")


def load_rows(data: bytes | bytearray) -> list[tuple[Any, ...]]:
    """Return the rows of a pickle. Raises: UnpicklingError for anything that is not plain values."""
    rows: list[tuple[Any, ...]] = []
    stream = io.BytesIO(data)
    while stream.tell() < len(data):
        rows.extend(_Values(stream).load())
    return rows


def write_frame(out: BinaryIO, head: bytes, body: bytes = b"") -> None:
    """Write a head and a body. Raises: OSError when the other side is gone."""
    out.write(HEAD.pack(len(head), len(body)) + head)
    out.write(body)
    out.flush()


def read_frame(source: BinaryIO) -> tuple[bytes, bytes] | None:
    """Read a head and a body; None when the other side is gone."""
    size = source.read(HEAD.size)
    if len(size) < HEAD.size:
        return None
    head, body = HEAD.unpack(size)
    return source.read(head), source.read(body)
