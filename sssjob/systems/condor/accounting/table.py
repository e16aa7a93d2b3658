"""What becomes of each attribute of an HTCondor job ad: the mapping.

Both roads ask it: records of accounting in columns, and ads one by one (``from_ad``, ``usage``).
Sizes that the schedd rounds up to a quarter of their magnitude come with the measured ``_RAW``
beside them, which counts. An attribute may be an expression: that is no amount, and is left out.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction

from sssjob import units
from sssjob.classads import quoting
from sssjob.errors import InvalidValue
from sssjob.file_names import literal
from sssjob.integers import LARGEST, SMALLEST, limit_seconds
from sssjob.model import Property
from sssjob.records.readers import NOT_KNOWN, PROCESSORS, extension, identity, listed, noted
from sssjob.records.record import (
    DELIVERED,
    JOB,
    KEPT,
    REQUESTED,
    Field,
    Found,
    Instead,
    numeric,
    plain,
    varied,
)
from sssjob.records.values import amount, count, integer, is_whole, number
from sssjob.resource_names import license_attributes
from sssjob.systems.condor import names
from sssjob.systems.condor.accounting.values import MADE_OF, NUMBERS, WORKED_OUT

_STATES = {str(status): word for status, word, *_ in names.STATES}
_IDLE, _REMOVED, _COMPLETED, _HELD = "1", "3", "4", "5"
_DIED = "died on signal"  # how HTCondor tells of a job that a signal ended
_BY_USER = ("1", "15")  # a HoldReasonCode: held by a user, who may have submitted it so
_DIGITS = len(str(LARGEST))
_BELOW = re.compile(r"(?:^|=)-[0-9]")
_AMOUNT = "a number from 0 on"
SIGNALLED = 128  # more than the signal: the exit code of a shell, where a signal ended a program
_LIMITS, _A_LIMIT = re.compile(r"[\s,]+"), re.compile(r"[A-Za-z_][\w.]*(?::[0-9]{1,9})?", re.ASCII)
_PLAIN = re.compile(r"[\w@%+=:,./ -]*+", re.ASCII)  # words that no way of quoting changes
# Of the usual one nothing is said.
UNIVERSES = {
    str(number): word for word, number in names.UNIVERSES.items()
    if number != names.DEFAULT_UNIVERSE
}  # fmt: skip
_RUNNING, _SUSPENDED = "2", "7"  # of JobStatus
_LAST_UNIVERSE = max(names.UNIVERSES.values())
ON_THE_SUBMIT_HOST = ("scheduler", "local")  # such jobs use no slot


@numeric(units.TIME_LIMIT)
def time(text: str) -> Found:
    """Seconds since 1970; 0 is none."""
    if not is_whole(text) or int(text) > units.TIME_LIMIT:
        raise InvalidValue(text, "a time of 32 bits")
    return str(int(text)) if int(text) else None


@numeric(1 << 62)
def worked_out(text: str) -> Found:
    """A number as it was worked out; what it should have been worked out of is none."""
    if not (text.isascii() and text.isdecimal()):
        raise InvalidValue(text, _AMOUNT if _BELOW.search(text) else "a number")
    return text


# decision 891
def unread(text: str) -> Found:
    """Nothing. Raises ``Instead`` for attributes that are no numbers, each of which is kept."""
    raise _left(json.loads(text))


def _left(odd: Mapping[str, str]) -> Instead:
    """Attributes that are no amounts, each kept by its own name."""
    told = " ".join(f"{name}={text}" for name, text in odd.items())
    kept = tuple(noted("HTCondor", name, text) for name, text in odd.items())
    return Instead(told, _AMOUNT if _BELOW.search(told) else "a number", kept, KEPT)


def none_below_0(text: str) -> Found:
    """Nothing. Raises ``InvalidValue`` for what is no number from 0 on."""
    number(_from_0(text))
    return None


def whole_from_0(text: str) -> Found:
    """Nothing. Raises ``InvalidValue`` for what is no whole number from 0 on."""
    _whole(_from_0(text))
    return None


def any_number(text: str) -> Found:
    """Nothing. Raises ``InvalidValue`` for what is no whole number."""
    _whole(text)
    return None


def suspended(text: str, times: str, status: str, before: str) -> Found:
    """Seconds from 0 on; None where a suspension did not end, as it counts when it does.

    >>> suspended("9", "1", "3", "2"), suspended("9", "2", "3", "7"), suspended("0", "1", "4", "2")
    ('9', None, None)
    """
    some, was = (bool(each) and number(_from_0(each)) for each in (times, before))
    is_open = status == _SUSPENDED or (was == int(_SUSPENDED) and status != _RUNNING)
    seconds = amount(_from_0(text)) if text else None
    return None if is_open or (some and seconds == "0") else seconds


def starts(text: str) -> Found:
    """How often a job was started; 0 is none."""
    return count(_from_0(text))


@varied
def id(text: str, everywhere: str) -> Found:
    """``cluster.process``; a text without them has at least the id that holds everywhere.

    That tells the process of an ad without one, as of one that was cut; else it is the first.

    >>> id("7.", "submit.example.org#7.2#1800000000"), id("7.", "")
    ('7.2', '7.0')
    """
    if not text.endswith("."):
        return text or (identity(everywhere) if everywhere else None)
    part = everywhere.split("#")[1] if names.is_of_schedd(everywhere) else ""
    return part if part.startswith(text) else f"{text}0"


@varied
def everywhere(text: str) -> Found:
    """An id that holds everywhere."""
    return text


def either(first: str, second: str) -> Found:
    """The first of two that is there."""
    return first or second or None


@varied
def submit_host(everywhere: str, stated: str) -> Found:
    """The host of the schedd, with which a GlobalJobId begins, or else the one that is stated.

    >>> submit_host("submit.example.org#7.0#1800000000", "")
    'submit.example.org'
    """
    return everywhere.partition("#")[0] if "#" in everywhere else stated or None


def arguments(new: str, old: str) -> Found:
    """The words of the newer way to write them, or else of the older one, as a shell has them.

    >>> arguments("a' 'b ''", ""), arguments("", "a  b")
    ("'a b' ''", 'a b')
    """
    text = new or old
    if _PLAIN.fullmatch(text):
        return " ".join(text.split()) or None
    try:
        words = quoting.split_v2(new) if new else quoting.split_v1(old)
    except ValueError as error:
        raise InvalidValue(text, "arguments whose single quotes are closed") from error
    return shlex.join(words) or None


def stream(text: str) -> Found:
    """A file that a job reads or writes; the null device is none."""
    return None if text == names.NULL_DEVICE else literal(text)


def exit_reason(text: str, by_signal: str) -> str:
    """Why a job ended; of one that ended by itself, what says that a signal ended it is of an
    earlier run: HTCondor keeps it.

    >>> exit_reason("died on signal 9 (Killed)", "true"), exit_reason("died on signal 9", "false")
    ('died on signal 9 (Killed)', '')
    """
    return "" if by_signal == "false" and text.startswith(_DIED) else text


def state(
    status: str, removed: str, held: str, code: str, released: str, ended: str, by_signal: str
) -> Found:  # fmt: skip
    """The state, and what its reason says; ``code`` is why a job is held."""
    if not status:
        return None
    word = _STATES.get(status)
    if word is None:
        raise InvalidValue(status, "a JobStatus from 1 to 7")
    found = [Property("State", word)]
    if word == "Hold":
        found.append(Property("Hold", "User" if code in _BY_USER else "System"))
    reasons = {
        _IDLE: released or held,
        _REMOVED: removed,
        _COMPLETED: exit_reason(ended, by_signal),
        _HELD: held,
    }
    message = reasons.get(status, "")
    if status == _REMOVED:
        message = f"removed: {message}" if message else "removed"
    return tuple(found + [Property("StatusMessage", message)] * bool(message))


def exit_code(text: str, by_signal: str, number_of_signal: str) -> Found:
    """The exit code; of a job that a signal ended, which has none, 128 more than the signal.

    The signal stands beside it (``signal``), since 137 may be an exit code like any other. Without
    ``by_signal`` an ExitSignal is that of an earlier run, and with it an ExitCode is.

    >>> exit_code("3", "false", "9"), exit_code("", "true", "9"), exit_code("0", "true", "")
    ('3', '137', None)
    """
    if by_signal == "true":
        return str(SIGNALLED + _whole(number_of_signal)) if number_of_signal else None
    return str(_whole(text)) if text else None


def signal(text: str, by_signal: str) -> Found:
    """The signal of a job that one ended; without ``by_signal`` it is that of an earlier run."""
    if text:
        _whole(text)
    return (noted("HTCondor", "Signal", text),) if text and by_signal == "true" else None


def processors(provisioned: str, requested: str, hosts: str, universe: str) -> Found:
    """How many were given, or else asked for; a parallel job has as many on each host.

    HTCondor gives whole ones: a part of one that is asked for is rounded up. Raises ``Instead``
    where what tells them tells none. # decision 753

    >>> processors("", "4.2", "", ""), processors("2", "4", "", ""), processors("", "2", "3", "11")
    ('5', '2', '6')
    """
    if UNIVERSES.get(universe) in ON_THE_SUBMIT_HOST and not provisioned:
        return None
    given, asked = _cpus(provisioned), _cpus(requested)
    each = given or math.ceil(asked or 0)
    found = str(units.rounded(each * hosts_of(hosts, universe))) if each else None
    if provisioned and not given:
        if found:
            stands = (Property("Processors", found),)
            raise Instead(provisioned, PROCESSORS, stands, "RequestCpus counts", keeps=True)
        if given is None:
            raise InvalidValue(provisioned, "a number")
        raise Instead(provisioned, PROCESSORS, (), NOT_KNOWN, keeps=True)
    if requested and not found and asked is not None:  # what is odd is told where it is asked for
        raise Instead(f"RequestCpus={requested}", PROCESSORS, (), NOT_KNOWN)
    return found


def _cpus(text: str) -> Fraction | None:
    """A number of processors; 0 for 0 and less, None for what is no number."""
    try:
        return max(_of_64_bits(text), Fraction(0))
    except InvalidValue:
        return None


def tells_processors(*texts: str) -> bool:
    """Whether one of several attributes tells some."""
    return any(map(_cpus, texts))


def _of_64_bits(text: str) -> Fraction:
    """A number that a column can hold. Raises ``InvalidValue`` for any other text."""
    value = number(text)
    if not SMALLEST <= value <= LARGEST:
        raise InvalidValue(text, "a number of 64 bits")
    return value


def _whole(text: str) -> int:
    """A whole number that a column can hold. Raises ``InvalidValue`` for any other text."""
    value = _of_64_bits(text)
    if value.denominator != 1:
        raise InvalidValue(text, "a whole number")
    return int(value)


def _from_0(text: str) -> str:
    """A text that is no number below 0, nor beyond 64 bits. Raises ``InvalidValue``."""
    if not (text.isdecimal() and len(text) < _DIGITS) and text and _of_64_bits(text) < 0:
        raise InvalidValue(text, _AMOUNT)
    return text


def asked_cpus(text: str, hosts: str, universe: str) -> Found:
    """How many processors are asked for, on all hosts; 0 asks for nothing."""
    if text[:1] == "-":
        raise InvalidValue(text, PROCESSORS)
    return asked_count(text, hosts, universe)


REQUEST = "request"  # what each attribute begins with that asks for an amount
PROVISIONED = "provisioned"  # what each attribute ends with that tells what was given
REQUESTS = "Request*"  # what an ad asks for of resources that its site declares


def hosts_of(text: str, universe: str) -> Fraction:
    """On how many hosts a job is: a parallel one has what is asked for, or given, on each."""
    if UNIVERSES.get(universe) != "parallel" or not text:
        return Fraction(1)
    try:
        return Fraction(max(_whole(text), 1))
    except InvalidValue:  # which is told where it stands
        return Fraction(1)


def asked_count(text: str, hosts: str, universe: str) -> Found:
    """How many processors or GPUs are asked for, on all hosts; 0 asks for nothing.

    >>> asked_count("8", "4", "11"), asked_count("8", "4", "5")
    ('32', '8')
    """
    found = count(_from_0(text)) if text else None
    return found and str(units.rounded(int(found) * hosts_of(hosts, universe)))


def site_resources(text: str, hosts: str, universe: str) -> Found:
    """What a job asks for that only its site knows, on all hosts: requests as ``told`` has them.

    >>> found = site_resources('{"RequestFoo": "2", "RequestBar": "x"}', "4", "11")
    >>> [(each.text, *each.attributes.values()) for each in found]
    [('8', 'Foo')]
    """
    found = []
    for row, value in _site_amounts(text):
        with suppress(InvalidValue):  # which ``odd_requests`` tells
            if isinstance(read := row.read(value, hosts, universe), str):
                found.append(Property(row.element, read, row.attributes))
    return tuple(found) or None


def odd_amounts(text: str) -> Found:
    """Nothing. Raises ``Instead`` for amounts of resources of a site that are none."""
    odd = {}
    for row, value in _site_amounts(text):
        try:
            row.read(value, "", "")
        except InvalidValue:
            odd[row.column] = value
    if odd:
        raise _left(odd)
    return None


def _site_amounts(text: str) -> Iterator[tuple[Field, str]]:
    return ((of_site(name), value) for name, value in json.loads(text or "{}").items())


def of_site(name: str) -> Field:
    """The row of a resource that only its site knows, by the attribute that asks for it.

    Of what was given a record says no more than whether it is an amount.
    """
    if not is_of_site(name):
        return Field(name, JOB, "Extension", of_slot)
    resource = {"name": names.resource(name[len(REQUEST) :])}
    return Field(name, REQUESTED, "Resource", asked, resource, _ALL)


def is_of_site(name: str) -> bool:
    """Whether an attribute is such a request.

    >>> is_of_site("RequestFoo"), is_of_site("requestcpus"), is_of_site("Request")
    (True, False, False)
    """
    known = name.lower()
    return known.startswith(REQUEST) and known != REQUEST and known not in _WITH_A_ROW


def is_of_any_site(name: str) -> bool:
    """Whether an attribute asks for such a resource, or tells how many were given."""
    known = name.lower()
    is_one = known.startswith(REQUEST) or known.endswith(PROVISIONED)
    return is_one and known != REQUEST and known not in _WITH_A_ROW


def of_slot(text: str, hosts: str, universe: str) -> Found:
    """Nothing. Raises ``InvalidValue`` for what is no number from 0 on."""
    return none_below_0(text)


def asked_hosts(text: str, universe: str) -> Found:
    """How many hosts a parallel job asks for."""
    found = hosts_of(text, universe)
    return str(units.rounded(found)) if found > 1 else None


def node(last: str, several: str, now: str) -> Found:
    """The node of ``slot1_3@node``, ``now`` while it runs; of a parallel job all, each once."""
    return listed(nodes) if any(nodes := _nodes(last, several, now)) else None


def node_count(last: str, several: str, now: str, universe: str) -> Found:
    """How many they are. A parallel job that tells only one host may have had more."""
    if not several and UNIVERSES.get(universe) == "parallel":
        return None
    return str(len(nodes)) if all(nodes := _nodes(last, several, now)) else None


def _nodes(last: str, several: str, now: str) -> tuple[str, ...]:
    told = (several or now or last).split(",")
    return tuple(dict.fromkeys(name.rpartition("@")[2] for name in told))


def project(group: str, both: str, user: str, stated: str) -> Found:
    """The accounting group, which older ads have together with the user: ``group.user``.

    Without one, the project that is ``stated`` (ProjectName, as on the OSG).
    """
    if group:
        return group
    return both.removesuffix(f".{user}") if "." in both else stated or None


def universe(text: str) -> Found:
    """The universe, where it is not the usual one; of one that is history, its number."""
    if not (is_whole(text) and 0 < int(text) <= _LAST_UNIVERSE):
        raise InvalidValue(text, f"the number of a universe, 1 to {_LAST_UNIVERSE}")
    number = int(text)
    return None if number == names.DEFAULT_UNIVERSE else UNIVERSES.get(str(number), str(number))


def asked(text: str, hosts: str, universe: str) -> Found:
    """An amount that is asked for, on all hosts: 0 asks for nothing.

    >>> asked("1.50", "4", "11"), asked("0", "", ""), asked("", "4", "11")
    ('6', None, None)
    """
    found = amount(_from_0(text)) if text else None
    if not found or found == "0" or UNIVERSES.get(universe) != "parallel":
        return None if found == "0" else found
    return units.decimal(number(text) * hosts_of(hosts, universe))


def limit(whole: str, executing: str) -> Found:
    """How long a job may run: as a whole, or what it executes alone; the shorter if both are there.

    Raises ``Instead`` where the first is none, and the other one counts.

    >>> limit("3600", ""), limit("3600", "60.5"), limit("0", "")
    ('3600', '61', None)
    """
    stated = [_seconds(text) for text in (whole, executing)]
    found = min(filter(None, stated), default=None)
    told = None if found is None else str(limit_seconds(found))
    if whole and stated[0] is None:
        expected = _AMOUNT if _BELOW.search(whole) else "a number"
        if told is None:
            raise InvalidValue(whole, expected)
        stands = (Property("Duration", told, _LIMIT),)
        raise Instead(whole, expected, stands, "AllowedExecuteDuration counts", keeps=True)
    return told


def _seconds(text: str) -> Fraction | None:
    """A limit; None of what is none, and of a number below 0."""
    try:
        return Fraction(number(_from_0(text)))
    except InvalidValue:
        return None


def executing(text: str) -> Found:
    """Nothing. Raises ``InvalidValue`` for what is no limit (``limit`` counts it)."""
    if _seconds(text) is None:
        raise InvalidValue(text, _AMOUNT if _BELOW.search(text) else "a number")
    return None


def given_gpus(
    provisioned: str, assigned: str, requested: str, hosts: str, universe: str
) -> Found:  # fmt: skip
    """How many GPUs were given, or asked for as a number; a parallel job has as many on each host.

    >>> given_gpus("", "GPU-c4a6, GPU-55b1", "", "", "5")
    '2'
    """
    if UNIVERSES.get(universe) in ON_THE_SUBMIT_HOST and not provisioned:
        return None
    names = {name.strip() for name in assigned.split(",")} - {""}
    asked = requested if is_whole(requested) else "0"  # what is odd is told where it is asked for
    each = number(_from_0(provisioned) or str(len(names) or "") or asked)
    return count(str(units.rounded(each * hosts_of(hosts, universe))))


def licenses(text: str) -> Found:
    """Licences such as ``matlab:2,stata``, one where no number stands; see ``other_limits``."""
    limits = _LIMITS.split(text.strip(" ,"))
    if not all(map(_A_LIMIT.fullmatch, limits)):
        return None
    told = (limit.partition(":") for limit in limits)
    return tuple(
        Property("Resource", amount(number or "1") or "", license_attributes(name))
        for name, _, number in told
    )


def other_limits(text: str) -> Found:
    """Concurrency limits that are worked out when the job runs, or are none, as they are."""
    return None if licenses(text) else text


_OF_SLOTS = ("MemoryProvisioned", "DiskProvisioned")  # which records leave out
_PEAK = {"metric": "Max", "units": "KB"}
_DESCRIBED = ("JobDescription",)
_STATED = ("SubmitHost",)
_BY_SIGNAL = ("ExitBySignal",)
_ENDED_BY = ("ExitBySignal", "ExitSignal")
_FQAN = extension("VOMS", "FQAN")
_REASONS = (
    "RemoveReason",
    "HoldReason",
    "HoldReasonCode",
    "ReleaseReason",
    "ExitReason",
    "ExitBySignal",
)
_UNIVERSES, _ALL = ("JobUniverse",), ("MinHosts", "JobUniverse")
_OTHER_CPUS = ("RequestCpus", "MaxHosts", "JobUniverse")
_HOSTS = ("RemoteHosts", "RemoteHost")
_GPU = {"name": names.GPU}
_LIMIT, _EXECUTING = {"op": "LE"}, ("AllowedExecuteDuration",)
_OTHER_GPUS = ("AssignedGPUs", "RequestGPUs", "MaxHosts", "JobUniverse")
_CONCURRENCY = extension("HTCondor", "ConcurrencyLimits")
_UNIVERSE = extension("HTCondor", "JobUniverse")
_SUSPENSIONS = ("TotalSuspensions", "JobStatus", "LastJobStatus")
_QUEUED = ("DeferralTime", "SSSDeadline", "SSSTaskCount")  # what only an ad of a queue tells
_OLDER_GROUP = ("AccountingGroup", "AcctGroupUser", "ProjectName")

# fmt: off
# Names without an attribute of that name are those of WORKED_OUT.
ATTRIBUTES: tuple[Field, ...] = (
    Field("Id",                       JOB,       "Id",              id, {}, ("GlobalJobId",)),
    Field("GlobalJobId",              JOB,       "GlobalId",        everywhere),
    Field("GlobalJobId",              JOB,       "SubmitHost",      submit_host, {}, _STATED),
    Field("JobBatchName",             JOB,       "Name",            either, {}, _DESCRIBED),
    Field("JobStatus",                JOB,       "State",           state, {}, _REASONS),
    Field("QDate",                    JOB,       "SubmitTime",      time),
    Field("StartTime",                JOB,       "StartTime",       time),
    Field("EndTime",                  JOB,       "EndTime",         time),
    Field("CumulativeSuspensionTime", JOB,       "SuspendDuration", suspended, {}, _SUSPENSIONS),
    Field("CpuDuration",              JOB,       "CpuDuration",     worked_out),
    Field("Unread",                   JOB,       "Extension",       unread),
    Field("ExitCode",                 JOB,       "ExitCode",        exit_code, {}, _ENDED_BY),
    Field("ExitSignal",               JOB,       "Extension",       signal, {}, _BY_SIGNAL),
    Field("HoldReasonCode",           JOB,       "Extension",       any_number),
    Field("MinHosts",                 JOB,       "Extension",       any_number),
    Field("MaxHosts",                 JOB,       "Extension",       whole_from_0),
    Field("NumJobStarts",             JOB,       "StartCount",      starts),
    Field("JobPrio",                  JOB,       "Priority",        integer),
    Field("Iwd",                      JOB,       "InitialWorkingDirectory"),
    Field("Cmd",                      JOB,       "Executable"),
    Field("Arguments",                JOB,       "Arguments",       arguments, {}, ("Args",)),
    Field("In",                       JOB,       "InputFile",       stream),
    Field("Out",                      JOB,       "OutputFile",      stream),
    Field("Err",                      JOB,       "ErrorFile",       stream),
    *(Field(name, JOB, element) for element, name in names.OWN.items() if name not in _QUEUED),
    Field("JobUniverse",              JOB,       "Extension",       universe, _UNIVERSE),
    Field("x509UserProxyVOName",      JOB,       "Extension",       plain, extension("VOMS", "VO")),
    Field("x509UserProxyFirstFQAN",   JOB,       "Extension",       plain, _FQAN),
    Field("MinHosts",                 REQUESTED, "NodeCount",       asked_hosts, {}, _UNIVERSES),
    Field("RequestCpus",              REQUESTED, "Processors",      asked_cpus, {}, _ALL),
    Field("RequestMemory",            REQUESTED, "Memory",          asked, {"units": "MB"}, _ALL),
    Field("RequestDisk",              REQUESTED, "Disk",            asked, {"units": "KB"}, _ALL),
    Field("RequestGPUs",              REQUESTED, "Resource",        asked_count, _GPU, _ALL),
    Field(REQUESTS,                   REQUESTED, "Resource",        site_resources, {}, _ALL),
    Field(REQUESTS,                   JOB,       "Extension",       odd_amounts),
    *(Field(name, JOB, "Extension", none_below_0) for name in _OF_SLOTS),
    Field("ConcurrencyLimits",        REQUESTED, "Resource",        licenses),
    Field("ConcurrencyLimits",        JOB,       "Extension",       other_limits, _CONCURRENCY),
    Field("AllowedJobDuration",       REQUESTED, "Duration",        limit, _LIMIT, _EXECUTING),
    Field("AllowedExecuteDuration",   JOB,       "Extension",       executing),
    Field("Owner",                    DELIVERED, "User"),
    Field("AcctGroup",                DELIVERED, "Project",         project, {}, _OLDER_GROUP),
    Field("x509userproxysubject",     DELIVERED, "GlobalUser"),
)
# What only a job that was started can have.
OF_STARTED = frozenset(("CpuDuration", "StartTime", "StartCount", "SuspendDuration"))
USED: tuple[Field, ...] = (
    Field("Duration",                 DELIVERED, "Duration",        worked_out),
    Field("CpusProvisioned",          DELIVERED, "Processors",      processors, {}, _OTHER_CPUS),
    Field("ResidentSet",              DELIVERED, "Memory",          worked_out, _PEAK),
    Field("Image",                    DELIVERED, "Swap",            worked_out, _PEAK),
    Field("DiskSpace",                DELIVERED, "Disk",            worked_out, _PEAK),
    Field("GPUsProvisioned",          DELIVERED, "Resource",        given_gpus, _GPU, _OTHER_GPUS),
    Field("LastRemoteHost",           DELIVERED, "NodeCount",       node_count, {},
          (*_HOSTS, "JobUniverse")),
    Field("LastRemoteHost",           DELIVERED, "Node",            node, {}, _HOSTS),
)
# fmt: on
_WITH_A_ROW = frozenset(row.column.lower() for row in (*ATTRIBUTES, *USED))

_COLUMNS = (name for row in (*ATTRIBUTES, *USED) for name in (row.column, *row.beside))
# The attributes that are read, those that numbers are worked out of first.
_FIRST = (*NUMBERS, *WORKED_OUT)
NAMES = (*NUMBERS, *dict.fromkeys(name for name in _COLUMNS if name not in _FIRST))
ADS = tuple(name for name in NAMES if name not in WORKED_OUT)  # what ads have of them

_SAID_BY = {
    row.element: MADE_OF.get(row.column, (row.column,))[0] for row in ATTRIBUTES
} | names.OWN


def _said_by(*elements: str) -> tuple[tuple[str, str], ...]:
    return tuple((element, _SAID_BY[element]) for element in elements)


# What ads are written with as it stands, each with its attribute: texts, and whole numbers.
TEXTS = _said_by(
    "Name", "Executable", "InitialWorkingDirectory", "User", "GlobalUser", "Group", "Project",
    "Queue", "QualityOfService", "Partition", "Application", "GlobalId",
)  # fmt: skip
WHOLE_NUMBERS = _said_by(
    "Priority", "SubmitTime", "StartTime", "EndTime", "EligibleTime", "DeadlineTime", "StartCount",
    "SuspendDuration", "TaskCount",
)  # fmt: skip
