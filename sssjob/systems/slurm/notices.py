"""When Slurm takes a node away, and when it ends the job that asks.

A window of maintenance ends what runs on the node. ``squeue`` tells the end of a job by its limit,
or an earlier one once it is preempted: it has the GraceTime of its partition or QoS then. A node
that is drained takes no new job, and is empty when the last of its jobs has ended. # decision 700
"""

from __future__ import annotations

from collections.abc import Iterator

from sssjob import host_name
from sssjob.commands import CommandFailed, is_name
from sssjob.commands import asked as answer
from sssjob.features.batch.call import Invocation
from sssjob.features.notices import (
    JOB,
    MACHINE,
    Notice,
    Surroundings,
    Unread,
    no_new_jobs,
    said_by_people,
)
from sssjob.integers import whole
from sssjob.systems.slurm import scontrol, words
from sssjob.systems.slurm.allocation import ENVIRONMENT

_NO_END = ("N/A", "NONE", "Unknown", "UNLIMITED")
# In others, of a job that was requeued, the end is that of its next run, in which another one asks.
_RUNNING = ("RUNNING", "SUSPENDED", "STOPPED", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT")
_ENDS = "COMPLETING"
_OF_JOB = "JobID:24,State:24,EndTime:24,PreemptTime:24"
_OF_JOBS = "%A %T %C %e"


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """The next window of maintenance of the node, its drain, and the end of this job if one asks.

    Raises ``CommandFailed``.
    """
    node = asked.node or asked.environment.get("SLURMD_NODENAME") or host_name.own()
    notes: list[str] = []
    found = Invocation("slurm", (), asked.environment, asked.share(4)).shutdown(node, now, notes)
    if found is None or notes:
        said = "; ".join(notes)
        yield Unread(f"slurm does not say when node {node} is taken away: {said}")
    if found is not None and found.moment is not None:
        yield Notice(MACHINE, int(found.moment.value), "slurm", found.moment.why)
    job = asked.environment.get("SLURM_JOB_ID", "")
    if job.isascii() and job.isdigit():
        try:
            yield from _end(job, asked)
        except CommandFailed as error:
            yield Unread(str(error))
    yield from _drain(node, asked, now)


def _end(job: str, asked: Surroundings) -> Iterator[Notice | Unread]:
    """When a job ends, unless it has no limit."""
    # With the id of each task and component: that of a leader is that of all of them, too.
    printed = _printed(("squeue", "--noheader", f"--jobs={job}", f"--Format={_OF_JOB}"), asked, 3)
    rows = [line.split() for line in printed.splitlines()]
    own = [row for row in rows if len(row) == 4 and row[0] == job]
    if len(own) != 1:
        if printed.strip():
            shown = own[0][2] if own else printed.strip()
            yield Unread(f"squeue does not say when job {job} ends: {shown[:40]!r}")
        return
    _, state, text, preempted = own[0]
    end = words.moment(text)
    if state not in _RUNNING:
        yield Unread(f"job {job} does not run any more, and is {state}")
    elif end is not None:
        is_preempted = words.moment(preempted) is not None
        why = f"job {job} is preempted" if is_preempted else f"the end of job {job}"
        yield Notice(JOB, end, "slurm", why)
    elif text not in _NO_END:
        yield Unread(f"squeue does not say when job {job} ends: {text[:40]!r}")


def _drain(node: str, asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """That a node is drained, and when the last of its jobs ends, where all of them have an end."""
    if not is_name(node):
        return
    printed = _printed(("scontrol", "-o", "show", "node", node), asked, 2)
    if (state := scontrol.node_state(printed, node)) is None:
        yield Unread(f"scontrol does not say what state node {node} has")
        return
    if not state.is_drained:
        return
    yield no_new_jobs(f"node {node}", "slurm", state.reason, state.since, now)
    listed = ("squeue", "--all", "--noheader", f"--nodelist={node}", f"--format={_OF_JOBS}")
    rows = [line.split() for line in _printed(listed, asked, 1).splitlines()]
    rows = [row for row in rows if len(row) != 4 or row[1] in (*_RUNNING, _ENDS)]
    ends = [_last(row, now) if len(row) == 4 else None for row in rows]
    known = [end for end in ends if end is not None]
    shown = sum(whole(row[2]) or 0 for row in rows if len(row) == 4)
    if len(known) < len(ends) or shown < state.used:
        return  # one has no limit, or is not shown to this user: nobody knows when it ends
    why = said_by_people(state.reason)
    if known:
        yield Notice(MACHINE, max(known), "slurm", f"node {node} drains{why}: its last job ends")
    else:
        empty = max(now if state.since is None else state.since, state.idle_since or 0)
        text = f"node {node} has drained{why}"
        yield Notice(MACHINE, empty, "slurm", text, state.since is None)


def _last(row: list[str], now: int) -> int | None:
    """The end of a job of a node; of one that has ended already, no later one than now."""
    end = words.moment(row[3])
    return min(end, now) if end is not None and row[1] == _ENDS else end


def _printed(command: tuple[str, ...], asked: Surroundings, questions: int) -> str:
    """What a command prints, one of so many questions. Raises ``CommandFailed``."""
    return answer(list(command), {**asked.environment, **ENVIRONMENT}, asked.share(questions))
