"""Slurm: the file that the plugin jobcomp/filetxt writes becomes job objects.

A line is ``JobId=7 UserId=amy(1001) ... ExitCode=0:0``. No value is quoted: a job name or a
directory with blanks is found by the keys around it, whose order is known.
"""

from __future__ import annotations

import re
from itertools import islice

from sssjob.records import clock
from sssjob.records.clock import Clock, time
from sssjob.records.cuts import Lines
from sssjob.records.layout import (
    NEVER,
    KnownColumns,
    Layout,
    Read,
    Reader,
    Record,
    RunKey,
    goes_on,
    mapping,
)
from sssjob.records.lines import TWO_RECORDS, first_line
from sssjob.records.readers import integer, only_queue, queues
from sssjob.records.record import (
    DELIVERED,
    JOB,
    REQUESTED,
    Bad,
    Field,
    Found,
    Noted,
    Options,
    plain,
    varied,
)
from sssjob.records.unread import unread
from sssjob.systems.slurm.accounting import readers as sacct
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.states import Phase, is_over, phase, was_started
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import account

# fmt: off
# The keys in their order, and what a value of each looks like; later versions added the later ones.
_WORD = r" +|[^\s=]*"  # or blanks alone, which tell nothing
_SHAPES = {
    "JobId": r"[0-9]{1,18}", "UserId": _WORD, "GroupId": _WORD, "Name": r".*",
    "JobState": r"[^\s=]+", "Partition": _WORD, "TimeLimit": _WORD,
    "StartTime": r"[^\s=]*", "EndTime": r"[^\s=]*", "NodeList": rf"None assigned|{_WORD}",
    "NodeCnt": r"[^\s=]*",
    "ProcCnt": r"[0-9]*", "WorkDir": r".*",
}
_OPTIONAL = (
    "ReservationName", "Gres", "Tres", "Account", "QOS", "WcKey", "Cluster", "SubmitTime",
    "EligibleTime", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "DerivedExitCode",
    "ExitCode",
)
# fmt: on
_BEGINS = re.compile(rb"JobId=\d+ UserId=")
_KEYS = (*_SHAPES, *_OPTIONAL)
_NAME = _KEYS.index("Name") + 1  # its group
_AT_NAME = _NAME - 1
_END = _KEYS.index("EndTime")
# What no text holds, unless it is the rest of one record and the begin of the next one.
_WITHIN = re.compile(rf"(?:^|\s)(?:{'|'.join(_KEYS)})=")
_KNOWN = frozenset(_OPTIONAL)


def _pattern(name: str) -> re.Pattern[str]:
    """The keys up to WorkDir in their order; ``name`` is what reads a job name."""
    shapes = {**_SHAPES, "Name": name}
    return re.compile(" ".join(f"{key}=({shape})" for key, shape in shapes.items()))


_REQUEUED = "REQUEUED"
_SHORTEST, _LONGEST = _pattern(".*?"), _pattern(".*")


@varied
def _id(number: str, array: str, task: str, het: str, offset: str) -> Found:
    """The id as sacct prints it: ``25_3`` of an array, ``26+1`` of a heterogeneous job."""
    if array and task:
        return f"{array}_{task}"
    return f"{het}+{offset}" if het and offset else number


@varied
def _raw(number: str, array: str, het: str) -> Found:
    """The plain number beside such an id."""
    return number if array or het else None


@varied
def _global_id(cluster: str, number: str, submitted: str) -> Found:
    if cluster in NO_VALUE:
        return None
    return "/".join(filter(None, (cluster, number, submitted)))


def _state(text: str, end: str, start: str) -> Found:
    """The end is that of the run: a job that waits again was requeued, as sacct says of it."""
    if end in NO_VALUE:
        return sacct.state(text, "", "" if start in NO_VALUE else sacct.BEGUN)
    return sacct.state(_REQUEUED if phase(text) is Phase.WAITS else text, "", sacct.ENDED)


def _has_ended(state: str, end: str, start: str, nodes: str) -> bool:
    """Whether the run did; of a job that waits again it did on as many nodes. # decision 681"""
    if end in NO_VALUE:
        return is_over(state)
    if _waits_again(state, start):
        return _has_nodes(nodes)
    return phase(state) is Phase.TOLD_BY_END


def _has_nodes(count: str) -> bool:
    """Whether a job has nodes by their number."""
    return count.strip("0") != ""


def _waits_again(state: str, start: str) -> bool:
    return phase(state) is Phase.WAITS and start not in NO_VALUE


def _exit_code(text: str, end: str) -> Found:
    return sacct.exit_code(text, "" if end in NO_VALUE else "1")


def _exit_code_of_none(text: str) -> Found:
    """What Slurm notes of a job that never started, where it is more than 0:0."""
    return sacct.exit_code(text, "")


def _partition(text: str) -> Found:
    """The partition in which a job ran; of several nobody knows which it was."""
    return None if "," in text else text


@varied
def _passed(end: str, start: str) -> Found:
    """From start to end: the record has no time of its own."""
    return clock.passed(start, end)


# fmt: off
_BEGUN, _OVER, _SUBMITTED = "(start)", "(end)", "(submitted)"  # times in seconds
TABLE: tuple[Field, ...] = (
    Field("JobState",        JOB,       "Extension",   plain, sacct.noted("State")),
    Field("JobId",           JOB,       "Id",          _id,
          beside=("ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset")),
    Field("JobId",           JOB,       "Extension",   _raw, sacct.noted("JobIDRaw"),
          ("ArrayJobId", "HetJobId")),
    Field("UserId",          DELIVERED, "User",        account),
    Field("GroupId",         DELIVERED, "Group",       account),
    Field("Name",            JOB,       "Name"),
    Field("JobState",        JOB,       "State",       _state,
          beside=("EndTime", "StartTime")),
    Field("Partition",       DELIVERED, "Queue",       _partition),
    Field("Partition",       DELIVERED, "Partition",   _partition),
    Field("Partition",       REQUESTED, "Queue",       queues),
    Field("TimeLimit",       REQUESTED, "Duration",    values.limit_seconds, {"op": "LE"}),
    Field("StartTime",       JOB,       "StartTime",   time),
    Field("EndTime",         JOB,       "EndTime",     time),
    Field(_OVER,             DELIVERED, "Duration",    _passed, beside=(_BEGUN,)),
    Field("NodeList",        DELIVERED, "Node",        sacct.nodes),
    Field("NodeList",        JOB,       "Extension",   sacct.too_long, sacct.noted("NodeList")),
    Field("NodeCnt",         DELIVERED, "NodeCount",   integer),
    Field("ProcCnt",         DELIVERED, "Processors",  integer),
    Field("WorkDir",         JOB,       "InitialWorkingDirectory"),
    Field("ReservationName", REQUESTED, "Reservation", sacct.reservation),
    Field("ReservationName", JOB,       "Extension",   sacct.reservations,
          sacct.noted("Reservation")),
    Field("Gres",            DELIVERED, "Resource",    sacct.generic),
    Field("Tres",            DELIVERED, "Resource",    sacct.allocated),
    Field("Account",         DELIVERED, "Project",     sacct.worded),
    Field("QOS",             DELIVERED, "QualityOfService", sacct.worded),
    Field("WcKey",           JOB,       "Extension",   sacct.worded, sacct.noted("WCKey")),
    Field("Cluster",         DELIVERED, "Machine",     sacct.worded),
    Field("Cluster",         JOB,       "GlobalId",    _global_id, beside=("JobId", _SUBMITTED)),
    Field("SubmitTime",      JOB,       "SubmitTime",  time),
    Field("EligibleTime",    JOB,       "EligibleTime", time),
    Field("DerivedExitCode", JOB,       "Extension",   sacct.derived,
          sacct.noted("DerivedExitCode")),
    Field("ExitCode",        JOB,       "ExitCode",    _exit_code, beside=("EndTime",)),
    Field("ExitCode",        JOB,       "Extension",   sacct.signal, sacct.noted("Signal")),
)
# fmt: on

_OF_A_RUN = frozenset(
    ("StartTime", "Duration", "Node", "NodeCount", "Processors", "Queue", "Partition", "Resource",
     "ExitCode")
)  # fmt: skip
WAITING = (
    *(
        row
        for row in TABLE
        if row.column != "Partition" and (row.place == REQUESTED or row.element not in _OF_A_RUN)
    ),
    Field("Partition", JOB, "Queue", only_queue),
    Field("Partition", REQUESTED, "Queue", queues),
    Field("ExitCode", JOB, "ExitCode", _exit_code_of_none),
)

# What stands once in a record: a name that holds such a thing cannot be told from another one.
_ONCE = (" UserId=", " EndTime=", " ProcCnt=", " SubmitTime=", " ExitCode=")

_TOLD = (*_KEYS, _BEGUN, _OVER, _SUBMITTED)
_NEVER = (*_TOLD, NEVER)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that jobcomp/filetxt wrote it, or ""."""
    return "lines of JobId=... UserId=..." if _BEGINS.match(first_line(head)) else ""


def reader(options: Options, clock: Clock) -> Reader:
    """What reads lines with this clock."""
    return lambda number, line: record(number, line, clock)


def record(number: int, line: str, clock: Clock) -> Read:
    """What a line is."""
    if any(line.count(key) > 1 for key in _ONCE):
        return Bad(number, TWO_RECORDS)
    found = _SHORTEST.fullmatch(line)
    if not found:
        return Bad(number, "not a record such as JobId=7 UserId=amy(1001) ... ExitCode=0:0")
    if "=" in found[_NAME] and _WITHIN.search(found[_NAME]):
        return Bad(number, "keys in a job name: it can be read in several ways")
    if line.count(" JobState=") > 1:
        other = _LONGEST.fullmatch(line)
        if other is None or other[_NAME] != found[_NAME]:
            return Bad(number, "keys in a job name: it can be read in several ways")
    texts = [*found.groups()]
    behind = _behind(texts.pop())
    if behind is None:
        return Bad(
            number, "keys or a blank in a directory or a value: it can be read in several ways"
        )
    directory, said = behind
    texts += (directory, *(said.get(key, "") for key in _OPTIONAL))
    notes = unread(number, "keys of a job", said, _KNOWN)
    if "=  " in line:
        blank = [at for at, text in enumerate(texts) if text.isspace() and at != _AT_NAME]
        for at in blank:  # decision 1047
            texts[at] = ""
            notes += (Noted(number, f"{_KEYS[at]} is blank, which tells nothing", once=True),)
    end, start = texts[_END], texts[_KEYS.index("StartTime")]
    state, count = texts[_KEYS.index("JobState")], texts[_KEYS.index("NodeCnt")]
    ended = _has_ended(state, end, start, count)
    if not ended:
        if end not in NO_VALUE and not _waits_again(state, start):
            notes += (goes_on(number),)
        texts[_END] = end = ""
    submitted = texts[_KEYS.index("SubmitTime")]
    told = [clock.readable(text) for text in (start, end, submitted)]
    never = start in NO_VALUE and not was_started(state)
    if texts[_KEYS.index("NodeList")] in ("None assigned", "(null)"):
        never = never or not (was_started(state) and _has_nodes(count))
    return Record(number, _NEVER if never else _TOLD, [*texts, *told], ended, notes=notes)


def _behind(text: str) -> tuple[str, dict[str, str]] | None:
    """The directory, and the values of the keys behind it; None if they cannot be told apart.

    The keys are the last parts ``Key=value`` of which none stands twice, from the first that is
    known: what stands before them is the directory, whatever it looks like.
    """
    parts = text.removesuffix(" ").split(" ")
    found: dict[str, str] = {}
    begin, size = len(parts), 0  # where the keys begin, and how many these are
    blanks = all_blanks = 0
    for part in reversed(parts[1:]):
        if not part:  # of a value that is blank, or of the directory
            blanks += 1
            continue
        key, sign, value = part.partition("=")
        if not (sign and key.isidentifier()) or key in found or (blanks and value):
            break
        if blanks:
            all_blanks += blanks
            value, blanks = " " * blanks, 0
        found[key] = value
        if key in _KNOWN:
            size = len(found)
            begin = len(parts) - size - all_blanks
    behind = found if size == len(found) else dict(islice(found.items(), size))
    directory = " ".join(parts[:begin])
    return None if "=" in directory and _WITHIN.search(directory) else (directory, behind)


LAYOUT = Layout(
    type=sacct.TYPE,
    cut=Lines(),
    reader=reader,
    rows=mapping(TABLE, WAITING),
    span=(_BEGUN, _OVER),
    known=KnownColumns(
        _KEYS, {_BEGUN: ("StartTime",), _OVER: ("EndTime",), _SUBMITTED: ("SubmitTime",)}
    ),
    run=RunKey("SubmitTime", "StartTime", "EndTime"),
    untold=NO_VALUE,
    recognises=recognises,
)
