"""Slurm: ``scontrol show jobs`` and ``nodes``, ``squeue`` and ``sinfo``, as text or JSON.

Jobs are read by the formats of status. What lrmsinfo alone needs is here: nodes and their slots,
the tasks of an array one by one, and which jobs wait for more than slots.
JSON is asked for where there is it: a job name can imitate every line of the texts. Partitions and
reservations are read as text, in which users write nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.lcginfo.reader import QueueReader, ReaderOptions, count, json_object, span
from sssjob.lcginfo.snapshot import (
    CLOSED,
    PRODUCTION,
    QUEUEING,
    RUNNING,
    QueuedJob,
    QueueRules,
    Report,
    SlotReservation,
    Snapshot,
    UnusableOutput,
)
from sssjob.lcginfo.snapshot import DRAINING as DRAINED
from sssjob.model import Job
from sssjob.records.json_objects import complaint
from sssjob.registry import Format
from sssjob.systems.slurm.accounting.readers import TYPE
from sssjob.systems.slurm.status import text as scontrol
from sssjob.systems.slurm.words import expand, settable, time_limit

_NODE = re.compile(r"^NodeName=", re.MULTILINE)
_PARTITION = re.compile(r"^PartitionName=", re.MULTILINE)
_RESERVATION = re.compile(r"^ReservationName=", re.MULTILINE)
_NONE = ("No reservations in the system", "No partitions in the system")
_CPU = re.compile(r"\bcpu=([0-9]{1,9})\b")
_PAIR = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=(\S*)")
_CPUS = re.compile(r"^\s*([0-9]{1,18})/([0-9]{1,18})/([0-9]{1,18})/([0-9]{1,18})\s*$")
_ARRAY = re.compile(r"([0-9]+)_\[([^\]]*)\]")

_STATUS = "sssjob.systems.slurm.status"
_JSON = Format("squeue-json", f"{_STATUS}.json", "squeue --json")
_SCONTROL = Format("scontrol", f"{_STATUS}.text", "scontrol show job")
_SQUEUE = Format("squeue", f"{_STATUS}.squeue", "squeue")

# The states of a node whose processors are there: spec 9; of these, one gets no new jobs.
UP = ("IDLE", "COMPLETING", "ALLOCATED", "DRAINING", "MIXED")
DRAINING = "DRAINING"
_SERVING = {"UP": PRODUCTION, "DOWN": QUEUEING, "DRAIN": DRAINED, "INACTIVE": CLOSED}  # partitions
_NODES = 100_000  # that are told apart in one list


@dataclass(slots=True)
class _NodeUse:
    """A node: its states, its processors and those that jobs have, and its partitions."""

    states: str
    cpus: Fraction | int | None
    allocated: Fraction | int | None
    partitions: set[str] = field(default_factory=set)


class SlurmQueue(QueueReader):
    """Reads what Slurm's commands print."""

    reads = frozenset(("Extension/Reservation",))

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        super().__init__(options, report)
        self.nodes: dict[str, _NodeUse] = {}
        self.kept: list[Mapping[str, str]] = []  # reservations
        self._reservations: list[_Held] = []

    def take(self, text: str) -> None:
        """Read one output: jobs or nodes, text or JSON."""
        if text.lstrip()[:1] == "{":
            self._take_json(json_object(text), text)
        elif scontrol.recognises(text.encode("utf-8", "replace")):
            self._jobs(_SCONTROL, text)
        elif _NODE.search(text):
            for record in _records(_NODE, text):
                self._node_text(dict(_PAIR.findall(record)))
        elif _PARTITION.search(text):
            for record in _records(_PARTITION, text):
                self._partition(dict(_PAIR.findall(record)))
        elif _RESERVATION.search(text):
            self.kept += [dict(_PAIR.findall(each)) for each in _records(_RESERVATION, text)]
        elif not text.strip() or text.startswith(("No jobs in the system", *_NONE)):
            pass
        elif cpus := [found for line in text.splitlines() if (found := _CPUS.match(line))]:
            for found in cpus:  # sinfo -o %C: allocated, idle, other, total
                self.add_slots(int(found[1]) + int(found[2]), int(found[2]))
        elif "JOBID" in text.partition("\n")[0]:
            self._jobs(_SQUEUE, text)
        else:
            raise self.unknown("Slurm", text)

    def _take_json(self, document: Mapping[str, Any], text: str) -> None:
        self._heed_errors(document)
        if "last_update" in document:
            self.seen_at(self.time(_plain(document["last_update"])))
        jobs = document.get("jobs")
        if isinstance(jobs, list) and (
            not jobs or any("job_id" in job for job in jobs if _is_object(job))
        ):
            if jobs:
                self._jobs(_JSON, text)
        elif isinstance(document.get("nodes"), list):
            for node in filter(_is_object, document["nodes"]):
                self._seen(
                    _plain(node.get("name")), _states(node), count(_plain(node.get("cpus"))),
                    count(_plain(node.get("alloc_cpus"))), _plain(node.get("partitions")),
                )  # fmt: skip
        elif isinstance(document.get("sinfo"), list):
            self._sinfo(document["sinfo"])
        else:
            raise self.unknown("Slurm", str(document))

    def _heed_errors(self, document: Mapping[str, Any]) -> None:
        """Tell of errors beside what Slurm lists. Raises ``UnusableOutput`` where it lists nothing.

        Its commands end with 0, and an empty list, where the controller does not answer.
        """
        errors = document.get("errors")
        if not isinstance(errors, list) or not errors:
            return
        told = complaint(errors)
        if not any(document.get(name) for name in ("jobs", "nodes", "sinfo")):
            raise UnusableOutput(f"Slurm answers with an error: {told}")
        self.lost(f"Slurm tells of an error beside its answer: {told}")

    def _jobs(self, format_: Format, text: str) -> None:
        for job in self.read(format_, text):
            self.jobs += self._entries(job)

    def entry(self, job: Job) -> QueuedJob | None:
        """A job as one line of lrmsinfo.

        How long a job has run is told of those that ended: of others only scontrol says it.
        """
        entry = super().entry(job)
        if entry is None:
            return None
        kept = job.properties.get("Extension", type=TYPE, name="Reservation")
        entry = entry._replace(reservation=kept.text if kept else "")
        return entry._replace(walltime=None) if entry.state == RUNNING else entry

    def snapshot(self) -> Snapshot:
        """The state, when all nodes and the partitions that they are in are known."""
        there = {name: node for name, node in self.nodes.items() if self._node(node)}
        for found in self.kept:
            # Of nodes that are not there, such as those that are repaired, nothing can be kept.
            self._reservation(found, there)
        return super().snapshot()

    def _entries(self, entry: QueuedJob) -> Iterator[QueuedJob]:
        """The job, or each task of the array that it stands for."""
        if not (array := _ARRAY.fullmatch(entry.jobid)):
            yield entry
            return
        for task in self.tasks(entry.jobid, array[2]):
            yield entry._replace(jobid=f"{array[1]}_{task}")

    def _node_text(self, found: Mapping[str, str]) -> None:
        states = found.get("State", "").partition(" ")[0]
        self._seen(
            found.get("NodeName", ""), states, count(found.get("CPUTot", "")),
            count(found.get("CPUAlloc", "")), found.get("Partitions", ""),
        )  # fmt: skip

    def _seen(
        self, name: str, states: str, cpus: Fraction | int | None,
        allocated: Fraction | int | None, partitions: str,
    ) -> None:  # fmt: skip
        """Remember a node; one that is shown again is the same one, in one more partition."""
        node = self.nodes.setdefault(name, _NodeUse(states, cpus, allocated))
        node.partitions |= set(filter(None, partitions.split(",")))

    def _node(self, node: _NodeUse) -> bool:
        """Count a node if its processors are there: its state decides, and whether any are free."""
        states, cpus, allocated = node.states, node.cpus, node.allocated
        words = [word.strip("*~#!%$@^-") for word in states.upper().replace(",", "+").split("+")]
        gone = "*" in states or not {"DOWN", "NOT_RESPONDING"}.isdisjoint(words)
        if cpus is None or gone or words[0] not in UP:
            return False
        # IDLE+DRAIN is drained, MIXED+DRAIN is draining: what runs there ends, nothing starts.
        draining = DRAINING in words or "DRAIN" in words or "MAINT" in words
        if draining and not allocated:
            return False
        free = 0 if draining else cpus - (allocated or 0)
        self.add_slots(cpus, free, node.partitions)
        return True

    def _sinfo(self, rows: list[Any]) -> None:
        """Rows of nodes alike; a node that is in several partitions is in several rows."""
        for row in rows:
            nodes, node, cpus, partition = (
                _inside(row, name) for name in ("nodes", "node", "cpus", "partition")
            )
            names = _names(_plain(nodes.get("nodes"))) or ("",)
            allocated, idle = (count(_plain(cpus.get(use))) or 0 for use in ("allocated", "idle"))
            states = _plain(node.get("state"))
            each, taken = (Fraction(sum_, len(names)) for sum_ in (allocated + idle, allocated))
            for name in names:
                self._seen(name, states, each, taken, _plain(partition.get("name")))

    def _partition(self, found: Mapping[str, str]) -> None:
        """What a partition lets its jobs do."""
        try:
            self.rules.append(
                QueueRules(
                    found["PartitionName"],
                    span(time_limit, found.get("MaxTime", "")),
                    span(time_limit, _default(found.get("DefaultTime", ""))),
                    priority=float(count(found.get("PriorityTier", "")) or 0),
                    serving=_SERVING.get(found.get("State", ""), ""),
                )
            )
        except InvalidValue as error:
            self.remark(f"partition {found['PartitionName']!r}: {error}")

    def _reservation(self, found: Mapping[str, str], nodes: Mapping[str, _NodeUse]) -> None:
        """What a reservation keeps of the pools that its nodes are in."""
        name = found["ReservationName"]
        try:
            start, end = (self.time(found.get(key, "")) for key in ("StartTime", "EndTime"))
        except InvalidValue as error:
            self.remark(f"reservation {name!r}: {error}")
            return
        if start is None or end is None:
            self.remark(f"reservation {name!r} has no StartTime or no EndTime; it is not known")
            return
        sizes = {
            node: known.cpus or 0
            for node in _names(found.get("Nodes", "")) if (known := nodes.get(node)) is not None
        }  # fmt: skip
        cpus = _CPU.search(found.get("TRES", ""))
        kept = count(found.get("CoreCnt", "")) if cpus is None else int(cpus[1])
        whole = int(sum(sizes.values()))
        part = Fraction(1) if kept is None or not whole else min(Fraction(kept, whole), Fraction(1))
        mine = _Held(start, end, {node: Fraction(size) * part for node, size in sizes.items()})
        for begin, until, left in self._apart(mine, sizes):
            pools = Counter[tuple[str, ...]]()
            for node, slots in left.items():
                pools[tuple(sorted(nodes[node].partitions))] += slots  # type: ignore[assignment]
            self.reserved += (
                SlotReservation(name, begin, until, int(slots), queues)
                for queues, slots in pools.items()
            )
        self._reservations.append(mine)

    # decision 715
    def _apart(
        self, mine: _Held, sizes: Mapping[str, Fraction | int]
    ) -> Iterator[tuple[float, float, Mapping[str, Fraction]]]:
        """What a reservation keeps that none before it does: of each node, from when to when.

        Reservations may overlap (``OVERLAP``, ``MAINT``), and a node has no more than its slots.
        """
        others = [
            each for each in self._reservations
            if each.start < mine.end and mine.start < each.end
            and not mine.nodes.keys().isdisjoint(each.nodes)
        ]  # fmt: skip
        edges = {mine.start, mine.end}
        edges |= {edge for each in others for edge in (each.start, each.end)}
        inside = sorted(edge for edge in edges if mine.start <= edge <= mine.end)
        for begin, until in pairwise(inside):
            there = [each for each in others if each.start <= begin and until <= each.end]
            left = {
                node: max(min(slots, Fraction(sizes[node]) - _of_all(there, node)), Fraction(0))
                for node, slots in mine.nodes.items()
            }
            if not there or any(left.values()):
                yield begin, until, left


class _Held(NamedTuple):
    """What a reservation keeps of nodes, from a time to another."""

    start: float
    end: float
    nodes: Mapping[str, Fraction]


def _of_all(held: Iterable[_Held], node: str) -> Fraction:
    return sum((each.nodes.get(node, Fraction(0)) for each in held), Fraction(0))


def _records(start: re.Pattern[str], text: str) -> Iterator[str]:
    """The records of a text, each from where the pattern is found to the next."""
    places = [match.start() for match in start.finditer(text)]
    for place, end in zip(places, [*places[1:], len(text)], strict=True):
        yield text[place:end]


def _names(text: str) -> tuple[str, ...]:
    """The nodes of a list; one that cannot be read, or is too long, stands for one node."""
    if not text or text == "(null)":
        return ()
    try:
        return expand(text, _NODES) or (text,)
    except InvalidValue:
        return (text,)


def _default(text: str) -> str:
    """The time of a job that states none: without a word of the partition it is its limit."""
    return "" if text == "NONE" else text


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _inside(value: Any, name: str) -> Mapping[str, Any]:
    """The object of that name in an object; an empty one where there is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _states(node: Mapping[str, Any]) -> str:
    flags = _plain(node.get("state_flags"))
    return f"{_plain(node.get('state'))}+{flags}" if flags else _plain(node.get("state"))


def _plain(value: Any) -> str:
    """A JSON value as text: numbers may come wrapped, states as lists."""
    value = settable(value)
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)
