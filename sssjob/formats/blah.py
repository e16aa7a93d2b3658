"""BLAH: the log in which a computing element tells whose grid job became which batch job.

A line holds quoted pairs: ``"timestamp=2012-05-20 23:59:47" "userDN=/O=.." "lrmsID=7.lrms1"``.
It is the grid's half of a job and knows nothing of what was used: ``grid`` joins it with the
batch system's record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, TypeVar

from sssjob.errors import InvalidValue
from sssjob.formats.voms import attributes
from sssjob.model import Job, Property
from sssjob.records.assembly import Assembly, Ready, assembled, extension, noted
from sssjob.records.head import first_line
from sssjob.records.lines import clean, numbered
from sssjob.records.readers import identity
from sssjob.records.record import (
    DELIVERED,
    JOB,
    Bad,
    Field,
    Found,
    Noted,
    Options,
    Outcome,
    Skipped,
    plain,
    varied,
)
from sssjob.records.roads import OBJECTS, Road
from sssjob.records.values import epoch

P = TypeVar("P")
J = TypeVar("J")

LINE_LIMIT = 1 << 16  # bytes

# A quote inside of a value ends it only where the next pair begins.
_BETWEEN = re.compile(r'"\s+"(?=[A-Za-z]\w{0,40}=)')
_PAIR = re.compile(r"([A-Za-z]\w{0,40})=(.*)", re.DOTALL)
_STAMP = "%Y-%m-%d %H:%M:%S"
_TIMELESS = "no timestamp, so the job cannot be joined with a batch record"
_NEVER_SUBMITTED = ("", "failed", "null", "none")


@varied
def stamp(text: str) -> Found:
    """The time at which the computing element took the job, which it writes in UTC."""
    try:
        moment = datetime.strptime(text, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidValue(text, "a time in UTC such as 2012-05-20 23:59:47") from None
    return epoch(int(moment.timestamp()), text)


def host(text: str) -> Found:
    """The host of ``host:port/queue``."""
    return re.split("[:/]", text, maxsplit=1)[0] or None


def organisation(text: str) -> Found:
    """The VO of an FQAN, which is the project."""
    return attributes(text).vo or None


def credentials(text: str) -> tuple[Property, ...]:
    """An FQAN, and the group and role in it; the others of a list stand behind them."""
    first, *others = (part.strip() for part in text.split(";"))
    found = attributes(first)
    notes = (("FQAN", first), ("Group", found.group), ("Role", found.role))
    return tuple(
        noted("VOMS", name, value)
        for name, value in (*notes, *(("FQAN", other) for other in others))
        if value
    )


# fmt: off
COLUMNS: tuple[Field, ...] = (
    Field("lrmsID",    JOB,       "Id",         identity),
    Field("jobID",     JOB,       "GlobalId"),
    Field("timestamp", JOB,       "SubmitTime", stamp),
    Field("ceID",      JOB,       "SubmitHost", host),
    Field("ceID",      JOB,       "Extension",  plain, extension("BLAH", "ceID")),
    Field("clientID",  JOB,       "Extension",  plain, extension("BLAH", "clientID")),
    Field("localUser", JOB,       "Extension",  plain, extension("BLAH", "localUser")),
    Field("userDN",    DELIVERED, "GlobalUser"),
    Field("userFQAN",  DELIVERED, "Project",    organisation),
    Field("userFQAN",  JOB,       "Extension",  credentials),
)
# fmt: on
NAMES = tuple(dict.fromkeys(row.column for row in COLUMNS))
# Where a value holds this, what separates two pairs is damaged.
_WITHIN = re.compile(f'"(?:{"|".join(NAMES)})=')


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each line, in its order."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    return assembled(_read(stream, Assembly(COLUMNS, NAMES, road, "BLAH")))


def _read(stream: BinaryIO, maker: Assembly[P, J]) -> Iterator[Ready[P, J] | Outcome[J]]:
    for line, raw in numbered(stream, LINE_LIMIT):
        if len(raw) > LINE_LIMIT:
            yield Bad(line, f"a line of more than {LINE_LIMIT} bytes")
        elif text := clean(raw).strip():
            try:
                yield _record(line, tuple(_pairs(text)), maker)
            except InvalidValue as wrong:
                yield Bad(line, str(wrong))


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is BLAH's, or ""."""
    begins = re.match(rb'"(timestamp|userDN|lrmsID)=', first_line(head))
    return 'lines of "name=value"' if begins else ""


def _record(
    line: int, pairs: tuple[tuple[str, str], ...], maker: Assembly[P, J]
) -> Ready[P, J] | Skipped:
    values = dict(reversed(pairs))  # the first of each name counts: a user's primary FQAN
    if values.get("lrmsID", "").strip().lower() in _NEVER_SUBMITTED:
        return Skipped(line, "not submitted to a batch system")
    more = tuple(
        noted("VOMS", "FQAN", value) if name == "userFQAN" else noted("BLAH", name, value)
        for name, value in pairs
        if value and (name not in NAMES or (name == "userFQAN" and value != values[name]))
    )
    notes = () if "timestamp" in values else (Noted(line, _TIMELESS),)
    return Ready(line, maker, maker.fields(values), more, notes)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        raise InvalidValue(text, 'a line of "name=value" pairs, each in quotes')
    for pair in _BETWEEN.split(text[1:-1]):
        found = _PAIR.fullmatch(pair)
        if not found:
            raise InvalidValue(pair, 'a pair "name=value"')
        if _WITHIN.search(found[2]):
            raise InvalidValue(pair, "one pair: something else than a blank is between two")
        yield found[1], found[2]
