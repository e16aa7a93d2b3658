"""What words of Flux mean: states, durations (its RFC 23), lists of hosts (its RFC 29)."""

from __future__ import annotations

import re
from fractions import Fraction

from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.integers import limit_seconds
from sssjob.nodes import spans

HOST_LIMIT = 10_000  # names in one list

# fmt: off
STATES = {
    "NEW": "Idle", "DEPEND": "Idle", "PRIORITY": "Idle", "SCHED": "Idle",
    "RUN": "Running",
    "CLEANUP": "Running",  # its epilog runs, and its resources are not free yet
    "INACTIVE": "Completed",
}
# fmt: on
# What a job waits for, as the job list describes the dependencies of RFC 26.
DEPENDENCIES = {
    "after-success": "OnSuccess",
    "after-failure": "OnFailure",
    "after-finish": "OnExit",
}  # fmt: skip
WAITING = frozenset(word for word, state in STATES.items() if state == "Idle")
_UNITS = {name: Fraction(seconds, 1000) for name, seconds in (
    ("ms", 1), ("", 1000), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)
)}  # fmt: skip
_DURATION = re.compile(
    r"([0-9]{1,18}(?:\.[0-9]{0,18})?(?:e[+-]?[0-9]{1,2})?)(ms|[smhd]?)", re.IGNORECASE
)
_INFINITE = ("inf", "infinity")
_BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma that stands in no bracket


def duration(text: str) -> Fraction | None:
    """Seconds, with or without a unit; None where nothing limits, which 0 says as well.

    >>> duration("1.5h"), duration("90.0"), duration("0.0"), duration("inf")
    (Fraction(5400, 1), Fraction(90, 1), None, None)
    """
    if text.lower() in _INFINITE:
        return None
    if not (found := _DURATION.fullmatch(text)):
        raise InvalidValue(text, "a duration such as 90, 5m or 1.5h")
    return Fraction(found[1].removesuffix(".")) * _UNITS[found[2].lower()] or None


def limit(text: str) -> int | None:
    """A limit of time in whole seconds; None where nothing limits."""
    value = duration(text)
    return None if value is None else limit_seconds(value)


def hosts(text: str) -> tuple[str, ...]:
    """The names of a list of hosts. Raises ``InvalidValue``, above ``HOST_LIMIT`` names, too.

    >>> hosts("n[01-02],m5")
    ('n01', 'n02', 'm5')
    """
    found: list[str] = []
    try:
        for part in _BETWEEN.split(text):
            found += spans(part, HOST_LIMIT - len(found))
    except LimitExceeded as error:
        raise InvalidValue(text, f"at most {HOST_LIMIT} hosts") from error
    return tuple(found)
