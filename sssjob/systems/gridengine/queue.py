"""Grid Engine: ``qstat -xml``, where ``-f`` shows queues and ``-j`` groups; ``qconf -ssconf``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from sssjob.document import tree
from sssjob.errors import InvalidValue, UnreadableDocument
from sssjob.lcginfo.reader import Reader, ReaderOptions, count, span
from sssjob.lcginfo.snapshot import (
    BY_WORD,
    DONE,
    RUNNING,
    QueuedJob,
    Report,
    Snapshot,
    UnusableOutput,
)
from sssjob.systems.gridengine import words

Element = Any  # of lxml, which only documents know

ARRAY_LIMIT = 10_000

_INTERVAL = re.compile(r"^schedule_interval\s+(\S+)", re.MULTILINE)
_TASKS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}):([0-9]{1,9}))?")
_GONE = frozenset("uEdDoc")  # unreachable, error, disabled, orphaned, configuration: no slots
_FULL = frozenset("aASsC")  # alarm, suspended: slots, but no new jobs


class Detail(NamedTuple):
    """What only ``qstat -j`` says of a job."""

    group: str
    qtime: float | None
    limit: float | None


class GridEngineQueue(Reader):
    """Reads what qstat prints; details are laid beside the jobs at the end.

    A job that asks for no queue is counted for the batch queue with the most slots.
    """

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        super().__init__(options, report)
        self.details: dict[str, Detail] = {}
        self.queues: Counter[str] = Counter()
        self.found: dict[str, QueuedJob] = {}

    def take(self, text: str) -> None:
        """Read one output: a job list, job details, or the scheduler's configuration."""
        if interval := _INTERVAL.search(text):
            self.cycle = span(words.seconds, interval[1])
            return
        if not text.strip():
            return
        try:
            root = tree.parse(text.encode())
        except UnreadableDocument as error:
            raise UnusableOutput(f"XML of qstat: {error}") from error
        if root.tag == "job_info":
            self._take_list(root)
        elif root.tag == "detailed_job_info":
            for element in root.iterfind("djob_info/element"):
                self._take_detail(element)
        elif root.tag != "unknown_jobs":
            raise self.unknown("Grid Engine", text)

    def snapshot(self) -> Snapshot:
        """The state, where details add what the list does not say."""
        running = Counter(job.queue for job in self.found.values() if job.queue)
        usual = (self.queues or running).most_common(1)
        fallback = self.options.queue or (usual[0][0] if usual else "")
        self.jobs = []
        for job in self.found.values():
            if job.queue or fallback:
                self.jobs.append(self._complete(job, job.queue or fallback))
            elif job.state != DONE:
                self.lost(f"job {job.jobid!r} names no queue, and no queue is known")
        return super().snapshot()

    def _take_list(self, root: Element) -> None:
        for instance in root.iter("Queue-List"):
            self._take_queue(instance)
        listed: dict[str, QueuedJob] = {}
        for element in root.iter("job_list"):
            for job in self._jobs(element):
                # A parallel job stands in each of its queues, with the slots that it has there.
                there = listed.get(job.jobid)
                slots = job.cpucount + (there.cpucount if there else 0)
                listed[job.jobid] = (there or job)._replace(cpucount=slots)
        for jobid, job in listed.items():
            self.found[jobid] = _joined(self.found.get(jobid, job), job)

    def _take_queue(self, instance: Element) -> None:
        """Count the slots of a queue on a host, unless it is for interactive jobs only."""
        kind, state = _text(instance, "qtype"), set(_text(instance, "state"))
        if not set(kind) & set("BP"):
            return
        total = _count(instance, "slots_total")
        if "B" in kind:
            self.queues[_text(instance, "name").partition("@")[0]] += total
        if not state & _GONE:
            taken = sum(_count(instance, f"slots_{use}") for use in ("used", "resv"))
            self.add_slots(total, 0 if state & _FULL else total - taken)

    def _jobs(self, element: Element) -> Iterator[QueuedJob]:
        """The job of an element, or the tasks of an array that it stands for."""
        number = _text(element, "JB_job_number")
        try:
            job = self._entry(element, number)
            for task in _tasks(_text(element, "tasks")):
                yield job._replace(jobid=f"{number}.{task}" if task else number)
        except InvalidValue as error:
            self.lost(f"job {number!r}: {error}")

    def _entry(self, job: Element, number: str) -> QueuedJob:
        state = _state(_text(job, "state"))
        parent = job.getparent()
        at = _text(job, "queue_name") or _text(job, "hard_req_queue")
        if not at and parent is not None and parent.tag == "Queue-List":
            at = _text(parent, "name")
        owner = _text(job, "JB_owner")
        project = _text(job, "JB_project")
        groups = {"group": project or owner, "account": project or owner, "user": owner}
        start = self.time(_text(job, "JAT_start_time")) if state in (RUNNING, DONE) else None
        limits = {item.get("name"): item.text or "" for item in job.iterfind("hard_request")}
        return QueuedJob(
            at.partition("@")[0],
            groups[self.options.group],
            state,
            number,
            owner,
            # qstat writes < as %lt;
            (_text(job, "full_job_name") or _text(job, "JB_name")).replace("%lt;", "<"),
            self.time(_text(job, "JB_submission_time")) or start,
            start,
            span(words.seconds, limits.get("h_rt", "")),
            max(_count(job, "slots"), 1),
        )

    def _take_detail(self, element: Element) -> None:
        limit = next(
            (
                span(words.seconds, _text(request, "CE_stringval"))
                for request in element.iter("qstat_l_requests")
                if _text(request, "CE_name") == "h_rt"
            ),
            None,
        )
        self.details[_text(element, "JB_job_number")] = Detail(
            _text(element, "JB_group"), self.time(_text(element, "JB_submission_time")), limit
        )

    def _complete(self, job: QueuedJob, queue: str) -> QueuedJob:
        job = job._replace(queue=queue)
        detail = self.details.get(job.jobid.partition(".")[0])
        if detail is None:
            return job
        by_group = self.options.group == "group" and detail.group
        return job._replace(
            group=detail.group if by_group else job.group,
            qtime=detail.qtime or job.qtime,
            maxwalltime=job.maxwalltime if detail.limit is None else detail.limit,
        )


def _state(letters: str) -> str:
    """The state behind qstat's letters, as lcg-info calls it. Raises ``InvalidValue``."""
    if not (known := words.state(letters)):
        raise InvalidValue(letters, "a state of qstat's such as qw or r")
    return BY_WORD[known]


def _joined(job: QueuedJob, again: QueuedJob) -> QueuedJob:
    """A job that two outputs show: the second tells what the first leaves open."""
    return job._replace(
        start=again.start if job.start is None else job.start,
        maxwalltime=again.maxwalltime if job.maxwalltime is None else job.maxwalltime,
    )


def _tasks(text: str) -> list[str]:
    """The tasks of an array that one entry stands for: ``1-9:2``, ``3,7``; none is the job."""
    tasks: list[str] = []
    for part in filter(None, text.split(",")):
        found = _TASKS.fullmatch(part)
        if found is None:
            raise InvalidValue(text, "tasks such as 1-9:2")
        first, last, step = found.groups()
        steps = range(int(first), int(last or first) + 1, int(step or 1) or 1)
        tasks += map(str, steps[: ARRAY_LIMIT - len(tasks)])
    return tasks or [""]


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _count(element: Element, name: str) -> int:
    return count(_text(element, name)) or 0
