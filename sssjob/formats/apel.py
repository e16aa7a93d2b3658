"""APEL: messages about individual jobs, as sites send them to the accounting repository.

A header line names the kind of message and its version; records of ``Key: value`` lines follow,
each ended by ``%%``. A summary is about many jobs: it is recognised and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from sssjob.errors import InvalidValue, UnusableInput
from sssjob.formats import voms
from sssjob.formats.usage_records import NO_WALL, WALL
from sssjob.model import Property
from sssjob.records.clock import Clock, doubts, passed, time
from sssjob.records.cuts import Parted, cut_short, of_lines
from sssjob.records.cutting import Cutter, Front, Part, PartStream
from sssjob.records.layout import KnownColumns, Layout, Piece, Read, Reader, Record, RunKey, mapping
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, Blocks, KeysWithin, clean
from sssjob.records.readers import extension, noted, processors
from sssjob.records.record import (
    DELIVERED,
    JOB,
    NOWHERE,
    Bad,
    Field,
    Found,
    Instead,
    Noted,
    Options,
    Skipped,
    plain,
)
from sssjob.records.values import amount, count, is_nearly, is_unknown, number, seconds

RECORD_LIMIT = 1000  # lines

INDIVIDUAL = "individual-job"
MANDATORY = ("Site", WALL, "CpuDuration", "StartTime", "EndTime")

_HEADER_LINE = re.compile(rb"^.*-message:.*$", re.MULTILINE)
_HEADER = re.compile(r"APEL-([a-z0-9-]{1,40}?)-message:\s*v?([0-9.]{1,10})\s*")
_NULL = ("", "none", "null")
_SERVICE_LEVELS = re.compile(r"\{(.*)\}")
_LEVEL = re.compile(r"""\s*['"]?([A-Za-z]\w{0,40})['"]?\s*:\s*([0-9.eE+-]{1,30})\s*""")


def levels(text: str, kind: str) -> Found:
    """Benchmark figures: one of the type that is named, or since v0.4 ``{name: figure, ...}``."""
    found = _SERVICE_LEVELS.fullmatch(text.strip())
    if not found:
        pairs = [(kind, text)] if text else []
    else:
        pairs = []
        for item in found[1].split(","):
            if not (level := _LEVEL.fullmatch(item)):
                raise InvalidValue(text, "figures such as {hepspec: 11.4, HEPscore23: 15.3}")
            pairs.append((level[1], level[2]))
    return tuple(
        Property("Resource", figure, {"name": "ServiceLevel", **({"type": name} if name else {})})
        for name, text in pairs
        if (figure := amount(text)) is not None
    )


def used_seconds(text: str) -> Found:
    """A time that was used, which APEL demands. Raises ``Instead`` below 0: it is not known.

    >>> used_seconds("12")
    '12'
    """
    if _is_below_0(text):
        raise Instead(text, "a number of seconds", (), "how long it was is not known", keeps=True)
    return seconds(text)


def _is_below_0(text: str) -> bool:
    return text[0] == "-" and number(text) < 0


def machine(name: str, site: str) -> Found:
    """The machine, or else the site that it is at."""
    return name or site or None


def ended(text: str) -> Found:
    """A record is written about a job that has ended."""
    return "Completed"


def _note(name: str) -> dict[str, str]:
    return extension("APEL", name)


_DESCRIPTION, _TYPE = "InfrastructureDescription", "InfrastructureType"
_LEVEL_TYPE = ("ServiceLevelType",)
_KILOBYTES = {"metric": "Max", "units": "KB"}
_FQAN = ("FQAN",)  # what a record does not say of the VO, its attributes do
_GROUP, _ROLE = extension("VOMS", "Group"), extension("VOMS", "Role")

# fmt: off
KEYS: tuple[Field, ...] = (
    Field("LocalJobId",                JOB,       "Id"),
    Field("Site",                      JOB,       "Extension",   plain, _note("Site")),
    Field("MachineName",               DELIVERED, "Machine",     machine, beside=("Site",)),
    Field("SubmitHost",                JOB,       "SubmitHost"),
    Field("Queue",                     DELIVERED, "Queue"),
    Field("LocalUserId",               DELIVERED, "User"),
    Field("GlobalUserName",            DELIVERED, "GlobalUser"),
    Field("FQAN",                      JOB,       "Extension",   plain, extension("VOMS", "FQAN")),
    Field("VO",                        DELIVERED, "Project",     voms.organisation, {}, _FQAN),
    Field("VOGroup",                   JOB,       "Extension",   voms.group, _GROUP, _FQAN),
    Field("VORole",                    JOB,       "Extension",   voms.role, _ROLE, _FQAN),
    Field(WALL,                        DELIVERED, "Duration",    used_seconds),
    Field("CpuDuration",               JOB,       "CpuDuration", used_seconds),
    Field("Processors",                DELIVERED, "Processors",  processors),
    Field("NodeCount",                 DELIVERED, "NodeCount",   count),
    Field("StartTime",                 JOB,       "StartTime",   time),
    Field("EndTime",                   JOB,       "EndTime",     time),
    Field("EndTime",                   JOB,       "State",       ended),
    Field(_DESCRIPTION,                JOB,       "Extension",   plain, _note(_DESCRIPTION)),
    Field(_TYPE,                       JOB,       "Extension",   plain, _note(_TYPE)),
    Field("MemoryReal",                DELIVERED, "Memory",      amount, _KILOBYTES),
    Field("MemoryVirtual",             DELIVERED, "Swap",        amount, _KILOBYTES),
    Field("ServiceLevel",              DELIVERED, "Resource",    levels, {}, _LEVEL_TYPE),
    Field("ServiceLevelType",          NOWHERE),
)
# fmt: on
NAMES = tuple(dict.fromkeys(row.column for row in KEYS))
_KNOWN = frozenset(NAMES)
_WITHIN = KeysWithin(NAMES, ":")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is a message of APEL's, or ""."""
    found = re.match(rb"\s*(APEL-[a-z0-9-]{1,40}-message):", head)
    return f"the header {found[1].decode()}" if found else ""


class _ApelRecord(NamedTuple):
    """The lines of one record, and what kind its header names."""

    kind: str
    lines: list[str]


def messages(numbered: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Every record, those that are too large or cut short as bad ones.

    Raises ``UnusableInput`` without a header.
    """
    kind, wrong = "", ""
    begun = 0
    lines: list[str] = []
    for place, line in numbered:
        text = line.strip()
        header = _HEADER.fullmatch(text)
        if header or text == "%%":
            if lines and (wrong or header):
                yield Bad(begun, wrong or "a record without its end, %%")
            elif lines:
                yield begun, _ApelRecord(kind, lines)
            lines, wrong = [], ""
            kind = header[1] if header else kind
        elif text and not kind:
            example = "APEL-individual-job-message: v0.3"
            raise UnusableInput(f"no header line such as {example}", place)
        elif text:
            begun = begun if lines else place
            if len(text) > LINE_LIMIT:
                wrong = wrong or f"line {place} is {TOO_LONG}"
            elif len(lines) > RECORD_LIMIT:
                wrong = wrong or f"more than {RECORD_LIMIT} lines"
            if not (wrong and lines):
                lines.append(text[:LINE_LIMIT])
    if not kind:
        raise UnusableInput("nothing to read: not even a header line")
    if lines:  # the end of the last record may be missing
        yield Bad(begun, wrong) if wrong else (begun, _ApelRecord(kind, lines))


class _MessageCutter:
    """Cuts behind the end of a record; the header of a part is that of the records before."""

    def __init__(self, options: Options, front: Front) -> None:
        self.options, self.front = options, front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The records that end in the data."""
        size = len(data) if final else _last_end(data)
        told = [
            found for found in _HEADER_LINE.finditer(data, 0, size)
            if _HEADER.fullmatch(clean(found[0]).strip())
        ]  # fmt: skip
        if not size or not (told or self.front or final):
            return None, 0
        part = Part(data[:size], line, self.options, self.front)
        if told:
            self.front = ((line + data.count(b"\n", 0, told[-1].start()), told[-1][0]),)
        return part, size


def _last_end(data: bytes) -> int:
    """How many bytes there are up to the end of the last line that ends a record."""
    end = data.rfind(b"\n") + 1
    while end:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        if clean(data[begin:end]).strip() == "%%":
            return end
        end = begin
    return 0


def _cutter(head: bytes, front: bytes) -> Callable[[Options, Front], Cutter]:
    return _MessageCutter


def _behind(front: bytes, stream: PartStream, first: int) -> Iterator[Piece]:
    blocks = Blocks(stream, first)
    header = [(first, clean(front))] if front else []
    yield from messages(chain(header, blocks.lines()))
    yield from cut_short(blocks.cut_short)


def reader(options: Options, clock: Clock) -> Reader:
    """What reads records with this clock."""
    return lambda line, message: record(line, message, clock)


def record(line: int, message: _ApelRecord, clock: Clock) -> Read:
    """What a message is. Raises ``InvalidValue``."""
    if message.kind != INDIVIDUAL:
        if is_nearly(message.kind, INDIVIDUAL):
            return Bad(line, f"{message.kind} is no kind of message: a letter is damaged")
        reason = "summary" if "summar" in message.kind else f"{message.kind} message"
        return Skipped(line, reason)
    values = _values(message.lines)
    if "LocalJobId" not in values:
        return Bad(line, "no LocalJobId")
    more = tuple(noted("APEL", name, text) for name, text in values.items() if name not in _KNOWN)
    missing = [name for name in MANDATORY if name not in values]
    demanded = [Noted(line, f"no {', '.join(missing)}, which APEL demands")] if missing else []
    try:
        start, end = (clock.read(values.get(name, "")) for name in ("StartTime", "EndTime"))
        said = values.get(WALL, "-1")
        wall = None if _is_below_0(said) else seconds(said)
        if wall is None and (told := passed(start, end)):
            if not is_unknown(said):
                more += (noted("APEL", WALL, said),)
            values[WALL] = told
            demanded.append(Noted(line, NO_WALL, once=True))
        contradictions = tuple(doubts(line, start, end, wall))
    except InvalidValue:
        contradictions = ()  # the mapping will say so of the key
    notes = (*demanded, *contradictions)
    return Record(line, NAMES, [values.get(name, "") for name in NAMES], more=more, notes=notes)


def _values(lines: list[str]) -> dict[str, str]:
    """The pairs of a record; the words for no value have none, the first of a name counts."""
    values: dict[str, str] = {}
    for text in lines:
        name, colon, value = text.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not re.fullmatch(r"[A-Za-z]\w{0,60}", name):
            raise InvalidValue(text, "a line such as LocalJobId: 7")
        if name in values and values[name] != value:
            raise InvalidValue(text, f"the only {name} of its record")
        if value.lower() not in _NULL:
            values[name] = value
    if wrong := _WITHIN.told(values.items(), values):
        raise InvalidValue(wrong, "a line for each key")
    return values


LAYOUT = Layout(
    type="APEL",
    cut=of_lines(messages, Parted(_cutter, _behind)),
    reader=reader,
    rows=mapping(KEYS),
    known=KnownColumns(NAMES),
    run=RunKey("", "StartTime", "EndTime"),
    recognises=recognises,
)
