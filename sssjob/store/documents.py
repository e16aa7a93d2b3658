"""Documents of a store that have to be read: unpacked and asked here, or by another process.

A part holds documents as they are packed, all of one moment, and the dictionaries that they need.
So whoever reads them opens no store, and sees what one process would see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from sssjob.document import reader, tree
from sssjob.errors import DamagedStore, LimitExceeded, SSSJobError, UnreadableDocument
from sssjob.query import Match, Query, Question
from sssjob.store import lookup
from sssjob.store.engine import Row
from sssjob.store.packing import NO_DICTIONARY, NotUnpacked, Packing
from sssjob.store.stored import Stored

SELECT = "SELECT number, name, id, dictionary, data FROM document WHERE "

_PART, _PART_BYTES = 1000, 1 << 18  # documents of a part, and their bytes as they are packed
_BATCH = 200  # documents that are asked together
_ALONE = 16  # documents up to which each is asked alone: to compile for a batch takes as long
_DICTIONARY, _DATA = -2, -1  # where rows have them

OnError = Callable[[SSSJobError], None]


class PackedRows(NamedTuple):
    """Rows of documents of a store, as ``SELECT`` or ``lookup.PRESENT`` give them."""

    address: str
    rows: Sequence[Row]
    dictionaries: Mapping[int, bytes]

    def __str__(self) -> str:
        """The place of its first document."""
        return f"{self.address}, document {self.rows[0][0]}"

    def documents(self, on_error: OnError) -> Iterator[bytes]:
        """The documents of ``SELECT``; one that is damaged is told."""
        for _, document in unpacked(self.rows, self._packing, self.address, on_error):
            yield document

    def matches(
        self, question: Question, on_error: OnError, *, effective: bool, places: bool
    ) -> Iterator[Match]:
        """What a question finds in the documents of ``SELECT``."""
        asking = DocumentQuestion(question, effective=effective, places=places)
        return asking.matches(self.documents(on_error), on_error)

    def stored(self, on_error: OnError) -> Iterator[Stored]:
        """The documents of ``lookup.PRESENT``; one that is damaged is told."""
        packing = self._packing
        for row in self.rows:
            yield from lookup.told(row, packing, self.address, on_error)

    @property
    def _packing(self) -> Packing:
        return Packing(NO_DICTIONARY, self.dictionaries.get)


def parts(rows: Iterable[Row], packing: Packing, address: str) -> Iterator[PackedRows]:
    """Rows in parts, each with what it takes to read its documents."""
    part: list[Row] = []
    size = 0
    for row in rows:
        part.append((*row[:_DATA], bytes(row[_DATA])))
        size += len(row[_DATA])
        if len(part) == _PART or size > _PART_BYTES:
            yield _part(part, packing, address)
            part, size = [], 0
    if part:
        yield _part(part, packing, address)


def _part(rows: Sequence[Row], packing: Packing, address: str) -> PackedRows:
    return PackedRows(address, rows, packing.dictionaries({row[_DICTIONARY] for row in rows}))


def unpacked(
    rows: Iterable[Row], packing: Packing, address: str, on_error: OnError
) -> Iterator[tuple[int, bytes]]:
    """The numbers and documents of rows of ``SELECT``; one that is damaged is told."""
    for number, name, id_, dictionary, data in rows:
        try:
            document = packing.unpack(dictionary, bytes(data))
        except NotUnpacked as error:
            damaged = DamagedStore(address, f"{name} {id_} is damaged: {error}")
            damaged.__cause__ = error
            on_error(damaged)
        else:
            yield number, document


class DocumentQuestion:
    """A question as it is asked of documents that stand alone, each as if there were no other."""

    def __init__(self, question: Question, *, effective: bool, places: bool) -> None:
        self.question, self.effective, self.places = question, effective, places

    def matches(self, documents: Iterator[bytes], on_error: OnError) -> Iterator[Match]:
        """What is found in documents, asked by the batch if possible."""
        first = list(islice(documents, _BATCH))
        batches = chain([first], iter(lambda: list(islice(documents, _BATCH)), []))
        together = None
        if len(first) > _ALONE:
            together = _together(self.question, effective=self.effective, places=self.places)
        for batch in batches:
            found = None if together is None else together(batch)
            if found is None:
                for document in batch:
                    yield from self.alone(document, on_error) or ()
            else:
                yield from found

    def alone(self, document: bytes, on_error: OnError) -> list[Match] | None:
        """What a document gives, all of it; None for one that cannot be asked, which is told."""
        try:
            root = tree.parse(document)
            asked = self.question.asked_of(root, effective=self.effective, places=self.places)
            return list(asked)
        except (LimitExceeded, UnreadableDocument) as error:
            on_error(error)
            return None


def _together(
    question: Question, *, effective: bool, places: bool
) -> Callable[[Sequence[bytes]], list[Match] | None] | None:
    """What finds all matches in a batch of documents, or gives None where each is to be asked.

    One parse and one evaluation of many take a third of the time of asking each alone. None
    instead where no batch can be asked so.
    """
    if not isinstance(question, Query) or effective:
        return None
    if question.is_relative or not question.streams:
        return None
    ask = question.side_by_side(places=False)

    def work(documents: Sequence[bytes]) -> list[Match] | None:
        if (root := reader.joined(documents)) is None:
            return None
        try:
            found = ask(root)(root)
        except (LimitExceeded, UnreadableDocument):
            return None  # which document it is, is told when each is asked
        return None if found and places else [Match(node) for node in found]

    return work
