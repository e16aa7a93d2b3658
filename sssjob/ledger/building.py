"""Rows of a ledger built column by column, of the columns of the record engine.

Strategy. A row says what ``columns.row`` says of a job object. To make that object, gather its
properties and ask it for forty values takes ten times as long as to cut its record out of a log.

The idea is that each value declares of which properties it is made, and is read from columns of
these (``accounting.column_values``). A column of plain digits is read at once, and one of which
few pieces come again and again is looked up by their numbers, as Arrow has it.

Why it is right: every value comes from the function that ``columns.row`` asks, and a record that is
not plain becomes a job object, whose row is ``columns.row``. Tests compare both over changed
records of every format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sssjob.accounting.column_readings import AMOUNTS, ColumnReading
from sssjob.accounting.column_values import UNIT, PlainPieces, ValueReader
from sssjob.amounts import NUMBERS
from sssjob.integers import LARGEST, SMALLEST
from sssjob.ledger import columns
from sssjob.ledger.columns import (
    COLUMNS,
    EXACT,
    KEPT,
    NAMES,
    READ,
    START,
    SUBMIT,
    Row,
)
from sssjob.measures import used_of
from sssjob.model import Job
from sssjob.records.builders import BuiltBatch, Column, Items
from sssjob.records.property_columns import (
    ColumnPlace,
    ColumnsBuilder,
    NamedTexts,
    PickedItems,
    job_of,
)
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.records.texts import Fused, Plain, WholeNumbers, fused

_Told = dict[str, list[ColumnPlace]]  # by their places
ALONE = 2  # records whose job objects cost less than their columns
_READINGS = (*READ, *AMOUNTS)
_EXACT = NAMES.index(EXACT) - len(READ)

assert len(KEPT) == _EXACT


def _names(place: str) -> frozenset[str]:
    return frozenset(
        chain.from_iterable(reading.names for reading in _READINGS if place in reading.places)
    )


class RowsBuilder(ColumnsBuilder[Row]):
    """Builds rows, but for the file and the line that they were read from.

    With ``only``, of these columns and of what was used; the others are None, but no property is
    left unread, so that what is wrong with any is told.
    """

    def __init__(self, only: Collection[str] | None = None) -> None:
        # An alternative of a request is chosen by the numbers that were delivered.
        needs = {JOB: _names(JOB), DELIVERED: _names(DELIVERED) | {*NUMBERS}}
        self._only = only
        self._wanted: list[ColumnReading | None] = [*READ]
        if only is None:
            self.needs = needs
        else:
            told = zip(NAMES, READ, strict=False)
            self._wanted = [read if name in only else None for name, read in told]
        self._looked_at = needs
        self._readers = [each and _ColumnsReader(each) for each in (*self._wanted, *AMOUNTS)]
        self._pieces = PlainPieces()

    def from_job(self, job: Job) -> Row:
        """The row of a job object."""
        if self._only is None:
            return columns.row(job)[:-2]
        return (*columns.values(job, self._wanted), None)

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> Sequence[Row]:  # fmt: skip
        """The rows of many records."""
        size = len(groups)
        told = {
            place: [
                each
                for each in (ColumnPlace.of(place, column) for column in some)
                if self._is_looked_at(each)
            ]
            for place, some in ((JOB, own), (REQUESTED, requested), (DELIVERED, delivered))
        }
        if size <= ALONE:
            return [self._alone(told, at) for at in range(size)]
        irregular = self._pieces.others(told, size)
        if not irregular and _is_bulk(told) and (table := self._table(told, size)) is not None:
            return table
        nothing: Sequence[Any] = [None] * size
        found = [nothing if each is None else each.values(told, size) for each in self._readers]
        read, amounts = found[: len(READ)], found[len(READ) :]
        rows = _rows(read, amounts, columns.digest if self._only is None else _undigested)
        for at in irregular:
            rows[at] = self._alone(told, at)
        return rows

    def _alone(self, told: _Told, at: int) -> Row:
        """The row of a record by way of its job object."""
        return self.from_job(
            job_of({place: chain(*(each.piece(at) for each in told[place])) for place in told})
        )

    def _is_looked_at(self, place: ColumnPlace) -> bool:
        """Whether a value may be made of a column; one with blocks or the like is never plain."""
        if self._only is None or place.place not in self._looked_at:
            return True
        return not place.names.isdisjoint(self._looked_at[place.place]) or any(
            not self._pieces.is_plain(piece, place.place) for piece in place.pieces
        )

    def _table(self, told: _Told, size: int) -> RowTable | None:
        """The rows as columns of Arrow; None where one takes more than numbers of 64 bits."""
        types = [each.type for each in COLUMNS[: len(READ)]] + [pa.int64()] * len(AMOUNTS)
        try:
            found = [
                pa.nulls(size, type_) if reader is None else reader.array(told, size, type_)
                for reader, type_ in zip(self._readers, types, strict=True)
            ]
            read, sums = found[: len(READ)], _sums(found[len(READ) :])
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None
        submitted, started = (read[NAMES.index(name)] for name in (SUBMIT, START))
        if self._only is None and pc.any(pc.and_(submitted.is_null(), started.is_null())).as_py():
            return None  # the digest of such a row tells it
        told_of = [*read, *sums]
        more = [pa.nulls(size, column.type) for column in COLUMNS[len(told_of) : -2]]
        return RowTable([*told_of, *more])


def _sums(amounts: Sequence[pa.Array]) -> list[pa.Array]:
    """What was used, null being None. Raises ``ArrowInvalid`` beyond 64 bits."""
    found = used_of(*amounts, times=pc.multiply_checked, or_else=pc.fill_null)
    if any(pc.min(each).as_py() == SMALLEST for each in found if each is not None):
        raise pa.ArrowInvalid("the least number, which no column has")
    return columns.kept(found)


class RowTable(BuiltBatch[Row]):
    """Rows as columns of Arrow, but for the file and the lines that they were read from."""

    def __init__(self, columns: list[pa.Array]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return tuple(column[at].as_py() for column in self.columns)

    def part(self, begin: int, end: int) -> RowTable:
        """Some of the rows."""
        return RowTable([column.slice(begin, end - begin) for column in self.columns])

    def __iter__(self) -> Iterator[Row]:
        return zip(*[column.to_pylist() for column in self.columns], strict=True)

    def table(self, source: str, lines: Sequence[int]) -> pa.Table:
        """The rows whole, with where they were read from."""
        size = len(self)
        sources = pa.array([source or None], pa.string()).take(pa.array(np.zeros(size, np.int64)))
        numbers = pa.array(lines, pa.int64())
        return pa.table([*self.columns, sources, numbers], schema=columns.schema())


def _undigested(told: Sequence[Any]) -> None:
    """No digest: of rows that are kept nowhere, none is told from another."""


def _rows(
    read: Sequence[Sequence[Any]], amounts: Sequence[Sequence[Any]],
    digest: Callable[[Sequence[Any]], str | None],
) -> list[Row]:  # fmt: skip
    sums = [*map(used_of, *amounts)]
    every = [*zip(*sums, strict=True)]
    exact: Iterable[Any] = repeat(None)
    parts = columns.kept(every)
    if not all(map(columns.fit, every)):
        *parts, exact = zip(*map(columns.whole, sums), strict=True)
    told = [*zip(*read, *parts, exact, strict=False)]
    return [(*row, digest(row)) for row in told]


class _ColumnsReader(ValueReader):
    """Reads one value of many records, also as a column of Arrow."""

    def array(self, told: _Told, size: int, type_: pa.DataType) -> pa.Array:
        """The same as a column of Arrow; raises what Arrow does for what its type cannot hold."""
        places = self.places(told)
        if len(places) == 1 and (found := self._at_once(places[0])) is not None:
            return found
        if (few := _representatives([each for each in places if not each.is_same], size)) is None:
            return pa.array(self.values(told, size), type_)
        firsts, codes = few.firsts.tolist(), few.codes
        fewer: _Told = {place: [] for place in told}
        for each in places:
            fewer[each.place].append(each.some(firsts))
        return pa.array(self.values(fewer, len(firsts)), type_).take(pa.array(codes))

    def _at_once(self, place: ColumnPlace) -> pa.Array | None:
        """The values of a column of numbers, or of texts in ASCII, if they can be read at once."""
        if not isinstance(place.column, NamedTexts):
            return None
        texts = place.column.texts
        if isinstance(texts, WholeNumbers) and self.reading.is_number:
            _, one = self.known.of_texts(place.place, [place.column], UNIT)
            most = LARGEST if self.reading.most is None else self.reading.most
            numbers = texts.numbers
            if type(one) is int and numbers.min() > 0 and int(numbers.max()) * one <= most:
                return pa.array(numbers * one)
        elif isinstance(texts, Plain) and not self.reading.is_number:
            sizes = pc.min_max(pc.binary_length(texts.array)).as_py()
            if sizes["min"] > 0 and not pc.any(pc.match_substring(texts.array, " ")).as_py():
                return texts.array
        return None


def _is_bulk(told: _Told) -> bool:
    """Whether there are columns of which each distinct value is read once."""
    return any(isinstance(each.column, PickedItems) for some in told.values() for each in some)


def _representatives(varied: Sequence[ColumnPlace], size: int) -> Fused | None:
    """One record for each combination of what columns say; None where hardly any comes again."""
    coded: list[tuple[int, Any]] = []
    for each in varied:
        if (found := each.coded()) is None:
            return None
        coded.append(found)
    return fused(coded) if coded else Fused(np.zeros(1, np.int64), np.zeros(size, np.int64))
