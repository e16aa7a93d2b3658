"""What ``squeue --json`` and ``scontrol show job --json`` print, of Slurm 22.05 and later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, TypeVar

from sssjob.errors import InvalidValue, UnusableInput
from sssjob.model import Job
from sssjob.records import json_objects
from sssjob.records.assembly import Ready, assembled
from sssjob.records.record import Bad, Options, Outcome, Skipped
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.slurm.accounting.json_table import Reading
from sssjob.systems.slurm.status import table

P = TypeVar("P")
J = TypeVar("J")

_ACCOUNTING = "jobs as sacct prints them: they are read by sssjob convert --from slurm-json"
_fields = Reading(table.JSON, names=table.JSON_NAMES)


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each job, in its order.

    Raises ``UnusableInput`` where there is no array, or one of sacct's.
    """
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    making = table.Making(table.JSON_NAMES, options, road)
    yield from assembled(_ready(stream, making))


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that squeue or scontrol printed it, or ""."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or b'"jobs"' not in head:
        return ""
    found = b'"job_state"' in head or (b'"Slurm"' in head and _is_empty(head))
    return 'a JSON object with "jobs" that have a "job_state"' if found else ""


def _is_empty(head: bytes) -> bool:
    """Whether the array of jobs is empty."""
    _, _, behind = head.partition(b'"jobs"')
    return behind.lstrip(b": \t\r\n").lstrip(b"[ \t\r\n").startswith(b"]")


def _ready(stream: BinaryIO, making: table.Making[P, J]) -> Iterator[Ready[P, J] | Skipped | Bad]:
    begun = False
    for found in json_objects.read(stream, "jobs"):
        if isinstance(found, Bad):
            yield found
            continue
        line, job = found
        if not begun and "time" in job and "job_state" not in job:
            raise UnusableInput(_ACCOUNTING, line)
        begun = True
        try:
            yield making.ready(line, _fields(job))
        except InvalidValue as wrong:
            yield Bad(line, str(wrong))
