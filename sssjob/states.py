"""What the State of a job says of how far it has come, and whether it has ended.

The standard has five states, and lets others be written (SSS 5.1 Table 2). What sites write beside
Completed for jobs that have ended is in a table; of any other state nobody knows that it is an end.
Words of one batch system are read where that system is (``systems``), and become these.

A job has ended if its State says so. An EndTime beside another State is no end: schedulers print
the time at which a job that runs is expected to end. Without a State, an ExitCode or EndTime is an
end. (When it ended is another question: reports ask its EndTime, ``accounting.report``.)
"""

from __future__ import annotations

from collections.abc import Callable

COMPLETED = "Completed"
# How far a job has come: a later step replaces an earlier one, never the other way round.
STEPS = {"Idle": 0, "Hold": 0, "Running": 1, "Suspended": 1, COMPLETED: 2}
# What sites write beside Completed for jobs that have ended, and none of it is success.
BAD_ENDS = ("Aborted", "Canceled", "Cancelled", "Failed", "Removed", "TimedOut")
OVER = frozenset((COMPLETED, *BAD_ENDS))

_STEPS = frozenset(state.lower() for state in STEPS)
_OVER = frozenset(state.lower() for state in OVER)
_BAD_ENDS = frozenset(state.lower() for state in BAD_ENDS)


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
    return not state or state.strip().lower() in _STEPS | _OVER


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
