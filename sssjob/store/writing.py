"""Documents on their way into a store: found again, or new; former versions are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import count
from typing import NamedTuple

from sssjob.store import schema
from sssjob.store.engine import Engine, Row
from sssjob.store.identity import Identity, Marks, same
from sssjob.store.packing import Packing

_SELECT = f"SELECT {schema.listed(schema.DOCUMENT.names)} FROM document WHERE "
_KEEP = (
    "INSERT INTO former (document, version, change, deleted, dictionary, data) "
    "SELECT number, version, change, deleted, dictionary, data FROM document WHERE number = ?"
)
_REPLACE = (
    "UPDATE document SET global_id = ?, submitted = ?, started = ?, version = version + 1, "
    "change = ?, deleted = 0, dictionary = ?, data = ? WHERE number = ?"
)
_HIDE = "UPDATE document SET version = version + 1, change = ?, deleted = ? WHERE number = ?"


class Incoming(NamedTuple):
    """A document that was read: what it is about, its bytes, and the rows of its jobs."""

    name: str
    id: str
    marks: Marks
    document: bytes
    rows: Sequence[Row]


class Present(NamedTuple):
    """A document as its row in the table has it."""

    number: int
    name: str
    id: str
    run: int
    marks: Marks
    version: int
    change: int
    deleted: bool
    dictionary: int
    data: bytes

    @classmethod
    def of(cls, row: Row) -> Present:
        """From the columns of the table, in order."""
        number, name, id_, run, global_id, submitted, started, version, change, deleted, *data = row
        return cls(
            number, name, id_, run, Marks(global_id, submitted, started), version, change,
            bool(deleted), *data,
        )  # fmt: skip

    @property
    def identity(self) -> Identity:
        """What it is about."""
        return Identity(self.name, self.id, self.run)


class Outcome(Enum):
    """What became of a document."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class Written(NamedTuple):
    """The number of a document in the store, and what became of it."""

    number: int
    outcome: Outcome


class Writer:
    """Writes documents within a transaction that somebody else has begun."""

    def __init__(self, engine: Engine, packing: Packing) -> None:
        self.engine, self.packing = engine, packing
        self._rows = schema.job()

    def write(self, documents: Sequence[Incoming], change: int) -> list[Written]:
        """Write documents in their order, and say what became of each."""
        return [
            written
            for distinct in _distinct(documents)
            for written in self._write(distinct, change)
        ]

    def find(self, ids: Sequence[str]) -> list[Present]:
        """The documents of these Ids, kept as they are until the transaction ends."""
        condition, value = self.engine.among("id", ids)
        order = f" ORDER BY number{self.engine.locking()}"
        return [Present.of(row) for row in self.engine.fetch(_SELECT + condition + order, (value,))]

    def hide(self, present: Present, change: int, *, deleted: bool) -> None:
        """A version of a document that is hidden, or is no longer."""
        self.engine.fetch(_KEEP, (present.number,))
        self.engine.fetch(_HIDE, (change, int(deleted), present.number))
        self.engine.fetch(
            "UPDATE job SET deleted = ? WHERE document = ?", (int(deleted), present.number)
        )

    def replace(self, present: Present, incoming: Incoming, change: int) -> Written:
        """Make a document the next version of one that is there."""
        return self._replaced([(present, incoming)], change)[0]

    def _write(self, documents: Sequence[Incoming], change: int) -> list[Written]:
        """Write documents of which no two have the same Id."""
        known: dict[tuple[str, str], list[Present]] = defaultdict(list)
        for present in self.find([each.id for each in documents]):
            known[present.name, present.id].append(present)
        written: dict[int, Written] = {}
        changed: list[tuple[int, Present, Incoming]] = []
        fresh: list[tuple[int, int, Incoming]] = []
        for index, incoming in enumerate(documents):
            runs = known[incoming.name, incoming.id]
            present = same(incoming.marks, runs)
            if present is None:
                fresh.append((index, len(runs) + 1, incoming))
            elif self.packing.unpack(present.dictionary, present.data) == incoming.document:
                written[index] = Written(present.number, Outcome.UNCHANGED)
            else:
                changed.append((index, present, incoming))
        if changed:
            pairs = [(present, incoming) for _, present, incoming in changed]
            for (index, *_), done in zip(changed, self._replaced(pairs, change), strict=True):
                written[index] = done
        if fresh:
            written |= self._added(fresh, change)
        return [written[index] for index in range(len(documents))]

    def _added(
        self, fresh: Sequence[tuple[int, int, Incoming]], change: int
    ) -> dict[int, Written]:
        """Documents nobody has seen; where somebody else was faster, the next version of theirs."""
        table = schema.DOCUMENT
        rows = []
        for number, (_, run, incoming) in zip(
            self.engine.numbers(table, len(fresh)), fresh, strict=True
        ):
            data = self.packing.pack(incoming.document)
            rows.append((
                number, incoming.name, incoming.id, run, *incoming.marks, 1, change, 0,
                self.packing.current, data,
            ))  # fmt: skip
        added = self.engine.add_new(table, rows)
        written: dict[int, Written] = {}
        late = []
        jobs: list[Row] = []
        for row, (index, _, incoming) in zip(rows, fresh, strict=True):
            if row[0] in added:
                written[index] = Written(row[0], Outcome.NEW)
                jobs += _rows(row[0], incoming)
            else:
                late.append((index, incoming))
        self.engine.add(self._rows, jobs)
        if late:
            again = self._write([incoming for _, incoming in late], change)
            written |= {index: done for (index, _), done in zip(late, again, strict=True)}
        return written

    def _replaced(
        self, pairs: Sequence[tuple[Present, Incoming]], change: int
    ) -> list[Written]:
        numbers = [(present.number,) for present, _ in pairs]
        self.engine.many(_KEEP, numbers)
        self.engine.many(_REPLACE, [
            (*incoming.marks, change, self.packing.current,
             self.packing.pack(incoming.document), present.number)
            for present, incoming in pairs
        ])  # fmt: skip
        self.engine.many("DELETE FROM job WHERE document = ?", numbers)
        self.engine.add(
            self._rows, [row for present, incoming in pairs for row in _rows(present.number, incoming)]
        )
        return [Written(present.number, Outcome.CHANGED) for present, _ in pairs]


def _rows(number: int, incoming: Incoming) -> Iterator[Row]:
    """The rows of a document's jobs as the table has them."""
    return ((number, 0, *row) for row in incoming.rows)


def _distinct(documents: Sequence[Incoming]) -> Iterator[Sequence[Incoming]]:
    """The documents in their order, in pieces within which no two have the same Id."""
    seen: set[str] = set()
    start = 0
    for end in count():
        if end == len(documents) or documents[end].id in seen:
            if start < end:
                yield documents[start:end]
            if end == len(documents):
                return
            seen, start = set(), end
        seen.add(documents[end].id)
