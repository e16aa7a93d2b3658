"""HTCondor: the job ads of history files and of ``condor_history``, in every form it prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, TypeVar, cast

from sssjob.errors import UnusableInput
from sssjob.model import Job
from sssjob.records.assembly import Assembly, Ready, assembled
from sssjob.records.head import looked_at
from sssjob.records.lines import CUT_SHORT, Watched
from sssjob.records.record import Bad, Noted, Options, Outcome, Skipped
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.accounting.ads import LONG, TEXT, Ad, form_of, read
from sssjob.systems.condor.accounting.values import ENDED, WORKED_OUT

P = TypeVar("P")
J = TypeVar("J")

_TYPE = "HTCondor"  # of Extensions
_HEAD = 1 << 14  # bytes that tell the form
_ENDED = tuple(map(str, ENDED))
_JOB = (b"ClusterId", b"GlobalJobId", b"clusterid")
_NAMES = (*table.NAMES, *WORKED_OUT)
_STATUS, _START = _NAMES.index("JobStatus"), _NAMES.index("StartTime")


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each ad. Raises ``UnusableInput`` where there are none."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    head, again = looked_at(stream, _HEAD)
    form = form_of(head)
    if not form and head.strip():
        raise UnusableInput("no ClassAds: neither long form nor JSON nor XML", 1)
    return _outcomes(again, form, options, road) if form else iter(())


def _outcomes(
    stream: BinaryIO, form: str, options: Options, road: Road[P, J]
) -> Iterator[Outcome[J]]:
    watched = Watched(stream)
    yield from assembled(_read(read(cast(BinaryIO, watched), form), options, road))
    if form in (LONG, TEXT) and watched.cut_short:
        yield Noted(watched.cut_short, CUT_SHORT)


def _read(
    ads: Iterable[Ad | Skipped | Bad], options: Options, road: Road[P, J]
) -> Iterator[Ready[P, J] | Skipped | Bad]:
    """The ads with what they become; a job that was never started has been given nothing."""
    waiting_rows = (row for row in table.ATTRIBUTES if row.element not in table.OF_STARTED)
    started = Assembly((*table.ATTRIBUTES, *table.USED), _NAMES, road, _TYPE)
    waiting = Assembly(waiting_rows, _NAMES, road, _TYPE)
    for ad in ads:
        if not isinstance(ad, Ad):
            yield ad
        elif options.ended_only and ad.fields[_STATUS] not in _ENDED:
            yield Skipped(ad.line, "not ended")
        else:
            yield Ready(ad.line, started if ad.fields[_START] else waiting, ad.fields)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job ads, or ""."""
    form = form_of(head)
    found = form == TEXT or (form and any(name in head for name in _JOB))
    return f"ClassAds of jobs in {form} form" if found else ""
