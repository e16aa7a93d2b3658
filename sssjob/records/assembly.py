"""What the formats share whose records stand alone: columns in, a job out, on either road."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.clock import is_backwards
from sssjob.records.plan import Odd, Plan
from sssjob.records.record import JOB, Bad, Converted, Field, Found, Noted, Outcome, varied
from sssjob.records.roads import Road

P = TypeVar("P")
J = TypeVar("J")

_BATCH = 256  # records that become jobs at once


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

    def __init__(
        self, rows: Iterable[Field], names: Sequence[str], road: Road[P, J], type: str
    ) -> None:
        """``type`` is that of Extensions."""
        self._names = tuple(names)
        self._plan = Plan((*rows, _MORE), (*self._names, _MORE.column), road, type)

    def fields(self, values: Mapping[str, object]) -> list[object]:
        """Named values in the order of the columns."""
        return [values.get(name, "") for name in self._names]

    def jobs(self, records: Sequence[Ready[P, J]]) -> list[J | Odd[J] | InvalidValue]:
        """The jobs of many records, or what is wrong with each."""
        columns = zip(*(record.fields for record in records), strict=True)
        return self._plan.jobs([*columns, [record.more for record in records]])


class Ready(NamedTuple, Generic[P, J]):
    """A record that is ready to become a job: its fields, and by what they are understood.

    ``more`` holds Extensions beside the columns, ``notes`` what is worth knowing if it becomes one.
    """

    line: int
    maker: Assembly[P, J]
    fields: Sequence[object]
    more: tuple[Property, ...] = ()
    notes: tuple[Noted, ...] = ()


def assembled(found: Iterable[Ready[P, J] | Outcome[J]]) -> Iterator[Outcome[J]]:
    """What becomes of records, in their order, some hundred of them at a time."""
    batch: list[Ready[P, J] | Outcome[J]] = []
    for item in found:
        batch.append(item)
        if len(batch) >= _BATCH:
            yield from _made(batch)
            batch = []
    yield from _made(batch)


def _made(batch: Sequence[Ready[P, J] | Outcome[J]]) -> Iterator[Outcome[J]]:
    ready = [item for item in batch if isinstance(item, Ready)]
    jobs: dict[int, Iterator[J | Odd[J] | InvalidValue]] = {}
    for maker in {id(record.maker): record.maker for record in ready}.values():
        same = [record for record in ready if record.maker is maker]
        jobs[id(maker)] = iter(maker.jobs(same))
    for item in batch:
        if not isinstance(item, Ready):
            yield item
            continue
        job = next(jobs[id(item.maker)])
        if isinstance(job, InvalidValue):
            yield Bad(item.line, str(job))
            continue
        remarks: tuple[str, ...] = ()
        if isinstance(job, Odd):
            job, remarks = job
        yield Converted(item.line, job)
        yield from item.notes
        yield from (Noted(item.line, remark, once=True) for remark in remarks)


def doubts(line: int, start: str | None, end: str | None, wall: str | None) -> Iterator[Noted]:
    """What the times of a record say against each other, all in seconds; nothing is put right."""
    if not start or not end:
        return
    if is_backwards(start, end):
        yield Noted(line, "EndTime is before StartTime")
    elif wall and abs(int(end) - int(start) - int(wall)) > 1:  # a second may be lost to rounding
        yield Noted(line, "EndTime - StartTime is not the duration, which is kept", once=True)
