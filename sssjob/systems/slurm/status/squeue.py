"""What ``squeue`` prints as a table with a header that has ``JOBID``, of any columns.

A name may hold what separates the columns: then its line has too many of them, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from sssjob.errors import UnusableInput
from sssjob.records.clock import Clock
from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import Layout, Piece, Read, Reader
from sssjob.records.lines import clean
from sssjob.records.record import Bad, Options
from sssjob.systems.slurm.accounting.readers import TYPE
from sssjob.systems.slurm.status import table
from sssjob.systems.slurm.status.text import id_of, least
from sssjob.systems.slurm.unset import NO_VALUE

_DELIMITERS = "\x1f|;,"  # else blanks
_NODES = "NODELIST(REASON)"
_UNSEEN = "(not shown)"  # the nodes of a job where no column shows nodes
_NOTHING = frozenset(("N/A", "(null)", "n/a"))

# The headers of squeue for each column of sacct; of several the first that is there counts.
HEADERS = {
    "Account": ("ACCOUNT",), "Elapsed": ("TIME",), "End": ("END_TIME",),
    "Group": ("GROUP", "GROUP_NAME"), "JobName": ("NAME",), "NCPUS": ("CPUS",),
    "NodeList": ("NODELIST", _NODES), "Partition": ("PARTITION",), "Reason": ("REASON",),
    "ReqCPUS": ("CPUS",), "Start": ("START_TIME",), "State": ("STATE", "ST"),
    "Submit": ("SUBMIT_TIME",), "Timelimit": ("TIME_LIMIT",), "User": ("USER",),
}  # fmt: skip
NAMES = ("JobID", *HEADERS, "Licenses", "ReqTRES")
# The words of scontrol for what an id is made of.
_OF_IDS = {
    "JobId": "JOBID", "ArrayJobId": "ARRAY_JOB_ID", "ArrayTaskId": "ARRAY_TASK_ID",
    "HetJobId": "HET_JOB_ID", "HetJobOffset": "HET_JOB_OFFSET",
}  # fmt: skip


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that squeue printed it, or ""."""
    return "a header with JOBID" if b"JOBID" in head.lstrip().partition(b"\n")[0] else ""


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """The columns of each line by their headers. Raises ``UnusableInput`` without a header."""
    lines = clean(stream.read()).strip("\r\n").split("\n")
    delimiter = next((mark for mark in _DELIMITERS if mark in lines[0]), None)
    header = [name.strip() for name in lines[0].split(delimiter)]
    if "JOBID" not in header:
        raise UnusableInput("no header of squeue", first)
    for number, line in enumerate(lines[1:], first + 1):
        row = [text.strip() for text in line.split(delimiter)]
        if len(row) != len(header):
            yield Bad(number, f"{len(row)} columns where the header has {len(header)}")
        else:
            # The first column of a name counts: %all prints a group's name, then its number.
            yield number, dict(zip(reversed(header), reversed(row), strict=True))


def reader(options: Options, clock: Clock) -> Reader:
    """What reads the columns of jobs."""
    listed = table.ColumnListReader(NAMES, clock)

    def read(line: int, row: Mapping[str, str]) -> Read:
        fields = _fields(row)
        return listed.record(line, [fields.get(name, "") for name in NAMES])

    return read


def _fields(row: Mapping[str, str]) -> dict[str, str]:
    """The columns of sacct."""
    found = {
        column: next((row[name] for name in names if name in row), "")
        for column, names in HEADERS.items()
    }
    where = row.get(_NODES, "")
    waits_for = where[1:-1] if where.startswith("(") else ""
    if not any(name in row for name in HEADERS["NodeList"]):
        found["NodeList"] = _UNSEEN
    elif found["NodeList"].startswith("("):
        found["NodeList"] = ""
    processors = least(found["NCPUS"])
    return {
        **found,
        "JobID": _id(row),
        "NCPUS": processors,
        "ReqCPUS": processors,
        "Reason": found["Reason"] or waits_for,
    }


def _id(row: Mapping[str, str]) -> str:
    """The id as sacct prints it, and squeue, too, unless JOBID is a column of --Format."""
    words = {word: row.get(header, "") for word, header in _OF_IDS.items()}
    known = {word: "" if text in _NOTHING else text for word, text in words.items()}
    return known["JobId"] if not known["JobId"].isdecimal() else id_of(known)


LAYOUT = Layout(
    type=TYPE,
    cut=CustomPieces(pieces),
    reader=reader,
    rows=table.rows,
    untold=NO_VALUE,
    recognises=recognises,
)
