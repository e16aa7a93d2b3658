"""PBS and TORQUE: ``qstat -f`` and ``pbsnodes -a``, as text, or as JSON or XML where it is there.

Jobs are read by the formats of status. What lrmsinfo alone needs is here: nodes and their slots,
the tasks of an array one by one, which jobs wait for more than slots, and a start where none is
told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Any

from sssjob.array_indices import ELEMENTS, beginning
from sssjob.errors import InvalidValue
from sssjob.lcginfo.reader import TASKS_LIMIT, QueueReader, ReaderOptions, count, json_object, span
from sssjob.lcginfo.snapshot import (
    CLOSED,
    DRAINING,
    PRODUCTION,
    QUEUED,
    QUEUEING,
    RUNNING,
    QueuedJob,
    QueueRules,
    Report,
    SlotReservation,
    Snapshot,
)
from sssjob.model import Job
from sssjob.records.recognition import HEAD
from sssjob.registry import Format
from sssjob.systems.pbs import listing, words
from sssjob.systems.pbs.accounting.table import TYPE
from sssjob.systems.pbs.status import xml

_STATUS = "sssjob.systems.pbs.status"
_JSON = Format("qstat-json", f"{_STATUS}.json", "qstat -f -F json")
_XML = Format("qstat-xml", f"{_STATUS}.xml", "qstat -f -x")
_TEXT = Format("qstat-text", f"{_STATUS}.text", "qstat -f")

# A node in one of these states has no slots that count.
GONE = ("down", "offline", "unknown", "state-unknown", "stale", "provisioning", "sleep")

_QUEUE = re.compile(r"^Queue:[ \t]*(.*)", re.MULTILINE)  # qstat -Q -f
_RESV = re.compile(r"^(?:Resv ID|Name):[ \t]*(.*)", re.MULTILINE)  # pbs_rstat -F
_ALL = re.compile(r"\[o:PBS_ALL=([0-9]{1,9})\]")
# Of a queue: whether it takes jobs (enabled), and whether it starts them.
_SERVING = {
    (True, True): PRODUCTION, (True, False): QUEUEING, (False, True): DRAINING,
    (False, False): CLOSED,
}  # fmt: skip
_OF_ARRAYS = _WAIT, _COUNTS, _ALL_TASKS = (
    "array_indices_remaining", "array_state_count", "array_indices_submitted"
)  # fmt: skip
_RUN = re.compile(r"\b(?:Running|Exiting):([0-9]{1,9})")  # of array_state_count
_HELD_SLOT = re.compile(r"\s*([0-9]{1,18})(?:-([0-9]{1,18}))?")


class PBSQueue(QueueReader):
    """Reads what qstat and pbsnodes print.

    A job of which PBS tells no group is in one of that host, as lcg-info has it.
    """

    reads = frozenset(f"Extension/{name}" for name in ("job_state", *_OF_ARRAYS))
    no_group = "__localgroup__"

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        super().__init__(options, report)
        self.arrays: dict[str, dict[str, str]] = {}

    def take(self, text: str) -> None:
        """Read one output: jobs or nodes, text, JSON or XML."""
        stripped = text.lstrip("\ufeff \t\r\n")
        if stripped[:1] == "{":
            self._take_json(json_object(text), text)
        elif listing.JOB.match(stripped):
            self.jobs += self.read(_TEXT, text)
        elif stripped[:1] == "<":
            if not xml.recognises(stripped[:HEAD].encode("utf-8", "replace")):
                raise self.unknown("PBS", text)
            self.jobs += self.read(_XML, text)
        elif _QUEUE.match(stripped):
            for block in listing.in_text(text, _QUEUE):
                self._rules(block.head, block.first)
        elif _RESV.match(stripped):
            for block in listing.in_text(text, _RESV):
                self._reservation(block.head, block.first)
        elif stripped:
            self._take_nodes(text)

    def _take_nodes(self, text: str) -> None:
        blocks = listing.in_text(text, listing.NODE)
        nodes = [(block.head, block.first) for block in blocks]
        if not any(head and "state" in found for head, found in nodes):
            raise self.unknown("PBS", text)
        for head, found in nodes:
            if head:
                self._node(head, found)

    def _take_json(self, document: Mapping[str, Any], text: str) -> None:
        stamp = document.get("timestamp")
        self.seen_at(self.time(str(stamp)) if isinstance(stamp, int) else None)
        jobs, nodes = document.get("Jobs"), document.get("nodes")
        if (
            not isinstance(jobs, dict)
            and not isinstance(nodes, dict)
            and "pbs_version" not in document
        ):
            raise self.unknown("PBS", str(document))
        if isinstance(jobs, dict):
            self.jobs += self.read(_JSON, text)
        for name, found in (nodes if isinstance(nodes, dict) else {}).items():
            self._node(name, dict(_flat(found)))

    def entry(self, job: Job) -> QueuedJob | None:
        """A job as one line of lrmsinfo; one in a state that nobody knows is in no queue.

        Without a record of when it started, it did so as long ago as it has run.
        """
        if not job.get("State"):
            wrong = f"{_letter(job)!r} is not a job_state that is known"
            self.lost(f"job {job.id!r}: {wrong}", job.line)
            return None
        entry = super().entry(job)
        if entry is None:
            return None
        if "[]" in entry.jobid:
            self.arrays[entry.jobid] = {name: _kept(job, name) for name in _OF_ARRAYS}
        now = self.options.now or self.now
        if entry.state == RUNNING and entry.start is None and entry.walltime is not None and now:
            return entry._replace(start=now - entry.walltime)
        return entry

    def snapshot(self) -> Snapshot:
        """The state; a job in the queue of a reservation has its slots."""
        own = {job.jobid for job in self.jobs}
        self.jobs = [task for job in self.jobs for task in self._tasks(job, own)]
        names = {kept.name for kept in self.reserved}
        self.jobs = [
            job._replace(reservation=job.queue) if job.queue in names else job for job in self.jobs
        ]
        return super().snapshot()

    def _tasks(self, job: QueuedJob, own: Set[str]) -> Iterator[QueuedJob]:
        """The job, or each task of its array but those that have a record of their ``own``.

        PBS says which tasks have not begun, and of the others only how many run.
        """
        told = self.arrays.get(job.jobid, {})
        if not told.get(_COUNTS):
            yield job
            return
        head, _, tail = job.jobid.partition("[]")
        state = QUEUED if job.state == RUNNING else job.state
        waiting = told[_WAIT].strip("- ")
        for task in self.tasks(job.jobid, waiting) if waiting else ():
            if (id := f"{head}[{task}]{tail}") not in own:
                yield job._replace(jobid=id, state=state, start=None, walltime=None)
        wait = {*islice(beginning(waiting)[0], ELEMENTS)}
        begun = (task for task in beginning(told[_ALL_TASKS])[0] if task not in wait)
        running = sum(map(int, _RUN.findall(told[_COUNTS])))
        running = min(running, ELEMENTS, TASKS_LIMIT - self.counted)
        self.counted += running
        ids = [f"{head}[{task}]{tail}" for task in islice(begun, running)]
        yield from (job._replace(jobid=id, state=RUNNING) for id in ids if id not in own)

    def _node(self, name: str, found: Mapping[str, str]) -> None:
        states = re.split(r"[,\s]+", found.get("state", "").lower())
        stated = found.get("np") or found.get("resources_available.ncpus", "")
        cpus = count(stated)
        if cpus is None:
            self.remark(f"node {name!r} has np {stated!r}, which is no number; it is not counted")
            return
        if not set(states).isdisjoint(GONE):
            return
        held = count(found.get("resources_assigned.ncpus", ""))
        taken = _taken(found.get("jobs", "")) if held is None else held
        bound = found.get("queue") or found.get("resources_available.Qlist", "")
        queues = filter(None, re.split(r"[,\s]+", bound))
        self.add_slots(cpus, cpus - taken if "free" in states else 0, queues)

    def _rules(self, name: str, found: Mapping[str, str]) -> None:
        """What a queue lets its jobs do; one that only sends jobs on has none."""
        if not name or found.get("queue_type", "Execution").lower().startswith("r"):
            return
        try:
            longest, usual = (
                span(words.seconds, found.get(f"resources_{kind}.walltime", ""))
                for kind in ("max", "default")
            )
        except InvalidValue as error:
            self.remark(f"queue {name!r}: {error}")
            return
        most = _ALL.search(found.get("max_run", ""))
        self.rules.append(
            QueueRules(
                name, longest, usual, count(most[1] if most else found.get("max_running", "")),
                float(count(found.get("Priority", "")) or 0),
                _SERVING[found.get("enabled") != "False", found.get("started") != "False"],
            )
        )  # fmt: skip

    def _reservation(self, name: str, found: Mapping[str, str]) -> None:
        """What a reservation keeps of the slots; its jobs are in a queue of its own."""
        try:
            start, end = (self.time(found.get(f"reserve_{key}", "")) for key in ("start", "end"))
        except InvalidValue as error:
            self.remark(f"reservation {name!r}: {error}")
            return
        slots = count(found.get("Resource_List.ncpus", ""))
        if name and start is not None and end is not None and slots is not None:
            self.reserved.append(SlotReservation(name.partition(".")[0], start, end, slots))


def _letter(job: Job) -> str:
    """The job_state of a job, where the State tells less."""
    return _kept(job, "job_state")


def _kept(job: Job, name: str) -> str:
    """The text of an attribute that has no property."""
    found = job.properties.get("Extension", type=TYPE, name=name)
    return found.text if found else ""


def _taken(jobs: str) -> int:
    """The slots of a node that jobs hold: ``0/1.host, 1/1.host`` or ``0-3,5/2.host``."""
    return sum(_width(part.partition("/")[0]) for part in jobs.split(",") if part.strip())


def _width(text: str) -> int:
    found = _HELD_SLOT.match(text)
    if found is None or found[2] is None:
        return 1
    return max(int(found[2]) - int(found[1]) + 1, 1)


def _flat(found: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The values of nested JSON objects by dotted names."""
    if not isinstance(found, dict):
        return
    for name, value in found.items():
        if isinstance(value, dict) and not prefix:
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list):
            yield prefix + name, ", ".join(map(str, value))
        elif value is not None:
            yield prefix + name, str(value)
