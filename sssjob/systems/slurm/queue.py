"""Slurm: ``scontrol show jobs`` and ``nodes``, ``squeue`` and ``sinfo``, as text or JSON.

JSON is asked for where there is it: a job name can imitate every line of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.lcginfo.reader import Reader, count, json_object, span
from sssjob.lcginfo.snapshot import DONE, PENDING, QUEUED, RUNNING, QueuedJob
from sssjob.systems.slurm import words

ARRAY_LIMIT = 10_000  # tasks of one array that wait

_JOB = re.compile(r"^JobId=", re.MULTILINE)
_NODE = re.compile(r"^NodeName=", re.MULTILINE)
_PAIR = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=(\S*)")
_NAME = re.compile(r"JobName=(.*?)(?: HetJobIdSet=\S+)?\s+UserId=", re.DOTALL)
_CPUS = re.compile(r"^\s*([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)\s*$")
_TASKS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")


class QueueColumn(NamedTuple):
    """One row: a value, and what scontrol, squeue and JSON call it."""

    value: str
    scontrol: str
    squeue: tuple[str, ...]
    json: str


# fmt: off
COLUMNS = (
    QueueColumn("id",       "JobId",       ("JOBID",),                   "job_id"),
    QueueColumn("array",    "ArrayJobId",  ("ARRAY_JOB_ID",),            "array_job_id"),
    QueueColumn("task",     "ArrayTaskId", ("ARRAY_TASK_ID",),           "array_task_id"),
    QueueColumn("tasks",    "ArrayTaskId", (),                           "array_task_string"),
    QueueColumn("name",     "JobName",     ("NAME",),                    "name"),
    QueueColumn("user",     "UserId",      ("USER",),                    "user_name"),
    QueueColumn("group",    "GroupId",     ("GROUP", "GROUP_NAME"),      "group_name"),
    QueueColumn("gid",      "",            (),                           "group_id"),
    QueueColumn("account",  "Account",     ("ACCOUNT",),                 "account"),
    QueueColumn("queue",    "Partition",   ("PARTITION",),               "partition"),
    QueueColumn("state",    "JobState",    ("STATE", "ST"),              "job_state"),
    QueueColumn("reason",   "Reason",      ("REASON",),                  "state_reason"),
    QueueColumn("submit",   "SubmitTime",  ("SUBMIT_TIME",),             "submit_time"),
    QueueColumn("start",    "StartTime",   ("START_TIME",),              "start_time"),
    QueueColumn("end",      "EndTime",     ("END_TIME",),                "end_time"),
    QueueColumn("limit",    "TimeLimit",   ("TIME_LIMIT",),              "time_limit"),
    QueueColumn("cpus",     "NumCPUs",     ("CPUS",),                    "cpus"),
)

STATES = {
    "PENDING": QUEUED, "PD": QUEUED, "REQUEUED": QUEUED, "REQUEUE_FED": QUEUED,
    "REQUEUE_HOLD": PENDING, "SPECIAL_EXIT": PENDING, "RESV_DEL_HOLD": PENDING,
    "RUNNING": RUNNING, "R": RUNNING, "CONFIGURING": RUNNING, "CF": RUNNING,
    "COMPLETING": RUNNING, "CG": RUNNING, "SUSPENDED": RUNNING, "S": RUNNING,
    "STOPPED": RUNNING, "ST": RUNNING, "SIGNALING": RUNNING, "STAGE_OUT": RUNNING,
    "RESIZING": RUNNING,
}
# fmt: on

# What waits for more than slots does not compete for them.
HELD = ("JobHeld", "Dependency", "BeginTime", "DeadLine")
# The states of a node whose processors are there: spec 9; of these, one gets no new jobs.
UP = ("IDLE", "COMPLETING", "ALLOCATED", "DRAINING", "MIXED")
DRAINING = "DRAINING"


class SlurmQueue(Reader):
    """Reads what Slurm's commands print."""

    def take(self, text: str) -> None:
        """Read one output: jobs or nodes, text or JSON."""
        if text.lstrip()[:1] == "{":
            self._take_json(json_object(text))
        elif _JOB.search(text):
            for record in _records(_JOB, text):
                self._scontrol(record)
        elif _NODE.search(text):
            for record in _records(_NODE, text):
                self._node_text(dict(_PAIR.findall(record)))
        elif not text.strip() or text.startswith("No jobs in the system"):
            pass
        elif cpus := [found for line in text.splitlines() if (found := _CPUS.match(line))]:
            for found in cpus:  # sinfo -o %C: allocated, idle, other, total
                self.add_slots(int(found[1]) + int(found[2]), int(found[2]))
        elif "JOBID" in text.partition("\n")[0]:
            self._squeue(text.splitlines())
        else:
            raise self.unknown("Slurm", text)

    def _take_json(self, document: Mapping[str, Any]) -> None:
        if "last_update" in document:
            self.seen_at(self.time(_plain(document["last_update"])))
        if isinstance(document.get("jobs"), list):
            for job in filter(_is_object, document["jobs"]):
                self._job({column.value: _plain(job.get(column.json)) for column in COLUMNS})
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

    def _scontrol(self, record: str) -> None:
        found = dict(_PAIR.findall(record))
        name = _NAME.search(record)
        if record.count(" UserId=") != 1 or name is None:
            self.lost(f"job {found.get('JobId', '')!r}: its name cannot be told from what follows")
            return
        found["JobName"] = name[1]
        self._job({column.value: found.get(column.scontrol, "") for column in COLUMNS})

    def _squeue(self, lines: list[str]) -> None:
        delimiter = next((mark for mark in "\x1f|;," if mark in lines[0]), None)
        header = [name.strip() for name in lines[0].split(delimiter)]
        for number, line in enumerate(lines[1:], 2):
            row = [text.strip() for text in line.split(delimiter)]
            if len(row) != len(header):
                self.lost(f"{len(row)} columns where the header has {len(header)}", number)
                continue
            # The first column of a name counts: %all prints a group's name, then its number.
            found = dict(zip(reversed(header), reversed(row), strict=True))
            values = (
                next((found[name] for name in column.squeue if name in found), "")
                for column in COLUMNS
            )
            self._job(dict(zip((column.value for column in COLUMNS), values, strict=True)))

    def _job(self, found: dict[str, str]) -> None:
        try:
            self.jobs += self._entries(found)
        except InvalidValue as error:
            self.lost(f"job {found['id']!r}: {error}")

    def _entries(self, found: dict[str, str]) -> Iterator[QueuedJob]:
        state = STATES.get(found["state"].split(",")[0], DONE)
        if state == QUEUED and found["reason"].startswith(HELD):
            state = PENDING
        group = self._group(found)
        queue = found["queue"].partition(",")[0] or self.options.queue
        if not group:
            raise InvalidValue(found["id"], "a job with a group; its account could stand for that")
        if not queue:
            raise InvalidValue(found["id"], "a job with a queue")
        start = self.time(found["start"]) if state in (RUNNING, DONE) else None
        end = self.time(found["end"]) if state == DONE else None
        job = QueuedJob(
            queue, group, state, found["id"], _bare(found["user"]), found["name"],
            self.time(found["submit"]), start, span(words.time_limit, found["limit"]),
            max(count(found["cpus"].split("-")[0]) or 1, 1),
            None if start is None or end is None else max(end - start, 0.0),
        )  # fmt: skip
        if state in (QUEUED, PENDING) and (tasks := self._tasks(found)):
            for task in tasks:
                yield job._replace(jobid=f"{found['array']}_{task}")
        elif count(found["task"]) is not None and count(found["array"]):
            yield job._replace(jobid=f"{found['array']}_{found['task']}")
        else:
            yield job

    def _group(self, found: dict[str, str]) -> str:
        if self.options.group in ("account", "user"):
            return _bare(found[self.options.group])
        number = count(found["gid"])
        if found["group"]:
            return _bare(found["group"])
        return "" if number is None else self.options.name_of_group(number)

    def _tasks(self, found: dict[str, str]) -> list[int]:
        """The tasks of an array that one record stands for; none if it is a job of its own."""
        text = found["tasks"].partition("%")[0].strip("[]")
        if not text or text.isdigit() or text in ("N/A", "(null)"):
            return []
        tasks: list[int] = []
        for part in text.split(","):
            if (match := _TASKS.fullmatch(part)) is None:
                self.remark(f"job {found['id']!r}: more array tasks wait than {text!r} shows")
                break
            first, last, step = match.groups()
            tasks += range(int(first), int(last or first) + 1, int(step or 1) or 1)[:ARRAY_LIMIT]
            if len(tasks) > ARRAY_LIMIT:
                self.remark(f"job {found['id']!r}: only {ARRAY_LIMIT} array tasks are counted")
                break
        return tasks[:ARRAY_LIMIT]

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


def _bare(text: str) -> str:
    """A name without the number behind it: ``alice(1001)``."""
    return text.partition("(")[0]


def _states(node: Mapping[str, Any]) -> str:
    flags = _plain(node.get("state_flags"))
    return f"{_plain(node.get('state'))}+{flags}" if flags else _plain(node.get("state"))


def _plain(value: Any) -> str:
    """A JSON value as text: numbers may come wrapped, states as lists."""
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        return str(value.get("number", "")) if value.get("set", True) else ""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)
