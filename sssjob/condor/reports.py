"""What hooks reported, folded into the jobs: states, attempts, and what was used.

Reports may come twice, late, or not at all. Each is about one start of a job; what is known of a
start only grows, and a start that is new is counted. The starts are kept in an Extension, so that
sums over them can be made again: ``Starts`` of type HTCondor, one word for each with the moment,
the seconds it ran, the seconds of CPU time, and ``+`` once it has ended.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sssjob.classads import daemons, evaluate
from sssjob.classads.values import Ad
from sssjob.condor import names, usage
from sssjob.condor.documents import Documents, documents
from sssjob.condor.from_ad import to_job
from sssjob.condor.preparing import document_of, forget_stamp, locked
from sssjob.condor.queue import (
    ACCEPTED,
    DONE,
    OFFERED,
    READY,
    REPORT_LIMIT,
    RUNNING,
    SPOOL,
    WAITING,
    Queue,
)
from sssjob.condor.settings import Settings
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.fold import JOB, Fact
from sssjob.fold import fold as folded
from sssjob.model import Delivered, Job, Property

Say = Callable[[object], None]

# fmt: off
# How a start ended, by the argument of the hook: the State, and what is said of it.
ENDS = {
    "exit":   ("Completed", ""),
    "remove": ("Completed", "removed"),
    "hold":   ("Hold",      ""),
    "evict":  ("Idle",      "evicted"),
}
# And where the job goes then.
PLACES = {"exit": DONE, "remove": DONE, "hold": WAITING, "evict": READY}
# fmt: on


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a job: when (seconds since 1970), and what it used, in seconds."""

    at: int
    ran: int = 0
    cpu: float = 0.0
    ended: bool = False

    def __str__(self) -> str:
        return f"{self.at}:{self.ran}:{self.cpu:g}{'+' if self.ended else ''}"

    def grown(self, other: Start) -> Start:
        """What both know: the end settles how long it ran, and nothing shrinks."""
        if self.ended and not other.ended:
            return replace(self, cpu=max(self.cpu, other.cpu))
        if other.ended and not self.ended:
            return replace(other, cpu=max(self.cpu, other.cpu))
        return replace(self, ran=max(self.ran, other.ran), cpu=max(self.cpu, other.cpu))


def fold(settings: Settings, queue: Queue, *, say: Say) -> int:
    """Fold every report in the spool, and give how many there were.

    A report that cannot be read is said and set aside in ``spool/bad``; one about a job that has
    no document becomes one.
    """
    count = 0
    with locked(queue):
        source = documents(settings)
        for report in queue.reports():
            path = os.path.join(queue.path, SPOOL, report)
            try:
                text, moment, owner = _opened(path)
                kind = report.rpartition("~")[2]
                ads = daemons.read(text)
                if not ads:
                    raise InvalidValue(text[:60].decode("ascii", "replace"), "the ad of a job")
                _fold_one(source, queue, ads[0], kind, moment, owner)
            except (OSError, SSSJobError) as error:
                say(f"{report}: {error}")
                _set_aside(queue, path, report)
                continue
            os.unlink(path)
            count += 1
    return count


def _fold_one(source: Documents, queue: Queue, ad: Ad, kind: str, moment: int, owner: int) -> None:
    name = ad.text(names.KEY)
    if kind == "update" and "JobPid" not in ad:  # a starter updates before it has started the job
        _moved(queue, name, kind)
        return
    document = document_of(queue, name) if name else _document_about(source, ad)
    if document is None:
        if ad.get("JobStatus") is None and not ad.text("GlobalJobId") and not ad.text("Owner"):
            raise InvalidValue(name or "the report", "about a job that is known")
        document = source.add(to_job(ad.merged({"JobStatus": 2})).job)
    about = ad.text(names.JOB_ID) or _local_id(ad)

    def change(job: Job) -> Job:
        known = {job.id, job.get("GlobalId")} - {""}
        if known and not known & {about, ad.text("GlobalJobId")}:
            return job  # another one of the same document
        _check_owner(job, owner)
        return reported(job, ad, kind, moment)

    source.change(document, change)
    forget_stamp(queue, document)
    _moved(queue, name, kind)


def reported(job: Job, ad: Ad, kind: str, moment: int) -> Job:
    """A job with one report in it; ``moment`` is when the hook ran, in seconds since 1970.

    The same report again changes nothing.
    """
    ended = kind.partition("-")[2] if kind.startswith("exit") else ""
    start = _start(ad, moment, bool(ended))
    starts = _starts(job)
    earlier = starts.get(start.at)
    starts[start.at] = start if earlier is None else earlier.grown(start)
    last = max(starts.values(), key=lambda each: each.at)
    changed = [
        Property("StartTime", last.at),
        Property("CpuDuration", round(sum(each.cpu for each in starts.values()))),
        Property("StartCount", max(len(starts), _count(job))),
    ]
    if last.at == start.at and (ended or not last.ended):
        changed += _status(ad, ended, moment)
    used = list(usage.delivered(ad, sum(each.ran for each in starts.values())))
    new = _without_eviction(job)
    for item in changed:
        known = new.properties.get(item.name)
        new = new.setting(item) if known is not None else folded(new, [Fact(item, JOB)]).job
    for item in _extensions(ad, starts):
        new = _with_extension(new, item)
    return _used(new, used)


def _without_eviction(job: Job) -> Job:
    """A job without the message that it was evicted: the last start says what there is to say."""
    return job.holding(
        item for item in job.items
        if not (isinstance(item, Property) and item.name == "StatusMessage"
                and item.text.startswith(ENDS["evict"][1]))
    )  # fmt: skip


def _start(ad: Ad, moment: int, ended: bool) -> Start:
    stated = (evaluate.number(ad, name) for name in ("JobStartDate", "JobCurrentStartDate"))
    at = int(next(filter(None, stated), moment))
    suspended = evaluate.number(ad, "CumulativeSuspensionTime") or 0
    ran = evaluate.number(ad, "JobDuration")
    if ran is None:
        ran = max(moment - at - suspended, 0)
    cpu = sum(evaluate.number(ad, name) or 0 for name in ("RemoteUserCpu", "RemoteSysCpu"))
    return Start(at, round(ran), round(float(cpu), 3), ended)


def _starts(job: Job) -> dict[int, Start]:
    """The starts that earlier reports told of."""
    item = job.properties.get("Extension", type=names.EXTENSION, name=names.STARTS)
    found = {}
    for word in item.text.split() if item is not None else ():
        parts = word.removesuffix("+").split(":")
        try:
            start = Start(int(parts[0]), int(parts[1]), float(parts[2]), word.endswith("+"))
        except (ValueError, IndexError):
            continue  # somebody wrote it by hand
        found[start.at] = start
    return found


def _count(job: Job) -> int:
    try:
        value = job.properties.value("StartCount")
    except InvalidValue:
        return 0
    return int(value) if isinstance(value, int) else 0


def _status(ad: Ad, ended: str, moment: int) -> Iterator[Property]:
    """What the last start says of the job: its state, how it ended, and where it ran."""
    if not ended:
        suspended = ad.text("JobState") == "Suspended"
        yield Property("State", "Suspended" if suspended else "Running")
        return
    state, message = ENDS[ended]
    yield Property("State", state)
    if state == "Hold":
        yield Property("Hold", "System")
    reason = ad.text("HoldReason") if ended == "hold" else ad.text("ExitReason")
    said = ": ".join(part for part in (message, reason) if part)
    if said:
        yield Property("StatusMessage", said)
    if state == "Completed":
        yield Property("EndTime", moment)
        signal, code = evaluate.number(ad, "ExitSignal"), evaluate.number(ad, "ExitCode")
        if ad.get("ExitBySignal") is True and signal is not None:
            yield Property("ExitCode", 128 + int(signal))
        elif code is not None and ended == "exit":
            yield Property("ExitCode", int(code))


def _extensions(ad: Ad, starts: dict[int, Start]) -> Iterator[Property]:
    text = " ".join(str(starts[at]) for at in sorted(starts))
    yield Property("Extension", text, {"type": names.EXTENSION, "name": names.STARTS})
    for name in usage.EXTENSIONS:
        value = evaluate.number(ad, name)
        if value:
            yield Property("Extension", int(value), {"type": names.EXTENSION, "name": name})


def _with_extension(job: Job, new: Property) -> Job:
    """The extension in the place of the one of its name; of two numbers, the greater."""
    name = new.attributes["name"]
    old = job.properties.get("Extension", type=names.EXTENSION, name=name)
    if old is None:
        return folded(job, [Fact(new, JOB)]).job
    if name != names.STARTS and old.text.isdecimal() and int(old.text) > int(new.text):
        return job
    return job.holding(new if item is old else item for item in job.items)


def _used(job: Job, used: list[Property]) -> Job:
    """What was delivered: the duration is known anew, maxima grow, the rest is as it was first."""
    block = job.block(Delivered)
    known = list(block.items) if block is not None else []
    for new in used:
        kind = {key: new.attributes.get(key, "") for key in ("metric", "context", "name")}
        same = [
            index for index, item in enumerate(known)
            if isinstance(item, Property) and item.name == new.name
            and {key: item.attributes.get(key, "") for key in kind} == kind
        ]  # fmt: skip
        if not same:
            known.append(new)
        elif new.attributes.get("metric") == "Max":
            old = known[same[0]]
            assert isinstance(old, Property)
            if int(new.text) > (int(old.text) if old.text.isdecimal() else 0):
                known[same[0]] = new
        else:
            known[same[0]] = new
    delivered = Delivered(tuple(known), {}, job.namespace)
    if block is None:
        return job.holding((*job.items, delivered)) if known else job
    return job.holding(delivered if item is block else item for item in job.items)


def _document_about(source: Documents, ad: Ad) -> str | None:
    """The document about a job that was not fetched here, by its Id or GlobalId."""
    wanted = {ad.text("GlobalJobId"), ad.text(names.JOB_ID), _local_id(ad)} - {""}
    for name, _ in source.stamps():
        for block in source.blocks(name):
            for job in (block,) if isinstance(block, Job) else block.blocks(Job):
                if {job.id, job.get("GlobalId")} & wanted:
                    return name
    return None


def _local_id(ad: Ad) -> str:
    cluster = evaluate.number(ad, "ClusterId")
    return "" if cluster is None else f"{int(cluster)}.{int(evaluate.number(ad, 'ProcId') or 0)}"


def _moved(queue: Queue, name: str, kind: str) -> None:
    """Bring the entry of a job where its report says that it is."""
    if not name:
        return
    if kind == "update":
        if not queue.touch(RUNNING, name):
            queue.move(name, ACCEPTED, RUNNING) or queue.move(name, OFFERED, RUNNING)
        return
    where = PLACES[kind.partition("-")[2]]
    for state in (RUNNING, ACCEPTED, OFFERED):
        if queue.move(name, state, where):
            return


def _opened(path: str) -> tuple[bytes, int, int]:
    """The text of a report, when it was left, and by whom: users of jobs write into the spool."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue(path, "a regular file")
        text = file.read(REPORT_LIMIT + 1)
    if len(text) > REPORT_LIMIT:
        raise InvalidValue(path, f"a report of at most {REPORT_LIMIT} bytes")
    return text, int(status.st_mtime), status.st_uid


def _check_owner(job: Job, owner: int) -> None:
    """A report counts if it comes from us, root, or the job's own user.

    A job without User, or whose user is not known here, runs as a user of its slot.
    """
    user = job.get("User")
    if owner in (0, os.geteuid()) or not user:
        return
    try:
        expected = pwd.getpwnam(user).pw_uid
    except KeyError:
        return
    if owner != expected:
        raise InvalidValue(f"uid {owner}", f"the user {user} of the job, who may report of it")


def _set_aside(queue: Queue, path: str, report: str) -> None:
    bad = os.path.join(queue.path, SPOOL, "bad")
    os.makedirs(bad, exist_ok=True)
    os.replace(path, os.path.join(bad, report))
