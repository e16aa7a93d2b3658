"""A connection to the store for each thread that answers requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sssjob import store
from sssjob.errors import BusyStore, Refused, UnusableStore
from sssjob.store import Store
from sssjob.store.parts import KeptSums

# Seconds after which a thread gives back the pages of its connection: the caches of many would
# grow with the store, and what they leave between other things is not the system's again.
_RELEASED = 60.0


class Stores:
    """The store at one address; ``patience`` is how many seconds to wait for other writers.

    ``verifies`` is whether its questions are asked of every document, too.
    """

    def __init__(self, address: str, *, patience: float = 10.0, verifies: bool = False) -> None:
        self.address, self.patience, self.verifies = address, patience, verifies
        self._local = threading.local()
        self._open: list[Store] = []
        self._lock = threading.Lock()
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
            self._local.store, self._local.released = found, time.monotonic()
            with self._lock:
                self._open.append(found)
        elif time.monotonic() - self._local.released > _RELEASED:
            self._local.released = time.monotonic()
            found.release()
        return found

    def _forget(self) -> None:
        found: Store | None = getattr(self._local, "store", None)
        if found is not None:
            del self._local.store
            with self._lock:
                self._open.remove(found)
            found.close()
