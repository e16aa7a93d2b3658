"""A connection to the store for each thread that answers requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sssjob import store
from sssjob.errors import BusyStore, Refused, UnusableStore
from sssjob.store import Store
from sssjob.store.parts import KeptSums


class Stores:
    """The store at one address; ``patience`` is how many seconds to wait for other writers.

    ``verifies`` is whether its questions are asked of every document, too.
    """

    def __init__(self, address: str, *, patience: float = 10.0, verifies: bool = False) -> None:
        self.address, self.patience, self.verifies = address, patience, verifies
        self._local = threading.local()
        self._open: list[Store] = []
        self._lock = threading.Lock()
        self._doing: dict[str, tuple[threading.Lock, int]] = {}  # with how many are at it
        self._sums = KeptSums()  # of the store, whichever thread asked for them

    @contextmanager
    def use(self) -> Iterator[Store]:
        """The connection of this thread.

        A store that is busy is refused (730): nothing was done. After any other fault the
        connection is made anew, since a server may have been started again.
        """
        try:
            yield self._here()
        except BusyStore as error:
            raise Refused("730", "The store is busy") from error
        except UnusableStore:
            self._forget()
            raise

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Let one thread of this process at a time do what has this name; the others wait."""
        with self._lock:
            lock, count = self._doing.get(name, (threading.Lock(), 0))
            self._doing[name] = lock, count + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, count = self._doing.pop(name)
                if count > 1:
                    self._doing[name] = lock, count - 1

    def leave(self) -> None:
        """End the connection of this thread, which will not ask for long, and what it keeps."""
        self._forget()

    def close(self) -> None:
        """End all connections; nobody uses one any more."""
        with self._lock:
            for each in self._open:
                each.close()
            self._open.clear()
            self._local = threading.local()

    def _here(self) -> Store:
        found: Store | None = getattr(self._local, "store", None)
        if found is None:
            found = store.open(self.address, patience=self.patience, sums=self._sums)
            self._local.store = found
            with self._lock:
                self._open.append(found)
        return found

    def _forget(self) -> None:
        found: Store | None = getattr(self._local, "store", None)
        if found is not None:
            del self._local.store
            with self._lock:
                self._open.remove(found)
            found.close()
