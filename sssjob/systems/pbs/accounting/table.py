"""What becomes of each key of a PBS record: the mapping, laid beside the administrator's guides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records import clock
from sssjob.records.clock import time
from sssjob.records.dependencies import dependencies, other_dependencies
from sssjob.records.plan import MEMO_LIMIT
from sssjob.records.readers import extension, integer, licences, listed, single
from sssjob.records.record import (
    DELIVERED,
    JOB,
    NOWHERE,
    REQUESTED,
    Field,
    Found,
    Instead,
    by_columns,
    kept,
    numeric,
    plain,
    varied,
)
from sssjob.records.values import is_whole
from sssjob.resource_names import GPU, license_attributes
from sssjob.systems.pbs import words
from sssjob.systems.pbs.node_specs import (
    NodeSpec,
    asked_count,
    chunks,
    most_processors,
    parts,
    totals,
)

# Parts of HH:MM:SS in seconds: looking them up is faster than reading them.
_MINUTES = {f":{number:02}:": 60 * number for number in range(60)}
_REST = {f"{number:02}": number for number in range(60)}
_NGPUS = re.compile(r":ngpus=([0-9]{1,9})(?=[:+)])")
_BETWEEN_VNODES = re.compile(r"[()+]")
_EXEC_GPUS = re.compile(r"[^+/\s]+/[0-9]{1,6}(?:\+[^+/\s]+/[0-9]{1,6})*")

_DURATION, _WITH_DAYS, _HOURS = "a duration such as 800:00:00, or seconds", 4, 24

_NODES = "nodes such as 2:ppn=4"

_EXIT_STATUS = re.compile(r"-?[0-9]{1,9}")
# Exit_status below 0 in the words of the sources: JOB_EXEC_*.
# fmt: off
ENDINGS = {
    "-1": "not executed, before files were staged", "-2": "not executed, after files were staged",
    "-3": "not executed, to be tried again", "-10": "over the limit of memory (TORQUE)",
    "-11": "over the limit of wall time (TORQUE)", "-12": "over the limit of CPU time (TORQUE)",
    "-24": "over the limit of processors", "-25": "over the limit of virtual memory",
    "-26": "over the limit of memory", "-27": "over the limit of CPU time",
    "-29": "over the limit of wall time",
}
# fmt: on

TYPE = "PBS"  # of Extensions
# What tells the processors that a job was given: the first that tells a number.
GIVEN = ("exec_host", "resources_used.ncpus", "Resource_List.ncpus", "total_execution_slots")

noted = partial(extension, TYPE)  # the attributes of what the standard has no property for


@kept
def _spans(texts: Sequence[str]) -> list[str] | None:
    """``HH:MM:SS`` in seconds."""
    joined = "".join(texts)
    if joined.count(":") != 2 * len(texts) or max(map(len, texts)) > 15:
        return None
    if not (joined.isascii() and joined.replace(":", "").isdecimal()):
        return None
    try:
        return [
            str(3600 * int(text[:-6]) + _MINUTES[text[-6:-2]] + _REST[text[-2:]]) for text in texts
        ]
    except (ValueError, KeyError):  # another form
        return None


def _in_kilobytes(texts: Sequence[str]) -> list[str] | None:
    """``2048kb`` without the unit."""
    found = [text[:-2] for text in texts]
    joined = "".join(found)
    plain = joined.isdecimal() and joined.isascii() and min(found) >= "1"
    if not plain or "".join(texts) != "kb".join(found) + "kb" or max(map(len, found)) > 17:
        return None
    return found


def _sixtieth(part: str, text: str) -> int:
    """The minutes or seconds of a clock. Raises ``InvalidValue``, of the whole text."""
    if (found := int(part)) >= 60:
        raise InvalidValue(text, _DURATION)
    return found


@by_columns(_spans)
@numeric(10**15)
def seconds(text: str) -> Found:
    """``[[DD:]HH:]MM:SS[.frac]`` with any number of hours, or bare seconds; half up.

    A script may ask for 90 minutes as ``0:90:00``; a server prints no such time.

    >>> seconds("800:00:00"), seconds("19:23:4"), seconds("86.5"), seconds("1:02:03:04")
    ('2880000', '69784', '87', '93784')
    """
    parts = text.split(":")
    if len(parts) == 3 and "" not in parts and len(text) < 16 and len(parts[2]) < 3:
        hours, minutes, rest = parts
        if (digits := hours + minutes + rest).isdecimal() and digits.isascii():
            return str(3600 * int(hours) + 60 * _sixtieth(minutes, text) + _sixtieth(rest, text))
    found = units.rounded(words.seconds(text))
    for part in parts[1:][-2:]:
        _sixtieth(part.partition(".")[0], text)
    if len(parts) == _WITH_DAYS and int(parts[1]) >= _HOURS:
        raise InvalidValue(text, _DURATION)
    return str(found)


@by_columns(_spans)
@numeric(10**15)
def limit(text: str) -> Found:
    """A limit of time in the same forms, a part of a second rounded up."""
    return str(words.limit(text))


@by_columns(_in_kilobytes)
def kilobytes(text: str) -> Found:
    """A size in KB.

    >>> kilobytes("2gb"), kilobytes("512b"), kilobytes("12.27M"), kilobytes("1kw")
    ('2097152', '0.5', '12564.48', '8')
    """
    if text[-2:] == "kb" and text[:-2].isdecimal() and text.isascii() and len(text) < 20:
        return text[:-2].lstrip("0") or "0"
    size = words.size(text)
    if isinstance(size, int) and not size & 1023:
        return str(size >> 10)
    return units.decimal(Fraction(size) / 1024)


def asked_kilobytes(text: str) -> Found:
    """A size in KB that was asked for: such sizes repeat."""
    return kilobytes(text)


def after_at(text: str) -> Found:
    """The host of ``user@host``."""
    return text.partition("@")[2] or None


def other_owner(text: str, user: str) -> Found:
    """The owner ``user@host``, where it is not the user.

    >>> other_owner("bob@login", "amy"), other_owner("amy@login", "amy")
    ('bob@login', None)
    """
    return text if text.partition("@")[0] != user else None


@varied
def global_id(id: str, server: str, submitted: str) -> Found:
    """server/id/time of submission; a server's ids begin anew when they run out."""
    if not server:
        return None
    number = id.partition(".")[0]
    return f"{server}/{number}/{submitted}" if submitted.isdecimal() else f"{server}/{number}"


def project(text: str, account: str) -> Found:
    """OpenPBS has both: its project is what is accounted to where no account is named."""
    return None if account or text == "_pbs_project_default" else text


def other_project(text: str, account: str) -> Found:
    """The project beside an account."""
    return text if account and text != "_pbs_project_default" else None


@lru_cache(MEMO_LIMIT)
def slots(text: str) -> tuple[tuple[str, ...], int]:
    """The hosts of exec_host, each once, and its slots.

    >>> slots("a/0+a/1+b/0-3,5"), slots("a/0*32"), slots("32*a+b/0*0")
    ((('a', 'b'), 7), (('a',), 32), (('a', 'b'), 32))
    """
    found = words.hosts(text)
    return tuple(found), sum(found.values())


def nodes(text: str) -> Found:
    """The hosts: one, or a List; None where there are none."""
    return listed(slots(text)[0])


def node_count(text: str) -> Found:
    """How many hosts there are, each counted once; None where there are none."""
    count = len(slots(text)[0])
    return str(count) if count else None


@varied
def processors(letter: str, hosts: str, used: str, asked: str, slots_: str) -> Found:
    """The slots on all hosts; where these are 0 (``h/0*0``) or not told, what else tells them.

    >>> processors("E", "n1/0*2", "4", "", ""), processors("E", "n1", "4", "", "")
    ('2', '4')
    >>> processors("E", "n1+n2", "", "", "")  # at least one on each host
    '2'
    """
    told = slots(hosts)[1] if hosts else 0
    if told and ("/" in hosts or "*" in hosts):
        return str(told)
    return next(filter(None, map(_count, (used, asked, slots_))), str(told) if told else None)


def _count(text: str) -> str:
    return text if is_whole(text) and text != "0" else ""


def _nodes_of(text: str) -> list[NodeSpec]:
    """The parts of Resource_List.nodes. Raises ``InvalidValue`` where they cannot be read."""
    if not text:
        return []
    if (found := parts(text)) is None:
        raise InvalidValue(text[:200], _NODES)
    return found


def _chunks_of(text: str) -> list[NodeSpec]:
    """The chunks of Resource_List.select likewise."""
    if not text:
        return []
    if (found := chunks(text)) is None:
        raise InvalidValue(text[:200], "chunks such as 2:ncpus=4")
    return found


def asked_processors(nodes: str, ncpus: str) -> Found:
    """The processors of ``nodes=4:ppn=8:ib``, where ncpus does not ask for as many or more.

    >>> asked_processors("n1:ppn=2+n2:ppn=4:ib", ""), asked_processors("4:ib", "")
    ('6', None)
    """
    found = _nodes_of(nodes)
    if not found or most_processors(found, ncpus):
        return None
    if not (told := totals(found)):
        raise InvalidValue(nodes[:200], _NODES)
    return str(told[1]) if told[1] else None


def asked_by_ncpus(ncpus: str, nodes: str) -> Found:
    """The processors of ncpus; None where nodes have more (decision 499).

    >>> asked_by_ncpus("8", "2"), asked_by_ncpus("1", "4:ppn=8")
    ('8', None)
    """
    asked = integer(ncpus)
    return asked if not nodes or most_processors(parts(nodes) or [], ncpus) else None


def fewer_ncpus(ncpus: str, nodes: str) -> Found:
    """A number of processors that nodes have more of, which is kept."""
    return None if asked_by_ncpus(ncpus, nodes) or not integer(ncpus) else ncpus


def asked_anywhere(procs: str, nodes: str, ncpus: str) -> Found:
    """The processors of ``procs=8``, on whichever nodes, where nothing else counts them."""
    by_nodes = totals(parts(nodes) or [])
    return None if _count(ncpus) or (by_nodes and by_nodes[1]) else integer(procs)


def of_processes(pmem: str, mem: str, nodes: str, ncpus: str, procs: str, select: str) -> Found:
    """The memory of all processes of TORQUE, one for each processor, if no other is asked for.

    >>> of_processes("1gb", "", "2:ppn=4", "", "", ""), of_processes("1gb", "2gb", "4", "", "", "")
    ('8388608', None)
    """
    if mem or select or not pmem:
        return None
    by_nodes = totals(parts(nodes) or [])
    told = max(by_nodes) if by_nodes else int(_count(procs) or _count(ncpus) or 1)
    return units.decimal(Fraction(words.size(pmem)) * told / 1024)


def asked_nodes(nodes: str, nodect: str) -> Found:
    """The nodes of ``nodes=4:ppn=8``."""
    if _count(nodect):
        return None
    count = asked_count(nodes)
    return None if count is None else str(count)


def named_nodes(nodes: str) -> Found:
    """The hosts of ``nodes=n1:ppn=2+n2:ppn=4``, where each part names one."""
    names = list(dict.fromkeys(part.name for part in _nodes_of(nodes)))
    if "" in names or not names:
        return None
    return listed(names)


def node_properties(nodes: str) -> Found:
    """The properties that all nodes of ``nodes=4:ppn=8:ib`` have."""
    found = [part.properties for part in _nodes_of(nodes)]
    marks = [mark for mark in dict.fromkeys(found[0]) if mark] if found else []
    if not marks or any(set(each) != set(found[0]) for each in found):
        return None
    return listed(marks, "Feature")


def chunk_hosts(select: str) -> Found:
    """The hosts of ``select=1:ncpus=1:host=n1+1:ncpus=1:host=n2``, where each chunk names one."""
    names = [part.values.get("host", "") for part in _chunks_of(select)]
    return None if "" in names or not names else listed(list(dict.fromkeys(names)))


def chunk_architecture(select: str) -> Found:
    """The architecture that each chunk asks for."""
    return _of_all(select, "arch") or None


def chunk_features(select: str) -> Found:
    """What each chunk has to have, such as ``ib=True``."""
    found = [part.features for part in _chunks_of(select)]
    names = [name for name in (found[0] if found else ()) if all(name in each for each in found)]
    return listed(names, "Feature") if names else None


def _of_all(select: str, name: str) -> str:
    """The value that a resource has in all chunks, "" where there is none."""
    found = {part.values.get(name, "") for part in _chunks_of(select)}
    return found.pop() if len(found) == 1 else ""


def asked_licences(gres: str) -> Found:
    """The licences of ``gres=matlab+2%ansys+1``, as TORQUE has them."""
    found = licences(gres, between="%", sign="+", bare=False) or ()
    return (
        tuple(Property("Resource", count, license_attributes(name)) for name, count in found)
        or None
    )


def other_gres(gres: str) -> Found:
    """A text of another form."""
    return None if asked_licences(gres) else gres


def per_node(nodes: str) -> Found:
    """The processors on each node, where it is the same number on all."""
    found = {part.values.get("ppn", "") for part in _nodes_of(nodes)}
    return _count(found.pop()) or None if len(found) == 1 else None


def node_gpus(nodes: str) -> Found:
    """The GPUs of ``nodes=2:ppn=4:gpus=2``.

    >>> node_gpus("2:ppn=4:gpus=2"), node_gpus("2")
    ('4', None)
    """
    return _counted_gpus(_nodes_of(nodes), nodes)


def chunk_gpus(select: str) -> Found:
    """The GPUs of ``select=2:ncpus=4:ngpus=2``.

    >>> chunk_gpus("1:ngpus=2+3:ncpus=1")
    '2'
    """
    return _counted_gpus(_chunks_of(select), select)


def _counted_gpus(found: list[NodeSpec], text: str) -> Found:
    if any(part.has_odd_gpus for part in found):
        raise InvalidValue(text[:200], "nodes with a number of GPUs")
    total = sum(part.count * part.gpus for part in found)
    return str(total) if total else None


def listed_gpus(text: str) -> Found:
    """The GPUs of ``exec_gpus``: ``n1-gpu/0+n1-gpu/1``, each of them once."""
    if not _EXEC_GPUS.fullmatch(text):
        raise InvalidValue(text[:200], "GPUs such as n1-gpu/0+n1-gpu/1")
    return str(len(set(text.split("+"))))


def gpus(text: str) -> Found:
    """The GPUs of all parts of exec_vnode, each of which tells them once.

    >>> gpus("(n1:ncpus=4:ngpus=2+n2:ngpus=1)+(n3:ncpus=1)"), gpus("(n1:ncpus=4)")
    ('3', None)
    """
    if text[:1] != "(" or text[-1:] != ")" or text == words.NO_HOSTS:
        raise InvalidValue(text[:200], "nodes such as (n1:ncpus=4:ngpus=2)")
    if ":ngpus=" not in text:
        return None
    found = _NGPUS.findall(text)
    told = [part.count(":ngpus=") for part in _BETWEEN_VNODES.split(text)]
    if max(told) > 1 or sum(told) != len(found):
        raise InvalidValue(text[:200], "nodes such as (n1:ncpus=4:ngpus=2), each GPU told once")
    return str(sum(map(int, found))) if any(map(int, found)) else None


def given_gpus(
    given: Callable[[str], Found], asked: Callable[[str], Found] | None
) -> Callable[..., Found]:
    """What reads the GPUs that were given beside those that were asked for.

    Those count where nothing else can be read, and that is told. # decision 752
    """

    @varied
    def read(text: str, request: str = "") -> Found:
        try:
            return given(text)
        except InvalidValue as wrong:
            number: Found = None
            with suppress(InvalidValue):  # a request that cannot be read is told where it stands
                number = asked(request) if asked and request else None
            if isinstance(number, str):
                found = (Property("Resource", number, _GPU),)
                then = "those asked for count"
                raise Instead(wrong.text, wrong.expected, found, then, keeps=True) from None
            if text in ("", words.NO_HOSTS):
                return None  # nothing was given, and nothing asked for
            raise

    return read


def state(letter: str, status: str) -> Found:
    """Both an end and a requeue complete a run; the message tells which, and what killed it."""
    message = "requeued" if letter == "R" else ENDINGS.get(status, "") if status[:1] == "-" else ""
    found = (Property("State", "Completed"),)
    return (*found, Property("StatusMessage", message)) if message else found


def exit_status(text: str) -> Found:
    """The status as it stands: negative where PBS ended the job, 256 + n for signal n."""
    if not _EXIT_STATUS.fullmatch(text):
        raise InvalidValue(text, "an exit status such as 271")
    return text


def signal(text: str) -> Found:
    """The signal that ended the job."""
    return str(int(text) - 256) if is_whole(text) and 256 < int(text) < 384 else None


@varied
def passed(end: str, start: str, wall: str) -> Found:
    """From start to end, where the record has no wall time of its own."""
    return None if wall else clock.passed(start, end)


_MAX = {"metric": "Max", "units": "KB"}
_KB = {"units": "KB"}
_waited_for = partial(dependencies, id=words.waited_for)
_other_waits = partial(other_dependencies, id=words.waited_for)

_LIMIT = {"op": "LE"}
_GPU = {"name": GPU}
_PER_NODE = {"type": "TasksPerNode"}

# fmt: off
# The keys in the order in which PBS writes them; (columns) are the parts of a record before them.
TABLE: tuple[Field, ...] = (
    Field("(id)",                     JOB,       "Id",          single),
    Field("(id)",                     JOB,       "GlobalId",    global_id,
          beside=("(server)", "ctime")),
    Field("(server)",                 DELIVERED, "Machine"),
    Field("(array index)",            JOB,       "Extension",   single, noted("ArrayIndex")),
    Field("(letter)",                 JOB,       "State",       state, beside=("Exit_status",)),
    Field("(letter)",                 DELIVERED, "Processors",  processors,
          beside=GIVEN),
    Field("(ended)",                  JOB,       "EndTime",     time),
    Field("user",                     DELIVERED, "User"),
    Field("group",                    DELIVERED, "Group"),
    Field("account",                  DELIVERED, "Project"),
    Field("project",                  DELIVERED, "Project",     project, beside=("account",)),
    Field("project",                  JOB,       "Extension",   other_project,
          noted("project"), ("account",)),
    Field("jobname",                  JOB,       "Name"),
    Field("queue",                    DELIVERED, "Queue"),
    Field("ctime",                    JOB,       "SubmitTime",  time),
    Field("qtime",                    JOB,       "Extension",   single, noted("qtime")),
    Field("etime",                    JOB,       "EligibleTime", time),
    Field("start",                    JOB,       "StartTime",   time),
    Field("owner",                    JOB,       "SubmitHost",  after_at),
    Field("owner",                    JOB,       "Extension",   other_owner, noted("owner"),
          ("user",)),
    Field("exec_host",                DELIVERED, "Node",        nodes),
    Field("exec_host",                DELIVERED, "NodeCount",   node_count),
    Field("exec_vnode",               NOWHERE),  # exec_host tells the same, but for GPUs
    Field("Resource_List.ncpus",      REQUESTED, "Processors",  asked_by_ncpus,
          beside=("Resource_List.nodes",)),
    Field("Resource_List.ncpus",      JOB,       "Extension",   fewer_ncpus,
          noted("Resource_List.ncpus"), ("Resource_List.nodes",)),
    Field("Resource_List.nodect",     REQUESTED, "NodeCount",   integer),
    Field("Resource_List.nodes",      REQUESTED, "Processors",  asked_processors,
          beside=("Resource_List.ncpus",)),
    Field("Resource_List.nodes",      REQUESTED, "NodeCount",   asked_nodes,
          beside=("Resource_List.nodect",)),
    Field("Resource_List.nodes",      REQUESTED, "Node",        named_nodes),
    Field("Resource_List.nodes",      REQUESTED, "Feature",     node_properties),
    Field("Resource_List.nodes",      JOB,       "TaskDistribution", per_node,
          _PER_NODE),
    Field("Resource_List.nodes",      JOB,       "Extension",   plain,
          noted("Resource_List.nodes")),
    Field("Resource_List.select",     REQUESTED, "Node",        chunk_hosts),
    Field("Resource_List.select",     REQUESTED, "Architecture", chunk_architecture),
    Field("Resource_List.select",     REQUESTED, "Feature",     chunk_features),
    Field("Resource_List.select",     JOB,       "Extension",   plain,
          noted("Resource_List.select")),
    Field("Resource_List.gres",       REQUESTED, "Resource",    asked_licences),
    Field("Resource_List.gres",       JOB,       "Extension",   other_gres,
          noted("Resource_List.gres")),
    Field("Resource_List.partition",  REQUESTED, "Partition"),
    Field("Resource_List.qos",        REQUESTED, "QualityOfService"),
    Field("Resource_List.walltime",   REQUESTED, "Duration",    limit, _LIMIT),
    Field("Resource_List.cput",       JOB,       "ResourceLimit", limit, {"name": "CPUTime"}),
    Field("Resource_List.mem",        REQUESTED, "Memory",      asked_kilobytes, _KB),
    Field("Resource_List.pmem",       REQUESTED, "Memory",      of_processes, _KB,
          ("Resource_List.mem", "Resource_List.nodes", "Resource_List.ncpus",
           "Resource_List.procs", "Resource_List.select")),
    Field("Resource_List.pmem",       JOB,       "Extension",   plain,
          noted("Resource_List.pmem")),
    Field("Resource_List.procs",      REQUESTED, "Processors",  asked_anywhere, {},
          ("Resource_List.nodes", "Resource_List.ncpus")),
    Field("Resource_List.arch",       REQUESTED, "Architecture", plain),
    Field("Resource_List.opsys",      REQUESTED, "OperatingSystem", plain),
    Field("Resource_List.vmem",       REQUESTED, "Swap",        asked_kilobytes, _KB),
    Field("Resource_List.file",       REQUESTED, "Disk",        kilobytes, _KB),
    Field("session",                  JOB,       "Extension",   single, noted("session")),
    Field("total_execution_slots",    NOWHERE),
    Field("unique_node_count",        NOWHERE),  # adjacent equal names only
    Field("end",                      JOB,       "EndTime",     time),
    Field("end",                      DELIVERED, "Duration",    passed,
          beside=("start", "resources_used.walltime")),
    Field("Exit_status",              JOB,       "ExitCode",    exit_status),
    Field("Exit_status",              JOB,       "Extension",   signal, noted("Signal")),
    Field("resources_used.cput",      JOB,       "CpuDuration", seconds),
    Field("resources_used.energy_used", DELIVERED, "Resource",  integer,
          {"name": "Energy", "units": "J"}),
    Field("resources_used.mem",       DELIVERED, "Memory",      kilobytes, _MAX),
    Field("resources_used.ncpus",     NOWHERE),
    Field("resources_used.vmem",      DELIVERED, "Swap",        kilobytes, _MAX),
    Field("resources_used.walltime",  DELIVERED, "Duration",    seconds),
    Field("run_count",                JOB,       "StartCount",  integer),
    Field("depend",                   JOB,       "Dependency",  _waited_for),
    Field("depend",                   JOB,       "Extension",   _other_waits, noted("depend")),
)
# fmt: on

# What says how many GPUs a job asks for, and was given. The first that a record has counts; what
# it does not say of a job that ran, is what was asked for.
ASKED_GPUS: tuple[Field, ...] = (
    Field("Resource_List.ngpus", REQUESTED, "Resource", integer, _GPU),
    Field("Resource_List.gpus", REQUESTED, "Resource", integer, _GPU),
    Field("Resource_List.select", REQUESTED, "Resource", chunk_gpus, _GPU),
    Field("Resource_List.nodes", REQUESTED, "Resource", node_gpus, _GPU),
)
GIVEN_GPUS: tuple[Field, ...] = (
    Field("exec_vnode", DELIVERED, "Resource", gpus, _GPU),
    Field("exec_gpus", DELIVERED, "Resource", listed_gpus, _GPU),
)
# A number needs no Extension beside it; a text tells more than how many there are.
_COUNTING = (chunk_gpus, node_gpus, listed_gpus)
KNOWN = frozenset(row.column for row in (*TABLE, *ASKED_GPUS) if row.read not in _COUNTING)


def rows(names: tuple[str, ...]) -> Iterator[Field]:
    """The mapping for a record with these keys; one that is not in the table is an Extension."""
    yield from gpu_rows(names, started="start" in names)
    yield from TABLE
    for name in names:
        if name not in KNOWN:
            yield Field(name, JOB, "Extension", plain, noted(name))


def gpu_rows(names: tuple[str, ...], *, started: bool) -> Iterator[Field]:
    """The rows of GPUs for a record with these keys."""
    asked = next((row for row in ASKED_GPUS if row.column in names), None)
    if asked is not None:
        yield asked
    if started:
        given = next((row for row in GIVEN_GPUS if row.column in names), None)
        if given is not None:
            read = given_gpus(given.read, asked.read if asked else None)
            yield given._replace(read=read, beside=(asked.column,) if asked else ())
        elif asked is not None:
            yield asked._replace(place=DELIVERED)


# For the page that says where each goes: the parts of a record, and its keys.
# fmt: off
COLUMNS = (
    "stamp", "letter", "id",
    *dict.fromkeys(row.column for row in (*TABLE, *ASKED_GPUS, *GIVEN_GPUS)
                   if not row.column.startswith("(")),
)
WORKED_OUT = {
    "(id)": ("id",), "(server)": ("id",), "(array index)": ("id",), "(letter)": ("letter",),
    "(ended)": ("stamp",),
}
NOT_KEPT = {"unique_node_count": "counts a host again where others stand between its slots"}
# fmt: on
