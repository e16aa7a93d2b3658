"""The records of jobs that have ended, asked of Slurm's accounting database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from sssjob.commands import asked
from sssjob.systems.slurm.allocation import ENVIRONMENT

COLUMNS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "State", "ExitCode", "Submit",
    "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "ReqCPUS", "ReqMem", "AllocCPUS",
    "NNodes", "NTasks", "NodeList", "TotalCPU", "MaxRSS",
)  # fmt: skip
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
