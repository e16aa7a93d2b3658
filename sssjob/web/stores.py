"""The store that is looked at: a connection for each request that is answered at the same time,
and, of a large one, a summary in which its jobs are counted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Full, LifoQueue
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import NamedTuple, TypeVar

from sssjob import store
from sssjob.errors import SSSJobError
from sssjob.store import Store, summary
from sssjob.store.condition import Condition
from sssjob.store.engine import CountedIn
from sssjob.store.summary import Summary
from sssjob.verbs.confined import Bounds, Confined, Told
from sssjob.workers import PartWork, Workers

BOUNDS = Bounds(memory=1 << 29, seconds=10, deadline=30)  # for one question in XPath
CONNECTIONS = 4  # that are kept for the next requests
PATIENCE = 5.0  # seconds to wait for who writes

LARGE = 64 << 20  # bytes of a store of which a summary is worth its making
FRESH, OLD = 60.0, 600.0  # seconds: a summary is made anew, and is not used any more
SPARE = 20  # times as long as a summary takes it is kept, so that a busy store is not read always
SUMMING = Bounds(memory=4 << 30, seconds=900, deadline=1800)  # for one summary

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class CountedStore(NamedTuple):
    """What jobs are counted in; ``at`` is its moment where the store has gone on since."""

    engine: CountedIn
    at: float | None = None


class Summaries:
    """The summary of a large store: made by a process of its own, when somebody asks for it."""

    def __init__(
        self, address: str, *, large: int = LARGE, fresh: float = FRESH, old: float = OLD,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self._address, self._large, self._clock = address, large, clock
        self._fresh, self._old = fresh, old
        self._made: Summary | None = None
        self._next = 0.0  # no other one is begun before
        self._lock = Lock()
        self._thread: Thread | None = None
        self._is_here = all(find_spec(name) is not None for name in ("duckdb", "pyarrow"))

    def of(self, kept: Store, where: Condition, *names: str) -> CountedStore:
        """In what these jobs are counted now: the summary, if it has these columns and is of this
        moment or of one not long ago; else the store.
        """
        if not self._is_here or kept.engine.size() < self._large:
            return CountedStore(kept.engine)
        with kept.engine.reading() as reading:
            change = summary.moment_of(reading)
        made, now = self._made, self._clock()
        if made is None or made.change != change:
            self._begin(now)
        if made is None or not made.has(where, *names):
            return CountedStore(kept.engine)
        if made.change == change:
            return CountedStore(made)
        return (
            CountedStore(made, made.at) if now - made.at < self._old else CountedStore(kept.engine)
        )

    def wait(self) -> None:
        """Until the one that is being made is there."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Forget it, when the one that is being made is there."""
        self.wait()
        self._made = None

    def _begin(self, now: float) -> None:
        with self._lock:
            if now < self._next or (self._thread is not None and self._thread.is_alive()):
                return
            self._next = now + self._fresh
            self._thread = Thread(target=self._make, args=(now,), name="summary", daemon=True)
            self._thread.start()

    def _make(self, now: float) -> None:
        """Have a process write the columns, and load them."""
        work = PartWork("sssjob.store.summary:builder", opens_stores=True)
        try:
            with (
                TemporaryDirectory(prefix="sssjob-summary-") as folder,
                Workers[tuple[str, str], summary.Built](work, 1, SUMMING) as workers,
            ):
                asked = (self._address, str(Path(folder, "jobs.parquet")))
                [(_, built)] = workers.in_order([asked], lambda asked: asked[0])
                self._made = Summary(built, now)
        except (SSSJobError, OSError) as error:
            LOGGER.warning("no summary of %s: %s", self._address, error)
        took = self._clock() - now
        self._next = max(self._next, now + took * SPARE)


class StorePool:
    """Connections to one store, a process that answers questions in XPath within bounds, and what
    jobs are counted in.
    """

    def __init__(
        self, address: str, bounds: Bounds = BOUNDS, summaries: Summaries | None = None
    ) -> None:
        self.address = address
        self.summaries = summaries or Summaries(address)
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
        self.summaries.close()
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return
