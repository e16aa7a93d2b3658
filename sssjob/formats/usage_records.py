"""Usage records by a mapping: what Usage Records 1.0 and CAR 1.2 share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from sssjob.errors import InvalidValue
from sssjob.formats import usage_values as values
from sssjob.formats.usage_xml import NESTED, Entries, opened, pieces
from sssjob.model import Property
from sssjob.records import layout
from sssjob.records.clock import Clock, doubts, passed, time
from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import Layout, Record
from sssjob.records.readers import extension, identity, noted
from sssjob.records.record import DELIVERED, JOB, Bad, Field, Found, Noted, Options, Read, plain
from sssjob.records.values import count

_TIMES = ("EndTime", "StartTime")
ID = "JobIdentity/LocalJobId"
GLOBAL_ID = "JobIdentity/GlobalJobId"
WALL = "WallDuration"
NO_WALL = "no WallDuration: what passed from StartTime to EndTime is taken"
RECORD_ID = "RecordIdentity/@recordId"
VO = "UserIdentity/VO"  # as SGAS and ARC write it, in a namespace of their own
_VO_NAME = (f"{VO}/Name",)
_VO_GROUP, _VO_ROLE = extension("VOMS", "Group"), extension("VOMS", "Role")


def project(named: str, vo: str) -> Found:
    """The project that is named, or else the virtual organisation."""
    return named or vo or None


# What no element can be named.
PROCESSOR_TIME = f"TimeDuration ({values.PROCESSOR_TIME})"


def elements(type: str) -> tuple[Field, ...]:
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
        Field("TimeInstant",                 JOB,       "SubmitTime",  values.instants),
        other("TimeInstant", values.other_instants(type)),
        Field(WALL,                          DELIVERED, "Duration",    values.duration),
        Field("CpuDuration",                 JOB,       "CpuDuration", values.cpu),
        Field("NodeCount",                   DELIVERED, "NodeCount",   count),
        Field("Processors",                  DELIVERED, "Processors",  values.processors),
        Field(PROCESSOR_TIME,                DELIVERED, "Processors",  values.processors_of),
        Field("EndTime",                     JOB,       "EndTime",     time),
        Field("StartTime",                   JOB,       "StartTime",   time),
        Field("MachineName",                 DELIVERED, "Machine"),
        Field("SubmitHost",                  JOB,       "SubmitHost"),
        Field("Queue",                       DELIVERED, "Queue"),
        Field("ProjectName",                 DELIVERED, "Project",     project, {}, _VO_NAME),
        Field(f"{VO}/Attribute/Group",       JOB,       "Extension",   plain, _VO_GROUP),
        Field(f"{VO}/Attribute/Role",        JOB,       "Extension",   plain, _VO_ROLE),
        Field("Host",                        DELIVERED, "Node",        values.hosts),
        *(Field(name, DELIVERED, "Resource", values.resources) for name in consumed),
        *(other(name, values.other_resources(type)) for name in consumed),
        other("Resource", values.described(type)),
    )
    # fmt: on


def of_elements(type: str, rows: tuple[Field, ...], recognises: Callable[[bytes], str]) -> Layout:
    """The layout of usage records by a mapping; ``type`` is that of Extensions."""
    names = tuple(dict.fromkeys(column for row in rows for column in (row.column, *row.beside)))
    several = frozenset(
        column
        for row in rows
        if values.takes_entries(row.read)
        for column in (row.column, *row.beside)
    )

    def reader(options: Options, clock: Clock) -> layout.Reader:
        def read(line: int, entries: dict[str, Entries]) -> Record | Bad:
            columns, more = _columns(entries, names, several, type)
            if not columns[ID]:
                return Bad(line, "neither LocalJobId nor GlobalJobId nor recordId")
            notes: tuple[Noted, ...] = ()
            try:
                if wall := _passed(entries, columns, clock):
                    columns[WALL] = f"PT{wall}S"
                    notes = (Noted(line, NO_WALL, once=True),)
                else:
                    notes = tuple(_doubts(line, entries, clock))
            except InvalidValue:
                pass  # the mapping says of which element
            _take_processor_time(columns)
            fields = [columns.get(name, "") for name in names]
            return Record(line, names, fields, more=tuple(more), notes=notes)

        return read

    return Layout(
        type=type, cut=CustomPieces(pieces, opened), reader=reader, rows=layout.mapping(rows),
        known=layout.KnownColumns(names),
        run=layout.RunKey("", "StartTime", "EndTime", record=RECORD_ID),
        recognises=recognises,
    )  # fmt: skip


def _columns(
    entries: dict[str, Entries], names: tuple[str, ...], several: frozenset[str], type: str
) -> tuple[dict[str, object], list[Property]]:
    """The columns of a record, and what has no column."""
    columns: dict[str, object] = {name: () for name in several}
    more: list[Property] = []
    for name, found in entries.items():
        if name in several:
            columns[name] = found
            continue
        known = name in names
        if known:
            columns[name] = found[0].text
        more += (
            noted(type, _kept_name(name), entry.text)
            for entry in (found[1:] if known else found)
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


def _passed(entries: dict[str, Entries], columns: dict[str, object], clock: Clock) -> str:
    """The seconds of a record without a wall time, by its other times; "" where there is one."""
    if columns.get(WALL):
        return ""
    start, end = (clock.read(str(columns.get(name) or "")) for name in ("StartTime", "EndTime"))
    away = values.suspended(entries.get("TimeDuration", ()))
    return passed(start, end, away if isinstance(away, str) else None) or ""


def _take_processor_time(columns: dict[str, object]) -> None:
    """Where processors are told by their seconds alone, these are a column, and no Extension."""
    spans = cast(Entries, columns["TimeDuration"])
    found = values.processor_time(spans, str(columns.get(WALL) or ""))
    if found and not columns["Processors"]:
        entry, columns[PROCESSOR_TIME] = found
        columns["TimeDuration"] = tuple(each for each in spans if each is not entry)


def _doubts(line: int, entries: dict[str, Entries], clock: Clock) -> Iterator[Noted]:
    def text(name: str) -> str:
        return entries[name][0].text if name in entries else ""

    wall = text(WALL)
    yield from doubts(
        line, clock.read(text("StartTime")), clock.read(text("EndTime")),
        str(values.duration(wall)) if wall else None,
    )  # fmt: skip
