"""A small database of our own making, in memory, for variants of a query that the gate has admitted.

    with scratch(["CREATE TABLE person (person_id BIGINT)", ...]) as ask:
        outcome = ask("SELECT count(*) FROM person")      # Result, or Failure as data

What a model wrote runs on engine.Database only. Here run changed copies of a reference that went
through its gate and its worker, on a few thousand rows; the engine's own time limit is enough for them,
and a new worker for each item would cost more than the work.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from database.build import QueryError
from database.result import Failure, Result

Ask = Callable[[str], Result | Failure]
ROWS = 10_000
SETTINGS = (
    "SET GLOBAL TimeZone = 'UTC'",
    "SET GLOBAL threads = 1",
    "SET GLOBAL max_memory = '512MB'",
    "SET GLOBAL max_temp_directory_size = '0MB'",
    "SET GLOBAL temp_directory = ''",
    "SET GLOBAL enable_external_access = false",
    "SET GLOBAL lock_configuration = true",
)


@contextmanager
def scratch(statements: Iterable[str], *, time_s: float = 1.0) -> Iterator[Ask]:
    """Make a database from statements of our own; yields a function that asks it.

    Raises: QueryError when a statement does not run.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"SET GLOBAL max_execution_time = {int(time_s * 1000)}")
            for setting in SETTINGS:
                connection.execute(setting)
        except duckdb.Error as error:
            raise QueryError(f"a scratch database cannot be made: {error}") from None

        def ask(sql: str) -> Result | Failure:
            started = time.monotonic()
            try:
                cursor = connection.execute(sql)
                columns = cursor.description or []
                rows = cursor.fetchmany(ROWS + 1)
            except duckdb.Error as error:
                return Failure("error", type(error).__name__, time.monotonic() - started)
            if len(rows) > ROWS:
                return Failure("too_many_rows", f"over {ROWS:,}", time.monotonic() - started)
            names, types = tuple(c[0] for c in columns), tuple(str(c[1]) for c in columns)
            return Result(names, types, tuple(rows), time.monotonic() - started)

        yield ask
