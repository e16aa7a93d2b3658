"""What all writers share: options, losses, refusals, and how outcomes pass through them."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar

from sssjob.accounting.writers.grid import Site
from sssjob.accounting.writers.losses import IGNORE, REJECT, Loss, Taken
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.model import Job
from sssjob.records.record import Bad, Converted, Outcome, Skipped

OnLoss = Callable[[Loss], None]


def ignored(loss: Loss) -> None:
    """Tell nobody what was lost."""


@dataclass(frozen=True, slots=True)
class WriterOptions:
    """What a target wants to know beside the jobs.

    ``created`` is the time that records are said to be made at, in seconds since
    1970-01-01T00:00:00Z; None leaves it out.
    """

    site: Site = field(default_factory=Site)
    created: int | None = None


class Unfit(SSSJobError, ValueError):
    """A job that a target has no records for, such as one that has not ended."""


class RefusedJob(InvalidValue):
    """A job with a value that the target cannot hold and that must not be lost."""


class Writer(ABC):
    """Writes jobs to a stream, between a head and a tail; ``close`` writes the tail.

    One that ``is_part`` writes nothing to stay: it is asked for its ``part``, which another joins.
    """

    head: ClassVar[str] = ""
    tail: ClassVar[str] = ""

    is_part = False

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        self.stream, self.options, self.on_loss = stream, options, on_loss
        self.put(self.head)

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

    def through(self, outcomes: Iterator[Outcome[Job]]) -> Iterator[Outcome[Job]]:
        """The same outcomes, their jobs written.

        A job that is refused is a bad record, and one that is unfit is skipped.
        """
        for outcome in outcomes:
            if not isinstance(outcome, Converted):
                yield outcome
                continue
            try:
                self.add(outcome.job)
            except RefusedJob as error:
                yield Bad(outcome.line, str(error))
            except Unfit as error:
                yield Skipped(outcome.line, str(error))
            else:
                yield outcome
                continue
            for _ in range(outcome.steps):
                yield Skipped(outcome.line, "step of a job that was left out")

    def put(self, text: str) -> None:
        """Write text as UTF-8."""
        self.stream.write(text.encode())

    def report_losses(self, taken: Taken) -> None:
        """Tell what a job has lost. Raises ``RefusedJob`` where that must not be."""
        losses = list(taken.losses())
        for loss in losses:
            if loss.policy == REJECT:
                found = f"{loss.path} with awarenessPolicy Reject"
                raise RefusedJob(loss.value, f"what the target holds: {found}, {loss.reason}")
        for loss in losses:
            if loss.policy != IGNORE:
                self.on_loss(loss)
