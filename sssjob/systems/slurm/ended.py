"""The records of jobs that have ended, asked of Slurm's accounting database: of some, or of all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice

from sssjob import commands
from sssjob.commands import CommandLimits, asked
from sssjob.systems.slurm.allocation import ENVIRONMENT

COLUMNS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "State", "ExitCode", "Submit",
    "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "ReqCPUS", "ReqMem", "AllocCPUS",
    "NNodes", "NTasks", "NodeList", "TotalCPU", "MaxRSS",
)  # fmt: skip
# What tells a run, and what may be changed of it later.
LISTED = ("JobID", "JobIDRaw", "Cluster", "State", "ExitCode", "Submit", "Start", "End",
          "ElapsedRaw", "NCPUS", "User", "Account")  # fmt: skip
_DELIMITER = "\x1f"
_ID = re.compile(r"[0-9]{1,10}(?:_[0-9]{1,10})?")
_AT_ONCE = 200  # ids in one question


def records(
    ids: Iterable[str], environment: Mapping[str, str], seconds: float
) -> Iterator[tuple[str, bytes]]:
    """The name of the command, and what it printed, for some of the jobs after the others.

    Ids that Slurm does not give are left out. ``seconds`` are for one question. Raises
    ``CommandFailed``.
    """
    left = iter([name for name in ids if _ID.fullmatch(name)])
    while some := list(islice(left, _AT_ONCE)):
        command = [
            "sacct", "--duplicates", "--parsable2", f"--delimiter={_DELIMITER}", "--noconvert",
            f"--format={','.join(COLUMNS)}", f"--jobs={','.join(some)}",
        ]  # fmt: skip
        yield "sacct", asked(command, {**environment, **ENVIRONMENT}, seconds).encode()


def listed(since: int, until: int | None, limits: CommandLimits) -> bytes:
    """What Slurm lists of the jobs that ran or ended in a span, one record for each run.

    Raises ``CommandFailed``.
    """
    span = [f"--starttime={_utc(since)}", *([f"--endtime={_utc(until)}"] if until else ())]
    command = [
        "sacct", "--allusers", "--duplicates", "--allocations", "--parsable2",
        f"--delimiter={_DELIMITER}", f"--format={','.join(LISTED)}", *span,
    ]  # fmt: skip
    return commands.run(command, "sacct", limits, {**ENVIRONMENT, "TZ": "UTC", "LC_ALL": "C"})


def _utc(time: int) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S}"
