"""lrmsinfo as a record format of ``convert``: each job line becomes a job object.

It is a snapshot and no accounting: what a job has used so far is not known. Times count from the
producer's own zero point. They are taken as seconds since 1970 or, where a zone is named, as
seconds of its local time, which is what producers on PBS write.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import BinaryIO

from sssjob.errors import InvalidValue
from sssjob.lcginfo import jobs as mapping
from sssjob.lcginfo import literal, lrmsinfo
from sssjob.lcginfo.snapshot import DONE, QueuedJob, Remark
from sssjob.model import Job
from sssjob.records.clock import timezone
from sssjob.records.lines import clean, numbered
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, Skipped
from sssjob.units import TIME_LIMIT

_ZERO = "times count from a zero point of the producer; they are taken as seconds since 1970"


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each line: of a job a job object; header lines are no records."""
    chosen = options or Options()
    zone = timezone(chosen.zone)
    told = bool(chosen.zone)
    for line, raw in numbered(stream, lrmsinfo.LINE_LIMIT):
        text = clean(raw)
        if len(raw) > lrmsinfo.LINE_LIMIT:
            yield Bad(line, f"a line of more than {lrmsinfo.LINE_LIMIT} bytes")
        elif text.lstrip().startswith("{"):
            remarks: list[Remark] = []
            try:
                entry = lrmsinfo.entry(literal.parse(text), line, remarks.append)
            except InvalidValue as wrong:
                yield Bad(line, str(wrong))
                continue
            if chosen.ended_only and entry.state != DONE:
                yield Skipped(line, "not ended")
                continue
            yield Converted(line, mapping.to_job(_placed(entry, zone), 0.0, remarks.append, line))
            yield from (Noted(line, remark.message) for remark in remarks)
            if not told and (entry.qtime is not None or entry.start is not None):
                told = True
                yield Noted(line, _ZERO, once=True)
        elif text.strip() and not lrmsinfo.is_header(text):
            yield Skipped(line, "neither header nor job")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is lrmsinfo, or ""."""
    for raw in head.split(b"\n"):
        text = clean(raw)
        if lrmsinfo.is_header(text):
            return f"a header line {text.split()[0]}"
        if text.lstrip()[:2] in ("{'", '{"') and "'queue'" in text.replace('"', "'"):
            return "dictionaries with a queue"
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
