"""Slurm: what ``sacct --json`` prints, of every data_parser since 21.08, one job after another.

A job and its steps become rows in sacct's own columns and take the same way from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

from sssjob.errors import InvalidValue, UnusableInput
from sssjob.records import json_objects, json_parts
from sssjob.records.cuts import CustomPieces
from sssjob.records.cutting import OpenStream, PartStream
from sssjob.records.layout import KnownColumns, Layout, Piece
from sssjob.records.readers import noted
from sssjob.records.record import JOB, KEPT, Bad, Field, Instead, Noted
from sssjob.records.record import Found as Value
from sssjob.records.unread import Left, expected, unread
from sssjob.systems.slurm.accounting import json_table as table
from sssjob.systems.slurm.accounting import sacct
from sssjob.systems.slurm.accounting import table as sacct_table
from sssjob.systems.slurm.accounting.lines import SacctRow
from sssjob.systems.slurm.unset import NO_VALUE

_STATE, _EXIT, _CPU, _ID, _REQUESTED, _LICENSES, _ODD = (
    table.NAMES.index(name)
    for name in ("State", "ExitCode", "TotalCPU", "JobID", "ReqTRES", "Licenses", table.ODD_PARTS)
)
# Of jobs and steps in these states 0 is hardly ever the code.
_CODED = ("FAILED", "DEADLINE", "OUT_OF_MEMORY", "BOOT_FAIL", "NODE_FAIL")
_LOST_CODES = (
    "this version of Slurm prints exit code 0 for every job in JSON: left out where a job failed; "
    "sacct --parsable2 has the codes"
)

Found = json_objects.Found | json_objects.Said

# Members beside the jobs: who was asked, and by which command; what went wrong is told.
_BESIDE = json_objects.MembersBeside({"the answer itself": ("meta",)}, ("errors", "warnings"))
# Members of a job that are read by what they stand for, or not at all.
_LEFT: Left = {
    "what is read together with others": ("array", "association", "het", "steps", "user"),
    "what is said elsewhere as well": ("stderr", "stdin", "stdout", "used_gres"),
    "how the scheduler came to what it did": ("block", "flags", "hold", "kill_request_user"),
    "what the job is, word by word": ("script",),
}
_KNOWN = expected((row.path[0] for row in table.JOB if row.path), _LEFT)
_QUEUE = (
    "jobs as squeue and scontrol print them, without what they used: they are read by "
    "sssjob status --from slurm; what jobs used is told by sacct --json"
)


def _member(head: bytes) -> str:
    """The array in which the objects of jobs stand."""
    return "jobs"


def _found(stream: BinaryIO, first: int) -> Iterator[Found]:
    """The objects of a stream. Raises ``UnusableInput`` for those of the queue."""
    return _of_accounting(json_objects.read(stream, "jobs", first, _BESIDE))


def _behind(front: bytes, stream: PartStream, first: int) -> Iterator[Found]:
    found = _PARTED.behind(front, stream, first)
    return iter(found) if front else _of_accounting(found)


def _rest(front: bytes, stream: OpenStream, first: int) -> Iterator[Found]:
    found = _PARTED.rest(front, stream, first)
    return iter(found) if front else _of_accounting(found)


def _of_accounting(objects: Iterable[Found]) -> Iterator[Found]:
    begun = False
    for found in objects:
        if not begun and isinstance(found, tuple):
            begun = True
            if _is_of_queue(found[1]):
                raise UnusableInput(_QUEUE, found[0])
        yield found


def _opened(objects: Iterable[Found]) -> Iterator[Piece]:
    """The rows of objects: they are far smaller than these."""
    for found in objects:
        if isinstance(found, Bad | Noted):
            yield found
            continue
        line, job = found
        yield from unread(line, "members of a job", job, _KNOWN)
        try:
            rows = _rows(line, job)
        except InvalidValue as wrong:
            yield Bad(line, str(wrong))
            continue
        if _without_lost_codes(job, rows):
            yield Noted(line, _LOST_CODES, once=True)
        yield from rows


def _is_of_queue(job: dict[str, Any]) -> bool:
    """Whether squeue or scontrol printed a job."""
    return "job_state" in job and "time" not in job


_SIGNS = (b'"jobs"', b'"job_id"', b'"association"', b'"accounting_storage"', b'"Slurm"')


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is sacct's JSON, or ""."""
    return json_objects.sign(head, _SIGNS)


def _rows(line: int, job: dict[str, Any]) -> list[SacctRow]:
    """The rows that sacct would print of a job: the job, then its steps."""
    own = table.job_fields(job)
    if not own[_ID]:
        raise InvalidValue("the object", "a job with a job_id")
    if odd := table.odd_parts(job):
        told_already = json.loads(own[_ODD] or "{}")
        own[_ODD] = json.dumps({**told_already, **odd})
    rows = [SacctRow(line, table.NAMES, own)]
    steps = job.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict):
            continue  # ``odd_parts`` has it
        told = table.step_fields(step)
        told[_ID] = f"{own[_ID]}.{_step(step)}"
        rows.append(SacctRow(line, table.NAMES, told))
    if "license/" in own[_REQUESTED]:
        own[_LICENSES] = ""  # the requested resources tell them as well
    if own[_CPU] == "00:00:00" and any(row.fields[_CPU].strip("0:.") for row in rows[1:]):
        own[_CPU] = ""  # 22.05 knows it of the steps only
    return rows


def _step(step: dict[str, Any]) -> str:
    """The id of a step within its job: ``2.batch`` since 23.11, an object with parts before."""
    id = table.at(step, ("step", "id"))
    if isinstance(id, dict):
        id = id.get("step_id", id.get("id"))
    found = table.text(id) or table.number(id)
    return found.rpartition(".")[2] if "." in found else found


def _without_lost_codes(job: dict[str, Any], rows: list[SacctRow]) -> bool:
    """Take away exit codes that Slurm up to 23.02 makes 0, whatever they were; whether any was.

    Such versions tell the status as one word, later ones as a list.
    """
    if not isinstance(table.at(job, ("exit_code", "status")), str):
        return False
    lost = [row for row in rows if row.fields[_EXIT] == "0:0" and row.fields[_STATE] in _CODED]
    for row in lost:
        row.fields[_EXIT] = ""
    return bool(lost)


def _made_of() -> dict[str, tuple[str, ...]]:
    """What columns are made of, those of sacct that are worked out of others among them."""
    summed = {
        made: tuple(column for column in of if column in table.MADE_OF)
        for made, of in sacct_table.WORKED_OUT.items()
    }
    return {**table.MADE_OF, **summed}


def _odd_parts(text: str) -> Value:
    """Nothing. Raises ``Instead`` for parts of another type, each of which is kept."""
    parts = json.loads(text)
    kept = tuple(noted("Slurm", name, part) for name, part in parts.items() if part.strip())
    raise Instead(
        ", ".join(parts.values()), f"what a record has there: {', '.join(parts)}", kept, KEPT
    )


_ROW_OF_ODD_PARTS = Field(table.ODD_PARTS, JOB, "Extension", _odd_parts)


def _with_odd_parts(names: Sequence[str]) -> Iterator[Field]:
    return chain(sacct_table.rows_of_opened(names), (_ROW_OF_ODD_PARTS,))


_PARTED = json_parts.parted(_member, _BESIDE)
LAYOUT = Layout(
    type="Slurm",
    cut=CustomPieces(_found, _opened, _PARTED._replace(behind=_behind, rest=_rest)),
    rows=_with_odd_parts,
    folding=sacct.LAYOUT.folding,
    span=sacct.LAYOUT.span,
    known=KnownColumns(table.PATHS, _made_of()),
    run=sacct.LAYOUT.run,
    untold=NO_VALUE,
    recognises=recognises,
)
