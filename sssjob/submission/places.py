"""Where jobs stand that are submitted: a document in a file, or one of a store.

What is written there is on the disk when the call returns. Everything but what changes is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sssjob import outputs
from sssjob.document import read
from sssjob.document.bundle import bundles
from sssjob.document.splice import rewrite
from sssjob.model import Block
from sssjob.store.store import Store
from sssjob.submission.planning import JobWithFiles

Change = Callable[[Block], Block]

_NO_FILES: Mapping[str, bytes] = {}


class Place(Protocol):
    """What holds job objects, and keeps what becomes of them. ``name`` is one for each place."""

    @property
    def name(self) -> str:
        """What it is called, and locked by."""
        ...

    def blocks(self) -> Sequence[Block]:
        """The job objects as they are now."""
        ...

    def held(self) -> Sequence[JobWithFiles]:
        """The same, each with the files that it may name by their ids."""
        ...

    def change(self, change: Change) -> None:
        """Exchange job objects, each given as it is now, durably."""
        ...


@dataclass(frozen=True, slots=True)
class InFile:
    """The job objects of a document; it is written whole or not at all."""

    path: Path

    @property
    def name(self) -> str:
        """The path, without links."""
        return os.path.realpath(self.path)

    def blocks(self) -> Sequence[Block]:
        """The job objects. Raises ``OSError`` and ``UnreadableDocument``."""
        return tuple(read(self.path))

    def held(self) -> Sequence[JobWithFiles]:
        """Each with the Files of its message."""
        found: list[JobWithFiles] = []
        with self.path.open("rb") as stream:
            for message in bundles(stream):
                files = {id_: file.content for id_, file in message.files.items()}
                found += [JobWithFiles(block, files, message.every) for block in message.blocks]
        return found

    def change(self, change: Change) -> None:
        """Write the document anew, where it changes."""
        old = self.path.read_bytes()
        new = b"".join(rewrite(old, change))
        if new != old:
            with outputs.writing(self.path) as stream:
                stream.write(new)


@dataclass(frozen=True, slots=True)
class InStore:
    """One document of a store, by its number: each change is its next version.

    ``reason``, ``by`` and ``source`` are kept in the history of the store.
    """

    store: Store
    number: int
    reason: str = ""
    by: str | None = None
    source: str = ""

    @property
    def name(self) -> str:
        """The store, and which of its documents it is."""
        return f"{self.store.address}#{self.number}"

    def blocks(self) -> Sequence[Block]:
        """The job object."""
        return tuple(read(self.store.at(self.number).document))

    def held(self) -> Sequence[JobWithFiles]:
        """The job object with the Files that it names, as the store has them."""
        stored = self.store.at(self.number)
        return [JobWithFiles(block, self.store.files(stored)) for block in read(stored.document)]

    def change(self, change: Change) -> None:
        """Keep the next version, where it differs."""
        by, source = self.by, self.source
        with self.store.change(by=by, source=source, reason=self.reason) as changing:
            old = changing.at(self.number)
            new = b"".join(rewrite(old.document, change))
            if new != old.document:
                changing.put(new, replacing=old)


@dataclass(frozen=True, slots=True)
class InMemory:
    """Job objects that are nowhere yet, for ``prepared``: nothing of them can be kept."""

    given: Sequence[Block]

    @property
    def name(self) -> str:
        """It has none."""
        return ""

    def blocks(self) -> Sequence[Block]:
        """The job objects."""
        return self.given

    def held(self) -> Sequence[JobWithFiles]:
        """They have no files."""
        return [JobWithFiles(block, _NO_FILES) for block in self.given]

    def change(self, change: Change) -> None:
        """Refused: a submission needs a place that keeps what becomes of it."""
        raise NotImplementedError("job objects in memory are not submitted")
