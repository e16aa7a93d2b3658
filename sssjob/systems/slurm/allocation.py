"""What Slurm gave to a job on a node: of the Prolog's environment and of ``scontrol show job``.

What the Prolog is told counts first: the processors of each node, in later versions the start and
the end of the job. The rest is asked for, and known as far as users cannot have written it.
# decision 84
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from sssjob.amounts import MINIMUM, Amount
from sssjob.commands import is_name
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation, Notes, amount, limit
from sssjob.features.batch.call import Script, Shutdown
from sssjob.features.said import whole
from sssjob.systems.slurm import counts, groups, inside, reservations, words
from sssjob.systems.slurm.scontrol import JobRecord, RecordHead, heads, processors

# Times as seconds since 1970; without it they are local times without a zone.
ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s"}

_Said = TypeVar("_Said")

_SOURCE = "scontrol"
_WALL = "wall_limit_secs"
_MIB = 1 << 20
_IDS = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
_RESERVATION = "SLURM_JOB_RESERVATION"
# What the record of a job tells; "nodes" is no key, but whether the job is alone hangs on it.
_OF_RECORD = frozenset((
    "allocated_cpu", "max_rss_bytes", "jobstart_secs", "wall_limit_secs", "scratch_limit_bytes",
    "shutdowntime_job", "nodes",
))  # fmt: skip
_UNLIMITED = ("UNLIMITED", "INFINITE")  # other words of no number say that nobody knows
# What the environment and the record of one job must say alike.
_SAME = {
    "SLURM_JOB_ID": "job", "SLURM_ARRAY_JOB_ID": "array", "SLURM_ARRAY_TASK_ID": "task",
    "SLURM_HET_JOB_ID": "het", "SLURM_HET_JOB_OFFSET": "offset",
}  # fmt: skip


def question(environment: Mapping[str, str]) -> list[str]:
    """The command that tells about the job of a Prolog, and about no other as far as it is known.

    The id of the first component of a heterogeneous job and that of the last task of an array
    are also those of the whole: Slurm shows all of it. ``again`` is for those.
    """
    job = _own_id(environment)
    array, task, het, offset = (
        environment.get(f"SLURM_{name}", "")
        for name in ("ARRAY_JOB_ID", "ARRAY_TASK_ID", "HET_JOB_ID", "HET_JOB_OFFSET")
    )
    if het == job:
        offset = offset or "0"
    return _asked(RecordHead(job, array, task, het, offset).alone)


class SlurmAllocation(Script):
    """A Prolog or Epilog of Slurm. What a job used stands in its accounting some seconds later."""

    settings = ENVIRONMENT

    def questions(self) -> Mapping[str, Sequence[str]]:
        """``scontrol show job``, and the end of the reservation that the job is in."""
        of_job = {"job": question(self.environment)}
        return {**of_job, **self.outages("")} if self.environment.get(_RESERVATION) else of_job

    def unsaid(self) -> frozenset[str]:
        """What neither the environment says nor follows from it. # decision 534"""
        said = set(dict(_handed(self.environment, self.environment.get("SLURMD_NODENAME", ""))))
        if "wall_limit_secs" in said:
            said.add("shutdowntime_job")  # Slurm lets no limit reach beyond a deadline
        if _node_count(self.environment):
            said.add("nodes")
        return _OF_RECORD - said

    def again(self, answer: str) -> Sequence[str] | None:
        """The record of this job where those of its array or set were shown."""
        return again(self.environment, answer)

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        printed = answers.get("job", ""), answers.get("reservations", "")
        return groups.limited(allocation(self.environment, *printed), self.environment)

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """``squeue`` for the node, and ``scontrol show node``, which knows whether there is one."""
        ids = ["squeue", "--all", "--noheader", f"--nodelist={node}", "--format=%A"]
        asked = self.node_questions(node)
        return {**asked, "ids": ids} if asked else {}

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """Every task of an array and every component of a set has an id of its own here."""
        ids = answers.get("ids", "").split()
        is_read = processors(answers.get("node", ""), node) is not None
        return frozenset(ids) if is_read and all(each.isdecimal() for each in ids) else None

    def group(self) -> str:
        """That of the job, if slurmd has made it."""
        return groups.place(self.environment)

    @staticmethod
    def naming(job_id: str, node: str, user: str) -> Mapping[str, str]:
        """Those of a Prolog."""
        return {"SLURM_JOB_ID": job_id, "SLURM_JOB_UID": user, "SLURMD_NODENAME": node}

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """``scontrol show node``."""
        return {"node": ["scontrol", "show", "node", node]} if is_name(node) else {}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """Those of the node that are not kept for the system."""
        count = processors(answers.get("node", ""), node)
        return None if count is None else amount(count, _SOURCE, "processors for jobs")

    def outages(self, node: str) -> Mapping[str, Sequence[str]]:
        """``scontrol show reservation``."""
        return {"reservations": reservations.QUESTION}

    def shutdown(self, node: str, answers: Mapping[str, str], now: int) -> Shutdown | None:
        """When the next window of maintenance of the node begins."""
        printed = answers.get("reservations", "")
        known = reservations.read(printed)
        if known is None:
            return None
        window = reservations.maintenance(known, node, now)
        is_doubtful = reservations.is_doubtful(printed, node)
        if window is None:
            return None if is_doubtful else Shutdown()
        start = amount(window.start, _SOURCE, f"maintenance: reservation {window.name}")
        told = f"scontrol shows a maintenance of node {node} that cannot be read"
        return Shutdown(start, told if is_doubtful else "")


def again(environment: Mapping[str, str], printed: str) -> list[str] | None:
    """The command to ask once more if all jobs of an array or a set were shown."""
    found = heads(printed)
    if len(found) < 2 or found[0].job != _own_id(environment):
        return None
    command = _asked(found[0].alone)
    return None if found[0].alone == found[0].job else command


def allocation(environment: Mapping[str, str], printed: str = "", reserved: str = "") -> Allocation:
    """What was given, of the environment of a Prolog or Epilog and of what ``scontrol`` printed.

    ``printed`` is of the job, ``reserved`` of all reservations. Raises ``InvalidValue`` where the
    environment names no job.
    """
    job = _own_id(environment)
    node = environment.get("SLURMD_NODENAME", "")
    notes = Notes()
    amounts: dict[str, Amount] = {}
    count = _node_count(environment)
    record = JobRecord(printed)
    if printed and not _is_of(record.head, environment):
        notes.lose(f"scontrol tells nothing about job {job}", _WALL)
    elif printed:
        shown = _ShownRecord(record, notes)
        amounts = dict(_amounts(shown, node))
        count = count or shown.word("NumNodes")
    else:
        notes.unlearned.add(_WALL)
    _, seconds, wrong = inside.times(environment)
    if wrong:
        notes.append(wrong)
    if seconds is not None:
        notes.unlearned.discard(_WALL)
    for key, handed in _handed(environment, node):
        told = amounts.get(key, handed)
        if told.value != handed.value:
            notes.append(
                f"{key} is {handed.value} by {handed.source}, but {told.value} by {told.source} "
                f"({told.why}): the environment counts"
            )
        amounts[key] = handed
    _end_with_reservation(amounts, environment.get(_RESERVATION, ""), reserved, notes)
    return Allocation(
        job, node, environment.get("SLURM_JOB_UID", ""), amounts, count == "1" if count else None,
        tuple(notes),
        frozenset(notes.unlearned),
    )  # fmt: skip


def _end_with_reservation(
    amounts: dict[str, Amount], name: str, printed: str, notes: list[str]
) -> None:
    """What runs in a reservation ends with it, or before."""
    if not name or not printed:
        return
    found = reservations.named(reservations.read(printed) or [], name)
    if found is None:
        notes.append(f"scontrol tells nothing about reservation {name}")
        return
    end = amount(found.end, _SOURCE, f"the end of reservation {name}")
    deadline = amounts.get("shutdowntime_job", end)
    amounts["shutdowntime_job"] = min(deadline, end, key=lambda each: each.value)


class _ShownRecord:
    """The record of a job, with a note of what is not known because it is said in several ways."""

    def __init__(self, record: JobRecord, notes: Notes) -> None:
        self.record, self.notes = record, notes
        if not record.is_whole:
            told = "scontrol shows nothing whole of the job, or an imitation: it is not read"
            notes.lose(told, _WALL)

    def word(self, name: str) -> str:
        """What is said by a name, or ""."""
        if not self.record.is_whole:
            return ""
        return self._only(self.record.words(name), name) or ""

    def here(self, node: str) -> tuple[str, int] | None:
        """The ids of the processors on a node, and the memory in MiB; 0 is no limit."""
        if not self.record.is_whole:
            return None
        parts = self._only(self.record.parts(), "what the job has on its nodes")
        if parts is None:
            return None
        found = [
            (ids, memory) for names, ids, memory in parts if not node or node in counts.names(names)
        ]
        if len(found) != 1:
            what = f"{len(found)} times" if found else "nothing"
            self.notes.append(f"scontrol shows {what} of what the job has on node {node}")
            return None
        return found[0]

    def _only(self, said: set[_Said], what: str) -> _Said | None:
        """The only thing that is said."""
        if len(said) == 1:
            return next(iter(said))
        self.notes.append(f"scontrol shows {what} in {len(said)} ways: it is not known")
        return None


def _amounts(shown: _ShownRecord, node: str) -> Iterator[tuple[str, Amount]]:
    here = shown.here(node)
    if here is not None:
        ids, memory = here
        if count := _count(ids):
            yield "allocated_cpu", amount(count, _SOURCE, f"CPU_IDs={ids}")
        if memory:
            yield "max_rss_bytes", amount(memory * _MIB, _SOURCE, f"Mem={memory} MiB on the node")
    if (start := words.moment(shown.word("StartTime"))) is not None:
        yield "jobstart_secs", amount(start, _SOURCE, "StartTime")
    stated = shown.word("TimeLimit")
    seconds = limit(words.time_limit, stated, "TimeLimit", shown.notes, _WALL)
    if seconds is not None:
        yield "wall_limit_secs", amount(seconds, _SOURCE, f"TimeLimit={stated}")
    elif stated and stated.upper() not in _UNLIMITED:
        shown.notes.lose(f"TimeLimit={stated} says no limit: it is not known", _WALL)
    elif not stated:
        shown.notes.unlearned.add(_WALL)
    stated = shown.word("MinTmpDiskNode")
    if size := limit(words.memory, stated, "MinTmpDiskNode", shown.notes):
        why = f"MinTmpDiskNode={stated}, which the node has at least"
        yield "scratch_limit_bytes", Amount(size, _SOURCE, MINIMUM, why)
    if (deadline := words.moment(shown.word("Deadline"))) is not None:
        yield "shutdowntime_job", amount(deadline, _SOURCE, "Deadline")


def _handed(environment: Mapping[str, str], node: str) -> Iterator[tuple[str, Amount]]:
    """What the environment says."""
    for name, count in (
        ("SLURM_JOB_CPUS_PER_NODE", counts.processors(environment, node)),
        ("SLURM_CPUS_ON_NODE", whole(environment.get("SLURM_CPUS_ON_NODE", ""))),
    ):
        if count:
            yield "allocated_cpu", amount(count, f"${name}")
            break
    start, seconds, _ = inside.times(environment)
    if start:
        yield "jobstart_secs", amount(start, "$SLURM_JOB_START_TIME")
    if seconds:
        yield "wall_limit_secs", amount(seconds, "$SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME")


def _node_count(environment: Mapping[str, str]) -> str:
    """On how many nodes the job is, "" where nobody says it."""
    names = counts.nodes(environment)
    return environment.get("SLURM_JOB_NUM_NODES") or (str(len(names)) if names else "")


def _is_of(head: RecordHead | None, environment: Mapping[str, str]) -> bool:
    """Whether a record is about the job that the environment names."""
    return head is not None and all(
        getattr(head, name) == environment[variable]
        for variable, name in _SAME.items()
        if environment.get(variable)
    )


def _asked(job: str) -> list[str]:
    return ["scontrol", "-o", "-d", "show", "job", job]


def _own_id(environment: Mapping[str, str]) -> str:
    job = environment.get("SLURM_JOB_ID", "")
    if not (job.isascii() and job.isdigit()):
        raise InvalidValue(job, "$SLURM_JOB_ID, as Slurm sets it for a Prolog")
    return job


def _count(ids: str) -> int:
    """How many processors ``0-3,8`` are; 0 if it is no such list."""
    parts = [_IDS.fullmatch(part) for part in ids.split(",")]
    if not all(parts):
        return 0
    return sum(int(part[2] or part[1]) - int(part[1]) + 1 for part in parts if part)
