"""What becomes of the attributes of a live job: the keys of the accounting, and what it lacks.

``qstat -f`` says of a job what the accounting says of it later, partly by other names. What becomes
of a key is said once, in ``accounting.table``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.mail_addresses import to_uri
from sssjob.model import Property
from sssjob.records.clock import Clock
from sssjob.records.cuts import CustomPieces as Cut
from sssjob.records.layout import NEVER, Layout, NoRecord, Piece, Read, Reader, Record
from sssjob.records.record import (
    DELIVERED,
    JOB,
    NOWHERE,
    Field,
    Found,
    Noted,
    Options,
    plain,
    varied,
)
from sssjob.records.values import integer
from sssjob.systems.pbs import words
from sssjob.systems.pbs.accounting.table import (
    ENDINGS,
    GIVEN,
    KNOWN,
    TABLE,
    TYPE,
    gpu_rows,
    noted,
    processors,
)

Variables = tuple[tuple[str, str], ...]
Attributes = Mapping[str, Any]  # texts, and the Variables of Variable_List

# What qstat calls the keys of the accounting; of several names the first that is there counts.
_KEYS = {
    "jobname": ("Job_Name",), "account": ("Account_Name",), "user": ("euser",),
    "group": ("egroup",), "session": ("session_id",), "start": ("start_time", "stime"),
    "end": ("comp_time", "obittime"), "Exit_status": ("exit_status",), "owner": ("Job_Owner",),
    "etime": ("Execution_Time",), "run_count": ("start_count",), "(server)": ("server",),
    "(array index)": ("job_array_id", "array_index"), "submit_host": ("Submit_Host",),
}  # fmt: skip
_TIMES = ("ctime", "qtime", "etime", "start", "end")
_ID = re.compile(r"[0-9]{1,18}(?:\[[0-9,\-:]*\]|-[0-9]{1,9})?(?:\.\S+)?")
_VARIABLE = re.compile(r"(?:[^\\,]|\\.|,(?![A-Za-z_]\w*=)|\\\Z)+", re.DOTALL)
_ESCAPED = re.compile(r"""\\([,"'\\])""")
_HOLDS = {"u": "User", "s": "System", "o": "Operator"}
_KEPT = frozenset("oe")
_MAIL = {"b": "JobStart", "e": "JobEnd"}
_YES, _NO = ("true", "y", "1"), ("false", "n", "0")
_PLAIN_STATES = frozenset("QHRSCF")
_MOST = 200  # letters of names that are told
VARIABLES = "Variable_List"
_DIRECTORY = "PBS_O_WORKDIR"  # of these variables: where the job was submitted


class ListedJob(NamedTuple):
    """A job as qstat lists it: its id, its attributes, and what is to say of it."""

    id: str
    attributes: Attributes
    note: str = ""


def state(letter: str, holds: str, comment: str, status: str) -> Found:
    """The state, who holds the job, how it ended, and what the server says of it."""
    if letter not in words.STATES:
        raise InvalidValue(letter, f"a job_state, one of {', '.join(words.STATES)}")
    found = [Property("State", words.STATES[letter])]
    if found[0].text == "Hold":
        found += (Property("Hold", _HOLDS[each]) for each in holds if each in _HOLDS)
    ending = ENDINGS.get(status, "") if found[0].text == "Completed" else ""
    if ending or comment:
        found.append(Property("StatusMessage", "; ".join(filter(None, (ending, comment)))))
    return tuple(found)


def flag(text: str) -> Found:
    """Yes or no."""
    if text.lower() not in (*_YES, *_NO):
        raise InvalidValue(text, "True or False")
    return "true" if text.lower() in _YES else "false"


def checkpoint(text: str) -> Found:
    """Whether a job can be checkpointed; ``u`` is what nobody said."""
    return {"u": None, "n": "false", "none": "false"}.get(text, "true")


@varied
def path(text: str) -> Found:
    """The path of ``host:/path``."""
    found = words.ON_HOST.fullmatch(text)
    return found["path"] if found else text


def output(text: str, joined: str, other: str, kept: str) -> Found:
    """Where the output goes; ``eo`` sends both to where the messages go, ``other``."""
    return _stream("OutputFile", other if joined == "eo" and other else text, kept)


def errors(text: str, joined: str, kept: str) -> Found:
    """Where the messages go, unless they are joined to the output, or that to them."""
    if joined in ("oe", "eo"):
        return (Property("ErrorFile", "", {"redirectList": "Merge"}),)
    return _stream("ErrorFile", text, kept)


def _stream(element: str, text: str, kept: str) -> tuple[Property, ...]:
    """A file, which may stay where the job runs: o, e, or both, and d is another thing."""
    stays = element[0].lower() in kept and set(kept) <= _KEPT
    return (Property(element, str(path(text)), {"redirectList": "Keep"} if stays else {}),)


def other_keep(kept: str) -> Found:
    """What Keep_Files says beside the streams that stay; ``n`` is none."""
    return None if kept == "n" or set(kept) <= _KEPT else kept


def mail(points: str, users: str) -> Found:
    """When whom is written to; the standard has no word for an abort alone."""
    if points == "n":
        return (Property("NotificationList", "None"),)
    known = [_MAIL[each] for each in points if each in _MAIL]
    text = "All" if set("abe") <= set(points) else ",".join(known)
    return (
        (Property("NotificationList", text, {"uri": to_uri(users)} if users else {}),)
        if text
        else None
    )


def environment(pairs: Variables) -> Found:
    """The variables."""
    found = (Property("Variable", value, {"name": name}) for name, value in pairs)
    return (Property("Environment", "", {}, found),)


def variables(text: str) -> Variables:
    """The variables of ``A=1,B=2``: a comma in a value separates only where a name follows it.

    The server has a backslash before a comma, a quote or a backslash of a value.

    >>> variables(r"A=1,2,B=x=y,C=,D=a\\,E=b")
    (('A', '1,2'), ('B', 'x=y'), ('C', ''), ('D', 'a,E=b'))
    """
    parts = (part.partition("=") for part in _VARIABLE.findall(text))
    return tuple((name, _ESCAPED.sub(r"\1", value)) for name, equals, value in parts if equals)


@varied
def given(letter: str, hosts: str, used: str, asked: str, slots: str) -> Found:
    """The slots on all hosts. Those that cannot be read are told where they are nodes."""
    try:
        return processors(letter, hosts, used, asked, slots)
    except InvalidValue:
        return processors(letter, "", used, asked, slots)


def twice(names: Sequence[str]) -> str:
    """That of attributes which stand twice in a job the first one counts."""
    counts = Counter(names)
    told = ", ".join(name for name, count in counts.items() if count > 1)
    return f"attributes that a job has twice, the first of which counts: {told[:_MOST]}"


def own_word(letter: str) -> Found:
    """The letter of a job_state that says more than the State."""
    return letter if letter in words.STATES and letter not in _PLAIN_STATES else None


# fmt: off
_DELIVERED: tuple[Field, ...] = (
    Field("exec_host",            DELIVERED, "Processors",    given,
          beside=GIVEN),
)
_WAITING: tuple[Field, ...] = (
    Field("queue",                JOB,       "Queue"),
)
LIVE: tuple[Field, ...] = (
    Field("job_state",            JOB,       "State",         state,
          beside=("Hold_Types", "comment", "Exit_status")),
    Field("job_state",            JOB,       "Extension",     own_word, noted("job_state")),
    Field("Checkpoint",           JOB,       "Checkpointable", checkpoint),
    Field("Error_Path",           JOB,       "ErrorFile",     errors,
          beside=("Join_Path", "Keep_Files")),
    Field("init_work_dir",        JOB,       "InitialWorkingDirectory"),
    Field("interactive",          JOB,       "Interactive",   flag),
    Field("Mail_Points",          JOB,       "NotificationList", mail, beside=("Mail_Users",)),
    Field("Output_Path",          JOB,       "OutputFile",    output,
          beside=("Join_Path", "Error_Path", "Keep_Files")),
    Field("Keep_Files",           JOB,       "Extension",     other_keep, noted("Keep_Files")),
    Field("Priority",             JOB,       "Priority",      integer),
    Field("Rerunable",            JOB,       "Restartable",   flag),
    Field("Shell_Path_List",      JOB,       "Shell"),
    Field("submit_host",          JOB,       "SubmitHost"),
    Field(VARIABLES,              JOB,       "Environment",   environment),
    # What another row reads beside its own, and what is about the work of the server.
    *(Field(name, NOWHERE) for name in (
        "Hold_Types", "comment", "Join_Path", "Mail_Users", "egroup", "euser", "exec_port",
        "fault_tolerant", "hashname", "job_radix", "mtime", "proxy_user", "queue_rank",
        "queue_type", "substate", "Walltime.Remaining", NEVER,
    )),
)
# fmt: on
_KNOWN = KNOWN.union(row.column for row in LIVE)


def _rows(names: tuple[str, ...]) -> Iterator[Field]:
    """The mapping for a job with these attributes; others are Extensions."""
    waits = NEVER in names
    replaced = {"queue": waits, "owner": "submit_host" in names}
    yield from gpu_rows(names, started=not waits)
    yield from (row for row in TABLE if not replaced.get(row.column))
    yield from (*LIVE, *(_WAITING if waits else _DELIVERED))
    for name in names:
        if name not in _KNOWN:
            yield Field(name, JOB, "Extension", plain, noted(name))


def of_jobs(
    pieces: Callable[[BinaryIO, int], Iterable[Piece]], recognises: Callable[[bytes], str]
) -> Layout:
    """The layout of jobs that ``pieces`` finds as ``ListedJob``."""
    return Layout(
        type=TYPE, cut=Cut(pieces), reader=reader, rows=_rows, span=("start", "end"),
        recognises=recognises,
    )  # fmt: skip


def reader(options: Options, clock: Clock) -> Reader:
    """What reads jobs with this clock."""
    return lambda line, job: _record(line, job, clock)


def _record(line: int, job: ListedJob, clock: Clock) -> Read:
    if not _ID.fullmatch(job.id):
        raise NoRecord(f"{job.id[:60]!r} is no job id such as 123.server")
    told = {name: value for name, value in job.attributes.items() if value}
    over = words.STATES.get(told.get("job_state", "")) == "Completed"
    for key, names in _KEYS.items():
        for name in names:
            if (value := told.pop(name, "")) and key not in told:
                told[key] = value
    told["(id)"] = job.id
    if "ctime" not in told and "qtime" in told:
        told["ctime"] = told["qtime"]  # what is in one queue only came there when it was submitted
    told.setdefault("user", told.get("owner", "").partition("@")[0])
    told.setdefault("init_work_dir", dict(told.get(VARIABLES, ())).get(_DIRECTORY, ""))
    if not over:
        told.pop("end", None)
    for name in _TIMES:
        if text := told.get(name):
            told[name] = clock.readable(text) or text
    if not (told.get("exec_host") or told.get("start")):
        told[NEVER] = "1"
    notes = (Noted(line, job.note, once=True),) if job.note else ()
    return Record(line, _same(tuple(told)), tuple(told.values()), over, notes=notes)


@lru_cache(1024)
def _same(names: tuple[str, ...]) -> tuple[str, ...]:
    """One tuple for all that are equal: those of one identity are taken together."""
    return names
