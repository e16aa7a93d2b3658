"""What ``scontrol show job`` prints as text, of all jobs or of one, with or without ``-o``.

A user can make a name that looks like a record of its own. JSON has no such names: take it where
there is it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from sssjob.errors import UnusableInput
from sssjob.records.clock import Clock
from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import Layout, Piece, Read, Reader
from sssjob.records.lines import clean
from sssjob.records.record import CUT_SHORT, Bad, Noted, Options
from sssjob.records.unread import Left, expected, unread
from sssjob.records.values import is_whole
from sssjob.systems.slurm.accounting.readers import TYPE
from sssjob.systems.slurm.scontrol import listing
from sssjob.systems.slurm.status import table
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import account, generic

_NO_JOBS = b"No jobs in the system"
_JOB = re.compile(rb"\s*JobId=[0-9]+ (?:\S+ )*?JobName=")
_LAST = re.compile(rb"\n +JobState=")  # of a record of several lines
_COUNTS = re.compile(r"([0-9]+)(?:-([0-9]+))?")  # 2-4: that many at least, and at most
_COUNT = re.compile(r"[0-9]{1,9}")
_PER = re.compile(r"([0-9]+):")  # the first of NtasksPerN:B:S:C=2:0:*:*

# The word of scontrol for each column of which it has the text as sacct has it.
_SAME = {
    "Account": "Account", "AdminComment": "AdminComment", "Comment": "Comment", "Extra": "Extra",
    "Constraints": "Features", "Container": "Container", "CPUs/Task": "CPUs/Task",
    "Deadline": "Deadline", "Dependency": "Dependency", "DerivedExitCode": "DerivedExitCode",
    "Elapsed": "RunTime", "Eligible": "EligibleTime", "End": "EndTime",
    "ExcNodeList": "ExcNodeList", "ExitCode": "ExitCode", "JobIDRaw": "JobId",
    "JobName": "JobName", "Licenses": "Licenses", "McsLabel": "MCS_label", "NodeList": "NodeList",
    "Partition": "Partition", "Priority": "Priority", "QOS": "QOS", "Reason": "Reason",
    "ReqNodeList": "ReqNodeList", "Requeue": "Requeue", "Reservation": "Reservation",
    "Restarts": "Restarts", "Start": "StartTime", "StdErr": "StdErr", "StdIn": "StdIn",
    "StdOut": "StdOut", "Submit": "SubmitTime", "SystemComment": "SystemComment",
    "Timelimit": "TimeLimit", "WCKey": "WCKey", "WorkDir": "WorkDir",
}  # fmt: skip
NAMES = (
    "JobID", *_SAME, "AllocNode", "AllocTRES", "Group", "MaxNodes", "MinTmpDisk",
    "NCPUS", "NNodes", "NtasksPerNode", "NumTasks", "ReqCPUS", "ReqMem", "ReqNodes", "ReqTRES",
    "State", "User",
)  # fmt: skip
# fmt: off
# Words that columns are made of, and those that are not read, by what they are about.
_PARTS = (
    "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "AllocNode:Sid", "AllocTRES", "TRES",
    "GroupId", "MinTmpDiskNode", "NumNodes", "NumCPUs", "NtasksPerN:B:S:C", "NumTasks", "ReqTRES",
    "MinMemoryCPU", "MinMemoryNode", "JobState", "TresPerJob", "TresPerNode",
    "TresPerTask", "UserId",
)
LEFT: Left = {
    "how the scheduler came to what it does": (
        "AccrueTime", "LastSchedEval", "PreemptEligibleTime", "PreemptTime", "ResizeTime",
        "SchedNodeList", "Scheduler", "SecsPreSuspend", "SuspendTime",
    ),
    "what is said elsewhere as well": (
        "BatchFlag", "BatchHost", "Command", "JOB_GRES", "StepMgrEnabled", "SubmitLine",
    ),
    "how a site or its users have it set up": (
        "Batch", "ContainerID", "DelayBoot", "FailedNode", "KillOInInvalidDependent", "MailType",
        "MailUser", "Power", "Reboot",
    ),
    "fine points of a request": (
        "ArrayTaskThrottle", "BurstBuffer", "BurstBufferState", "Contiguous", "CoreSpec",
        "CpusPerTres",
        "GresAllowTaskSharing", "GresEnforceBind", "MemPerTres", "MinCPUsNode", "Network",
        "NtasksPerTRES", "NtasksPerTRES:", "OverSubscribe", "ReqB:S:C:T", "Shared", "Socks/Node",
        "Switches", "ThreadSpec", "TimeMin", "TresBind", "TresFreq", "TresPerSocket",
    ),
}
# fmt: on
_KNOWN = expected((*_SAME.values(), *_PARTS), LEFT)


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """The words of each job. Raises ``UnusableInput`` where there is none."""
    data = stream.read()
    if data.strip() and not recognises(data):
        raise UnusableInput("no records of jobs as scontrol prints them", first)
    if data.strip() == _NO_JOBS:
        return
    wrong = ""
    for line, words, wrong, doubt in listing(clean(data)):
        if doubt:
            yield Noted(line + first - 1, doubt)
        yield Bad(line + first - 1, wrong) if wrong else (line + first - 1, words)
    if data.strip() and not wrong and (short := _short(data)):
        yield Noted(data.count(b"\n") + first, short)


def _short(data: bytes) -> str:
    """What tells that a listing may be cut short, or "".

    A record of several lines ends with an empty one. That of one line ends with the line, so that
    a listing of these which was cut between two of them cannot be told from a shorter one.
    """
    if not data.endswith(b"\n"):
        return CUT_SHORT
    if data.endswith((b"\n\n", b"\n\r\n")) or not _LAST.search(data, data.rfind(b"\nJobId=") + 1):
        return ""
    return "the last record has no empty line behind it: it may be cut short"


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that scontrol printed it, or ""."""
    if head.startswith(_NO_JOBS):
        return _NO_JOBS.decode()
    return "words JobId=... JobName=..." if _JOB.match(head) else ""


def reader(options: Options, clock: Clock) -> Reader:
    """What reads the words of jobs, each of which should be there once."""
    listed = table.ColumnListReader(NAMES, clock)
    seen: set[str] = set()

    def read(line: int, words: Mapping[str, str]) -> list[Read]:
        fields = _fields(words)
        found: list[Read] = []
        if (id := fields["JobID"]) in seen:
            found.append(Noted(line, f"job {id} appears again: a name may imitate a record"))
        seen.add(id)
        record = listed.record(line, [fields[name] for name in NAMES])
        more = unread(line, "words of a job", words, _KNOWN)
        return [*found, record._replace(notes=(*record.notes, *more)) if more else record]

    return read


def _fields(words: Mapping[str, str]) -> dict[str, str]:
    """The columns of a record."""

    def word(name: str) -> str:
        return words.get(name, "")

    requested = word("ReqTRES") or _requested(words)
    nodes, processors = least(word("NumNodes")), least(word("NumCPUs"))
    return {
        **{column: word(name) for column, name in _SAME.items()},
        "JobID": id_of(words),
        "AllocNode": word("AllocNode:Sid").partition(":")[0],
        "AllocTRES": word("AllocTRES") or word("TRES"),
        "Group": account(word("GroupId")) or "",
        "MaxNodes": most(word("NumNodes")),
        "MinTmpDisk": _memory(word("MinTmpDiskNode"), "n"),
        "NCPUS": processors,
        "NNodes": nodes,
        "NtasksPerNode": _first(word("NtasksPerN:B:S:C")),
        "NumTasks": word("NumTasks"),
        "ReqCPUS": table.amount("cpu")(word("ReqTRES")) or _asked(words) or processors,
        "ReqMem": _memory(word("MinMemoryCPU"), "c") or _memory(word("MinMemoryNode"), "n"),
        "ReqNodes": table.amount("node")(requested) or nodes,
        "ReqTRES": requested,
        "State": word("JobState"),
        "User": account(word("UserId")) or "",
    }


def id_of(words: Mapping[str, str]) -> str:
    """The id as sacct prints it."""
    job, task = words["JobId"], words["ArrayTaskId"]
    if task:
        return f"{words['ArrayJobId']}_{task if is_whole(task) else f'[{task}]'}"
    return f"{words['HetJobId']}+{words['HetJobOffset']}" if words["HetJobId"] else job


def _asked(words: Mapping[str, str]) -> str:
    """The processors of all tasks; TRES of versions before 23.11 tells what was given instead."""
    told = [words.get(name, "") for name in ("NumTasks", "CPUs/Task")]
    return str(int(told[0]) * int(told[1])) if all(map(_COUNT.fullmatch, told)) else ""


def _requested(words: Mapping[str, str]) -> str:
    """What versions before 23.11 tell of ReqTRES: the TRES of a job that waits is what it asks for.

    That of any other job, and JOB_GRES, is what it was given: all of a node with --exclusive. What
    it asked for stands beside, for each of its nodes, its tasks or the whole.
    """
    if words.get("JobState") == "PENDING":
        return words.get("TRES", "")
    found: list[str] = []
    for name, number in (("TresPerJob", "1"), ("TresPerNode", least(words.get("NumNodes", ""))),
                         ("TresPerTask", words.get("NumTasks", ""))):  # fmt: skip
        if _COUNT.fullmatch(number):
            found += (
                f"gres/{each.name}{each.kind and ':'}{each.kind}={each.number * int(number)}"
                for each in generic(words.get(name, "")) or ()
            )
    return ",".join(found)


def least(text: str) -> str:
    """The number of ``4``, or the least one of ``2-4``; "" of another text."""
    found = _COUNTS.fullmatch(text)
    return found[1] if found else ""


def most(text: str) -> str:
    """The largest number of ``2-4``; "" of another text."""
    found = _COUNTS.fullmatch(text)
    return found[2] or "" if found else ""


def _first(text: str) -> str:
    found = _PER.match(text)
    return found[1] if found else ""


def _memory(text: str, letter: str) -> str:
    return "" if text in ("", "0") else f"{text}{letter}"


LAYOUT = Layout(
    type=TYPE,
    cut=CustomPieces(pieces),
    reader=reader,
    rows=table.rows,
    untold=NO_VALUE,
    recognises=recognises,
)
