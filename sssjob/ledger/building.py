"""Rows of a ledger built column by column, of the columns of the record engine.

Strategy. A row says what ``columns.row`` says of a job object. To make that object, gather its
properties and ask it for forty values takes ten times as long as to cut its record out of a log.

The idea is that each value declares of which properties it is made (``ColumnReading``), and that
the record engine has many records as columns of properties. What repeats, as names and sizes do, is
asked once, of a job that has nothing but these properties. Numbers in plain digits, as times are,
are so many times what the digit 1 is: a column of them is read at once.

Why it is right: every value comes from the function that ``columns.row`` asks, of a job that says
the same of these names. A request whose parts are weighed against each other, and what is no plain
property, is not taken apart: such a record becomes a job object, and its row is ``columns.row``.
Tests compare both over changed records of every format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations, repeat
from typing import Any, cast, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sssjob.accounting.report import JobProperties, is_plain
from sssjob.amounts import NUMBERS
from sssjob.integers import LARGEST, SMALLEST
from sssjob.ledger import columns
from sssjob.ledger.columns import (
    AMOUNTS,
    COLUMNS,
    EXACT,
    KEPT,
    NAMES,
    READ,
    START,
    SUBMIT,
    ColumnReading,
    Row,
)
from sssjob.measures import used_of
from sssjob.model import Job, Property, stripped
from sssjob.records.builders import BuiltBatch, Column, Items
from sssjob.records.property_columns import (
    REMEMBERED,
    ColumnPlace,
    ColumnsBuilder,
    NamedTexts,
    PickedItems,
    RememberedValues,
    job_of,
)
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.records.texts import Fused, Plain, WholeNumbers, fused

_Told = dict[str, list[ColumnPlace]]  # by their places
ALONE = 2  # records whose job objects cost less than their columns
FEW = 64  # pieces that are rather looked up one by one
_DIGITS = 18
_UNIT = "0", "1"  # what these are, with the attributes of a column, says what all digits are
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
        # By the identities of pieces, which are kept.
        self._known: dict[str, dict[int, tuple[Items, bool]]] = {
            place: {} for place in (JOB, REQUESTED, DELIVERED)
        }

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
        irregular = self._irregular(told, size)
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
            not self._is_regular(piece, place.place) for piece in place.pieces
        )

    def _irregular(self, told: _Told, size: int) -> list[int]:
        """The numbers of the records that are no plain properties, each for itself."""
        found: set[int] = set()
        for place, some in told.items():
            for each in some:
                every = {*map(type, chain.from_iterable(each.pieces))}
                if place != REQUESTED and every <= _PLAIN:
                    continue
                is_regular = partial(self._is_regular, place=place)
                if not all(map(is_regular, each.pieces)):
                    kept = enumerate(each.spread(is_regular, size))
                    found.update(at for at, is_kept in kept if not is_kept)
        asked = [each for each in told[REQUESTED] if not each.names.isdisjoint(NUMBERS)]
        for one, other in combinations(asked, 2):
            if not one.names.isdisjoint(other.names):
                found.update(
                    at for at in range(size) if _numbers(one.piece(at)) & _numbers(other.piece(at))
                )
        return sorted(found)

    def _is_regular(self, piece: Items, place: str) -> bool:
        """Whether a piece is plain properties; those that come again are known."""
        known = self._known[place]
        found = known.get(id(piece))
        if found is None:
            if len(known) >= REMEMBERED:
                known.clear()
            found = known[id(piece)] = piece, _is_regular(cast(Any, piece), place)
        return found[1]

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


def _is_regular(piece: tuple[Property, ...], place: str) -> bool:
    if any(type(item) is not Property for item in piece):
        return False
    if place != REQUESTED:
        return True
    numbers = [item.name for item in piece if item.name in NUMBERS]
    return len({*numbers}) == len(numbers) and all(is_plain(item.attributes) for item in piece)


_PLAIN = frozenset({Property})


def _numbers(piece: Items) -> set[str]:
    return {item.name for item in cast(Sequence[Property], piece) if item.name in NUMBERS}


class _ColumnsReader:
    """Reads one value of many records, and remembers what it was of the same properties."""

    def __init__(self, reading: ColumnReading) -> None:
        self._reading = reading
        self._names = frozenset(reading.names)
        self._nothing = reading.of(JobProperties(Job()))
        self._known = RememberedValues[Any](
            lambda job: reading.of(JobProperties(job)), lambda item: item.name in self._names
        )

    def _places(self, told: _Told) -> list[ColumnPlace]:
        return [
            each
            for place in self._reading.places
            for each in told[place]
            if not each.names.isdisjoint(self._names)
        ]

    def array(self, told: _Told, size: int, type_: pa.DataType) -> pa.Array:
        """The same as a column of Arrow; raises what Arrow does for what its type cannot hold."""
        places = self._places(told)
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
        if isinstance(texts, WholeNumbers) and self._reading.is_number:
            _, one = self._known.of_texts(place.place, [place.column], _UNIT)
            most = LARGEST if self._reading.most is None else self._reading.most
            numbers = texts.numbers
            if type(one) is int and numbers.min() > 0 and int(numbers.max()) * one <= most:
                return pa.array(numbers * one)
        elif isinstance(texts, Plain) and not self._reading.is_number:
            sizes = pc.min_max(pc.binary_length(texts.array)).as_py()
            if sizes["min"] > 0 and not pc.any(pc.match_substring(texts.array, " ")).as_py():
                return texts.array
        return None

    def values(self, told: _Told, size: int) -> Sequence[Any]:
        """The value of each of so many records."""
        places = self._places(told)
        if not places:
            return [self._nothing] * size
        if len(places) == 1 and (found := self._together(places[0])) is not None:
            return found
        return self._known.values(places, size)

    def _together(self, place: ColumnPlace) -> Sequence[Any] | None:
        """The values of a column of plain texts, if they can be read at once."""
        is_many = isinstance(place.column, NamedTexts) or len(place.pieces) >= FEW
        alike = place.alike() if is_many else None
        if alike is None or alike.name not in self._names:
            return None
        return self._of_texts(place.place, alike)

    def _of_texts(self, place: str, alike: NamedTexts) -> Sequence[Any] | None:
        texts = alike.texts
        nothing, joined = self._nothing, "".join(texts)
        if not self._reading.is_number:
            if nothing is None and " " not in joined and joined.isprintable():
                return [text or None for text in texts] if "" in texts else texts
            return [stripped(text) or nothing for text in texts]
        if not (joined.isdecimal() and joined.isascii()) or max(map(len, texts)) > _DIGITS:
            return None
        zero, one = self._known.of_texts(place, [alike], _UNIT)
        if type(one) is not int:
            return None
        numbers = [int(text) if text else None for text in texts]
        most = self._reading.most
        if most is not None and max(filter(None, numbers), default=0) * one > most:
            return None
        if one == 1 and zero == 0 and nothing is None:
            return numbers
        return [nothing if each is None else each * one if each else zero for each in numbers]


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
