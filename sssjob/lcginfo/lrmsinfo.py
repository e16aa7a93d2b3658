"""lrmsinfo: the state of a batch system as four header lines and a dictionary for each job.

Reading reports a line that cannot be used and goes on. Writing gives lines that old readers
take too, whatever a job is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, TextIO

from sssjob.errors import InvalidValue, LimitExceeded, Severity, unheard
from sssjob.lcginfo import literal
from sssjob.lcginfo.snapshot import (
    PENDING,
    QUEUED,
    RUNNING,
    SERVING,
    STATES,
    Pool,
    QueuedJob,
    QueueRules,
    Remark,
    Report,
    Scheduling,
    SlotReservation,
    Snapshot,
)
from sssjob.records.lines import check_end

LINE_LIMIT = 1 << 16
JOB_LIMIT = 5_000_000
SKEW = 300  # seconds by which the clocks of two machines may differ
LATEST = 1e12  # seconds; a number beyond it is no time of any clock
SINCE_1970 = 1e9  # where now is later, times count from 1970, and an earlier one is none of a job

_HEADER = re.compile(r"\s*+(\w{1,40})\s++([-+]?[0-9]{1,18}(?:\.[0-9]{0,18})?)\s*+")
_HEADERS = {"nactive": "nactive", "nfree": "nfree", "now": "now", "schedcycle": "schedCycle"}
_TIMES = ("qtime", "start", "maxwalltime", "walltime")
# What a job object can say, too; "reservation" it cannot.
KEYS = frozenset(
    ("queue", "group", "state", "jobid", "user", "name", "cpucount", "priority", *_TIMES)
)
# What stands before a dictionary that is about no job: readers that do not know it pass it over.
_POOL, _RULES, _RESERVED, _SCHEDULER = "pool", "queue", "reservation", "scheduler"
_OF_NO_JOB = re.compile(rf"\s*+({_POOL}|{_RULES}|{_RESERVED}|{_SCHEDULER})\s++(?=\{{)")
_NOT_STARTED = (QUEUED, PENDING)
_WITHOUT_START = "a running job without start"


def read(stream: BinaryIO, report: Report = unheard) -> Snapshot:
    """Read a snapshot; what is wrong with a line goes to ``report``. Raises ``LimitExceeded``.

    The job lines need a queue, a group and a state: one without is left out. Lines that are
    neither header nor job mean nothing.
    """
    headers: dict[str, float] = {}
    places: dict[str, int] = {}
    jobs: list[QueuedJob] = []
    early: list[tuple[int, int]] = []  # jobs with times of another clock, perhaps, and their lines
    scheduling = _ReadScheduling([], [], [], [])
    seen: set[str] = set()
    for number, line in enumerate(_lines(stream, report), 1):
        if not line or line.isspace():
            continue
        if line.lstrip()[0] == "{":
            if (job := _job(line, number, report)) is None:
                continue
            if len(jobs) == JOB_LIMIT:
                raise LimitExceeded("jobs", JOB_LIMIT)
            if job.jobid and job.jobid in seen:
                report(Remark(number, f"jobid {job.jobid!r} appears again"))
            seen.add(job.jobid)
            if any(each is not None and each < SINCE_1970 for each in (job.qtime, job.start)):
                early.append((len(jobs), number))
            jobs.append(job)
        elif found := _OF_NO_JOB.match(line):
            _scheduling(found[1], line[found.end() :], number, scheduling, report)
        else:
            _header(line, number, headers, places, report)
    nactive, nfree = (_whole(headers.get(name)) for name in ("nactive", "nfree"))
    if nfree is not None and nactive is not None and nfree > nactive:
        message = f"nfree {nfree} is more than nactive {nactive}, and is taken as that"
        report(Remark(places["nfree"], message))
        nfree = nactive
    if early and Snapshot(tuple(jobs), now=headers.get("now")).time > SINCE_1970:
        for place, number in early:
            jobs[place] = _of_this_clock(jobs[place], number, report)
    snapshot = Snapshot(
        tuple(jobs),
        nactive=nactive,
        nfree=nfree,
        now=headers.get("now"),
        cycle=headers.get("schedCycle"),
        scheduling=Scheduling(
            tuple(scheduling.pools),
            tuple(scheduling.queues),
            tuple(scheduling.reserved),
            all(scheduling.keeps),
        ),
    )
    if nactive is not None and snapshot.busy + (nfree or 0) > nactive:
        free = f" and {nfree} are free" if nfree else ""
        message = f"running jobs hold {snapshot.busy} slots{free}, and nactive is {nactive}"
        report(Remark(places["nactive"], message))
    return snapshot


def _of_this_clock(job: QueuedJob, number: int, report: Report) -> QueuedJob:
    """A job without times that are none where times count from 1970: producers write 0 for one that
    they do not know.
    """
    for key, value in (("qtime", job.qtime), ("start", job.start)):
        if value is not None and value < SINCE_1970:
            report(
                Remark(number, f"{key} {value:.15g} is no time of a clock that counts from 1970")
            )
            if key == "start" and job.state == RUNNING:
                report(Remark(number, _WITHOUT_START))
    qtime, start = (
        None if value is None or value < SINCE_1970 else value for value in (job.qtime, job.start)
    )
    return job._replace(qtime=qtime, start=start)


def write(snapshot: Snapshot, stream: TextIO) -> None:
    """Write a snapshot: the header lines that are known, then a line for each job."""
    stream.writelines(lines(snapshot))


def lines(snapshot: Snapshot) -> Iterator[str]:
    """The lines of a snapshot, each with its end."""
    header = (
        ("nactive", snapshot.nactive),
        ("nfree", snapshot.nfree),
        ("now", snapshot.now),
        ("schedCycle", snapshot.cycle),
    )
    for name, value in header:
        if value is not None:  # old readers know whole numbers only
            yield f"{name:<11} {int(value)}\n"
    if not snapshot.scheduling.keeps:
        yield _line(_SCHEDULER, keeps=0)
    for pool in snapshot.scheduling.pools:
        yield _line(_POOL, queues=",".join(pool.queues), slots=pool.slots, free=pool.free)
    for rules in snapshot.scheduling.queues:
        yield _line(_RULES, **{**rules._asdict(), "serving": rules.serving or None})
    for kept in snapshot.scheduling.reserved:
        yield _line(_RESERVED, **{**kept._asdict(), "queues": ",".join(kept.queues)})
    for job in snapshot.jobs:
        yield line_of(job)


def line_of(job: QueuedJob) -> str:
    """The line of one job; only a job that has started shows a start.

    >>> line_of(QueuedJob("atlas", "atlsgm", "queued", "1.host", qtime=1119073781.0))
    "{'queue': 'atlas', 'state': 'queued', 'cpucount': 1, 'group': 'atlsgm', \
'qtime': 1119073781.0, 'jobid': '1.host'}\\n"
    """
    start = None if job.state in _NOT_STARTED else job.start
    # fmt: off
    pairs: tuple[tuple[str, str | float | None], ...] = (
        ("queue",       job.queue),
        ("start",       start),
        ("state",       job.state),
        ("cpucount",    job.cpucount),
        ("group",       job.group),
        ("user",        job.user or None),
        ("maxwalltime", job.maxwalltime),
        ("qtime",       job.qtime),
        ("jobid",       job.jobid),
        ("name",        job.name or None),
        ("walltime",    job.walltime),
        ("priority",    job.priority),
        ("reservation", job.reservation or None),
    )
    # fmt: on
    return f"{_dictionary(pairs)}\n"


def _line(word: str, **values: str | float | None) -> str:
    return f"{word} {_dictionary(values.items())}\n"


def _dictionary(pairs: Iterable[tuple[str, str | float | None]]) -> str:
    shown = ", ".join(
        f"'{key}': {literal.quoted(value) if isinstance(value, str) else repr(value)}"
        for key, value in pairs
        if value is not None
    )
    return f"{{{shown}}}"


class _Unnamed(InvalidValue):
    """What a job has where it has to name its queue, group or state: ``expected`` says which."""

    def __str__(self) -> str:
        shown = f"{self.text!r} is no" if self.text else "the job has no"
        return f"{shown} {self.expected}"


def entry(values: dict[str, literal.Scalar], number: int, report: Report = unheard) -> QueuedJob:
    """A job from the pairs of its line. Raises ``InvalidValue`` when it cannot be used at all."""
    found: dict[str, str] = {}
    for key in ("queue", "group", "state"):
        value = values.get(key)
        if not isinstance(value, str) or not value:
            raise _Unnamed(str(values.get(key, "")), key)
        found[key] = value
    if found["state"] not in STATES:
        report(Remark(number, f"state {found['state']!r} is not one of {', '.join(STATES)}"))
    times = [_time(values, key, number, report) for key in _TIMES]
    if found["state"] == RUNNING and times[1] is None:
        report(Remark(number, _WITHOUT_START))
    if _is_before(times[1], times[0]):
        report(Remark(number, f"start {times[1]:.15g} is before qtime {times[0]:.15g}"))
    jobid, user, name = (_text(values.get(key)) for key in ("jobid", "user", "name"))
    return QueuedJob(
        found["queue"], found["group"], found["state"], jobid, user, name,
        times[0], times[1], times[2], _count(values.get("cpucount"), number, report), times[3],
        _number(values, "priority", number, report), _text(values.get("reservation")),
    )  # fmt: skip


def _is_before(start: float | None, queued: float | None) -> bool:
    """Whether a job started before it was queued; a start of another clock is told elsewhere."""
    if start is None or queued is None or start < SINCE_1970 <= queued:
        return False
    return start < queued - SKEW


def is_header(line: str) -> bool:
    """Whether a line is about no job: a header, such as ``nactive 240``, or about a queue."""
    found = _HEADER.fullmatch(line)
    if found is None:
        return _OF_NO_JOB.match(line) is not None
    return found[1].lower() in _HEADERS


def begins(head: bytes) -> bool:
    """Whether lrmsinfo begins so: with a header, or with a job."""
    text = head.lstrip().decode("utf-8", "replace")
    return text.startswith("{'") or is_header(text.partition("\n")[0])


def _lines(stream: BinaryIO, report: Report) -> Iterator[str]:
    """The lines as text; one that is too long comes as an empty one, and is reported."""
    number = 0
    while raw := stream.readline(LINE_LIMIT + 1):
        number += 1
        if len(raw) > LINE_LIMIT:
            message = f"a line of more than {LINE_LIMIT} bytes"
            report(Remark(number, message, Severity.ERROR))
            size = len(raw)
            while not raw.endswith(b"\n") and (raw := stream.readline(LINE_LIMIT)):
                size += len(raw)
                check_end(size)
            yield ""
        else:
            yield raw.decode("utf-8", "replace")


def _job(line: str, number: int, report: Report) -> QueuedJob | None:
    try:
        return entry(literal.parse(line), number, report)
    except InvalidValue as error:
        report(Remark(number, str(error), Severity.ERROR))
        return None


class _ReadScheduling(NamedTuple):
    """What was read so far of a ``Scheduling``."""

    pools: list[Pool]
    queues: list[QueueRules]
    reserved: list[SlotReservation]
    keeps: list[bool]


def _scheduling(word: str, text: str, number: int, found: _ReadScheduling, report: Report) -> None:
    """Read a line that is about no job; one that cannot be used is reported and left out."""
    try:
        values = literal.parse(text)
        if word == _SCHEDULER:
            found.keeps.append(_amount(values, "keeps", number, report) != 0)
            return
        names = tuple(name for name in _text(values.get("queues")).split(",") if name)
        slots, free, most, walltime, limit = (
            _amount(values, key, number, report)
            for key in ("slots", "free", "maxrunning", "walltime", "maxwalltime")
        )
        priority = _number(values, "priority", number, report)
        start, end = (_number(values, key, number, report) for key in ("start", "end"))
        if word != _RULES and slots is None:
            raise InvalidValue(str(values.get("slots", "")), "slots, as a number")
        if word == _POOL:
            if free is not None and free > (slots or 0):
                told = f"free {free:g} is more than slots {slots or 0:g}, and is taken as that"
                report(Remark(number, told))
                free = slots
            found.pools.append(Pool(names, int(slots or 0), _whole(free)))
        elif word == _RULES:
            if not (name := _text(values.get("name"))):
                raise InvalidValue("", "name, of a queue")
            serving = _text(values.get("serving"))
            if serving not in ("", *SERVING):
                report(Remark(number, f"serving {serving!r} is not one of {', '.join(SERVING)}"))
                serving = ""
            rules = QueueRules(name, limit, walltime, _whole(most), priority or 0.0, serving)
            found.queues.append(rules)
        elif start is None or end is None:
            raise InvalidValue(str(values), "start and end, as numbers")
        else:
            name = _text(values.get("name"))
            found.reserved.append(SlotReservation(name, start, end, int(slots or 0), names))
    except InvalidValue as error:
        report(Remark(number, f"{word}: {error}", Severity.ERROR))


def _number(
    values: dict[str, literal.Scalar], key: str, number: int, report: Report
) -> float | None:
    """A number; what is none, or beyond any that batch systems have, is reported and left out."""
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LATEST:
        return value
    report(Remark(number, f"{key} {value!r} is no number"))
    return None


def _amount(
    values: dict[str, literal.Scalar], key: str, number: int, report: Report
) -> float | None:
    """A number that is not negative; another one is reported and left out."""
    value = _number(values, key, number, report)
    if value is not None and value < 0:
        report(Remark(number, f"{key} {value!r} is negative"))
        return None
    return value


def _header(
    line: str, number: int, headers: dict[str, float], places: dict[str, int], report: Report
) -> None:
    found = _HEADER.fullmatch(line)
    name = _HEADERS.get(found[1].lower()) if found else None
    if found is None or name is None:
        report(Remark(number, "this line is neither part of the header nor a job", Severity.NOTICE))
        return
    value = float(found[2])
    if value < 0 and name != "now":
        report(Remark(number, f"{name} {found[2]} is negative and means unknown"))
    elif value > LATEST:
        report(Remark(number, f"{name} {found[2]} is more than any; a time is in seconds"))
    else:
        if headers.get(name, value) != value:
            report(Remark(number, f"{name} appears again; {found[2]} is taken"))
        headers[name], places[name] = value, number


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _text(value: literal.Scalar) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _time(values: dict[str, literal.Scalar], key: str, number: int, report: Report) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and abs(time := float(value)) <= LATEST and (time >= 0 or key in _TIMES[:2]):
        return time
    report(Remark(number, f"{key} {value!r} is no time in seconds"))
    return None


def _count(value: literal.Scalar, number: int, report: Report) -> int:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 1 <= value < 1 << 31:
        return int(value)
    if value is not None:
        report(Remark(number, f"cpucount {value!r} is no number of slots"))
    return 1
