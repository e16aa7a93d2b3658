"""HTCondor: the job ads of history files and of ``condor_history``, in every form it prints."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Generic, TypeVar, cast

from sssjob.accounting import condor_table as table
from sssjob.accounting.assembly import Assembly
from sssjob.accounting.condor_ads import TEXT, Ad, form_of, read
from sssjob.accounting.condor_values import ENDED, WORKED_OUT
from sssjob.accounting.record import Bad, Converted, Options, Outcome, Skipped
from sssjob.accounting.roads import OBJECTS, Road
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.model import Job

P = TypeVar("P")
J = TypeVar("J")

_PEEK = 1 << 14
_ENDED = tuple(map(str, ENDED))
_BATCH = 256  # ads that become jobs at once
_JOB = (b"ClusterId", b"GlobalJobId", b"clusterid")
_NAMES = (*table.NAMES, *WORKED_OUT)
_STATUS, _START = _NAMES.index("JobStatus"), _NAMES.index("StartTime")


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each ad. Raises ``UnusableInput`` where there are none."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(cast(io.RawIOBase, stream))
    form = form_of(buffered.peek(_PEEK))
    if not form:
        raise UnusableInput("no ClassAds: neither long form nor JSON nor XML", 1)
    maker = _Maker(road)
    batch: list[Ad | Skipped | Bad] = []
    for ad in read(buffered, form):
        if isinstance(ad, Ad) and options.ended_only and ad.fields[_STATUS] not in _ENDED:
            batch.append(Skipped(ad.line, "not ended"))
        else:
            batch.append(ad)
        if len(batch) >= _BATCH:
            yield from maker.outcomes(batch)
            batch.clear()
    yield from maker.outcomes(batch)


class _Maker(Generic[P, J]):
    """Makes jobs of many ads at once; one that was never started has been given nothing."""

    def __init__(self, road: Road[P, J]) -> None:
        waiting = tuple(row for row in table.ATTRIBUTES if row.element not in table.OF_STARTED)
        self._made_by = {
            True: Assembly((*table.ATTRIBUTES, *table.USED), _NAMES, road),
            False: Assembly(waiting, _NAMES, road),
        }

    def outcomes(self, batch: Sequence[Ad | Skipped | Bad]) -> Iterator[Outcome[J]]:
        """What becomes of ads, in their order."""
        found: dict[int, Outcome[J]] = {}
        for was_started, assembly in self._made_by.items():
            ads = [
                (place, ad)
                for place, ad in enumerate(batch)
                if isinstance(ad, Ad) and _was_started(ad) is was_started
            ]
            if ads:
                made = assembly.jobs([ad.fields for _, ad in ads])
                for (place, ad), job in zip(ads, made, strict=True):
                    if isinstance(job, InvalidValue):
                        found[place] = Bad(ad.line, str(job))
                    else:
                        found[place] = Converted(ad.line, job)
        for place, item in enumerate(batch):
            yield found[place] if isinstance(item, Ad) else item


def _was_started(ad: Ad) -> bool:
    return ad.fields[_START] != ""


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job ads, or ""."""
    form = form_of(head)
    found = form == TEXT or (form and any(name in head for name in _JOB))
    return f"ClassAds of jobs in {form} form" if found else ""
