"""PBS and Torque: ``qstat -f`` and ``pbsnodes -a``, as text or, of PBS, as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sssjob.errors import InvalidValue
from sssjob.lcginfo.reader import Reader, count, json_object, span
from sssjob.lcginfo.snapshot import BY_WORD, DONE, PENDING, RUNNING, QueuedJob
from sssjob.systems.pbs import words

# Waiting for its time, or on its way to another host or server: no slot would start such a job.
_NOT_FOR_SLOTS = frozenset("WTM")
STATES = {
    letter: PENDING if letter in _NOT_FOR_SLOTS else BY_WORD[state]
    for letter, state in words.STATES.items()
}
# A node in one of these states has no slots that count.
GONE = ("down", "offline", "unknown", "state-unknown", "stale", "provisioning", "sleep")
LOCAL_GROUP = "__localgroup__"

_ATTRIBUTE = re.compile(r"\s+([A-Za-z][\w.-]*) = ?(.*)")
_HELD_SLOT = re.compile(r"\s*([0-9]+)(?:-([0-9]+))?")


class PBSQueue(Reader):
    """Reads what qstat and pbsnodes print."""

    def take(self, text: str) -> None:
        """Read one output: jobs or nodes, text or JSON."""
        stripped = text.lstrip()
        if stripped[:1] == "{":
            self._take_json(json_object(text))
        elif stripped.startswith("Job Id:"):
            for head, found in blocks(text):
                self._job(head.partition(":")[2].strip(), found)
        elif not stripped:
            pass
        else:
            nodes = list(blocks(text))
            if not nodes or not any("state" in found for _, found in nodes):
                raise self.unknown("PBS", text)
            for head, found in nodes:
                self._node(head, found)

    def _take_json(self, document: Mapping[str, Any]) -> None:
        stamp = document.get("timestamp")
        self.seen_at(self.time(str(stamp)) if isinstance(stamp, int) else None)
        jobs, nodes = document.get("Jobs"), document.get("nodes")
        if (
            not isinstance(jobs, dict)
            and not isinstance(nodes, dict)
            and "pbs_version" not in document
        ):
            raise self.unknown("PBS", str(document))
        for jobid, found in (jobs if isinstance(jobs, dict) else {}).items():
            self._job(jobid, dict(_flat(found)))
        for name, found in (nodes if isinstance(nodes, dict) else {}).items():
            self._node(name, dict(_flat(found)))

    def _job(self, jobid: str, found: Mapping[str, str]) -> None:
        try:
            self.jobs.append(self._entry(jobid, found))
        except InvalidValue as error:
            self.lost(f"job {jobid!r}: {error}")

    def _entry(self, jobid: str, found: Mapping[str, str]) -> QueuedJob:
        letter = found.get("job_state", "")
        if letter not in STATES:
            raise InvalidValue(letter, f"a job_state, one of {', '.join(STATES)}")
        queue = found.get("queue") or self.options.queue
        if not queue:
            raise InvalidValue(jobid, "a job with a queue")
        state = STATES[letter]
        used = span(words.seconds, found.get("resources_used.walltime", ""))
        user = found.get("euser") or found.get("Job_Owner", "").partition("@")[0]
        by = {
            "group": found.get("egroup") or found.get("group_list", "").partition("@")[0],
            "account": found.get("Account_Name", ""),
            "user": user,
        }
        return QueuedJob(
            queue,
            by[self.options.group] or LOCAL_GROUP,
            state,
            jobid,
            user,
            found.get("Job_Name", ""),
            self.time(found.get("qtime") or found.get("ctime", "")),
            self._start(found, used) if state in (RUNNING, DONE) else None,
            span(words.seconds, found.get("Resource_List.walltime", "")),
            slots(found),
            used,
        )

    def _start(self, found: Mapping[str, str], used: float | None) -> float | None:
        """When a job started; without a record of that, as long ago as it has run."""
        if stated := found.get("start_time") or found.get("stime"):
            return self.time(stated)
        now = self.options.now or self.now
        return None if used is None or now is None else now - used

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
        self.add_slots(cpus, cpus - taken if "free" in states else 0)


def slots(found: Mapping[str, str]) -> int:
    """How many slots a job has, or asks for.

    >>> slots({"Resource_List.nodes": "2:ppn=4+1:ppn=2:bigmem"})
    10
    """
    if held := _held(found.get("exec_host", "")):
        return held
    if cpus := count(found.get("Resource_List.ncpus", "")):
        return cpus
    total = 0
    for chunk in found.get("Resource_List.nodes", "1").split("+"):
        words = chunk.split(":")
        each = next((word[4:] for word in words if word.startswith("ppn=")), "1")
        total += (count(words[0]) or 1) * (count(each) or 1)
    return max(total, 1)


def _held(text: str) -> int:
    """The slots of exec_host; 0 where they are not told, or not in a way that is understood."""
    try:
        return sum(words.hosts(text).values()) if text else 0
    except InvalidValue:
        return 0


def _taken(jobs: str) -> int:
    """The slots of a node that jobs hold: ``0/1.host, 1/1.host`` or ``0-3,5/2.host``."""
    return sum(_width(part.partition("/")[0]) for part in jobs.split(",") if part.strip())


def _width(text: str) -> int:
    found = _HELD_SLOT.match(text)
    if found is None or found[2] is None:
        return 1
    return max(int(found[2]) - int(found[1]) + 1, 1)


def blocks(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The blocks of a text: a line at the margin, and the attributes below it.

    A line that begins with a tab goes on with the attribute above it.
    """
    head, found, last = "", dict[str, str](), ""
    for line in text.splitlines():
        if line[:1] == "\t" and last:
            found[last] += line.strip()
        elif line and not line[0].isspace():
            if head:
                yield head, found
            head, found, last = line.strip(), {}, ""
        elif attribute := _ATTRIBUTE.match(line):
            last = attribute[1]
            found[last] = attribute[2].strip()
    if head:
        yield head, found


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
