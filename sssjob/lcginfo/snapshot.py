"""A moment of a batch system as lrmsinfo tells it: its slots, and an entry for each job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sssjob.errors import Severity, SSSJobError, UnreadableDocument, unheard
from sssjob.visible import visible

QUEUED, RUNNING, PENDING, DONE, UNKNOWN = "queued", "running", "pending", "done", "unknown"
STATES = (QUEUED, RUNNING, PENDING, DONE, UNKNOWN)
# The State of the standard, as it is called here.
BY_WORD = {
    "Idle": QUEUED, "Running": RUNNING, "Suspended": RUNNING, "Hold": PENDING, "Completed": DONE,
}  # fmt: skip


class QueuedJob(NamedTuple):
    """A job as one line of lrmsinfo has it. ``pending`` means on hold; times are in seconds.

    Times count from any zero point, the same for all of a snapshot. A number that is not known
    is None; ``cpucount`` is then 1. Of two jobs that wait the one of the higher ``priority``
    starts first. ``reservation`` names the one in whose slots a job runs.
    """

    queue: str
    group: str
    state: str
    jobid: str = ""
    user: str = ""
    name: str = ""
    qtime: float | None = None
    start: float | None = None
    maxwalltime: float | None = None
    cpucount: int = 1
    walltime: float | None = None
    priority: float | None = None
    reservation: str = ""


class Pool(NamedTuple):
    """Slots that the same queues may use, of which ``free`` have no job (None: nobody says).

    Without names of queues all of them may.
    """

    queues: tuple[str, ...]
    slots: int
    free: int | None = None


# What a queue does, in the words of GLUE: takes jobs and starts them, only takes, only starts them,
# or neither.
PRODUCTION, QUEUEING, DRAINING, CLOSED = "production", "queueing", "draining", "closed"
SERVING = (PRODUCTION, QUEUEING, DRAINING, CLOSED)


class QueueRules(NamedTuple):
    """What the scheduler does with a queue; what nobody says is None, or as with any other.

    A job may ask for ``maxwalltime`` seconds, and gets ``walltime`` where it asks for none. At most
    ``maxrunning`` jobs run. Jobs of a queue of a higher ``priority`` start first. ``serving`` is
    empty where nobody says it: such a queue starts jobs, and nothing is published of its state.
    """

    name: str
    maxwalltime: float | None = None
    walltime: float | None = None
    maxrunning: int | None = None
    priority: float = 0.0
    serving: str = ""

    @property
    def starts(self) -> bool:
        """Whether its jobs are started."""
        return self.serving in ("", PRODUCTION, DRAINING)


class SlotReservation(NamedTuple):
    """Slots of the pool of these queues that are kept for some jobs from a time to another."""

    name: str
    start: float
    end: float
    slots: int
    queues: tuple[str, ...] = ()


class Scheduling(NamedTuple):
    """What a batch system says of how it gives its slots away, beside its jobs.

    ``keeps`` is whether it keeps slots free for a job that does not fit yet; nobody says: it does.
    """

    pools: tuple[Pool, ...] = ()
    queues: tuple[QueueRules, ...] = ()
    reserved: tuple[SlotReservation, ...] = ()
    keeps: bool = True


_UNTOLD = Scheduling()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The jobs of a batch system at ``now``; a number that was not stated is None.

    ``nactive`` counts the slots that are up, busy or not, ``nfree`` those without a job;
    ``cycle`` is the time between two passes of the scheduler.
    """

    jobs: tuple[QueuedJob, ...] = ()
    nactive: int | None = None
    nfree: int | None = None
    now: float | None = None
    cycle: float | None = None
    scheduling: Scheduling = _UNTOLD

    @property
    def time(self) -> float:
        """``now``, or the latest time that any job mentions, or 0."""
        if self.now is not None:
            return self.now
        times = (time for job in self.jobs for time in (job.qtime, job.start) if time is not None)
        return max(times, default=0.0)

    @property
    def busy(self) -> int:
        """How many slots the running jobs hold."""
        return sum(job.cpucount for job in self.jobs if job.state == RUNNING)

    @property
    def free(self) -> int | None:
        """``nfree``, or what the running jobs leave of ``nactive``, or None."""
        if self.nfree is not None:
            return self.nfree
        return None if self.nactive is None else max(self.nactive - self.busy, 0)

    @property
    def lacking(self) -> int:
        """How many slots running jobs hold beside those that are up; the first that end leave none.

        0 where some are said to be free, which is believed, or nobody says how many are up.
        """
        return 0 if self.nactive is None or self.nfree else max(self.busy - self.nactive, 0)


class Remark(NamedTuple):
    """Something about one line of an input; an ERROR means that the line was left out.

    ``unread``: it is about a document that cannot be read at all.
    """

    line: int
    message: str
    severity: Severity = Severity.WARNING
    unread: bool = False


Report = Callable[[Remark], None]


def unread(error: UnreadableDocument) -> Remark:
    """That a document cannot be read, and why."""
    found = error.finding
    return Remark(found.line, f"{found.message} [{found.code}]", found.severity, unread=True)


class UnusableOutput(SSSJobError, ValueError):
    """Output of a batch system, or a file, of which nothing can be made."""


@contextmanager
def about_source(name: str) -> Iterator[None]:
    """What is said in the block to be of no use is said of the source of this name."""
    try:
        yield
    except UnusableOutput as error:
        raise UnusableOutput(f"{visible(name)}: {error}") from error


class RemarkTally:
    """Counts remarks by their severity, and hands them on."""

    def __init__(self, report: Report = unheard) -> None:
        self._report = report
        self.counts = dict.fromkeys(Severity, 0)

    def __call__(self, remark: Remark) -> None:
        """Count a remark and hand it on."""
        self.counts[remark.severity] += 1
        self._report(remark)

    @property
    def bad(self) -> int:
        """How many lines were left out."""
        return self.counts[Severity.ERROR]


def ordered(jobs: Iterable[QueuedJob]) -> list[QueuedJob]:
    """Waiting jobs as they queue: by the time they came, then by id."""
    return sorted(jobs, key=lambda job: (job.qtime or 0.0, job.jobid))
