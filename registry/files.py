"""Files are replaced whole, and one process writes at a time."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class BusyError(OSError):
    """Another process is writing the same file."""


def replace(path: Path, content: str | bytes) -> None:
    """Write a file beside its place, flush it to disk, and move it there in one step.

    A reader sees the old file or the new one; a full disk leaves the old one. Raises: OSError.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(beside).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, *, wait_s: float = 30.0) -> Iterator[None]:
    """Hold the write lock of a file (`.<name>.lock` beside it).

    Raises: BusyError when another process holds it longer than `wait_s`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=wait_s):
            yield
    except Timeout:
        raise BusyError(
            f"{path}: another benchtoward process is writing it; wait for that one, or stop it"
        ) from None
