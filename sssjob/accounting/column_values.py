"""Values of many jobs, read from columns of properties: what repeats is asked of a job once.

Strategy. What a report, a ledger or a table says of a job is some forty values, each of a few of
its properties. To make a job object of each record and ask it for all of them takes ten times as
long as to cut the record out of a log.

The idea is that each value declares of which properties it is made (``column_readings``). What
repeats, as names and sizes do, is asked once, of a job that has nothing but these properties.
Numbers in plain digits, as times are, are so many times what the digit 1 is.

Why it is right: every value comes from the function that is asked of whole jobs, of a job that says
the same of these names. A request whose parts are weighed against each other, an amount for a part
of the time, and what is no plain property are not taken apart (``PlainPieces``): who reads such a
record asks its job object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Any, cast

from sssjob.accounting.column_readings import AMOUNTS, ColumnReading, grouping, time_reading
from sssjob.accounting.report import ROW_NAMES, JobProperties, JobRow, is_plain
from sssjob.amounts import NUMBERS
from sssjob.measures import JobUsage, used_of, waited
from sssjob.model import Job, Property, stripped
from sssjob.records.builders import Items
from sssjob.records.property_columns import REMEMBERED, ColumnPlace, NamedTexts, RememberedValues
from sssjob.records.record import DELIVERED, JOB, REQUESTED

FEW = 64  # pieces that are rather looked up one by one
UNIT = "0", "1"  # what these are, with the attributes of a column, says what all digits are
_DIGITS = 18
_PLAIN = frozenset({Property})

PlacedColumns = Mapping[str, Sequence[ColumnPlace]]  # by JOB, REQUESTED and DELIVERED


class ValueReader:
    """Reads one value of many records, and remembers what it was of the same properties."""

    def __init__(self, reading: ColumnReading) -> None:
        self.reading = reading
        self._names = frozenset(reading.names)
        self._nothing = reading.of(JobProperties(Job()))
        self.known = RememberedValues[Any](
            lambda job: reading.of(JobProperties(job)), lambda item: item.name in self._names
        )

    def places(self, told: PlacedColumns) -> list[ColumnPlace]:
        """The columns that the value is made of."""
        return [
            each
            for place in self.reading.places
            for each in told[place]
            if not each.names.isdisjoint(self._names)
        ]

    def values(self, told: PlacedColumns, size: int) -> Sequence[Any]:
        """The value of each of so many records."""
        places = self.places(told)
        if not places:
            return [self._nothing] * size
        if len(places) == 1 and (found := self._together(places[0])) is not None:
            return found
        return self.known.values(places, size)

    def _together(self, place: ColumnPlace) -> Sequence[Any] | None:
        """The values of a column of plain texts, if they can be read at once."""
        is_many = isinstance(place.column, NamedTexts) or len(place.pieces) >= FEW
        alike = place.alike() if is_many else None
        if alike is None or alike.name not in self._names:
            return None
        texts = alike.texts
        nothing, joined = self._nothing, "".join(texts)
        if not self.reading.is_number:
            if " " not in joined and joined.isprintable():
                return [text or nothing for text in texts] if "" in texts else texts
            return [stripped(text) or nothing for text in texts]
        if not (joined.isdecimal() and joined.isascii()) or max(map(len, texts)) > _DIGITS:
            return None
        return self._numbers(place.place, alike)

    def _numbers(self, place: str, alike: NamedTexts) -> Sequence[Any] | None:
        """The same of digits."""
        nothing = self._nothing
        zero, one = self.known.of_texts(place, [alike], UNIT)
        if type(one) is not int:
            return None
        numbers = [int(text) if text else None for text in alike.texts]
        most = self.reading.most
        if most is not None and max(filter(None, numbers), default=0) * one > most:
            return None
        if one == 1 and zero == 0 and nothing is None:
            return numbers
        return [nothing if each is None else each * one if each else zero for each in numbers]


class PlainPieces:
    """Tells which records have nothing but plain properties; pieces that come again are known."""

    def __init__(self) -> None:
        # By the identities of pieces, which are kept.
        self._known: dict[str, dict[int, tuple[Items, bool]]] = {
            place: {} for place in (JOB, REQUESTED, DELIVERED)
        }

    def is_plain(self, piece: Items, place: str) -> bool:
        """Whether a piece is plain properties: each is read by itself."""
        known = self._known[place]
        found = known.get(id(piece))
        if found is None:
            if len(known) >= REMEMBERED:
                known.clear()
            found = known[id(piece)] = piece, _is_plain(cast(Any, piece), place)
        return found[1]

    def others(self, told: PlacedColumns, size: int) -> list[int]:
        """The numbers of the records that have anything else, each of which is a job object."""
        found: set[int] = set()
        for place, some in told.items():
            for each in some:
                if place != REQUESTED and _is_read_alone([*chain.from_iterable(each.pieces)]):
                    continue
                is_plain = partial(self.is_plain, place=place)
                if not all(map(is_plain, each.pieces)):
                    kept = enumerate(each.spread(is_plain, size))
                    found.update(at for at, is_kept in kept if not is_kept)
        asked = [each for each in told[REQUESTED] if not each.names.isdisjoint(NUMBERS)]
        for one, other in combinations(asked, 2):
            if not one.names.isdisjoint(other.names):
                found.update(
                    at for at in range(size) if _numbers(one.piece(at)) & _numbers(other.piece(at))
                )
        return sorted(found)


def _is_plain(piece: Sequence[Property], place: str) -> bool:
    if place != REQUESTED:
        return _is_read_alone(piece)
    if not {*map(type, piece)} <= _PLAIN:
        return False
    numbers = [item.name for item in piece if item.name in NUMBERS]
    return len({*numbers}) == len(numbers) and all(map(is_plain, piece))


def _is_read_alone(items: Sequence[Any]) -> bool:
    """Whether all are properties whose amounts are for the whole time."""
    return {*map(type, items)} <= _PLAIN and not any(
        "duration" in item.attributes for item in items
    )


def _numbers(piece: Items) -> set[str]:
    return {item.name for item in cast(Sequence[Property], piece) if item.name in NUMBERS}


class JobRowsReader:
    """Reads what reports want of many jobs that are plain: what ``JobRow.of`` says of each."""

    def __init__(self) -> None:
        self._texts = [ValueReader(grouping(name, "")) for name in ROW_NAMES]
        self._amounts = [ValueReader(each) for each in AMOUNTS]
        self._times = [
            ValueReader(time_reading(name)) for name in ("SubmitTime", "StartTime", "EndTime")
        ]

    def rows(self, told: PlacedColumns, size: int) -> list[JobRow]:
        """The row of each of so many records."""
        texts = [each.values(told, size) for each in self._texts]
        submitted, started, ended = (each.values(told, size) for each in self._times)
        amounts = [each.values(told, size) for each in self._amounts]
        waits = map(waited, submitted, started)
        sums = [
            JobUsage(*each[:-1], wait)
            for each, wait in zip(map(used_of, *amounts), waits, strict=True)
        ]
        return [*map(JobRow, zip(*texts, strict=True), ended, sums)]
