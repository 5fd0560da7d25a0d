"""Which file lies at a path right now: what changes whenever something touches it."""

from pathlib import Path


def stamp(path: Path) -> dict[str, int]:
    """Return size, inode, mtime and ctime. Raises: OSError.

    Every write moves the ctime, and no call can set it back.
    """
    stat = path.stat()
    return {
        "size": stat.st_size,
        "inode": stat.st_ino,
        "mtime_ns": stat.st_mtime_ns,
        "ctime_ns": stat.st_ctime_ns,
    }
