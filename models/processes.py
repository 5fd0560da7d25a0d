"""Who holds a claim: a process by machine, number and start, and whether it may still be there."""

import os
import socket
from functools import cache
from itertools import count
from pathlib import Path

import psutil

_SERIAL = count()


def this_process() -> str:
    """Return a name for one open ledger of this process: `host:pid:started:serial`."""
    return f"{_host()}:{os.getpid()}:{_started(os.getpid())}:{next(_SERIAL)}"


@cache
def _host() -> str:
    """Name this machine and its process numbering: a container counts its own processes."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> int | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else int(process.create_time())
    except psutil.Error:
        return None


def may_live(process: str) -> bool:
    """Tell whether the process that wrote a claim may still be there; elsewhere nobody knows."""
    host, pid, started, _ = process.split(":")
    return host != _host() or _started(int(pid)) == int(started)
