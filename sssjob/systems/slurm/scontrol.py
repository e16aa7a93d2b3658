"""Records of jobs, as ``scontrol -d show job`` prints them, with or without ``-o``; a node.

Strategy. scontrol quotes nothing, and users write the name, the comment and more: any of these
may hold blanks, line ends, ``=``, and whole records. What the controller itself says of a job
stands in one run of words, from ``JobState=`` to ``MinCPUsNode=`` and the two behind it, of which
every record has exactly one. Parts of such a run in a name are therefore no run, and change
nothing. Whoever imitates its beginning or its end makes a second run, and then only that is known
in which all runs agree.

This holds for the record of one job. An id that is also that of a whole array or heterogeneous
job brings the records of all its jobs, between which nobody can tell what is a name and what is
the next record; ``alone`` then says under which id Slurm shows only the one that is meant. So a
``listing`` of many jobs is for what harms nobody; whoever needs certainty takes JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from sssjob.integers import whole

# Words that a newer version has in front of the name, where nothing that users write stands.
_NEWER = r"(?: (?!(?:Job|ArrayJob|HetJob)(?:Id|Name)=)[A-Za-z]\w*=\S+)*"
_HEAD = re.compile(
    rf"^JobId=(?P<job>[0-9]{{1,10}}){_NEWER}"
    rf"(?: ArrayJobId=(?P<array>[0-9]{{1,10}}) ArrayTaskId=(?P<task>\S+))?{_NEWER}"
    rf"(?: HetJobId=(?P<het>[0-9]{{1,10}}) HetJobOffset=(?P<offset>[0-9]{{1,10}}))?{_NEWER}"
    r" JobName=", re.MULTILINE,
)  # fmt: skip
_START = re.compile(r"\sJobState=[A-Z_]+\s+Reason=")
_END = re.compile(
    r"\s(?=MinCPUsNode=)(?P<last>\S+(?: MinMemory(?:CPU|Node)=\S+)?(?: MinTmpDiskNode=\S+)?)"
)
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_/:.]*")
_PART = re.compile(r"\sNodes=(\S+)\s+CPU_IDs=(\S+)\s+Mem=([0-9]{1,15})(?=\s|$)")
# What the controller says between the name, which users write, and the run of words.
_BEFORE = re.compile(
    r"(?:\n +| )UserId=(?P<UserId>\S+)\s+GroupId=(?P<GroupId>\S+)\s+"
    r"(?:MCS_label=(?P<MCS_label>\S+)\s+)?Priority=(?P<Priority>\S+)\s+Nice=\S+\s+Account=(?P<Account>\S*)\s+QOS=(?P<QOS>\S*)"
    r"(?:\s+WCKey=(?P<WCKey>\S*))?\s*\Z"
)
_SET = re.compile(r"(?:\n +| )HetJobIdSet=\S+\Z")
# What it says behind the run; from Command on users write, and nothing is quoted.
_WRITTEN = re.compile(
    r"\s(Command|WorkDir|(?:Admin|System)?Comment|StdErr|StdIn|StdOut|Power|Tres(?:Per|Bind|Freq)\w*|"
    r"CpusPerTres|MemPerTres|Mail(?:User|Type)|SubmitLine|Container\w*|Extra|Batch|BurstBuffer\w*|"
    r"Switches|Gres\w+|NtasksPerTRES:?|Kill\w+)="
)
_IN_FRONT = "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset"  # of an array, or a set
_NO_RECORD = "a record that breaks off, or is none"
_NOTHING = frozenset(("N/A", "Unknown", "None", "(null)", ""))
_STATE = re.compile(r"[A-Z_]+")  # IDLE*+DRAIN
# FAIL: it is expected to fail soon, and people took it away from new jobs.
_DRAINED = ("DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING")
# What people write of a node, each behind all that the controller says; it goes on in lines that
# begin with more blanks, or, but for a reason, with none.
_BY_PEOPLE = re.compile(r"^   (?:Reason|Comment|Extra)=", re.MULTILINE)
# Who wrote a reason, and when, stands at the end of its first line.
_REASON = re.compile(r"   Reason=(.*?)(?: \[[^\[\]\n]+@([0-9]+)\])?((?:\n {10}.*)*)(?:\n|\Z)")
_MOST = 64  # runs that are looked at; nobody has so many but to imitate

Part = tuple[str, str, int]  # nodes, the ids of processors on each of them, MiB on each of them


@dataclass(frozen=True, slots=True)
class RecordHead:
    """Which job a record is about: its id, its place in an array or a heterogeneous job, or ""."""

    job: str
    array: str = ""
    task: str = ""
    het: str = ""
    offset: str = ""

    @property
    def alone(self) -> str:
        """The id under which Slurm shows this job and no other of its array or set."""
        if self.array == self.job and self.task.isdigit():
            return f"{self.array}_{self.task}"
        return f"{self.het}+{self.offset}" if self.het == self.job else self.job


@dataclass(frozen=True, slots=True)
class ControllerJob:
    """What the controller says of a job: words by name, and what it has on which nodes."""

    words: Mapping[str, str]
    parts: tuple[Part, ...] = ()


def heads(printed: str) -> list[RecordHead]:
    """What looks like the beginning of a record; the first one is, the others may be a name."""
    return [
        RecordHead(*(found[name] or "" for name in ("job", "array", "task", "het", "offset")))
        for found in _HEAD.finditer(printed)
    ]


class JobRecord:
    """The record of one job: only what all of its runs say is known."""

    def __init__(self, printed: str) -> None:
        found = heads(printed)
        self.head = found[0] if found and _HEAD.match(printed) else None
        self.runs = tuple(_runs(printed))

    @property
    def is_whole(self) -> bool:
        """Whether there is at least one run, and none that breaks off."""
        return bool(self.runs) and None not in self.runs

    def words(self, name: str) -> set[str]:
        """All that the runs say by a name; "" is what a run does not say."""
        texts = (run.words.get(name, "") for run in self.runs if run is not None)
        return {"" if text in _NOTHING else text for text in texts}

    def parts(self) -> set[tuple[Part, ...]]:
        """What the job has on its nodes, as each run says it."""
        return {run.parts for run in self.runs if run is not None}


def _runs(printed: str) -> Iterator[ControllerJob | None]:
    """Every run of words, from each beginning to each end before the next beginning.

    None for one that breaks off, or has a word twice.
    """
    starts = [found.start() for found in _START.finditer(printed)]
    for place, following in pairwise([*starts, len(printed)]):
        ends = list(_END.finditer(printed, place, following))
        if not ends or len(starts) * len(ends) > _MOST:
            yield None
            return
        yield from (_run(printed[place : end.start()], end["last"]) for end in ends)


def _run(text: str, last: str) -> ControllerJob | None:
    """The words of a run, up to the first node and the last ones, and all nodes.

    A word without ``=`` goes on with the one before it. None where a word stands twice: then
    something is in between that the controller did not say.
    """
    nodes = list(_PART.finditer(text))
    words: dict[str, str] = {}
    before = ""
    for word in text[: nodes[0].start() if nodes else None].split():
        name, equals, value = word.partition("=")
        if not equals or not _KEY.fullmatch(name):
            words[before] = f"{words.get(before, '')} {word}"
        elif name in words:
            return None
        else:
            before, words[name] = name, value
    for word in last.split():
        name, _, value = word.partition("=")
        words.setdefault(name, value)
    return ControllerJob(words, tuple((found[1], found[2], int(found[3])) for found in nodes))


class ListingEntry(NamedTuple):
    """A job of a listing: its line and its words.

    ``wrong`` says why these are not known, ``doubt`` which of them are not.
    """

    line: int
    words: Mapping[str, str] = MappingProxyType({})
    wrong: str = ""
    doubt: str = ""


def listing(printed: str) -> Iterator[ListingEntry]:
    """The records of many jobs, each from one beginning to the next."""
    starts = [found.start() for found in _HEAD.finditer(printed)]
    line, place = 1, 0
    if before := printed[: starts[0] if starts else None].strip():
        yield ListingEntry(1 + printed.count("\n", 0, printed.index(before)), wrong=_NO_RECORD)
    for start, end in pairwise([*starts, len(printed)]):
        line, place = line + printed.count("\n", place, start), start
        yield _listed(line, printed[start:end])


def _listed(line: int, text: str) -> ListingEntry:
    record = JobRecord(text)
    if not record.is_whole or record.head is None:
        return ListingEntry(line, wrong=_NO_RECORD)
    run = record.runs[0]
    start, end = _START.search(text), _END.search(text)
    before = _BEFORE.search(text[: start.start() + 1]) if start else None
    if run is None or len(record.runs) > 1 or not before or not end:
        return ListingEntry(line, wrong="a name that cannot be told from what follows")
    front, _, name = text[: before.start()].partition(" JobName=")
    told = dict.fromkeys(_IN_FRONT, "") | dict(word.split("=", 1) for word in front.split())
    told["JobName"] = _SET.sub("", name)
    behind, doubt = _behind(text[end.start() :])
    words = {**behind, **run.words, **before.groupdict(""), **told}
    known = {name: "" if text in _NOTHING else text for name, text in words.items()}
    return ListingEntry(line, known, doubt=doubt)


def _behind(text: str) -> tuple[dict[str, str], str]:
    """The words behind a run, and which are in doubt: of what users write, one stands twice."""
    places = list(_WRITTEN.finditer(text))
    said = text[: places[0].start()] if places else text
    words = dict(word.split("=", 1) for word in said.split() if "=" in word)
    names = [found[1] for found in places]
    if len(set(names)) < len(names):
        told = ", ".join(dict.fromkeys(names))
        return words, f"texts of users that cannot be told from each other: {told} are not read"
    ends = [*(found.start() for found in places[1:]), len(text)][: len(places)]
    words |= {
        found[1]: text[found.end() : end].strip() for found, end in zip(places, ends, strict=True)
    }
    return words, ""


def processors(printed: str, node: str) -> int | None:
    """How many processors of a node jobs may have, of ``scontrol show node``.

    CPUEfctv is that number; before 21.08 it is CPUTot without what is kept for the system.
    """
    if (words := _of_node(printed, node)) is None:
        return None
    names = ("CPUTot", "CPUEfctv", "CoreSpecCount", "ThreadsPerCore")
    total, effective, kept, threads = (_whole(words.get(name, "")) for name in names)
    if effective is not None or total is None:
        return effective or None
    if kept is None:
        return total or None
    return None if threads is None else max(total - kept * threads, 0) or None


class NodeState(NamedTuple):
    """What a node is: its states, of which DRAIN is one, and why people made it so.

    ``since`` is when they did, ``idle_since`` when its last job ended, in seconds since 1970;
    None where it is not said. ``used`` are the processors that jobs have.
    """

    states: frozenset[str]
    reason: str
    since: int | None
    idle_since: int | None
    used: int

    @property
    def is_drained(self) -> bool:
        """Whether it takes no new jobs until somebody resumes it."""
        return not self.states.isdisjoint(_DRAINED)


def node_state(printed: str, node: str) -> NodeState | None:
    """The state of a node, of ``scontrol show node``; None where it is not told.

    With ``SLURM_TIME_FORMAT=%s``. What people write begins at a line of its own there, and in one
    line (``-o``) could not be told from what the controller says. # decision 761
    """
    words = _of_node(printed, node)
    if words is None or not (states := frozenset(_STATE.findall(words.get("State", "")))):
        return None
    behind = _BY_PEOPLE.search(printed)
    said = _REASON.match(printed, behind.start()) if behind else None
    reason = said[1] + said[3] if said else ""
    since = whole(said[2]) if said and said[2] else None
    idle_since = whole(words.get("LastBusyTime", ""))
    return NodeState(states, reason, since, idle_since, _whole(words.get("CPUAlloc", "")) or 0)


def _of_node(printed: str, node: str) -> dict[str, str] | None:
    """The first word of each name before all that people write; None if it is no such node."""
    words: dict[str, str] = {}
    behind = _BY_PEOPLE.search(printed)
    for word in printed[: behind.start() if behind else None].split():
        name, _, value = word.partition("=")
        words.setdefault(name, value)
    return words if words.get("NodeName") == node and printed.startswith("NodeName=") else None


def _whole(text: str) -> int | None:
    return whole(text, 9)
