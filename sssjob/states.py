"""What the State of a job says of how far it has come, and whether it has ended.

The standard has five states, and lets others be written (SSS 5.1 Table 2). What sites write beside
Completed for jobs that have ended is in a table; of any other state nobody knows that it is an end.
Words of one batch system are read where that system is (``systems``), and become these; of what
stands in a StatusMessage as the system said it, its ``SystemWords`` say what it means.

A job has ended if its State says so. An EndTime beside another State is no end: schedulers print
the time at which a job that runs is expected to end. Without a State, an ExitCode or EndTime is an
end. (When it ended is another question: reports ask its EndTime, ``accounting.report``.)

How it ended is asked of its State, StatusMessage, ExitCode and Extension Signal: a batch system may
print exit code 0 of a job that was cancelled, or that a signal ended.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from sssjob import registry, units
from sssjob.errors import InvalidValue
from sssjob.registry import KnownWords

COMPLETED = "Completed"
SIGNAL = "Signal"  # the name of the Extension that tells which signal ended a job
# How far a job has come: a later step replaces an earlier one, never the other way round.
STEPS = {"Idle": 0, "Hold": 0, "Running": 1, "Suspended": 1, COMPLETED: 2}
# What the standard adds for groups of jobs (SSS 4.1), beside Completed.
STEPS_OF_GROUPS = {"NotQueued": 0, "Unstarted": 0, "Active": 1}
# What sites write beside Completed for jobs that have ended, and none of it is success.
BAD_ENDS = ("Aborted", "Canceled", "Cancelled", "Failed", "Removed", "TimedOut")
CANCELLED = frozenset(BAD_ENDS) - {"Failed", "TimedOut"}  # those perhaps never began
OVER = frozenset((COMPLETED, *BAD_ENDS))

_SPELLED = {state.lower(): state for state in (*STEPS, *BAD_ENDS)}
_STEPS = {
    state.lower(): far
    for state, far in (STEPS | STEPS_OF_GROUPS | dict.fromkeys(BAD_ENDS, 2)).items()
}
_OVER = frozenset(state.lower() for state in OVER)
_BAD_ENDS = frozenset(state.lower() for state in BAD_ENDS)
ABORTED = tuple(state for state in BAD_ENDS if state != "Failed")  # they did not end by themselves
_ABORTED = frozenset(state.lower() for state in ABORTED)
# What StatusMessages begin with whatever system a job is of, in capital letters: of jobs that did
# not end by themselves, and of those that failed. Systems declare their own words.
_SAID_OF_ABORTED, _SAID_OF_FAILED = ("ABORT*", "CANCEL*"), ("FAIL*",)


def said_of_aborted() -> KnownWords:
    """What StatusMessages of jobs are that did not end by themselves, in capital letters."""
    return _with(registry.said_of_jobs().aborted, _SAID_OF_ABORTED)


def said_of_failed() -> KnownWords:
    """The same of jobs that failed."""
    return _with(registry.said_of_jobs().failed, _SAID_OF_FAILED)


@lru_cache(8)
def _with(declared: KnownWords, common: tuple[str, ...]) -> KnownWords:
    return KnownWords((*declared.words, *common))


def competes(message: str, extension: Callable[[str], str] = lambda name: "") -> bool:
    """Whether a job that waits would start if there were a slot for it, by what its system says.

    ``message`` is its StatusMessage, ``extension`` gives the text of its Extension of a name; "" is
    none.

    >>> competes("Priority"), competes("Dependency")
    (True, False)
    >>> competes("", {"job_state": "W"}.get), competes("", {"job_state": "Q"}.get)
    (False, True)
    """
    said = registry.said_of_jobs()
    return message not in said.waits and not any(
        extension(name) in texts for name, texts in said.waits_by.items()
    )


def spelled(state: str) -> str:
    """A State in the letters of the standard, or of the table of ends; "" of any other one.

    Sites write ``RUNNING`` and ``running``, too, and mean the same.

    >>> spelled(" running "), spelled("CANCELLED"), spelled("Draining")
    ('Running', 'Cancelled', '')
    """
    return _SPELLED.get(state.strip().lower(), "")


def step(state: str) -> int:
    """How far a job, or a group, of this state has come, as in ``STEPS``; -1 of an unknown one.

    >>> step("Idle"), step("running"), step("Failed"), step("Draining"), step("")
    (0, 1, 2, -1, -1)
    """
    return _STEPS.get(state.strip().lower(), -1)


def has_begun(state: str) -> bool:
    """Whether a job of this state runs, ran, or has ended; of a state that nobody knows, not."""
    return step(state) >= STEPS["Running"]


def goes_on(state: str) -> bool:
    """Whether a job of this state runs, or may: of one that nobody knows, nobody can tell.

    >>> goes_on("Running"), goes_on("Draining"), goes_on("Idle"), goes_on("")
    (True, True, False, False)
    """
    return bool(state.strip()) and step(state) in (-1, STEPS["Running"])


def is_over(state: str) -> bool:
    """Whether a job of this state has ended; of a state that nobody knows, not.

    >>> is_over("Completed"), is_over("CANCELLED"), is_over("Draining"), is_over("")
    (True, True, False, False)
    """
    return state.strip().lower() in _OVER


def is_known(state: str) -> bool:
    """Whether it is known of a State how far a job has come by it; without one, it is.

    >>> is_known("running"), is_known(""), is_known("Draining")
    (True, True, False)
    """
    return not state or bool(spelled(state))


def was_cancelled(state: str) -> bool:
    """Whether somebody took a job of this state away, perhaps before it ran.

    >>> was_cancelled("canceled"), was_cancelled("TimedOut"), was_cancelled("Completed")
    (True, False, False)
    """
    return spelled(state) in CANCELLED


def ended_badly(state: str) -> bool:
    """Whether a job of this state has ended, and not well."""
    return state.strip().lower() in _BAD_ENDS


def has_ended(text: Callable[[str], str]) -> bool:
    """Whether a job has ended, by the texts of its own properties; "" is one that it has not.

    >>> has_ended({"EndTime": "1775001600"}.get), has_ended({"State": "Failed"}.get)
    (True, True)
    """
    state = text("State")
    return is_over(state) if state else bool(text("ExitCode") or text("EndTime"))


class Ending(StrEnum):
    """How a job has ended; ``UNSAID`` where nothing tells."""

    WELL = "completed"
    ABORTED = "aborted"
    FAILED = "failed"
    UNSAID = "unsaid"


def how_it_ended(text: Callable[[str], str], signal: str = "") -> Ending:
    """How a job that ``has_ended`` did so, by the texts of its properties; "" is one not there.

    ``signal`` is the text of its Extension Signal. Success is exit code 0 and nothing that
    speaks against it (SSS 5.1); without an exit code that can be read nobody knows.

    >>> str(how_it_ended({"ExitCode": "0"}.get)), str(how_it_ended({"ExitCode": "0"}.get, "9"))
    ('completed', 'failed')
    """
    state, said = text("State") or "", (text("StatusMessage") or "").upper()
    if (said and said in said_of_aborted()) or state.strip().lower() in _ABORTED:
        return Ending.ABORTED
    if (said and said in said_of_failed()) or ended_badly(state):
        return Ending.FAILED
    if signal.strip("0 "):
        return Ending.FAILED
    try:
        return Ending.FAILED if units.integer(text("ExitCode") or "") else Ending.WELL
    except InvalidValue:
        return Ending.UNSAID
