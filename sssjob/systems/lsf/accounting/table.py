"""What becomes of each field of a JOB_FINISH record: the mapping, laid beside lsb.acct(5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial

from sssjob import expression, units
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.model import Property
from sssjob.records.clock import BLANK, Clock, passed
from sssjob.records.plan import MEMO_LIMIT
from sssjob.records.readers import any_of, extension, integer, kilobytes, listed
from sssjob.records.record import (
    DELIVERED,
    JOB,
    REQUESTED,
    Field,
    Found,
    Instead,
    plain,
    varied,
)
from sssjob.records.values import is_unknown, is_whole
from sssjob.resource_names import GPU, LICENSE, license_attributes
from sssjob.systems.lsf.selections import is_open, selected
from sssjob.systems.lsf.words import (
    ReservedAmount,
    dependencies,
    reservations,
    reserved,
    reserved_gpus,
    sections,
    terms,
)

# jStatus: DONE or EXIT, with what ran behind the job.
STATES = frozenset(("32", "64", "96", "160", "192", "224", "288", "320"))

_SLOTS = re.compile(r"(?:([0-9]{1,6})\*)?([^\s*]+)")
A_HOST = "a host such as n1 or 16*n1"
NAMELESS = "*"  # in a list of hosts: one whose name is none
_REAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_EXIT_BIT, _DONE_BIT = 32, 64
_OPENED = re.compile(r"rusage\s*\[")
_RUSAGE = re.compile(r"rusage\s*\[([^\]]*)\]")
_NGPUS = re.compile(r"\bngpus\w*\s*=")
_SPAN = re.compile(r"span\s*\[\s*(ptile|hosts)\s*=\s*([0-9]{1,6})\s*\]")
_TILE = re.compile(r"ptile=([0-9]{1,6})")
_clock = Clock("UTC", BLANK)

# fmt: off
HEAD = (
    "type", "version", "eventTime", "jobId", "userId", "options", "numProcessors", "submitTime",
    "beginTime", "termTime", "startTime", "userName", "queue", "resReq", "dependCond",
    "preExecCmd", "fromHost", "cwd", "inFile", "outFile", "errFile", "jobFile",
)
HOSTS = ("askedHosts", "execHosts")
REST = (
    "jStatus", "hostFactor", "jobName", "command",
    "ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss",
    "ru_minflt", "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock", "ru_ioch", "ru_msgsnd",
    "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw", "ru_exutime",
    "mailUser", "projectName", "exitStatus", "maxNumProcessors", "loginShell", "timeEvent", "idx",
    "maxRMem", "maxRSwap", "inFileSpool", "commandSpool", "rsvId",
    "sla", "exceptMask", "additionalInfo", "exitInfo", "warningAction", "warningTimePeriod",
    "chargedSAAP", "licenseProject",
    "app", "postExecCmd", "runtimeEstimation", "jobGroupName", "requeueEvalues", "options2",
    "resizeNotifyCmd", "lastResizeTime", "rsvId2", "jobDescription",
)
LEAST = REST.index("exitStatus") + 1  # what every version has
# Where REST has numbers, which stand without quotes.
NUMBERS = tuple(
    place
    for place, name in enumerate(REST)
    if name.startswith("ru_")
    or name in ("exitStatus", "maxNumProcessors", "idx", "maxRMem", "maxRSwap", "exitInfo",
                "warningTimePeriod", "runtimeEstimation", "options2", "lastResizeTime")
)  # fmt: skip
LISTS = ("submitEXT", "hostRusage")  # between REST and TAIL, each behind its number
# IBM's page names options3 before runLimit. Records of 9.11 and 9.13 that people published have
# them the other way round: 43200 of a job with -W 12:00, and -1 of one without, stand first.
TAIL = (
    "runLimit", "options3", "avgMem", "effectiveResReq", "srcCluster", "srcJobId", "dstCluster",
    "dstJobId", "forwardTime", "flow_id", "acJobWaitTime", "totalProvisionTime", "outdir",
    "runTime", "subcwd",
)
# Where TAIL has whole numbers.
WHOLE_IN_TAIL = tuple(
    place
    for place, name in enumerate(TAIL)
    if name in ("runLimit", "options3", "avgMem", "srcJobId", "dstJobId", "forwardTime",
                "acJobWaitTime", "totalProvisionTime", "runTime")
)  # fmt: skip
COUNTS = ("submitEXTnum", "numHostRusage")  # how long each of LISTS is
# What 10.1 has behind it, by IBM's list and published records of 10.108, and what is told of that.
BEHIND = (
    "numNetwork", "networks", "affinity", "energy", "cpi", "gips", "gbs", "gflops", "numAllocSlots",
    "allocSlots", "ineligiblePendTime", "indexRangeCnt", "indexRanges", "requeueTime",
    "numGPURusages", "gpuRusages", "storageInfoC", "storageInfoV", "numKVP", "finishKVP",
    "schedulingOverhead",
)
TOLD_BEHIND = ("energy", "ineligiblePendTime", "requeueTime", "gpuRusages")
# Why LSF ended a job, by exitInfo.
TERMINATIONS = (
    "", "TERM_PREEMPT", "TERM_WINDOW", "TERM_LOAD", "TERM_OTHER", "TERM_RUNLIMIT",
    "TERM_DEADLINE", "TERM_PROCESSLIMIT", "TERM_FORCE_OWNER", "TERM_FORCE_ADMIN",
    "TERM_REQUEUE_OWNER", "TERM_REQUEUE_ADMIN", "TERM_CPULIMIT", "TERM_CHKPNT", "TERM_OWNER",
    "TERM_ADMIN", "TERM_MEMLIMIT", "TERM_EXTERNAL_SIGNAL", "TERM_RMS", "TERM_ZOMBIE",
    "TERM_SWAP", "TERM_THREADLIMIT", "TERM_SLURM", "TERM_BUCKET_KILL", "TERM_CTRL_PID",
    "TERM_CWD_NOTEXIST",
)
# fmt: on

TYPE = "LSF"  # of Extensions


noted = partial(extension, TYPE)  # the attributes of what the standard has no property for


@varied
def id(job: str, index: str) -> Found:
    """The job, and its place in an array."""
    if not job.isdecimal():
        raise InvalidValue(job, "a job id")
    return f"{job}[{index}]" if is_whole(index) and index.strip("0") else job


def index(text: str) -> Found:
    """The place in an array, from 1; what is none stands in no id."""
    if not is_whole(text):
        raise InvalidValue(text, "an index of an array")
    return text if text.strip("0") else None


def odd_time(text: str) -> Found:
    """Nothing: only a run time that cannot be read is told, and the times of the job count."""
    if not (text == "-1" or is_whole(text)):
        raise InvalidValue(text, "a number of seconds")
    return None


@lru_cache(MEMO_LIMIT)
def slots(text: str) -> tuple[tuple[str, ...], int]:
    """The hosts, each once, and all their slots; a ``NAMELESS`` host has one.

    >>> slots("a a b"), slots("16*a b *")
    ((('a', 'b'), 3), (('a', 'b'), 18))
    """
    entries = text.split(" ")
    if "*" not in text:
        return tuple(dict.fromkeys(entries)), len(entries)
    hosts: dict[str, None] = {}
    total = 0
    for entry in entries:
        if entry == NAMELESS:
            total += 1
            continue
        found = _SLOTS.fullmatch(entry)
        if not found:
            raise InvalidValue(entry, A_HOST)
        hosts[found[2]] = None
        total += int(found[1] or 1)
    return tuple(hosts), total


def nodes(text: str) -> Found:
    """The hosts: one, or a List."""
    return listed(slots(text)[0])


def node_count(text: str) -> Found:
    """How many hosts there are that have a name; None where none has."""
    return str(len(slots(text)[0]) or "") or None


def is_host(entry: str) -> bool:
    """Whether an entry of a list of hosts can be one, with or without its number of slots.

    What holds its sign in another way tells no number of slots, so ``slots`` refuses it.

    >>> [is_host(entry) for entry in ("n1", "16*n1", "x*y", "*", "", "n1 n2")]
    [True, True, True, False, False, False]
    """
    return _SLOTS.fullmatch(entry) is not None or ("*" in entry and entry != NAMELESS)


def processors(text: str) -> Found:
    """How many slots there are."""
    return str(slots(text)[1])


def asked_processors(least: str, most: str) -> Found:
    """A number, or the least and the most that would do.

    Raises ``Instead`` where the most cannot be read: the least counts.
    """
    low = integer(least)
    try:
        high = integer(most) if most else None
    except InvalidValue as wrong:
        kept = (Property("Processors", low),) if isinstance(low, str) else ()
        raise Instead(most, wrong.expected, kept, "numProcessors counts", keeps=True) from None
    if not isinstance(low, str) or not isinstance(high, str) or int(low) >= int(high):
        return low
    return Property("Processors", low, {"op": "GE"}), Property("Processors", high, {"op": "LE"})


def is_done(status: str) -> bool:
    """Whether a job was started by its status: DONE is said of no other."""
    return status in STATES and bool(int(status) & _DONE_BIT)


def state(status: str, info: str) -> Found:
    """Completed, with the reason that LSF gives for having ended it."""
    found = (Property("State", "Completed"),)
    if status not in STATES:
        raise Instead(status, "a status of DONE or EXIT", found, "taken for Completed", keeps=True)
    if is_whole(info) and info != "0":
        number = int(info)
        word = TERMINATIONS[number] if number < len(TERMINATIONS) else f"exitInfo {info}"
        return (*found, Property("StatusMessage", word))
    if int(status) & _EXIT_BIT:
        return (*found, Property("StatusMessage", "EXIT"))
    return found


def _status(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 10):
        raise InvalidValue(text, "a status as wait() gives it, such as 65280")
    return int(text)


def exit_code(text: str) -> Found:
    """The exit code within a status of wait(): 65280 is 255."""
    return str(_status(text) >> 8)


def signal(text: str) -> Found:
    """The signal within a status of wait(): 139 is 11, with a core dump."""
    number = _status(text) & 127
    return str(number) if number else None


@varied
def cpu(user: str, system: str) -> Found:
    """CPU seconds, where both are known."""
    are_real = _REAL.fullmatch(user) and _REAL.fullmatch(system)
    if not are_real or user[0] == "-" or system[0] == "-":
        for text in (user, system):
            if not is_unknown(text) and (not _REAL.fullmatch(text) or text[0] == "-"):
                raise InvalidValue(text, "a number of seconds")
        return None
    # A sum of usual numbers has fewer digits than a Decimal keeps, and takes a fifth of the time.
    if max(len(user), len(system)) < 14:
        return str(int(Decimal(user) + Decimal(system) + Decimal("0.5")))
    return str(units.rounded(Fraction(user) + Fraction(system)))


@varied
def wall(ended: str, started: str, told: str) -> Found:
    """The run time as LSF counted it, without suspension; else from start to end."""
    return told if is_whole(told) else passed(started, ended)


def limit(text: str) -> Found:
    """A limit in seconds; -1 and 0 are none."""
    return None if is_unknown(text) else integer(text)


def unless_zero(text: str) -> Found:
    """A number above 0 as it is written: 0 and -1 say that nothing was measured."""
    if not _REAL.fullmatch(text) or (text[0] == "-" and not is_unknown(text)):
        raise InvalidValue(text, "a number")
    return text if text[0] != "-" and text.strip("0.") else None


def moment(text: str) -> Found:
    """A time that was asked for; 0 is none."""
    return None if text == "0" else _clock.read(text)


def other_condition(text: str) -> Found:
    """A condition of which not all parts have to hold, or that is about no jobs."""
    return text if dependencies(text) is None else None


@varied
def opened_file(text: str, job: str, index: str) -> Found:
    """The name of a file as LSF opens it: ``%J`` is the job, ``%I`` its place in an array.

    >>> opened_file("out.%J.%I", "7", "3")
    'out.7.3'
    """
    if "%" not in text:
        return text or None
    return text.replace("%J", job).replace("%I", index or "0")


def asked_hosts(text: str) -> Found:
    """The hosts that were asked for, any of which may be taken."""
    found = text.split(" ")
    if len(found) == 1:
        return text
    return (Property("Node", ",".join(found), {"aggregation": "List", "count": "1"}),)


@varied
def requested_gpus(asked: str, effective: str, hosts: str, slots_: str) -> Found:
    """The GPUs that ``-gpu`` or ``rusage`` reserves; what cannot be counted is told of those given.

    >>> requested_gpus("", "select[ngpus>0] rusage[mem=2:ngpus_physical=2.00]", "a a b", "3")
    (Property('Resource', '4', {'name': 'GPU'}),)
    """
    if "ngpus" not in asked and "ngpus" not in effective:
        return None
    found = _gpus(effective or asked, hosts, slots_)
    return _of_models(*found) if found else None


@varied
def delivered_gpus(asked: str, effective: str, hosts: str, slots_: str) -> Found:
    """The same GPUs, which LSF has reserved. Raises ``Instead`` where they cannot be counted."""
    if "ngpus" not in asked and "ngpus" not in effective:
        return None
    text = effective or asked
    found = _gpus(text, hosts, slots_)
    if found is None:
        raise Instead(text, "GPUs whose number is said", (), "none are told of the job")
    return _of_models(*found)


def _of_models(number: int, models: tuple[str, ...]) -> Found:
    if not number:
        return None
    model = {"type": models[0]} if len(models) == 1 and models[0] else {}
    return (Property("Resource", str(number), {"name": GPU, **model}),)


@lru_cache(MEMO_LIMIT)
def _gpus(text: str, hosts: str, slots_: str) -> tuple[int, tuple[str, ...]] | None:
    """How many GPUs are reserved, on each host, of each task, or of the job, and their models.

    None where this depends on what is not said: on which of several requirements was met, or on
    how many hosts a part of a compound one got.
    """
    if len(_OPENED.findall(text)) > len(_RUSAGE.findall(text)):
        return None
    if _NGPUS.search(" ".join(_RUSAGE.findall(text))) is None:
        return 0, ()
    names, number = slots(hosts) if hosts else ((), 1)
    parts = terms(text)
    if parts is None or not (hosts or slots_ == "1"):
        return None
    total, models = 0, dict[str, None]()
    for of_slots, requirement in parts:
        tasks = of_slots or number
        nodes = len(names) or 1
        if of_slots and nodes > 1:
            nodes = _hosts_of(requirement, tasks)
        times = {"": nodes, "host": nodes, "task": tasks, "job": 1}
        for rusage in _RUSAGE.findall(requirement):
            said = reserved(rusage)
            found = [gpus for part in said if (gpus := reserved_gpus(*part)) is not None]
            if "||" in rusage or (not found and _NGPUS.search(rusage)):
                return None
            for count, whose in found:
                if not times[whose]:
                    return None
                total += count * times[whose]
            if found:
                models[dict(said).get("gmodel", "")] = None
    return total, tuple(models)


@varied
def requirements(asked: str, effective: str, hosts: str, slots_: str) -> Found:
    """Memory, scratch space, licences and hosts that are asked for, as a script is read.

    >>> [each.text for each in requirements("", "select[ib] rusage[mem=2048.00]", "a a b", "3")]
    ['ib', '4']
    """
    text = effective or asked
    if "[" not in text:
        return None
    found, amounts = _requirement(text)
    return (*found, *(_amounts(text, amounts, hosts, slots_) if amounts else ())) or None


def task_distribution(asked: str, effective: str) -> Found:
    """How many tasks are on each host, where it is said."""
    found = _said(effective or asked, "span").pop()
    tiles = _TILE.fullmatch(found)
    return tiles[1] if tiles and int(tiles[1]) else None


def _said(text: str, name: str) -> list[str]:
    """What the sections of a simple requirement have by a name; the last one is "" for none."""
    found = ("" if "{" in text else each for each in sections(text) or ())
    return ["", *(each.partition("=")[2] for each in found if each.startswith(f"{name}="))]


@lru_cache(MEMO_LIMIT)
def _requirement(text: str) -> tuple[tuple[Property, ...], tuple[ReservedAmount, ...]]:
    """What is asked for on whichever hosts, and what is reserved beside GPUs, on each or of all.

    Selections that no request can say are left out.
    """
    found = [item for value in _said(text, "select")[1:] for item in _selected(value)]
    if _said(text, "span").pop() == "hosts=1":
        found.append(Property("NodeCount", "1"))
    amounts = (each for value in _said(text, "rusage")[1:] for each in reservations(value) or ())
    return tuple(found), tuple(each for each in amounts if each.kind != GPU)


def _amounts(
    text: str, amounts: Sequence[ReservedAmount], hosts: str, slots_: str
) -> Iterator[Property]:  # fmt: skip
    """What is reserved on all hosts; what cannot be counted is left out."""
    names, tasks = slots(hosts) if hosts else ((), int(slots_) if is_whole(slots_) else 0)
    nodes = len(names) or _hosts_of(text, tasks)
    times = {"": nodes, "host": nodes, "task": tasks, "job": 1}
    total: dict[tuple[str, str], int] = {}
    for kind, number, whose, _, name in amounts:
        if times[whose]:
            total[kind, name] = total.get((kind, name), 0) + number * times[whose]
    for (kind, name), number in total.items():
        if kind == LICENSE:
            yield Property("Resource", str(number), license_attributes(name))
        else:
            amount, unit = units.in_units(number)
            yield Property(kind, amount, {"units": unit})


def _selected(text: str) -> Iterator[Property]:
    """The terms of a selection, as far as one name, or any of several, is asked for."""
    try:
        parts = expression.conjuncts(selected(text))
    except (InvalidValue, LimitExceeded):
        return
    for part in parts:
        among = part.operands if isinstance(part, expression.Or) else (part,)
        terms_ = [each for each in among if isinstance(each, expression.Comparison)]
        if len(terms_) < len(among) or any(map(is_open, terms_)):
            continue
        if len(terms_) == 1:
            yield terms_[0].item
        elif {(each.item.name, each.op) for each in terms_} == {(terms_[0].item.name, "EQ")}:
            yield from any_of(terms_[0].item.name, [each.item.text for each in terms_])


def _hosts_of(requirement: str, tasks: int) -> int:
    """On how many hosts so many tasks of a requirement are; 0 where it does not say."""
    found = _SPAN.search(requirement)
    if found is None or not int(found[2]):
        return 1 if tasks == 1 else 0
    return 1 if found[1] == "hosts" else -(-tasks // int(found[2]))


_MAX = {"metric": "Max", "units": "KB"}
_OF_GPUS = ("effectiveResReq", "execHosts", "numProcessors")
_AVERAGE = {"metric": "Average", "units": "KB"}

# fmt: off
TABLE: tuple[Field, ...] = (
    Field("eventTime",     JOB,       "EndTime",     _clock.read),
    Field("jobId",         JOB,       "Id",          id, beside=("idx",)),
    Field("numProcessors", REQUESTED, "Processors",  asked_processors,
          beside=("maxNumProcessors",)),
    Field("submitTime",    JOB,       "SubmitTime",  _clock.read),
    Field("beginTime",     JOB,       "EligibleTime", moment),
    Field("termTime",      JOB,       "DeadlineTime", moment),
    Field("startTime",     JOB,       "StartTime",   _clock.read),
    Field("eventTime",     DELIVERED, "Duration",    wall, beside=("startTime", "runTime")),
    Field("userName",      DELIVERED, "User"),
    Field("queue",         DELIVERED, "Queue"),
    Field("resReq",        JOB,       "Extension",   plain, noted("resReq")),
    Field("resReq",        REQUESTED, "Resource",    requested_gpus, {}, _OF_GPUS),
    Field("resReq",        DELIVERED, "Resource",    delivered_gpus, {}, _OF_GPUS),
    Field("resReq",        REQUESTED, "Memory",      requirements, {}, _OF_GPUS),
    Field("resReq",        JOB,       "TaskDistribution", task_distribution,
          {"type": "TasksPerNode"}, ("effectiveResReq",)),
    Field("dependCond",    JOB,       "Dependency",  dependencies),
    Field("dependCond",    JOB,       "Extension",   other_condition, noted("dependCond")),
    Field("fromHost",      JOB,       "SubmitHost"),
    Field("cwd",           JOB,       "InitialWorkingDirectory"),
    Field("inFile",        JOB,       "InputFile"),
    Field("outFile",       JOB,       "OutputFile",  opened_file, {}, ("jobId", "idx")),
    Field("errFile",       JOB,       "ErrorFile",   opened_file, {}, ("jobId", "idx")),
    Field("askedHosts",    REQUESTED, "Node",        asked_hosts),
    Field("execHosts",     DELIVERED, "Node",        nodes),
    Field("execHosts",     DELIVERED, "NodeCount",   node_count),
    Field("execHosts",     DELIVERED, "Processors",  processors),
    Field("jStatus",       JOB,       "State",       state, beside=("exitInfo",)),
    Field("jobName",       JOB,       "Name"),
    Field("command",       JOB,       "Extension",   plain, noted("command")),
    Field("ru_utime",      JOB,       "CpuDuration", cpu, beside=("ru_stime",)),
    Field("projectName",   DELIVERED, "Project"),
    Field("exitStatus",    JOB,       "ExitCode",    exit_code),
    Field("exitStatus",    JOB,       "Extension",   signal, noted("Signal")),
    Field("idx",           JOB,       "Extension",   index, noted("ArrayIndex")),
    Field("runTime",       JOB,       "Extension",   odd_time, noted("runTime")),
    Field("maxRMem",       DELIVERED, "Memory",      kilobytes, _MAX),
    Field("maxRSwap",      DELIVERED, "Swap",        kilobytes, _MAX),
    Field("rsvId",         REQUESTED, "Reservation"),
    Field("sla",           DELIVERED, "QualityOfService"),
    Field("licenseProject", JOB,      "Extension",   plain, noted("licenseProject")),
    Field("app",           JOB,       "Application"),
    Field("jobGroupName",  JOB,       "Extension",   plain, noted("jobGroupName")),
    Field("jobDescription", JOB,      "Extension",   plain, noted("jobDescription")),
    Field("runLimit",      REQUESTED, "Duration",    limit, {"op": "LE"}),
    Field("avgMem",        DELIVERED, "Memory",      kilobytes, _AVERAGE),
    Field("effectiveResReq", JOB,     "Extension",   plain, noted("effectiveResReq")),
    # IBM's list names no unit of the energy, and has the texts of GPUs as reserved.
    Field("energy",        JOB,       "Extension",   unless_zero, noted("energy")),
    Field("ineligiblePendTime", JOB,  "Extension",   unless_zero, noted("ineligiblePendTime")),
    Field("requeueTime",   JOB,       "Extension",   unless_zero, noted("requeueTime")),
    Field("gpuRusages",    JOB,       "Extension",   plain, noted("gpuRusages")),
)
# fmt: on

_OF_A_RUN = frozenset(
    ("StartTime", "Duration", "Node", "NodeCount", "Processors", "Memory", "Swap", "CpuDuration",
     "ExitCode", "Queue", "Resource")
)  # fmt: skip

# A job that was killed while it waited.
WAITING = (
    *(
        row
        for row in TABLE
        if row.place == REQUESTED
        or not (row.element in _OF_A_RUN or row.attributes.get("name") == "Signal")
    ),
    Field("queue", JOB, "Queue"),
)

# fmt: off
NOT_KEPT = {
    **dict.fromkeys(set(BEHIND) - set(TOLD_BEHIND), "of how LSF placed the job, or counts a list"),
    "submitEXT": "reserved by LSF for itself", "hostRusage": "the sums of all hosts are kept",
    **dict.fromkeys(("type", "version"), "tells how the record is read"),
    **dict.fromkeys(("userId", "jobFile", "loginShell", "inFileSpool", "commandSpool"),
                    "of the host that ran the job"),
    **dict.fromkeys(("options", "options2", "options3"), "bits of what was given to bsub"),
    **dict.fromkeys(("preExecCmd", "mailUser", "timeEvent",
                     "exceptMask", "additionalInfo", "warningAction", "warningTimePeriod",
                     "chargedSAAP", "postExecCmd", "runtimeEstimation", "requeueEvalues",
                     "resizeNotifyCmd", "rsvId2"), "what was asked of LSF, for which there is no "
                    "property in a record"),
    **dict.fromkeys(("ru_maxrss", "ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss", "ru_minflt",
                     "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock", "ru_ioch", "ru_msgsnd",
                     "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw", "ru_exutime"),
                    "of getrusage(2), mostly -1; maxRMem tells the memory"),
    "hostFactor": "the speed of the first host", "lastResizeTime": "runTime has all of the run",
    **dict.fromkeys(("srcCluster", "srcJobId", "dstCluster", "dstJobId", "forwardTime", "flow_id"),
                    "where a job was forwarded"),
    **dict.fromkeys(("acJobWaitTime", "totalProvisionTime"), "how long hosts were prepared"),
    **dict.fromkeys(("outdir", "subcwd"), "cwd and outFile tell the directories"),
}
# fmt: on
