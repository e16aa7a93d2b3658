"""Usage records by a mapping: what Usage Records 1.0 and CAR 1.2 share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, TypeVar

from sssjob.errors import InvalidValue
from sssjob.formats import usage_values as values
from sssjob.formats.usage_xml import NESTED, Record, read
from sssjob.model import Property
from sssjob.records.assembly import Assembly, Ready, assembled, doubts, extension, noted
from sssjob.records.clock import Clock
from sssjob.records.readers import identity
from sssjob.records.record import (
    DELIVERED,
    JOB,
    Bad,
    Field,
    Noted,
    Options,
    Outcome,
    Read,
    plain,
)
from sssjob.records.roads import Road
from sssjob.records.values import count

P = TypeVar("P")
J = TypeVar("J")

_TIMES = ("EndTime", "StartTime")
ID = "JobIdentity/LocalJobId"
GLOBAL_ID = "JobIdentity/GlobalJobId"
RECORD_ID = "RecordIdentity/@recordId"


def elements(type: str, clock: Clock) -> tuple[Field, ...]:
    """The mapping of GFD.98's elements; ``type`` is that of Extensions."""

    def kept(column: str, name: str) -> Field:
        return Field(column, JOB, "Extension", plain, extension(type, name))

    def other(column: str, read: Read, *beside: str) -> Field:
        return Field(column, JOB, "Extension", read, beside=beside)

    others = values.VOLUMES[1:]
    consumed = ("ConsumableResource", "VolumeResource", "PhaseResource")
    # fmt: off
    return (
        kept(RECORD_ID, "recordId"),
        kept("RecordIdentity/@createTime", "createTime"),
        kept("JobIdentity/ProcessId", "ProcessId"),
        Field(GLOBAL_ID,                     JOB,       "GlobalId"),
        Field(ID,                            JOB,       "Id",          identity),
        Field("UserIdentity/LocalUserId",    DELIVERED, "User"),
        Field("UserIdentity/GlobalUserName", DELIVERED, "GlobalUser"),
        Field("JobName",                     JOB,       "Name"),
        Field("Charge",                      JOB,       "Charge",      values.charge),
        Field("Status",                      JOB,       "State",       values.status, {}, _TIMES),
        Field("Memory",                      DELIVERED, "Memory",      values.volumes, {}, others),
        other("Memory", values.other_volumes(type), *others),
        Field("TimeDuration",                JOB,       "SuspendDuration", values.suspended),
        other("TimeDuration", values.other_spans(type)),
        Field("TimeInstant",                 JOB,       "SubmitTime",  values.instants(clock)),
        other("TimeInstant", values.other_instants(clock, type)),
        Field("WallDuration",                DELIVERED, "Duration",    values.duration),
        Field("CpuDuration",                 JOB,       "CpuDuration", values.cpu),
        Field("NodeCount",                   DELIVERED, "NodeCount",   count),
        Field("Processors",                  DELIVERED, "Processors",  values.processors),
        Field("EndTime",                     JOB,       "EndTime",     clock.read),
        Field("StartTime",                   JOB,       "StartTime",   clock.read),
        Field("MachineName",                 DELIVERED, "Machine"),
        Field("SubmitHost",                  JOB,       "SubmitHost"),
        Field("Queue",                       DELIVERED, "Queue"),
        Field("ProjectName",                 DELIVERED, "Project"),
        Field("Host",                        DELIVERED, "Node",        values.hosts),
        *(Field(name, DELIVERED, "Resource", values.resources) for name in consumed),
        *(other(name, values.other_resources(type)) for name in consumed),
        other("Resource", values.described(type)),
    )
    # fmt: on


def records(
    stream: BinaryIO,
    options: Options,
    road: Road[P, J],
    mapping: Callable[[Clock], Iterable[Field]],
    type: str,
) -> Iterator[Outcome[J]]:
    """What becomes of each record by a mapping; ``type`` is that of Extensions."""
    clock = Clock(options.zone)
    rows = tuple(mapping(clock))
    names = tuple(dict.fromkeys(column for row in rows for column in (row.column, *row.beside)))
    several = frozenset(
        column
        for row in rows
        if values.takes_entries(row.read)
        for column in (row.column, *row.beside)
    )
    assembly = Assembly(rows, names, road, type)
    return assembled(_read(stream, assembly, names, several, clock, type))


def _read(
    stream: BinaryIO,
    maker: Assembly[P, J],
    names: tuple[str, ...],
    several: frozenset[str],
    clock: Clock,
    type: str,
) -> Iterator[Ready[P, J] | Outcome[J]]:
    for record in read(stream):
        if isinstance(record, Bad):
            yield record
            continue
        columns, more = _columns(record, names, several, type)
        if not columns[ID]:
            yield Bad(record.line, "neither LocalJobId nor GlobalJobId nor recordId")
            continue
        try:
            notes = tuple(_doubts(record, clock))
        except InvalidValue:
            notes = ()  # the mapping says of which element
        yield Ready(record.line, maker, maker.fields(columns), tuple(more), notes)
        yield from clock.assumption(record.line)


def _columns(
    record: Record, names: tuple[str, ...], several: frozenset[str], type: str
) -> tuple[dict[str, object], list[Property]]:
    """The columns of a record, and what has no column."""
    columns: dict[str, object] = {name: () for name in several}
    more: list[Property] = []
    for name, entries in record.entries.items():
        if name in several:
            columns[name] = entries
            continue
        known = name in names
        if known:
            columns[name] = entries[0].text
        more += (
            noted(type, _kept_name(name), entry.text)
            for entry in (entries[1:] if known else entries)
            if entry.text
        )
    if not columns.get(ID):
        # A record about no job of a batch system still has an identity.
        columns[ID] = columns.get(GLOBAL_ID) or columns.get(RECORD_ID) or ""
    return columns, more


def _kept_name(name: str) -> str:
    """The name of an element that has no column, without the identity that it stands in."""
    first, _, rest = name.partition("/")
    return rest if first in NESTED else name


def _doubts(record: Record, clock: Clock) -> Iterator[Noted]:
    def text(name: str) -> str:
        return record.entries[name][0].text if name in record.entries else ""

    wall = text("WallDuration")
    yield from doubts(
        record.line, clock.read(text("StartTime")), clock.read(text("EndTime")),
        str(values.duration(wall)) if wall else None,
    )  # fmt: skip
