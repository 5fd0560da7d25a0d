"""The inside of a worker process: one read-only database, one query at a time, hard limits.

Started by `database/workers.py` with an empty environment and without site-packages but the engine's.
The order matters: die with the parent, give up what is not needed, only then open the database.
"""

import gc
import json
import os
import pickle
import time
from pathlib import Path
from typing import Any, BinaryIO

from database.frames import PROTOCOL, read_frame, write_frame
from database.session import Failed, Session, open_session
from database.stamp import stamp
from database.weight import TooDeepError, nested, weight

FIRST_ROWS = 2  # they tell how large a piece may be; a count has come whole
PIECE_ROWS = 2_048
PIECE_BYTES = 1 << 20
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


def main() -> None:
    """Answer requests until the pipe closes."""
    forget_environment()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)  # nothing that an engine prints may mix with our frames
    os.dup2(quiet, 1)
    frame = read_frame(requests)
    if frame is None:
        return
    setup = json.loads(frame[0])
    confine(setup)
    try:
        unchanged(setup)
        session = open_session(setup)
    except Failed as failed:
        write_frame(answers, json.dumps({"failed": failed.message}).encode())
        return
    write_frame(answers, json.dumps({"tables": sorted(session.tables)}).encode())
    gc.freeze()  # what is here stays: no collection looks at it again
    while (frame := read_frame(requests)) is not None:
        serve(session, json.loads(frame[0]), answers)


def forget_environment() -> None:
    """Leave nothing to read in the environment: what stood there was for the C library's start."""
    import ctypes

    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])  # env_start, env_end: 50 and 51 of proc(5)
    ctypes.memset(start, 0, end - start)
    os.environ.clear()


def unchanged(setup: dict[str, Any]) -> None:
    """A worker that takes another's place must open the same file. Raises: Failed."""
    if stamp(Path(setup["path"])) != setup["stamp"]:
        raise Failed("error", "the file was replaced or changed while it was open")


def confine(setup: dict[str, Any]) -> None:
    """Die with the parent, write no file, dump no core, take no more memory than allowed."""
    import ctypes
    import resource
    import signal

    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != setup["parent"]:
        os._exit(1)  # the parent died before the line above
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (setup["address_bytes"],) * 2)


def serve(session: Session, request: dict[str, Any], answers: BinaryIO) -> None:
    """Run one query and send its rows or why there are none."""
    started = time.perf_counter()
    pieces: list[bytes] = []
    head: dict[str, Any]
    try:
        columns, types = run(session, request, pieces)
        head = {"columns": columns, "types": types}
    except Failed as failed:
        head, pieces = {"reason": failed.reason, "message": failed.message}, []
    except MemoryError:
        pieces.clear()
        head = {"reason": "memory", "message": "the result does not fit into the worker's memory"}
    except TooDeepError:
        head, pieces = {"reason": "too_large", "message": "a value nested too deep"}, []
    finally:
        session.close_query()
    head |= {"elapsed_s": time.perf_counter() - started, "spent": session.spent}
    write_frame(answers, json.dumps(head).encode(), b"".join(pieces))


def run(
    session: Session, request: dict[str, Any], pieces: list[bytes]
) -> tuple[list[str], list[str]]:
    """Start the query and encode its rows piece by piece. Raises: Failed, TooDeepError, MemoryError."""
    sql, time_s, trusted = request["sql"], request["time_s"], request["trusted"]
    columns, types = session.start(sql, time_s, trusted)
    rows = size = weighed = 0
    ask, deep = FIRST_ROWS, nested(types)
    while True:
        ask = min(ask, request["rows"] + 1 - rows)
        piece = session.fetch(ask)
        rows += len(piece)
        if rows > request["rows"]:
            raise Failed("too_many_rows", f"more than {request['rows']:,} rows")
        weighed += weight(piece) if deep else 0
        pieces.append(pickle.dumps(piece, PROTOCOL))
        size += len(pieces[-1])
        if max(size, weighed) > request["bytes"]:
            raise Failed("too_large", f"more than {request['bytes']:,} bytes")
        if len(piece) < ask:
            return columns, types
        ask = max(1, min(PIECE_ROWS, PIECE_BYTES * rows // size))
