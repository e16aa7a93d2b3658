"""lrmsinfo as a record format of ``convert``: each job line becomes a job object.

It is a snapshot and no accounting: what a job has used so far is not known. Times count from the
producer's own zero point. They are taken as seconds since 1970 or, where a zone is named, as
seconds of its local time, which is what producers on PBS write.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from sssjob.lcginfo import jobs as mapping
from sssjob.lcginfo import literal, lrmsinfo
from sssjob.lcginfo.snapshot import DONE, QueuedJob, Remark
from sssjob.records.clock import Clock
from sssjob.records.cuts import Lines
from sssjob.records.layout import Layout, MadeJob, NoRunKey, Read, Reader
from sssjob.records.lines import clean
from sssjob.records.record import Bad, Noted, Options, Skipped
from sssjob.records.unread import unread
from sssjob.units import TIME_LIMIT

_NEEDED = "'queue'", "'group'", "'state'"  # a queue alone has each job of Flux, too
_ZERO = "times count from a zero point of the producer; they are taken as seconds since 1970"


def reader(options: Options, clock: Clock) -> Reader:
    """What reads lines: of a job a job object; header lines are no records."""
    zone = clock.zone
    told = bool(options.zone)

    def read(line: int, text: str) -> Read | None:
        nonlocal told
        if len(text) > lrmsinfo.LINE_LIMIT:
            return Bad(line, f"longer than {lrmsinfo.LINE_LIMIT} bytes")
        if not text.lstrip().startswith("{"):
            return (
                None
                if lrmsinfo.is_header(text)
                else Skipped(line, "this line is neither part of the header nor a job")
            )
        remarks: list[Remark] = []
        values = literal.parse(text)
        entry = lrmsinfo.entry(values, line, remarks.append)
        job = mapping.to_job(_placed(entry, zone), 0.0, remarks.append, line)
        notes = [Noted(line, remark.message) for remark in remarks]
        notes += unread(line, "keys of a job", values, lrmsinfo.KEYS)
        if not told and (entry.qtime is not None or entry.start is not None):
            told = True
            notes.append(Noted(line, _ZERO, once=True))
        return MadeJob(line, job, entry.state == DONE, tuple(notes))

    return read


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is lrmsinfo, or ""."""
    for raw in head.split(b"\n"):
        text = clean(raw)
        if lrmsinfo.is_header(text):
            return f"a header line {text.split()[0]}"
        is_dictionary = text.lstrip()[:2] in ("{'", '{"')
        if is_dictionary and all(name in text.replace('"', "'") for name in _NEEDED):
            return "dictionaries with a queue and a group"
        if text.strip():
            return ""
    return ""


def _placed(entry: QueuedJob, zone: tzinfo) -> QueuedJob:
    """The entry with its times moved from local time to seconds since 1970."""
    return entry._replace(qtime=_epoch(entry.qtime, zone), start=_epoch(entry.start, zone))


def _epoch(time: float | None, zone: tzinfo) -> float | None:
    if time is None or zone is UTC or not 0 <= time <= TIME_LIMIT:
        return time
    return datetime.fromtimestamp(time, UTC).replace(tzinfo=zone).timestamp()


LAYOUT = Layout(
    type="", cut=Lines(), reader=reader, recognises=recognises,
    run=NoRunKey("producers leave ids empty, and two jobs of one second would be one"),
)  # fmt: skip
