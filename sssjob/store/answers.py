"""What a query finds in a store: from columns where they tell, from documents elsewhere.

A store is asked as its documents one after the other, in its order, each as if it stood alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import NamedTuple, TypeVar

from sssjob.errors import SSSJobError, hand_over
from sssjob.query import Match, Question
from sssjob.store.access_paths import Access, StoreMoment, one
from sssjob.store.cells import only
from sssjob.store.columns import SEPARATOR
from sssjob.store.documents import SELECT, DocumentQuestion, OnError, PackedRows, parts, unpacked
from sssjob.store.engine import Engine, ReadTransaction, Row
from sssjob.store.identity import Identity
from sssjob.store.packing import Packing
from sssjob.store.plan import QueryPlan
from sssjob.store.pushdown import plan
from sssjob.store.rows import number
from sssjob.store.sql import Sql, quoted
from sssjob.store.totals import added, summed
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
_DENSE = 5  # documents among which one is a candidate, up to which all are read

T = TypeVar("T")


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


class CandidateRows(NamedTuple):
    """The rows of one document that may be an answer: number, certainty and texts of each."""

    number: int
    rows: Sequence[Row]

    @property
    def are_certain(self) -> bool:
        """Whether each row is an answer."""
        return all(row[1] for row in self.rows)


class StoreAnswers(NamedTuple):
    """One query of one store, in one of the two readings."""

    engine: Engine
    packing: Packing
    question: Question
    effective: bool
    trace: Trace
    on_error: OnError | None = None
    on_difference: OnDifference | None = None  # every document is asked, too, for its sake

    def matches(self, *, places: bool) -> Iterator[Match]:
        """What it finds; without ``places`` texts come from columns where these have them."""
        with self.engine.reading() as reader:
            yield from self._matches(reader, places)

    def made(
        self, here: Callable[[Iterator[Match]], Iterator[T]],
        elsewhere: Callable[[Iterator[PackedRows]], Iterator[T]], *, places: bool,
    ) -> Iterator[T]:  # fmt: skip
        """What becomes of the matches, which ``here`` makes of them.

        Where documents have to be asked and nothing else, ``elsewhere`` makes the same of parts.
        """
        with self.engine.reading() as reader:
            rows = self._to_ask(reader, self._access(reader), places)
            if rows is None:
                yield from here(self._matches(reader, places))
            else:
                yield from elsewhere(parts(rows, self.packing, self.engine.address))

    def _matches(self, reader: ReadTransaction, places: bool) -> Iterator[Match]:
        way = self._access(reader)
        if self.on_difference is not None and not way.reads_all:
            yield from self._verified(reader, way, places)
        elif (rows := self._to_ask(reader, way, places)) is not None:
            asking = DocumentQuestion(self.question, effective=self.effective, places=places)
            yield from asking.matches((found for _, found in self._unpacked(rows)), self._refuse)
        elif way.texts is not None:
            yield from self._texts(reader, way.texts)
        else:
            for batch in _batches(_by_document(self._rows(reader, way, way.how.texts or ""))):
                yield from self._of_batch(reader, batch)

    def _to_ask(self, reader: ReadTransaction, way: Access, places: bool) -> Iterator[Row] | None:
        """The rows of the documents that the question is asked of; None where columns help."""
        if way.reads_all:
            return self._all(reader)
        if self.on_difference is not None or (not places and way.texts is not None):
            return None
        if places or not way.how.texts or way.only_documents_know:
            return self._candidates(reader, way)
        return None

    def documents(self, how: QueryPlan) -> Iterator[bytes]:
        """The documents in which a plan may find something, in the order of the store."""
        with self.engine.reading() as reader:
            access = StoreMoment(reader, self.engine.dialect).access(how, effective=self.effective)
            rows = self._all(reader) if access.reads_all else self._candidates(reader, access)
            yield from (document for _, document in self._unpacked(rows))

    def how_many(self) -> int:
        """How many matches are true; where columns decide, no document is opened."""
        how = plan(self.question)
        if how.path is None or self.on_difference is not None:
            return sum(match.is_true for match in self.matches(places=False))
        with self.engine.reading() as reader:
            way, texts = self._access(reader), how.texts
            if way.is_certain and not texts:
                [found] = one(reader, way.aggregates("count(*)"))
                self._told(found)
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
            return summed("sum", self.matches(places=False))
        with self.engine.reading() as reader:
            way = self._access(reader)
            if way.is_certain and (whole := self._whole(reader, way, column)) is not None:
                return whole
            return added(self._numbers(reader, way, column))

    def _whole(self, reader: ReadTransaction, way: Access, column: str) -> float | None:
        """The sum of whole numbers so small that the order of adding does not matter."""
        name = quoted(column)
        whole = self.engine.dialect.whole.format(name)
        aggregates = f"count(*), sum({name}), sum(abs({name})), count(CASE WHEN {whole} THEN 1 END)"
        several, whole_sum, most, wholes = one(reader, way.aggregates(aggregates))
        if not several:
            return 0.0
        if wholes < several or most >= 2**53:
            return None
        self._told(several)
        return float(whole_sum)

    def _numbers(self, reader: ReadTransaction, way: Access, column: str) -> Iterator[float]:
        for batch in _batches(_by_document(self._rows(reader, way, column))):
            for each in batch:
                if each.are_certain:
                    yield from (row[2] for row in each.rows)
                else:
                    found = self._of_batch(reader, [each])
                    yield from (number(match.text) for match in found)

    def _texts(self, reader: ReadTransaction, statement: Sql) -> Iterator[Match]:
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
            self._told(count)

    def _verified(self, reader: ReadTransaction, way: Access, places: bool) -> Iterator[Match]:
        """What all documents give, and the differences to what columns say of them."""
        how = way.how
        told = _by_document(self._rows(reader, way, how.texts or how.numbers or ""))
        said = next(told, None)
        asking = DocumentQuestion(self.question, effective=self.effective, places=places)
        for number_, document in self._unpacked(self._all(reader)):
            while said is not None and said.number < number_:  # that one is damaged
                said = next(told, None)
            found = asking.alone(document, self._refuse)
            if found is None:
                continue
            rows = said.rows if said is not None and said.number == number_ else ()
            columns, true = of_columns(how, rows), of_document(how, found)
            if columns is not None and columns != true:
                self._differ(reader, number_, columns, true)
            yield from found

    def _differ(self, reader: ReadTransaction, number_: int, columns: Said, document: Said) -> None:
        assert self.on_difference is not None
        asked = "SELECT name, id, run FROM document WHERE number = ?"
        identity = only(reader.fetch(asked, (number_,)), self.engine.address, f"document {number_}")
        self.on_difference(Difference(Identity(*identity), columns, document))

    def _access(self, reader: ReadTransaction) -> Access:
        """How to reach the rows, remembered for as long as nobody writes to the store."""
        key = self.question, self.effective
        known: Access | None = reader.known.get(key)
        if known is None:
            if len(reader.known) > _REMEMBERED:
                reader.known.clear()
            moment = StoreMoment(reader, self.engine.dialect)
            known = moment.access(plan(self.question), effective=self.effective)
            reader.known[key] = known
        return known

    def _rows(self, reader: ReadTransaction, way: Access, what: str) -> Iterator[Row]:
        text, values = way.statement(what)
        trace = self.trace
        for row in reader.stream(text, values):
            trace.rows += 1
            trace.certain += row[1]
            yield row

    def _of_batch(self, reader: ReadTransaction, batch: Sequence[CandidateRows]) -> Iterator[Match]:
        """The texts in several documents, of those that are certain from their columns."""
        opened = [each.number for each in batch if not each.are_certain]
        documents = {}
        if opened:
            where, value = self.engine.among("number", opened)
            documents = {row[0]: row for row in reader.fetch(SELECT + where, (value,))}
        asking = DocumentQuestion(self.question, effective=self.effective, places=False)
        for each in batch:
            if each.number not in documents:
                yield from (Match(text) for row in each.rows for text in split(row[2]))
                continue
            self.trace.verified += not each.are_certain
            self.trace.opened += 1
            for _, document in self._unpacked([documents[each.number]]):
                yield from asking.alone(document, self._refuse) or ()

    def _all(self, reader: ReadTransaction) -> Iterator[Row]:
        for row in reader.stream(f"{SELECT}deleted = 0 ORDER BY number"):
            self.trace.opened += 1
            self.trace.verified += 1
            yield row

    def _candidates(self, reader: ReadTransaction, way: Access) -> Iterator[Row]:
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
            for row in reader.fetch(f"{SELECT}{where} ORDER BY number", (value,)):
                self.trace.opened += 1
                self.trace.verified += not certain[row[0]]
                yield row

    def _unpacked(self, rows: Iterable[Row]) -> Iterator[tuple[int, bytes]]:
        return unpacked(rows, self.packing, self.engine.address, self._refuse)

    def _told(self, rows: int) -> None:
        """Count rows that are answers by their columns."""
        self.trace.rows += rows
        self.trace.certain += rows

    def _refuse(self, error: SSSJobError) -> None:
        hand_over(error, self.on_error)


def _by_document(rows: Iterable[Row]) -> Iterator[CandidateRows]:
    for document, found in groupby(rows, itemgetter(0)):
        yield CandidateRows(document, tuple(found))


def _batches(candidates: Iterator[CandidateRows]) -> Iterator[list[CandidateRows]]:
    while batch := list(islice(candidates, _BATCH)):
        yield batch


def _are_dense(batch: Sequence[CandidateRows]) -> bool:
    """Whether more than one document in five is a candidate, by the first ones."""
    return len(batch) == _BATCH and batch[-1].number - batch[0].number < _DENSE * _BATCH


def _number(texts: str | float | None) -> int:
    """How many nodes a row stands for: its texts, or the one job or number."""
    return len(split(texts)) if isinstance(texts, str) else 1
