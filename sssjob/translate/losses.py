"""What a target cannot hold: each value with its path, why, and what was done with it instead.

Whoever writes for a target says so as values; the awarenessPolicy that holds at a value decides
(SSS 9.0): under Reject nothing is written and everything is listed, under Warn it is written and
listed, under Ignore it is written and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from sssjob.errors import AwarenessPolicy, Finding, Severity, SSSJobError, finding

REJECT, WARN, IGNORE = AwarenessPolicy
SHOWN = 60  # characters of a value in a sentence


class Done(StrEnum):
    """What was done with a value that a target does not hold as it is.

    CONVERTED: nothing of it is lost, but a number is another one there, and how is told.
    """

    DROPPED = "dropped"
    APPROXIMATED = "approximated"
    RESIDUAL = "residual"
    CONVERTED = "converted"


_TOLD = {Done.RESIDUAL: "kept for the way back only"}  # in sentences; programs read the word


class Loss(NamedTuple):
    """A value that a target does not hold as it is.

    ``policy`` is the awarenessPolicy that holds at its place. A ``fact`` says who or what a job
    is, or what became of it: it asks for nothing, so that it refuses nothing. ``shown`` is how
    sentences call it. ``met``: what is asked for instead fulfils it all the same (decision 249),
    as a number does that is rounded up, or stands in a range.
    """

    path: str
    value: str
    target: str
    reason: str
    done: Done = Done.DROPPED
    policy: AwarenessPolicy = WARN
    fact: bool = False
    line: int = 0
    job: str = ""
    shown: str = ""
    met: bool = True
    asked: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether what is asked for instead does not fulfil it, or nothing is."""
        return self.done in (Done.DROPPED, Done.RESIDUAL) or not self.met

    @property
    def refuses(self) -> bool:
        """Whether nothing may be written without it."""
        return self.is_lost and not self.fact and self.policy == REJECT

    def as_dict(self) -> dict[str, str]:
        """The loss as JSON has it."""
        return {
            "job": self.job, "path": self.path, "value": self.value, "target": self.target,
            "reason": self.reason, "done": self.done.value,
        }  # fmt: skip

    @property
    def is_told(self) -> bool:
        """Whether a person hears of it: who or what a job is stands in the list alone."""
        return not self.fact or self.asked

    def __str__(self) -> str:
        return f"{self.path}: {self.named}: {self.reason} ({_TOLD.get(self.done, self.done)})"

    @property
    def named(self) -> str:
        """What is lost, for a sentence."""
        name = self.path.rpartition("/")[2]
        return self.shown or f"{name} {self.value[:SHOWN]!r}"

    def finding(self, file: str = "") -> Finding:
        """The loss as a finding about a file: an error where it refuses."""
        severity = Severity.WARNING
        if self.refuses:
            severity = Severity.ERROR
        elif self.fact or self.done is Done.CONVERTED:
            severity = Severity.NOTICE
        done = _TOLD.get(self.done, self.done)
        text = f"{self.named} in {self.target}: {self.reason} ({done})"
        advice = 'awarenessPolicy="Warn" goes on without it' if self.refuses else ""
        return finding(
            "E-LOSS", text, line=self.line, path=self.path, section="SSS 9.0",
            suggestion=advice, file=file, severity=severity,
        )  # fmt: skip


class Untranslatable(SSSJobError, ValueError):
    """A job that says Reject of what a target cannot hold; ``losses`` is the whole list."""

    def __init__(self, target: str, losses: Iterable[Loss]) -> None:
        self.target, self.losses = target, tuple(losses)
        super().__init__(self.target, self.losses)

    def __str__(self) -> str:
        refused = [loss for loss in self.losses if loss.refuses]
        return (
            f"{self.target} cannot hold {len(refused)} of what must not be left out: "
            + "; ".join(map(str, refused))
        )


def told(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The losses that are listed: those that may be ignored are not."""
    return tuple(loss for loss in losses if loss.policy != IGNORE)
