"""What a query finds in a store: from columns where they tell, from documents elsewhere.

A store is asked as its documents one after the other, in its order, each as if it stood alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter
from threading import local
from typing import NamedTuple

from lxml import etree

from sssjob.document import tree
from sssjob.errors import DamagedStore, LimitExceeded, SSSJobError, UnreadableDocument
from sssjob.query import Match, Query, Question
from sssjob.query.batches import InOrder
from sssjob.store.access import Access, Moment, one
from sssjob.store.columns import SEPARATOR
from sssjob.store.engine import Engine, Reader, Row
from sssjob.store.identity import Identity
from sssjob.store.packing import NotUnpacked, Packing
from sssjob.store.pushdown import plan
from sssjob.store.rows import number
from sssjob.store.sql import Sql, quoted
from sssjob.store.verifying import (
    Difference,
    OnDifference,
    Said,
    of_columns,
    of_document,
    split,
)

_REMEMBERED = 1000  # facts about a store, and ways to reach rows in it
_BATCH = 200  # documents that are fetched together
_ALONE = 16  # documents up to which each is asked alone: to compile for a batch takes as long
_DENSE = 5  # documents among which one is a candidate, up to which all are read
_DOCUMENTS = "SELECT number, name, id, dictionary, data FROM document WHERE "

_BEFORE, _AFTER = b"<Documents>", b"</Documents>"  # what holds a batch of documents

OnError = Callable[[SSSJobError], None]
Work = Callable[[Sequence[bytes]], list[Match] | None]


@dataclass(slots=True)
class Trace:
    """How a query is being answered, counted while it is.

    ``rows`` are candidates, ``certain`` those of them that are an answer by their columns.
    ``opened`` documents were read; ``verified`` ones had to be, to know whether they answer.
    """

    rows: int = 0
    certain: int = 0
    opened: int = 0
    verified: int = 0

    @property
    def as_dict(self) -> dict[str, int]:
        """The counts for JSON."""
        return {
            "candidates": self.rows,
            "certain": self.certain,
            "opened": self.opened,
            "verified": self.verified,
        }

    def __str__(self) -> str:
        """As ``--explain`` prints it."""
        return (
            f"candidates {self.rows}, certain by their columns {self.certain}; "
            f"documents opened {self.opened}, to verify {self.verified}"
        )


class Candidates(NamedTuple):
    """The rows of one document that may be an answer: number, certainty and texts of each."""

    number: int
    rows: Sequence[Row]

    @property
    def are_certain(self) -> bool:
        """Whether each row is an answer."""
        return all(row[1] for row in self.rows)


class Answers(NamedTuple):
    """One query of one store, in one of the two readings."""

    engine: Engine
    packing: Packing
    question: Question
    effective: bool
    trace: Trace
    threads: int = 1
    on_error: OnError | None = None
    on_difference: OnDifference | None = None  # every document is asked, too, for its sake

    def matches(self, *, places: bool) -> Iterator[Match]:
        """What it finds; without ``places`` texts come from columns where these have them."""
        with self.engine.reading() as reader:
            way = self._access(reader)
            if self.on_difference is not None and not way.reads_all:
                yield from self._verified(reader, way, places)
            elif not places and way.texts is not None:
                yield from self._texts(reader, way.texts)
            elif way.reads_all:
                yield from self._asked(self._all(reader), places)
            elif places or not way.how.texts or way.only_documents_know:
                yield from self._asked(self._candidates(reader, way), places)
            else:
                for batch in _batches(_by_document(self._rows(reader, way, way.how.texts))):
                    yield from self._of_batch(reader, batch)

    def how_many(self) -> int:
        """How many matches are true; where columns decide, no document is opened."""
        how = plan(self.question)
        if how.path is None or self.on_difference is not None:
            return sum(match.is_true for match in self.matches(places=False))
        with self.engine.reading() as reader:
            way, texts = self._access(reader), how.texts
            if way.is_certain and not texts:
                [found] = one(reader, way.aggregates("count(*)"))
                self.trace.rows = self.trace.certain = found
                return int(found)
            total = 0
            for batch in _batches(_by_document(self._rows(reader, way, texts or ""))):
                sure = [each for each in batch if each.are_certain]
                total += sum(_number(row[2]) for each in sure for row in each.rows)
                unsure = [each for each in batch if not each.are_certain]
                found = self._of_batch(reader, unsure)
                total += sum(match.is_true for match in found)
            return total

    def total(self) -> float:
        """The numbers that are found, added in the order of the store, as ``sum()`` does."""
        column = plan(self.question).numbers
        if column is None or self.on_difference is not None:
            return _added(number(match.text) for match in self.matches(places=False))
        with self.engine.reading() as reader:
            way = self._access(reader)
            if way.is_certain and (whole := self._whole(reader, way, column)) is not None:
                return whole
            return _added(self._numbers(reader, way, column))

    def _whole(self, reader: Reader, way: Access, column: str) -> float | None:
        """The sum of whole numbers so small that the order of adding does not matter."""
        name = quoted(column)
        whole = self.engine.dialect.whole.format(name)
        aggregates = f"count(*), sum({name}), sum(abs({name})), count(CASE WHEN {whole} THEN 1 END)"
        several, added, most, wholes = one(reader, way.aggregates(aggregates))
        if not several:
            return 0.0
        if wholes < several or most >= 2**53:
            return None
        self.trace.rows = self.trace.certain = several
        return float(added)

    def _numbers(self, reader: Reader, way: Access, column: str) -> Iterator[float]:
        for batch in _batches(_by_document(self._rows(reader, way, column))):
            for each in batch:
                if each.are_certain:
                    yield from (row[2] for row in each.rows)
                else:
                    found = self._of_batch(reader, [each])
                    yield from (number(match.text) for match in found)

    def _texts(self, reader: Reader, statement: Sql) -> Iterator[Match]:
        """What is found where columns tell everything: the texts of each row."""
        count = 0
        try:
            for (found,) in reader.stream(statement.text, statement.values):
                count += 1
                if found[:1] == SEPARATOR:
                    yield from map(Match, split(found))
                else:
                    yield Match(found)
        finally:  # also where a limit ends it
            self.trace.rows = self.trace.certain = count

    def _verified(self, reader: Reader, way: Access, places: bool) -> Iterator[Match]:
        """What all documents give, and the differences to what columns say of them."""
        how = way.how
        told = _by_document(self._rows(reader, way, how.texts or how.numbers or ""))
        said = next(told, None)
        for number_, document in self._present(reader):
            while said is not None and said.number < number_:  # that one is damaged
                said = next(told, None)
            found = self._asked_alone(document, places)
            if found is None:
                continue
            rows = said.rows if said is not None and said.number == number_ else ()
            columns, true = of_columns(how, rows), of_document(how, found)
            if columns is not None and columns != true:
                self._differ(reader, number_, columns, true)
            yield from found

    def _differ(self, reader: Reader, number_: int, columns: Said, document: Said) -> None:
        assert self.on_difference is not None
        asked = "SELECT name, id, run FROM document WHERE number = ?"
        [identity] = reader.fetch(asked, (number_,))
        self.on_difference(Difference(Identity(*identity), columns, document))

    def _access(self, reader: Reader) -> Access:
        """How to reach the rows, remembered for as long as nobody writes to the store."""
        key = self.question, self.effective
        known: Access | None = reader.known.get(key)
        if known is None:
            if len(reader.known) > _REMEMBERED:
                reader.known.clear()
            moment = Moment(reader, self.engine.dialect)
            known = moment.access(plan(self.question), effective=self.effective)
            reader.known[key] = known
        return known

    def _rows(self, reader: Reader, way: Access, what: str) -> Iterator[Row]:
        text, values = way.statement(what)
        trace = self.trace
        for row in reader.stream(text, values):
            trace.rows += 1
            trace.certain += row[1]
            yield row

    def _of_batch(self, reader: Reader, batch: Sequence[Candidates]) -> Iterator[Match]:
        """The texts in several documents, of those that are certain from their columns."""
        opened = [each.number for each in batch if not each.are_certain]
        documents = {}
        if opened:
            where, value = self.engine.among("number", opened)
            documents = {row[0]: row for row in reader.fetch(_DOCUMENTS + where, (value,))}
        for each in batch:
            if each.number not in documents:
                yield from (Match(text) for row in each.rows for text in split(row[2]))
                continue
            self.trace.verified += not each.are_certain
            for _, document in self._unpacked([documents[each.number]]):
                yield from self._of_document(document, places=False)

    def _all(self, reader: Reader) -> Iterator[bytes]:
        return (document for _, document in self._present(reader))

    def _present(self, reader: Reader) -> Iterator[tuple[int, bytes]]:
        rows = reader.stream(f"{_DOCUMENTS}deleted = 0 ORDER BY number")
        for each in self._unpacked(rows):
            self.trace.verified += 1
            yield each

    def _candidates(self, reader: Reader, way: Access) -> Iterator[bytes]:
        batches = _batches(_by_document(self._rows(reader, way, "")))
        first = next(batches, [])
        if way.only_documents_know and _are_dense(first):
            # To look for each of so many documents takes longer than to read all of them.
            self.trace.rows = 0
            yield from self._all(reader)
            return
        for batch in chain([first] if first else [], batches):
            certain = {each.number: each.are_certain for each in batch}
            where, value = self.engine.among("number", list(certain))
            rows = reader.fetch(f"{_DOCUMENTS}{where} ORDER BY number", (value,))
            for number_, document in self._unpacked(rows):
                self.trace.verified += not certain[number_]
                yield document

    def _asked(self, documents: Iterator[bytes], places: bool) -> Iterator[Match]:
        """What is found in documents, asked by the batch and by several threads if possible."""
        first = list(islice(documents, _BATCH))
        if len(first) <= _ALONE:
            for document in first:
                yield from self._of_document(document, places)
            return
        batches = chain([first], iter(lambda: list(islice(documents, _BATCH)), []))
        work = _together(self.question, effective=self.effective, places=places)
        found: Iterable[tuple[list[bytes], list[Match] | None]]
        found = ((batch, None) for batch in batches)
        if work is not None:
            found = InOrder(work, batches, self.threads)
        for batch, matches in found:
            if matches is None:
                for document in batch:
                    yield from self._of_document(document, places)
            else:
                yield from matches

    def _unpacked(self, rows: Iterable[Row]) -> Iterator[tuple[int, bytes]]:
        """The documents of rows, as they are; one that is damaged is told."""
        for number_, name, id_, dictionary, data in rows:
            try:
                document = self.packing.unpack(dictionary, bytes(data))
            except NotUnpacked as error:
                said = f"{name} {id_} is damaged: {error}"
                self._refuse(DamagedStore(self.engine.address, said), error)
            else:
                self.trace.opened += 1
                yield number_, document

    def _of_document(self, document: bytes, places: bool) -> Iterator[Match]:
        yield from self._asked_alone(document, places) or ()

    def _asked_alone(self, document: bytes, places: bool) -> list[Match] | None:
        """What a document gives, all of it; None for one that cannot be asked, which is told."""
        try:
            root = tree.parse(document)
            return list(self.question.asked_of(root, effective=self.effective, places=places))
        except (LimitExceeded, UnreadableDocument) as error:
            self._refuse(error, None)
            return None

    def _refuse(self, error: SSSJobError, cause: Exception | None) -> None:
        if self.on_error is None:
            raise error from cause
        self.on_error(error)


def _together(question: Question, *, effective: bool, places: bool) -> Work | None:
    """What finds all matches in a batch of documents, or gives None where each is to be asked.

    One parse and one evaluation of many take a third of the time of asking each alone, and
    threads can do it side by side. None instead where no batch can be asked so.
    """
    if not isinstance(question, Query) or effective:
        return None
    if question.is_relative or not question.streams:
        return None
    asker, own = question.side_by_side, local()

    def work(documents: Sequence[bytes]) -> list[Match] | None:
        try:
            root = tree.parsed(b"".join((_BEFORE, *documents, _AFTER)))
        except etree.XMLSyntaxError:
            return None  # one has a declaration, and with it perhaps another encoding
        if len(root) != len(documents):
            return None
        if not hasattr(own, "ask"):
            own.ask = asker(places=False)
        try:
            found = own.ask(root, root)
        except (LimitExceeded, UnreadableDocument):
            return None  # which document it is, is told when each is asked
        return None if found and places else [Match(node) for node in found]

    return work


def _by_document(rows: Iterable[Row]) -> Iterator[Candidates]:
    for document, found in groupby(rows, itemgetter(0)):
        yield Candidates(document, tuple(found))


def _batches(candidates: Iterator[Candidates]) -> Iterator[list[Candidates]]:
    while batch := list(islice(candidates, _BATCH)):
        yield batch


def _are_dense(batch: Sequence[Candidates]) -> bool:
    """Whether more than one document in five is a candidate, by the first ones."""
    return len(batch) == _BATCH and batch[-1].number - batch[0].number < _DENSE * _BATCH


def _number(texts: str | float | None) -> int:
    """How many nodes a row stands for: its texts, or the one job or number."""
    return len(split(texts)) if isinstance(texts, str) else 1


def _added(numbers: Iterable[float]) -> float:
    """A sum as XPath makes it: one number after the other, each time rounded."""
    total = 0.0
    for each in numbers:
        total += each
    return total
