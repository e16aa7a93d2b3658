"""What all writers share: options, losses, refusals, and how outcomes pass through them."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar, NamedTuple

from sssjob.accounting.writers.grid import GridSite
from sssjob.accounting.writers.losses import TakenJob, UnwrittenValue
from sssjob.errors import AwarenessPolicy, InvalidValue, SSSJobError
from sssjob.model import Job
from sssjob.records.builders import Builder
from sssjob.records.record import Bad, Converted, Outcome, Skipped

OnLoss = Callable[[UnwrittenValue], None]


def ignored(loss: UnwrittenValue) -> None:
    """Tell nobody what was lost."""


class LossCounts:
    """Counts what is lost by its path and the reason.

    ``listed`` is given each loss, too; without it jobs may be written many at once.
    """

    def __init__(self, listed: OnLoss | None = None) -> None:
        self.listed = listed
        self.kinds: Counter[tuple[str, str]] = Counter()

    def __call__(self, loss: UnwrittenValue) -> None:
        """Count one."""
        self.kinds[loss.path, loss.reason] += 1
        if self.listed is not None:
            self.listed(loss)


@dataclass(frozen=True, slots=True)
class WriterOptions:
    """What a target wants to know beside the jobs.

    ``created`` is the time that records are said to be made at, in seconds since
    1970-01-01T00:00:00Z; None leaves it out.
    """

    site: GridSite = field(default_factory=GridSite)
    created: int | None = None


class Unfit(SSSJobError, ValueError):
    """A job that a target has no records for, such as one that has not ended."""


class RefusedJob(InvalidValue):
    """A job with a value that the target cannot hold and that must not be lost."""


Kinds = tuple[tuple[tuple[str, str], int], ...]  # paths and reasons of losses, and how many


class WrittenJob(NamedTuple):
    """What a job became: its text, and how much of which kind was lost; or why it became nothing.

    Equal losses of one part are one object.
    """

    text: str
    lost: tuple[Kinds, ...] = ()
    error: RefusedJob | Unfit | None = None


class Writer(ABC):
    """Writes jobs to a stream, between a head and a tail; ``close`` writes the tail.

    One that ``is_part`` writes nothing to stay: it is asked for its ``part``, which another joins.
    """

    head: ClassVar[str] = ""
    tail: ClassVar[str] = ""

    is_part = False
    line = 0  # in which the record begins whose job is written

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        self.stream, self.options, self.on_loss = stream, options, on_loss
        self._lost: Counter[tuple[Kinds, ...]] = Counter()
        self.put(self.head)

    def builder(self) -> Builder[Any, Any] | None:
        """What writes many jobs at once, which ``through`` takes then; None where nothing does."""
        return None

    @property
    def counts_only(self) -> bool:
        """Whether nobody wants to see each value that is lost."""
        return isinstance(self.on_loss, LossCounts) and self.on_loss.listed is None

    @abstractmethod
    def add(self, job: Job) -> None:
        """Write one job. Raises ``RefusedJob`` or ``Unfit``."""

    def close(self) -> None:
        """Write what stands behind the last job."""
        self.put(self.tail)

    def part(self) -> Any:
        """What was added, for another writer."""
        assert isinstance(self.stream, io.BytesIO)  # as whoever writes a part gives one
        return self.stream.getvalue()[len(self.head.encode()) :]

    def join(self, part: Any) -> None:
        """Take what another writer was given, behind all that was added here."""
        self.stream.write(part)

    def take(self, job: Any) -> None:
        """Write one job that ``builder`` has made. Raises ``RefusedJob`` or ``Unfit``."""
        if job.error is not None:
            raise job.error
        self.put(job.text)
        if job.lost:
            self._lost[job.lost] += 1

    def settle(self) -> None:
        """Count what was lost of jobs that were taken."""
        if isinstance(self.on_loss, LossCounts):
            for lost, jobs in self._lost.items():
                for kinds in lost:
                    for kind, number in kinds:
                        self.on_loss.kinds[kind] += jobs * number
        self._lost.clear()

    def through(self, outcomes: Iterator[Outcome[Any]]) -> Iterator[Outcome[Any]]:
        """The same outcomes, their jobs written, or those that ``builder`` has made taken.

        A job that is refused is a bad record, and one that is unfit is skipped.
        """
        for outcome in outcomes:
            if not isinstance(outcome, Converted):
                yield outcome
                continue
            job, self.line = outcome.job, outcome.line
            try:
                if isinstance(job, Job):
                    self.add(job)
                else:
                    self.take(job)
            except RefusedJob as error:
                yield Bad(outcome.line, str(error))
            except Unfit as error:
                yield Skipped(outcome.line, str(error))
            else:
                yield outcome
                continue
            for _ in range(outcome.steps):
                yield Skipped(outcome.line, "step of a job that was left out")
        self.settle()

    def put(self, text: str) -> None:
        """Write text as UTF-8."""
        self.stream.write(text.encode())

    def report_losses(self, taken: TakenJob) -> None:
        """Tell what a job has lost. Raises ``RefusedJob`` where that must not be."""
        for loss in checked(taken):
            self.on_loss(loss)


def checked(taken: TakenJob) -> Iterator[UnwrittenValue]:
    """What is to be told of what a job has lost. Raises ``RefusedJob`` where that must not be."""
    losses = list(taken.losses())
    for loss in losses:
        if loss.policy is AwarenessPolicy.REJECT:
            found = f"{loss.path} with awarenessPolicy Reject"
            raise RefusedJob(loss.value, f"what the target holds: {found}, {loss.reason}")
    return (loss for loss in losses if loss.policy is not AwarenessPolicy.IGNORE)
