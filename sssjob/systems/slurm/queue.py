"""Slurm: ``scontrol show jobs`` and ``nodes``, ``squeue`` and ``sinfo``, as text or JSON.

Jobs are read by the formats of status. What lrmsinfo alone needs is here: nodes and their slots,
the tasks of an array one by one, and which jobs wait for more than slots.
JSON is asked for where there is it: a job name can imitate every line of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sssjob.lcginfo.reader import Reader, count, json_object
from sssjob.lcginfo.snapshot import RUNNING, QueuedJob
from sssjob.model import Job
from sssjob.registry import Format
from sssjob.systems.slurm.status import text as scontrol
from sssjob.systems.slurm.words import settable

_NODE = re.compile(r"^NodeName=", re.MULTILINE)
_PAIR = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=(\S*)")
_CPUS = re.compile(r"^\s*([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)\s*$")
_ARRAY = re.compile(r"([0-9]+)_\[([^\]]*)\]")

_STATUS = "sssjob.systems.slurm.status"
_JSON = Format("squeue-json", f"{_STATUS}.json", "squeue --json")
_SCONTROL = Format("scontrol", f"{_STATUS}.text", "scontrol show job")
_SQUEUE = Format("squeue", f"{_STATUS}.squeue", "squeue")

# The states of a node whose processors are there: spec 9; of these, one gets no new jobs.
UP = ("IDLE", "COMPLETING", "ALLOCATED", "DRAINING", "MIXED")
DRAINING = "DRAINING"


class SlurmQueue(Reader):
    """Reads what Slurm's commands print."""

    def take(self, text: str) -> None:
        """Read one output: jobs or nodes, text or JSON."""
        if text.lstrip()[:1] == "{":
            self._take_json(json_object(text), text)
        elif scontrol.recognises(text.encode("utf-8", "replace")):
            self._jobs(_SCONTROL, text)
        elif _NODE.search(text):
            for record in _records(_NODE, text):
                self._node_text(dict(_PAIR.findall(record)))
        elif not text.strip() or text.startswith("No jobs in the system"):
            pass
        elif cpus := [found for line in text.splitlines() if (found := _CPUS.match(line))]:
            for found in cpus:  # sinfo -o %C: allocated, idle, other, total
                self.add_slots(int(found[1]) + int(found[2]), int(found[2]))
        elif "JOBID" in text.partition("\n")[0]:
            self._jobs(_SQUEUE, text)
        else:
            raise self.unknown("Slurm", text)

    def _take_json(self, document: Mapping[str, Any], text: str) -> None:
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
                self._node(
                    _states(node), count(_plain(node.get("cpus"))),
                    count(_plain(node.get("alloc_cpus"))),
                )  # fmt: skip
        elif isinstance(document.get("sinfo"), list):
            self._sinfo(document["sinfo"])
        else:
            raise self.unknown("Slurm", str(document))

    def _jobs(self, format_: Format, text: str) -> None:
        for job in self.read(format_, text):
            self.jobs += self._entries(job)

    def entry(self, job: Job) -> QueuedJob | None:
        """A job as one line of lrmsinfo.

        How long a job has run is told of those that ended: of others only scontrol says it.
        """
        entry = super().entry(job)
        return entry._replace(walltime=None) if entry and entry.state == RUNNING else entry

    def _entries(self, entry: QueuedJob) -> Iterator[QueuedJob]:
        """The job, or each task of the array that it stands for."""
        if not (array := _ARRAY.fullmatch(entry.jobid)):
            yield entry
            return
        for task in self.tasks(entry.jobid, array[2]):
            yield entry._replace(jobid=f"{array[1]}_{task}")

    def _node_text(self, found: Mapping[str, str]) -> None:
        states = found.get("State", "").partition(" ")[0]
        self._node(states, count(found.get("CPUTot", "")), count(found.get("CPUAlloc", "")))

    def _node(self, states: str, cpus: int | None, allocated: int | None) -> None:
        """Count a node: its state decides whether its processors are there and can be had."""
        words = [word.strip("*~#!%$@^-") for word in states.upper().replace(",", "+").split("+")]
        gone = "*" in states or not {"DOWN", "NOT_RESPONDING"}.isdisjoint(words)
        if cpus is None or gone or words[0] not in UP:
            return
        # IDLE+DRAIN is drained, MIXED+DRAIN is draining: what runs there ends, nothing starts.
        draining = DRAINING in words or "DRAIN" in words or "MAINT" in words
        if draining and not allocated:
            return
        self.add_slots(cpus, 0 if draining else cpus - (allocated or 0))

    def _sinfo(self, rows: list[Any]) -> None:
        """Rows of nodes alike; a node that is in several partitions is in several rows."""
        seen: set[str] = set()
        for row in rows:
            nodes, node, cpus = (_inside(row, name) for name in ("nodes", "node", "cpus"))
            names = _plain(nodes.get("nodes"))
            if names not in seen:
                seen.add(names)
                allocated, idle = (count(_plain(cpus.get(use))) for use in ("allocated", "idle"))
                states = _plain(node.get("state"))
                self._node(states, (allocated or 0) + (idle or 0), allocated)


def _records(start: re.Pattern[str], text: str) -> Iterator[str]:
    """The records of a text, each from where the pattern is found to the next."""
    places = [match.start() for match in start.finditer(text)]
    for place, end in zip(places, [*places[1:], len(text)], strict=True):
        yield text[place:end]


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
