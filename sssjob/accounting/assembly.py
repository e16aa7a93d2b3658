"""What the formats share whose records stand alone: columns in, a job out, on either road."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, Generic, TypeVar

from sssjob.accounting.lines import blocks
from sssjob.accounting.plan import Plan
from sssjob.accounting.record import JOB, Field, Found, Noted, varied
from sssjob.accounting.roads import Road
from sssjob.errors import InvalidValue
from sssjob.model import Property

P = TypeVar("P")
J = TypeVar("J")


def extension(type: str, name: str) -> dict[str, str]:
    """The attributes of what the standard has no property for."""
    return {"type": type, "name": name}


def noted(type: str, name: str, text: str) -> Property:
    """What the standard has no property for, kept with its name."""
    return Property("Extension", text, extension(type, name))


@varied
def _as_they_are(items: tuple[Property, ...]) -> Found:
    return items


_MORE = Field("Extensions beside the columns", JOB, "Extension", _as_they_are)


class Assembly(Generic[P, J]):
    """Makes jobs of records that all have the columns of one mapping."""

    def __init__(self, rows: Iterable[Field], names: Sequence[str], road: Road[P, J]) -> None:
        self.names = tuple(names)
        self._plan = Plan((*rows, _MORE), (*self.names, _MORE.column), road)

    def of(self, values: Mapping[str, object], more: Iterable[Property] = ()) -> J:
        """The job of named values. Raises ``InvalidValue``."""
        return self.job([values.get(name, "") for name in self.names], more)

    def job(self, fields: Sequence[object], more: Iterable[Property] = ()) -> J:
        """The job of a record's fields, and of Extensions beside them. Raises ``InvalidValue``."""
        (made,) = self._plan.jobs([(field,) for field in (*fields, tuple(more))])
        if isinstance(made, InvalidValue):
            raise made
        return made

    def jobs(self, records: Sequence[Sequence[object]]) -> list[J | InvalidValue]:
        """The jobs of many records, or what is wrong with each."""
        return self._plan.jobs([*zip(*records, strict=True), ((),) * len(records)])


def numbered(stream: BinaryIO, limit: int) -> Iterator[tuple[int, bytes]]:
    """Each line with its number and without its end.

    Of a line longer than ``limit`` bytes only somewhat more than that is given.
    """
    number = 0
    for block in blocks(stream, limit):
        for line in block.split(b"\n"):
            number += 1
            yield number, line


def doubts(line: int, start: str | None, end: str | None, wall: str | None) -> Iterator[Noted]:
    """What the times of a record say against each other, all in seconds; nothing is put right."""
    if not start or not end:
        return
    passed = int(end) - int(start)
    if passed < 0:
        yield Noted(line, "EndTime is before StartTime")
    elif wall and abs(passed - int(wall)) > 1:  # a second may be lost to rounding
        yield Noted(line, "EndTime - StartTime is not the duration, which is kept", once=True)
