"""The State of submitted jobs, looked up by the way: a Query shows what was seen last."""

from __future__ import annotations

import logging
import threading

from sssjob.commands import CommandFailed
from sssjob.errors import Refused, UnusableStore
from sssjob.gateway.log import event
from sssjob.handlers.stores import Stores
from sssjob.handlers.submitting import Submission
from sssjob.submission import Busy, Changed


class Looking:
    """Asks a batch system, in a thread of its own, for the jobs that were submitted to it."""

    def __init__(self, to: Submission, stores: Stores) -> None:
        self.to, self.stores = to, stores
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="look", daemon=True)

    def start(self) -> None:
        """Begin, in another thread."""
        self._thread.start()

    def stop(self) -> None:
        """End after the commands that run now."""
        self._stopping.set()
        self._thread.join(self.to.timeout)

    def _run(self) -> None:
        while not self._stopping.wait(self.to.every):
            try:
                if why := self.to.look(self.stores):
                    event("jobs are known by their State only", logging.WARNING, reason=why)
            except (Refused, UnusableStore, CommandFailed, Busy, Changed, OSError) as error:
                event("jobs are not looked up", logging.WARNING, reason=str(error))
