"""Grid Engine: ``qstat -xml``, where ``-f`` shows queues and ``-j`` groups; ``qconf`` of the rest.

Jobs are read by the format of status. What lrmsinfo alone needs is here: queues and their slots,
the tasks of an array one by one, and a queue for a job that asks for none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from sssjob.document import tree
from sssjob.errors import InvalidValue, UnreadableDocument
from sssjob.lcginfo.reader import QueueReader, ReaderOptions, count, span
from sssjob.lcginfo.snapshot import DONE, QueuedJob, QueueRules, Report, Snapshot, UnusableOutput
from sssjob.model import Job
from sssjob.registry import Format
from sssjob.systems.gridengine import words
from sssjob.systems.gridengine.accounting.table import TYPE

Element = Any  # of lxml, which only documents know

_XML = Format("sge-xml", "sssjob.systems.gridengine.status", "qstat -xml")
_INTERVAL = re.compile(r"^schedule_interval\s+(\S+)", re.MULTILINE)
_RESERVES = re.compile(r"^max_reservation\s+([0-9]+)", re.MULTILINE)
_QUEUE = re.compile(r"^qname\s+(\S+)", re.MULTILINE)
_LIMIT = re.compile(r"^[hs]_rt\s+(.+)", re.MULTILINE)
_ON_HOSTS = re.compile(r"\[[^\[\]=]*=([^\[\]]*)\]")
_OUTPUT = re.compile(r"(?=<\?xml\s)")  # outputs of several commands in one file
_ARRAY = re.compile(r"([0-9]+)\.(.+)")
_ROOTS = ("job_info", "detailed_job_info", "unknown_jobs")
_GONE = frozenset("uEdDoc")  # unreachable, error, disabled, orphaned, configuration: no slots
_FULL = frozenset("aASsC")  # alarm, suspended: slots, but no new jobs
_DECLARED = "<?xml version='1.0'?>\n"
_NOWHERE = "?"  # no queue has this name


class GridEngineQueue(QueueReader):
    """Reads what qstat prints; details are laid beside the jobs at the end.

    A job that asks for no queue is counted for the batch queue with the most slots. One without a
    unix group has its project, or its owner, in the place of it.
    """

    groups: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"group": ("Group", "Project", "User"), "account": ("Project", "User"), "user": ("User",)}
    )
    no_queue = _NOWHERE

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        super().__init__(options, report)
        self.texts: list[str] = []
        self.queues: Counter[str] = Counter()
        self.shares: dict[str, float] = {}

    def take(self, text: str) -> None:
        """Read one output: a job list, job details, or the scheduler's configuration."""
        if interval := _INTERVAL.search(text):
            self.cycle = span(words.seconds, interval[1])
            found = _RESERVES.search(text)
            self.keeps = found is None or int(found[1][:9]) > 0
            return
        if _QUEUE.match(text.lstrip()):
            places = [*_QUEUE.finditer(text)]
            for place, end in zip(places, [*places[1:], None], strict=True):
                self._limits(place[1], text[place.start() : end.start() if end else None])
            return
        for output in _OUTPUT.split(text.removeprefix("\ufeff")):
            if output.strip():
                self._take_xml(output)

    def _limits(self, name: str, text: str) -> None:
        """How long the jobs of a queue may run: the less of h_rt and s_rt, where it is longest.

        The hosts of a queue may have limits of their own.
        """
        try:
            limits = [
                max(_seconds(each) for each in (line.partition(",")[0], *_ON_HOSTS.findall(line)))
                for line in _LIMIT.findall(text)
            ]
        except InvalidValue as error:
            self.remark(f"queue {name!r}: {error}")
            return
        least = min(limits, default=math.inf)
        self.rules.append(QueueRules(name, None if least == math.inf else least))

    def _take_xml(self, text: str) -> None:
        try:
            root = tree.parse(text.encode("utf-8", "replace"))
        except UnreadableDocument as error:
            raise UnusableOutput(f"XML of qstat: {error}") from error
        if root.tag not in _ROOTS:
            raise self.unknown("Grid Engine", text)
        for instance in root.iter("Queue-List"):
            self._take_queue(instance)
        for job in root.iter("job_list"):
            with suppress(ValueError):
                priority = float(_text(job, "JAT_prio"))
                if math.isfinite(priority):
                    self.shares[_text(job, "JB_job_number")] = priority
        self.texts.append(text)

    def snapshot(self) -> Snapshot:
        """The state, where details add what the list does not say."""
        found: dict[str, QueuedJob] = {}
        # Each output begins with its declaration, by which one is told from the next.
        whole = "\n".join(f"{'' if '<?xml' in text else _DECLARED}{text}" for text in self.texts)
        for entry in self.read(_XML, whole) if whole else ():
            # What orders jobs is made of shares, urgency and what users said of it.
            entry = entry._replace(priority=self.shares.get(entry.jobid.partition(".")[0]))
            for job in self._tasks(entry):
                found.setdefault(job.jobid, job)
        running = Counter(job.queue for job in found.values() if job.queue != _NOWHERE)
        usual = (self.queues or running).most_common(1)
        self.jobs = []
        for job in found.values():
            if job.queue != _NOWHERE:
                self.jobs.append(job)
            elif usual:
                self.jobs.append(job._replace(queue=usual[0][0]))
            elif job.state != DONE:
                self.lost(f"job {job.jobid!r} names no queue, and no queue is known")
        return super().snapshot()

    def entry(self, job: Job) -> QueuedJob | None:
        """A job as one line of lrmsinfo; one in a state that nobody knows is in no queue."""
        if not job.get("State"):
            letters = job.properties.get("Extension", type=TYPE, name="state")
            wrong = f"{letters.text if letters else ''!r} is not a state of qstat's such as qw or r"
            self.lost(f"job {job.id!r}: {wrong}", job.line)
            return None
        entry = super().entry(job)
        return entry and entry._replace(queue=entry.queue.partition("@")[0])

    def _tasks(self, entry: QueuedJob) -> Iterator[QueuedJob]:
        """The job, or each task of the array that it stands for."""
        found = _ARRAY.fullmatch(entry.jobid)
        if found is None or found[2].isdecimal():
            yield entry
            return
        for task in self.tasks(entry.jobid, found[2]):
            yield entry._replace(jobid=f"{found[1]}.{task}")

    def _take_queue(self, instance: Element) -> None:
        """Count the slots of a queue on a host, unless it is for interactive jobs only."""
        kind, state = _text(instance, "qtype"), set(_text(instance, "state"))
        if not set(kind) & set("BP"):
            return
        total = _count(instance, "slots_total")
        name = _text(instance, "name").partition("@")[0]
        if "B" in kind:
            self.queues[name] += total
        if not state & _GONE:
            taken = sum(_count(instance, f"slots_{use}") for use in ("used", "resv"))
            self.add_slots(total, 0 if state & _FULL else total - taken, (name,))


def _seconds(text: str) -> float:
    """A limit of a queue; INFINITY is none. Raises ``InvalidValue``."""
    found = span(words.seconds, text.strip())
    return math.inf if found is None else found


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _count(element: Element, name: str) -> int:
    return count(_text(element, name)) or 0
