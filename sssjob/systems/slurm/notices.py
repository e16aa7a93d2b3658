"""When Slurm takes a node away, and when it ends the job that asks.

A window of maintenance ends what runs on the node. ``squeue`` tells the end of a job by its limit,
or an earlier one once it is to be preempted: it has the GraceTime of its partition or QoS then.
"""

from __future__ import annotations

from collections.abc import Iterator

from sssjob import host_name
from sssjob.commands import asked as answer
from sssjob.features.batch.call import Invocation
from sssjob.features.notices import JOB, MACHINE, Notice, Surroundings, Unread
from sssjob.systems.slurm import words
from sssjob.systems.slurm.allocation import ENVIRONMENT

_NO_END = ("N/A", "NONE", "Unknown", "UNLIMITED")


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """The next window of maintenance of the node, and the end of this job if one asks.

    Raises ``CommandFailed``.
    """
    node = asked.node or asked.environment.get("SLURMD_NODENAME") or host_name.own()
    notes: list[str] = []
    found = Invocation("slurm", (), asked.environment, asked.share(2)).shutdown(node, now, notes)
    if found is None or notes:
        said = "; ".join(notes)
        yield Unread(f"slurm does not say when node {node} is taken away: {said}")
    if found is not None and found.moment is not None:
        yield Notice(MACHINE, int(found.moment.value), "slurm", found.moment.why)
    job = asked.environment.get("SLURM_JOB_ID", "")
    if job.isascii() and job.isdigit():
        # With the id of each task and component: that of a leader is that of all of them, too.
        command = ["squeue", "--noheader", f"--jobs={job}", "--format=%A %e"]
        printed = answer(command, {**asked.environment, **ENVIRONMENT}, asked.share())
        rows = [line.split() for line in printed.splitlines()]
        ends = [row[1] for row in rows if len(row) == 2 and row[0] == job]
        end = words.moment(ends[0]) if len(ends) == 1 else None
        if end is not None:
            yield Notice(JOB, end, "slurm", f"the end of job {job}")
        elif printed.strip() and (not ends or ends[0] not in _NO_END):
            shown = ends[0] if ends else printed.strip()
            yield Unread(f"squeue does not say when job {job} ends: {shown[:40]!r}")
