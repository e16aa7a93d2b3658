"""What ``squeue --json`` and ``scontrol show job --json`` print, of Slurm 22.05 and later."""

from __future__ import annotations

from typing import Any

from sssjob.errors import UnusableInput
from sssjob.records.clock import Clock
from sssjob.records.json_objects import MembersBeside
from sssjob.records.json_parts import objects
from sssjob.records.layout import Layout, Read, Reader
from sssjob.records.record import Options
from sssjob.systems.slurm.accounting.json_table import RowReading
from sssjob.systems.slurm.accounting.readers import TYPE
from sssjob.systems.slurm.status import table
from sssjob.systems.slurm.unset import NO_VALUE

_ACCOUNTING = "jobs as sacct prints them: they are read by sssjob convert --from slurm-json"
# Members beside the jobs: who was asked, by which command and when; what went wrong is told.
_BESIDE = MembersBeside(
    {"the answer itself": ("meta", "last_backfill", "last_update")}, ("errors", "warnings")
)
_fields = RowReading(table.JSON, names=table.JSON_NAMES)


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


def reader(options: Options, clock: Clock) -> Reader:
    """What reads the jobs of a document, which may be those of sacct."""
    listed = table.ColumnListReader(table.JSON_NAMES, clock)
    begun = False

    def read(line: int, job: dict[str, Any]) -> Read:
        nonlocal begun
        if not begun and "time" in job and "job_state" not in job:
            raise UnusableInput(_ACCOUNTING, line)
        begun = True
        found = listed.record(line, _fields(job))
        more = table.unread_members(line, job)
        return found._replace(notes=(*found.notes, *more)) if more else found

    return read


LAYOUT = Layout(
    type=TYPE,
    cut=objects(lambda head: "jobs", _BESIDE),
    reader=reader,
    rows=table.rows,
    untold=NO_VALUE,
    recognises=recognises,
)
