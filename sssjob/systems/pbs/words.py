"""What the words of PBS mean wherever they stand: states, hosts, sizes and times.

Sizes and times are those of pbs_resources(7), hosts those of exec_host. A reader raises
``InvalidValue`` where the text is no such value. There is no word for no limit: what nothing limits
is not there.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import limit_seconds
from sssjob.records.values import is_whole

_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_CLOCK = re.compile(
    r"(?:(?:([0-9]{1,6}):)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,2}(?:\.[0-9]{1,9})?)"
)
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([kmgtpKMGTP]?)([bBwW]?)")
_HOST = re.compile(r"(?:([0-9]{1,6})\*)?([^/*+\s,]+)(?:/([0-9,\-]{1,4000})(?:\*([0-9]{1,6}))?)?")
# Most are just so, and take a third of the time then.
NO_HOSTS = "(null)"  # what a server prints that has no text to print
_PLAIN_HOSTS = re.compile(r"[\w.\-]+(?:/[0-9\-]{1,40})?(?:\+[\w.\-]+(?:/[0-9\-]{1,40})?)*")
_WAITED_FOR = re.compile(
    r"([0-9]{1,18}(?:-[0-9]{1,9})?(?:\[[0-9]{0,9}\])?(\.[\w.\-]{1,255})?)(@[\w.\-]{1,255})?",
    re.ASCII,
)
# A file of a host, to which an output is brought.
ON_HOST = re.compile(r"(?P<host>[A-Za-z0-9._-]+):(?P<path>/.*)", re.DOTALL)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_WORD = 8  # bytes

# fmt: off
# The letters of job_state. T and M move to another host or server, B is an array that has begun.
STATES = {
    "Q": "Idle", "W": "Idle", "T": "Idle", "M": "Idle",
    "H": "Hold",
    "R": "Running", "E": "Running", "B": "Running",
    "S": "Suspended", "U": "Suspended",
    "C": "Completed", "F": "Completed", "X": "Completed",
}
# fmt: on


def seconds(text: str) -> Fraction:
    """``[[[DD:]HH:]MM:]SS[.frac]`` in seconds, with any number of hours.

    >>> seconds("800:00:00"), seconds("19:23:4"), seconds("86.5")
    (Fraction(2880000, 1), Fraction(69784, 1), Fraction(173, 2))
    """
    if _SECONDS.fullmatch(text):
        return Fraction(text)
    if not (found := _CLOCK.fullmatch(text)):
        raise InvalidValue(text, "a duration such as 800:00:00, or seconds")
    days, hours, minutes, rest = found.groups()
    return 86400 * int(days or 0) + 3600 * int(hours or 0) + 60 * int(minutes) + Fraction(rest)


def waited_for(text: str) -> str | None:
    """The id of a job that another one waits for, without the server where it is asked for.

    None where the text is no such id; ``5@other`` is a number alone, which that server completes.

    >>> waited_for("5.pbs@pbs"), waited_for("5[].pbs"), waited_for("5@other")
    ('5.pbs', '5[].pbs', None)
    """
    found = _WAITED_FOR.fullmatch(text)
    return found[1] if found and (found[2] or not found[3]) else None


def limit(text: str) -> int:
    """A limit of time in whole seconds.

    >>> limit("800:00:00"), limit("86.1")
    (2880000, 87)
    """
    return limit_seconds(seconds(text))


def size(text: str) -> Fraction | int:
    """Bytes; a number without a letter is bytes, and a ``w`` is a word of 8 bytes.

    >>> size("2gb") == 2 * 2**30, size("512b") == 512, size("1kw") == 8 * 2**10
    (True, True, True)
    """
    if not (found := _SIZE.fullmatch(text)):
        raise InvalidValue(text, "a size such as 2gb")
    number, letter, unit = found.groups()
    factor = (1 << (10 * _POWERS[letter.lower()])) * (_WORD if unit in ("w", "W") else 1)
    return int(number) * factor if number.isdecimal() else Fraction(number) * factor


def clock(number: int) -> str:
    """Seconds as ``HH:MM:SS``, with any number of hours: days have no place of their own in PBS.

    >>> clock(95053)
    '26:24:13'
    """
    return units.clock(number, days=False)


def written(number: int) -> str:
    """Bytes in the largest unit that keeps them whole.

    >>> written(2 << 30), written(100)
    ('2gb', '100b')
    """
    return units.in_largest(number, ("b", "kb", "mb", "gb"))


def hosts(text: str) -> dict[str, int]:
    """The hosts of exec_host in their order, and how many slots a job has on each.

    >>> hosts("a/0+a/1+b/0-3,5"), hosts("a/0*32"), hosts("32*a+b/0*0"), hosts("(null)")
    ({'a': 2, 'b': 5}, {'a': 32}, {'a': 32, 'b': 0}, {})
    """
    found: dict[str, int] = {}
    if text == NO_HOSTS:
        return found
    is_plain = _PLAIN_HOSTS.fullmatch(text) is not None
    for item in text.split("+"):
        if is_plain:
            host, _, numbers = item.partition("/")
            count = slots(numbers) if numbers else 1
        else:
            host, count = _host(item, text)
        found[host] = found.get(host, 0) + count
    return found


def _host(item: str, text: str) -> tuple[str, int]:
    """A host of exec_host, and how many slots a job has there."""
    part = _HOST.fullmatch(item)
    if not part:
        raise InvalidValue(text[:200], "hosts such as n1/0*4+n2/0-3")
    times, host, numbers, processors = part.groups()
    count = sum(map(slots, numbers.split(","))) if numbers else 1
    return host, count * int(processors or 1) * int(times or 1)


@lru_cache(1024)
def slots(part: str) -> int:
    """How many slots a number, or a range of them, is.

    >>> slots("3"), slots("0-3")
    (1, 4)
    """
    low, dash, high = part.partition("-")
    if not is_whole(low) or (dash and not is_whole(high)) or (dash and int(high) < int(low)):
        raise InvalidValue(part, "slots such as 0-3,5")
    return int(high) - int(low) + 1 if dash else 1
