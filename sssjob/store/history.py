"""The history of a store: who made a change, when and why."""

from __future__ import annotations

import time

from sssjob.errors import of_kind
from sssjob.store import schema
from sssjob.store.engine import Engine


class HistoryEntry:
    """The entry of one change, or of one import, in the history of a store."""

    def __init__(self, engine: Engine, *, by: str, source: str, reason: str) -> None:
        for text in (by, source, reason):
            of_kind(text, str, "a text of the history")
        self._engine = engine
        self._origin = tuple(map(_plain, (by, source, reason)))
        self._number: int | None = None
        self._is_kept = False

    @property
    def number(self) -> int:
        """The number of the entry, which is written when it is asked for first."""
        if self._number is None:
            [self._number] = self._engine.numbers(schema.CHANGE, 1)
            self._engine.add(schema.CHANGE, [(self._number, int(time.time()), *self._origin)])
        return self._number

    def ended(self, *, committed: bool) -> None:
        """Learn how the transaction ended: an entry that was not committed is written again."""
        self._is_kept = self._is_kept or (committed and self._number is not None)
        if not self._is_kept:
            self._number = None


def _plain(text: str) -> str:
    """A text that every database takes: names of files may hold bytes that are no characters."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return whole.replace("\0", "\ufffd")
