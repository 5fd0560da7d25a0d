"""Who may run a query now: as many seats as there are workers, and one asker who may want them all."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from database.build import QueryError
from database.process import Cancelled, Stop, Worker

WAIT_S = 0.05  # how often a waiting asker looks whether its answer is still wanted


@dataclass
class Seat:
    """Who holds it may run one query; the worker in it may change, or start when first needed."""

    worker: "Future[Worker] | None" = None


class Seats:
    """The seats that are free. One asker at a time may ask for all of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.free = [Seat() for _ in range(count)]
        self.closed = False
        self.alone = False
        self.changed = threading.Condition()

    @contextmanager
    def one(self, stop: Stop) -> Iterator[Seat]:
        """Hold a seat. Raises: Cancelled, QueryError (closed)."""
        with self.changed:
            while not self.free or self.alone:
                self._wait(stop)
            self._check(stop)
            seat = self.free.pop()
        try:
            yield seat
        finally:
            self._give_back(seat)

    @contextmanager
    def all(self, stop: Stop) -> Iterator[Seat]:
        """Hold every seat, to use one. Raises: Cancelled, QueryError (closed)."""
        with self.changed:
            while self.alone:
                self._wait(stop)
            self.alone = True  # nobody else sits down from now on
        try:
            with self.changed:
                while len(self.free) < self.count:
                    self._wait(stop)
                seat = self.free.pop()
            try:
                yield seat
            finally:
                self._give_back(seat)
        finally:
            with self.changed:
                self.alone = False
                self.changed.notify_all()

    def close(self) -> None:
        """Let nobody sit down any more, and wait until everybody stood up."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
            while len(self.free) < self.count:
                self.changed.wait()

    def _give_back(self, seat: Seat) -> None:
        with self.changed:
            self.free.append(seat)
            self.changed.notify_all()

    def _wait(self, stop: Stop) -> None:
        self._check(stop)
        self.changed.wait(WAIT_S)
        self._check(stop)

    def _check(self, stop: Stop) -> None:
        if self.closed:
            raise QueryError("the database is closed")
        if stop():
            raise Cancelled
