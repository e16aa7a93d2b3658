"""HTCondor: the job ads of history files and of ``condor_history``, in every form it prints."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import (
    NEVER,
    NO_START,
    NO_STATE,
    NO_WALL,
    KnownColumns,
    Layout,
    Read,
    Record,
    RunKey,
    alone,
    goes_on,
    mapping,
    ran,
)
from sssjob.records.readers import integer
from sssjob.records.record import Noted
from sssjob.records.values import is_whole
from sssjob.records.wall_times import lasted
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.accounting.ads import PARTED, TEXT, fields_of, form_of, pieces
from sssjob.systems.condor.accounting.values import COMPLETED, ENDED, MADE_OF, WORKED_OUT

_TYPE = "HTCondor"  # of Extensions
_SHADOW = 60  # s that a shadow may take to end
_ENDED = tuple(map(str, ENDED))
_JOB = (b"ClusterId", b"GlobalJobId", b"clusterid")
_NAMES = (*table.NAMES, *WORKED_OUT)
_NEVER = (*_NAMES, NEVER)
_cpus = itemgetter(*map(_NAMES.index, ("CpusProvisioned", "RequestCpus")))
_STATUS, _COMPLETION, _START, _WALL, _CPU = map(
    _NAMES.index, ("JobStatus", "CompletionDate", "StartTime", "Duration", "CpuDuration")
)


def record(line: int, values: list[Any]) -> Read:
    """What an ad is. Raises ``InvalidValue``."""
    found = fields_of(line, values)
    if not isinstance(found, list):
        return found
    has_ended = found[_STATUS] in _ENDED
    notes: tuple[Noted, ...] = ()
    if not found[_STATUS]:
        notes = (Noted(line, NO_STATE, once=True),)
    elif not has_ended and is_whole(end := found[_COMPLETION]) and int(end):
        notes = (goes_on(line),)  # decision 1072
    if found[_START]:
        return Record(line, _NAMES, found, has_ended, notes=notes)
    if has_ended and ran(found[_WALL], found[_CPU]):
        return Record(line, _NAMES, found, notes=(Noted(line, NO_START, once=True),))
    is_completed = found[_STATUS] == str(COMPLETED) and not found[_WALL]
    if is_completed and table.tells_processors(*_cpus(found)):
        notes = (Noted(line, NO_WALL, once=True),)
    return Record(line, _NEVER, found, has_ended, notes=notes)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job ads, or ""."""
    form = form_of(head)
    found = form == TEXT or (form and any(name in head for name in _JOB))
    return f"ClassAds of jobs in {form} form" if found else ""


def _may_be_longer(ad: Mapping[str, Any]) -> bool:
    """Whether the wall time may be longer than from the start that is known to the end.

    It is that of all runs, and the start may be that of the last one. Of a job that is removed the
    end is when somebody did so, behind which its run was ended.
    """
    return ad["JobStatus"] != str(COMPLETED) or ad["NumJobStarts"] not in ("", "0", "1")


LAYOUT = Layout(
    type=_TYPE,
    cut=CustomPieces(pieces, parted=PARTED),
    reader=alone(record),
    rows=mapping(
        (*table.ATTRIBUTES, *table.USED),
        # A job that was never started has been given nothing.
        (row for row in table.ATTRIBUTES if row.element not in table.OF_STARTED),
    ),
    known=KnownColumns(table.ADS, MADE_OF),
    span=("StartTime", "EndTime"),
    # Of all ads the wall time ends when the shadow has, which is behind the end of the job.
    lasted=lasted(integer, "Duration", rounded=_SHADOW, may_be_longer=_may_be_longer),
    run=RunKey("QDate", "StartTime", "EndTime"),
    recognises=recognises,
)
