"""When Slurm takes a node away, and when it ends the job that asks.

A window of maintenance ends what runs on the node. ``squeue`` tells the end of a job by its limit,
or an earlier one once it is preempted: it has the GraceTime of its partition or QoS then. A node
that is drained takes no new job, and is empty when the last of its jobs has ended. # decision 700
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sssjob import host_name, users
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
_OF_JOBS = "JobID:24,State:24,NumCPUs:24,EndTime:24,PreemptTime:24,Partition:400"
_COLUMNS = len(_OF_JOBS.split(","))
_LONGEST = 40  # characters of a name
_HALTED = "SUSPENDED"  # its end is put off until somebody resumes it
_CLUSTERS = "SLURM_CLUSTERS"  # other ones than that of this node
_CONFIGURED = re.compile(
    r"^(PrivateData|MCSPlugin|MCSParameters|SlurmUser|OverTimeLimit)\s*=\s*(.*?)\s*$", re.MULTILINE
)
# What PrivateData may hide so that all jobs are still shown, and which plugin hides none.
_SHOWN = frozenset(
    ("none", "accounts", "cloud", "events", "nodes", "reservations", "usage", "users")
)
_PLUGINS = ("none", "mcs/none", "(null)", "")


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """The next window of maintenance of the node, its drain, and the end of this job if one asks.

    Raises ``CommandFailed``.
    """
    own = {name: text for name, text in asked.environment.items() if name != _CLUSTERS}
    asked = replace(asked, environment=own)
    node = asked.node or asked.environment.get("SLURMD_NODENAME") or host_name.own()
    notes: list[str] = []
    found = Invocation("slurm", (), asked.environment, asked.share(6)).shutdown(node, now, notes)
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
    printed = _printed(("squeue", "--noheader", f"--jobs={job}", f"--Format={_OF_JOB}"), asked, 5)
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
        yield Unread(f"{node[:_LONGEST]!r} is not the name of one node, whose state is asked")
        return
    printed = _printed(("scontrol", "show", "node", node), asked, 4)
    if (state := scontrol.node_state(printed, node)) is None:
        yield Unread(f"scontrol does not say what state node {node} has")
        return
    if not state.is_drained:
        return
    yield no_new_jobs(f"node {node}", "slurm", state.reason, state.since, now)
    listed = ("squeue", "--all", "--noheader", f"--nodelist={node}", f"--Format={_OF_JOBS}")
    rows = [line.split() for line in _printed(listed, asked, 3).splitlines()]
    rows = [row for row in rows if len(row) != _COLUMNS or row[1] in (*_RUNNING, _ENDS)]
    if any(len(row) != _COLUMNS for row in rows):
        return
    config = dict(_CONFIGURED.findall(_printed(("scontrol", "show", "config"), asked, 2)))
    if not _are_all(rows, state.used, config):
        return  # one is not shown to this user
    overtimes = _overtimes(config, asked) if rows else {}
    ends = [_last(row, overtimes, now) for row in rows]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return  # one has no limit: nobody knows when it ends
    why = said_by_people(state.reason)
    if known:
        yield Notice(MACHINE, max(known), "slurm", f"node {node} drains{why}: its last job ends")
    else:
        empty = max(now if state.since is None else state.since, state.idle_since or 0)
        text = f"node {node} has drained{why}"
        yield Notice(MACHINE, empty, "slurm", text, state.since is None)


def _are_all(rows: list[list[str]], used: int, config: Mapping[str, str]) -> bool:
    """Whether these are all jobs of a node of which so many processors are used.

    Where Slurm hides the jobs of others (PrivateData, also of MCSParameters), only who administers
    it sees all: a hidden job may share processors with one that is shown, or be suspended, so that
    no sum of processors tells that there is none. # decision 760
    """
    if sum(whole(row[2]) or 0 for row in rows) < used:
        return False
    is_open = _SHOWN.issuperset(config.get("PrivateData", "jobs").split(","))
    is_labelled = (
        "privatedata" in config.get("MCSParameters", "")
        and config.get("MCSPlugin", "none") not in _PLUGINS
    )
    return (is_open and not is_labelled) or _administers(config.get("SlurmUser", ""))


def _administers(user: str) -> bool:
    """Whether this process is of root, or of Slurm's own user: ``slurm(64030)``.

    Who is root only in a user namespace is somebody else to Slurm.
    """
    number = re.search(r"\(([0-9]{1,10})\)$", user)
    known = {0} if number is None else {0, int(number[1])}
    return users.is_host() and os.geteuid() in known


def _overtimes(config: Mapping[str, str], asked: Surroundings) -> dict[str, int | None]:
    """The minutes that jobs of a partition may go on beyond their limit; None is without end."""
    printed = _printed(("scontrol", "--all", "-o", "show", "partition"), asked, 1)
    usual = _minutes(config.get("OverTimeLimit", ""))
    found: dict[str, int | None] = {}
    for line in printed.splitlines():
        said = dict(word.split("=", 1) for word in line.split() if "=" in word)
        own = said.get("OverTimeLimit", "")
        found[said.get("PartitionName", "")] = usual if own == "NONE" else _minutes(own)
    return found


def _minutes(text: str) -> int | None:
    """``2 min``, or ``2``."""
    return whole(text.removesuffix(" min"), 9)


def _last(row: list[str], overtimes: Mapping[str, int | None], now: int) -> int | None:
    """The latest end of a job of a node; of one that has ended already, no later one than now.

    None where nobody knows it, as of one that goes on for longer than it may.
    """
    _, state, _, text, preempted, partition = row
    end = None if state == _HALTED else words.moment(text)
    if end is not None and state == _ENDS:
        return min(end, now)
    is_preempted = words.moment(preempted) is not None
    more = 0 if is_preempted else overtimes.get(partition)
    if end is None or more is None:
        return None
    end += 60 * more
    return end if end > now else None


def _printed(command: tuple[str, ...], asked: Surroundings, questions: int) -> str:
    """What a command prints, one of so many questions. Raises ``CommandFailed``."""
    return answer(list(command), {**asked.environment, **ENVIRONMENT}, asked.share(questions))
