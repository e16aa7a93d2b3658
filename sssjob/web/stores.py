"""The store that is looked at: a connection for each request that is answered at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, Full, LifoQueue
from threading import Lock
from typing import TypeVar

from sssjob import store
from sssjob.store import Store
from sssjob.verbs.confined import Bounds, Confined, Told

BOUNDS = Bounds(memory=1 << 29, seconds=10, deadline=30)  # for one question in XPath
CONNECTIONS = 4  # that are kept for the next requests
PATIENCE = 5.0  # seconds to wait for who writes

T = TypeVar("T")


class Stores:
    """Connections to one store, and a process that answers questions in XPath within bounds."""

    def __init__(self, address: str, bounds: Bounds = BOUNDS) -> None:
        self.address = address
        self._idle: LifoQueue[Store] = LifoQueue(CONNECTIONS)
        self._confined = Confined(bounds)
        self._asking = Lock()

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The store, for one thread. Raises ``UnusableStore``."""
        try:
            jobs = self._idle.get_nowait()
        except Empty:
            jobs = store.open(self.address, read_only=True, patience=PATIENCE)
        try:
            yield jobs
        except BaseException:
            jobs.close()  # in which state it is, nobody knows
            raise
        try:
            self._idle.put_nowait(jobs)
        except Full:
            jobs.close()

    def ask(self, expression: str, version: str, limit: int) -> Told:
        """What an expression finds, one question after the other; raises as ``Confined`` does."""
        with self._asking:
            return self._confined.ask(expression, self.address, version=version, limit=limit)

    def confined(self, work: Callable[[Confined], T]) -> T:
        """What the process within bounds makes of it, one after the other."""
        with self._asking:
            return work(self._confined)

    def close(self) -> None:
        """End the connections and the process."""
        self._confined.close()
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return
