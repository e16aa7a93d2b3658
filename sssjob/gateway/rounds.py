"""What a gateway does by the way, again and again, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sssjob.errors import SSSJobError
from sssjob.gateway.log import LOGGER, event


class Rounds:
    """Rounds of some work, ``every`` so many seconds, until they are stopped.

    What goes wrong costs one round, and never those that follow: it is an event of the name
    ``failed`` where it can be expected, and else a fault of ours, with its traceback. The first one
    comes after ``first`` seconds; ``patience`` is how many the end of a round is waited for.
    """

    def __init__(
        self, name: str, work: Callable[[], object], every: float,
        *, failed: str, patience: float, first: float = 0.0,
    ) -> None:  # fmt: skip
        self._work, self._failed, self._patience = work, failed, patience
        self._first, self._every = first, every
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def stopping(self) -> bool:
        """Whether the round that is under way is the last one."""
        return self._stopping.is_set()

    def start(self) -> None:
        """Begin, in another thread."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round that is under way."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(self._patience)

    def _run(self) -> None:
        seconds = self._first
        while not self._stopping.wait(seconds):
            seconds = self._every
            try:
                self._work()
            except (SSSJobError, OSError) as error:
                event(self._failed, logging.ERROR, reason=str(error))
            except Exception as fault:  # of ours: it costs one round, not the thread
                LOGGER.error("fault", exc_info=fault)
