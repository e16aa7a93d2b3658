"""BLAH: the log in which a computing element tells whose grid job became which batch job.

A line holds quoted pairs: ``"timestamp=2012-05-20 23:59:47" "userDN=/O=.." "lrmsID=7.lrms1"``.
It is the grid's half of a job and knows nothing of what was used: ``grid`` joins it with the
batch system's record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from sssjob.errors import InvalidValue
from sssjob.formats.voms import attributes
from sssjob.model import Property
from sssjob.records.cuts import Lines
from sssjob.records.layout import KnownColumns, Layout, Read, Record, alone, mapping
from sssjob.records.lines import TWO_RECORDS, KeysWithin, first_line
from sssjob.records.readers import extension, identity, noted
from sssjob.records.record import (
    DELIVERED,
    JOB,
    Bad,
    Field,
    Found,
    Noted,
    Skipped,
    plain,
    varied,
)
from sssjob.records.values import epoch

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
_WITHIN = KeysWithin(NAMES, "=", quote='"')


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is BLAH's, or ""."""
    begins = re.match(rb'"(timestamp|userDN|lrmsID)=', first_line(head))
    return 'lines of "name=value"' if begins else ""


def record(line: int, text: str) -> Read:
    """What a line is. Raises ``InvalidValue``."""
    pairs = tuple(_pairs(text.strip()))
    values = dict(reversed(pairs))  # the first of each name counts: a user's primary FQAN
    if len(values) < len(pairs) and any(
        value != values[name] for name, value in pairs if name in NAMES and name != "userFQAN"
    ):
        return Bad(line, TWO_RECORDS)
    if wrong := _WITHIN.told(pairs, values):
        return Bad(line, wrong)
    if values.get("lrmsID", "").strip().lower() in _NEVER_SUBMITTED:
        return Skipped(line, "not submitted to a batch system")
    more = tuple(
        noted("VOMS", "FQAN", value) if name == "userFQAN" else noted("BLAH", name, value)
        for name, value in pairs
        if value and (name not in NAMES or (name == "userFQAN" and value != values[name]))
    )
    notes = () if "timestamp" in values else (Noted(line, _TIMELESS),)
    return Record(line, NAMES, [values.get(name, "") for name in NAMES], more=more, notes=notes)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        raise InvalidValue(text, 'a line of "name=value" pairs, each in quotes')
    for pair in _BETWEEN.split(text[1:-1]):
        found = _PAIR.fullmatch(pair)
        if not found:
            raise InvalidValue(pair, 'a pair "name=value"')
        yield found[1], found[2]


LAYOUT = Layout(
    type="BLAH", cut=Lines(), reader=alone(record), rows=mapping(COLUMNS),
    known=KnownColumns(NAMES), recognises=recognises,
)  # fmt: skip
