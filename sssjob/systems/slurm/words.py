"""What Slurm's words mean wherever they stand: times, limits, sizes, and lists of nodes.

A reader gives None where the text says that there is no value (``Unknown``, ``16?``) or no limit,
and raises ``InvalidValue`` where the text is no such value at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.integers import limit_seconds
from sssjob.records.texts import BulkColumn, Plain, WholeNumbers, is_of_form
from sssjob.systems.slurm.unset import NO_VALUE, UNSET

Amount = int | Fraction

_FEATURE = r"\w[\w.:/-]*"
_CHOICE = rf"{_FEATURE}(?:\|{_FEATURE})+"
_TERM = rf"(?:{_FEATURE}|\({_CHOICE}\))"
_IS_FEATURE = re.compile(_FEATURE)
_CONSTRAINT = re.compile(rf"{_TERM}(?:&{_TERM})*|{_CHOICE}")
_DURATION = re.compile(
    r"(?:(?P<days>[0-9]{1,7})-)?(?:(?P<hours>[0-9]{1,8}):)?"
    r"(?P<minutes>[0-9]{1,3}):(?P<seconds>[0-9]{1,2})(?:\.(?P<fraction>[0-9]{1,9}))?"
)
# The parts of HH:MM:SS in seconds: looking them up is faster than reading them.
_HOURS = {f"{number:02}:": 3600 * number for number in range(100)}
_MINUTES = {f"{number:02}:": 60 * number for number in range(60)}
_SECONDS = {f"{number:02}": number for number in range(60)}
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)([KMGTPEZkmgtpez]?)[Bb]?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6, "Z": 7}
_IN_NAMES = re.compile(r"%([0-9]{0,9})([A-Za-z%])")
_GENERIC = re.compile(
    r"(?:gres[/:])?([A-Za-z_][A-Za-z0-9_.-]*)(?::([A-Za-z_][A-Za-z0-9_.-]*))?(?:[:=]([0-9]{1,10}))?"
)
_PROCESSORS = re.compile(r"cpu[:=]([0-9]{1,10})")
_ONE = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_LICENCE = rf"{_ONE}(?:@{_ONE})?"
_IS_LICENCE = re.compile(_LICENCE)
_LICENCES = re.compile(rf"({_LICENCE})(?:[:=]([0-9]{{1,10}}))?")
# One job, a task of an array or all of them; behind it how it stands: ``28_*(failed)``.
_WAITED_FOR = re.compile(r"([0-9]{1,10}(?:_(?:[0-9]{1,10}|\*))?)(?:\([a-z_]+\))?")
_DAYS_AND_HOURS = re.compile(r"([0-9]{1,7})-([0-9]{1,8})")
_MINUTES_ALONE = re.compile(r"[0-9]{1,10}")
_LONGEST_TIME = 13  # digits
SETTABLE = frozenset(("set", "infinite", "number"))  # keys of a number that may be none
_UNSET = frozenset(map(str, UNSET))
# For --time and TimeLimit, whatever the case: sbatch(1), scontrol(1), and what squeue prints.
_NO_LIMIT = frozenset(word.upper() for word in (*NO_VALUE, "-1", "NOT_SET", *_UNSET))
_NAMELESS = frozenset(("nobody", "(null)", ""))  # of a user or group whose account was deleted
_NAME = re.compile(r"[^\s,\[\]]*(?:\[[0-9,\-]+\][^\s,\[\]]*)*")
_PART = re.compile(r"\[([0-9,\-]+)\]")
_ITEM = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
# SSS 5.1 Node: "a range of nodes of the form: <prefix>[5-23,77]"
_RANGE = re.compile(r"[^\s,\[\]]*\[[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*\]")


def account(text: str) -> str | None:
    """The user or group of ``amy(1001)``; the number, where the system knows no name for it.

    >>> account("amy(1001)"), account("nobody(1001)"), account("(null)(1001)"), account("(1001)")
    ('amy', '1001', '1001', '1001')
    >>> account("(null)") is None
    True
    """
    if text in ("", "(null)"):
        return None
    name, bracket, number = text.rpartition("(")
    if not bracket:
        return text
    return (number.rstrip(")") if name in _NAMELESS else name) or None


# decision 865
def waited_for(text: str) -> str | None:
    """The id of a job in a list of dependencies; None of any other text.

    >>> waited_for("7_*(unfulfilled)"), waited_for("7_3"), waited_for("7+5"), waited_for("x")
    ('7_*', '7_3', None, None)
    """
    found = _WAITED_FOR.fullmatch(text)
    return found[1] if found else None


# decision 866
def is_licence(text: str) -> bool:
    """Whether a text is the name of one licence: ``essl``, or ``matlab@server`` of a database."""
    return _IS_LICENCE.fullmatch(text) is not None


def licences(text: str) -> list[tuple[str, str]] | None:
    """The licences that are all asked for, with the number of each; None of any other text.

    >>> licences("matlab@srv:2,essl,a=3"), licences("a|b"), licences("a:0")
    ([('matlab@srv', '2'), ('essl', '1'), ('a', '3')], None, None)
    """
    found = []
    for part in text.split(","):
        told = _LICENCES.fullmatch(part)
        number = int(told[2] or "1") if told else 0
        if told is None or not number:
            return None
        found.append((told[1], str(number)))
    return found


class Generic(NamedTuple):
    """A generic resource that is asked for: its name, its type or "", and how many."""

    name: str
    kind: str
    number: int


def gpus_of(text: str) -> tuple[list[Generic], str]:
    """The GPUs of such a text, and the other resources of it as they stand.

    >>> gpus_of("gpu:a100:2,shard:3"), gpus_of("gpu:a b")
    (([Generic(name='gpu', kind='a100', number=2)], 'shard:3'), ([], 'gpu:a b'))
    """
    found = generic(text)
    if found is None or not all(each.number for each in found):
        return [], text
    parts = zip(found, text.split(","), strict=True)
    gpus = [each for each in found if each.name == "gpu"]
    return gpus, ",".join(part for each, part in parts if each.name != "gpu")


def processors_of(text: str) -> tuple[int, str]:
    """The processors of such a text, 0 for none, and the other resources of it as they stand.

    >>> processors_of("cpu=4,gres/gpu:2"), processors_of("gres/gpu:2,cpu=x")
    ((4, 'gres/gpu:2'), (0, 'gres/gpu:2,cpu=x'))
    """
    parts = text.split(",")
    found = [_PROCESSORS.fullmatch(part) for part in parts]
    number = max((int(each[1]) for each in found if each), default=0)
    rest = ",".join(part for part, each in zip(parts, found, strict=True) if not each)
    return (number, rest) if number else (0, text)


def generic(text: str) -> list[Generic] | None:
    """Read ``gpu:a100:2,shard:3``, as --gres and TresPerNode have it; None of any other text.

    >>> generic("gres/gpu:a100:2,gres:gpu=1,shard")
    [Generic(name='gpu', kind='a100', number=2), Generic(name='gpu', kind='', number=1), ...]
    """
    found = [_GENERIC.fullmatch(item) for item in text.split(",")]
    if not all(found):
        return None
    return [Generic(it[1], it[2] or "", int(it[3] or "1")) for it in found if it]


def opened_name(text: str, known: Mapping[str, str]) -> str:
    """The name of a file that Slurm opens, by what its letters stand for; others stay as they are.

    >>> opened_name("/d/%j-%4a%%.%N", {"j": "7", "a": "3"}), opened_name(r"/d/\\%j", {"j": "7"})
    ('/d/7-0003%.%N', '/d/%j')
    """
    if "\\" in text:
        return text.replace("\\", "")

    def opened(found: re.Match[str]) -> str:
        width, letter = found.groups()
        if letter == "%" and not width:
            return "%"
        value = known.get(letter, "")
        return (value.zfill(min(int(width), 10)) if width else value) if value else found[0]

    return _IN_NAMES.sub(opened, text)


def duration(text: str) -> Amount | None:
    """Read ``[D-]HH:MM:SS``, or ``MM:SS.mmm``, into seconds.

    >>> duration("1-02:04:00"), duration("00:07.429")
    (93840, Fraction(7429, 1000))
    """
    found = _DURATION.fullmatch(text)
    if not found:
        if text in NO_VALUE:
            return None
        raise InvalidValue(text, "a duration such as 1-02:24:13")
    days, hours, minutes, seconds, fraction = found.groups()
    if days and not hours:  # D-HH:MM
        hours, minutes, seconds = minutes, seconds, "0"
    whole = 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds) + 86400 * int(days or 0)
    if fraction and (parts := int(fraction)):
        return whole + Fraction(parts, 10 ** len(fraction))
    return whole


def durations(texts: Sequence[str]) -> list[Amount | None]:
    """The same for many texts; "" is no value."""
    found: list[Amount | None] = []
    for text in texts:
        try:
            found.append(clock(text))
        except KeyError:
            found.append(duration(text) if text else None)
    return found


def clock(text: str) -> int:
    """Read ``[D-]HH:MM:SS`` into seconds. Raises ``KeyError`` for any other form.

    >>> clock("1-02:04:00")
    93840
    """
    if len(text) == 8:
        return _HOURS[text[:3]] + _MINUTES[text[3:6]] + _SECONDS[text[6:]]
    days, dash, rest = text.rpartition("-")
    whole = _HOURS[rest[:3]] + _MINUTES[rest[3:6]] + _SECONDS[rest[6:]]
    if not (dash and days.isdecimal() and days.isascii() and len(days) < 7):
        raise KeyError(text)
    return 86400 * int(days) + whole


def clocks(column: BulkColumn) -> WholeNumbers | None:
    """``clock`` of a column of bytes; None where a text has another form."""
    return column.once(_clocks) if isinstance(column, Plain) and len(column) else None


def _clocks(column: Plain) -> WholeNumbers | None:
    import numpy as np

    sizes = column.sizes()
    longest = int(sizes.max())
    if int(sizes.min()) < _CLOCK_SIZE or longest > _CLOCK_SIZE + 1 + _DAY_DIGITS:
        return None
    told = column.last(_CLOCK_SIZE)
    if not is_of_form(told, _CLOCK):
        return None
    digits = told.astype(np.int64) - ord("0")
    hours, minutes, seconds = (digits[:, at] * 10 + digits[:, at + 1] for at in (0, 3, 6))
    if (minutes > 59).any() or (seconds > 59).any():
        return None
    whole = hours * 3600 + minutes * 60 + seconds
    long = np.flatnonzero(sizes > _CLOCK_SIZE)
    if len(long):
        days = [text[:-_CLOCK_SIZE] for text in column.take(long).list]
        if not all(day[-1:] == "-" and day[:-1].isdecimal() for day in days):
            return None
        whole[long] += 86400 * np.array([int(day[:-1]) for day in days], np.int64)
    return WholeNumbers(whole)


_CLOCK = "00:00:00"
_CLOCK_SIZE = len(_CLOCK)
_DAY_DIGITS = 6


def time_limit(text: str) -> int | None:
    """A limit of elapsed time in whole seconds; None is no limit, and so is 0.

    sbatch(1): "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
    "days-hours:minutes" and "days-hours:minutes:seconds".

    >>> time_limit("90"), time_limit("1-02"), time_limit("UNLIMITED"), time_limit("0")
    (5400, 93600, None, None)
    """
    if text.upper() in _NO_LIMIT:
        return None
    if _MINUTES_ALONE.fullmatch(text):
        return 60 * int(text) or None
    if found := _DAYS_AND_HOURS.fullmatch(text):
        return (86400 * int(found[1]) + 3600 * int(found[2])) or None
    return limit_seconds(duration(text) or 0) or None


def size(text: str, base: str = "") -> Amount | None:
    """Read an amount into bytes (or ones); a number without a letter is in ``base`` units.

    ``16?`` is what sacct prints for an unset value that overflowed.

    >>> size("438.50M", "") == 438.5 * 2**20
    True
    """
    if text[-1:] == "K" and len(text) <= 21 and text.isascii() and text[:-1].isdecimal():
        return int(text[:-1]) << 10
    if text in NO_VALUE or text[-1] == "?":
        return None
    found = _SIZE.fullmatch(text)
    if not found:
        raise InvalidValue(text, "a size such as 438.50M")
    number, letter = found.groups()
    factor: int = 1 << (10 * _POWERS[letter.upper() or base])
    return int(number) * factor if number.isdigit() else Fraction(number) * factor


def memory(text: str) -> Amount | None:
    """Memory that is asked for, in bytes; a number without a letter is MB. 0 is none of it.

    >>> memory("100"), memory("0"), memory("4294967294")
    (104857600, None, None)
    """
    return None if text in _UNSET else size(text, "M") or None


def settable(value: Any) -> Any:
    """The number of ``{"set", "infinite", "number"}``; anything else as it is.

    None is a number that is not set, infinity one that has no end, whatever number stands there.
    An object whose flags are no truth values, or without them, stays as it is: it tells neither.

    >>> settable({"set": True, "infinite": False, "number": 5}), settable({"set": False})
    (5, None)
    """
    if type(value) is not dict:
        return value
    if infinite := value.get("infinite"):
        return inf if infinite == 1 else value
    if is_set := value.get("set"):
        return value.get("number") if is_set == 1 else value
    return None if "set" in value or not value else value


def moment(text: str) -> int | None:
    """Seconds since 1970, or a local time; None if there is none, which 0 says as well."""
    if text.isascii() and text.isdigit():
        return (int(text) if len(text) < _LONGEST_TIME else 0) or None
    try:
        return int(datetime.fromisoformat(text).timestamp()) if text else None
    except (ValueError, OverflowError):
        return None


def is_range(text: str) -> bool:
    """Whether the whole list is one ``prefix[..]``, which the standard calls a Range."""
    return _RANGE.fullmatch(text) is not None


def is_sound_range(text: str) -> bool:
    """Whether it is such a Range, in which nothing descends, so that ``expand`` refuses nothing."""
    if not is_range(text):
        return False
    for item in text[text.index("[") + 1 : -1].split(","):
        low, dash, high = item.partition("-")
        if len(item) > 18 or (dash and int(low) > int(high)):
            return False
    return True


def expand(text: str, limit: int) -> tuple[str, ...] | None:
    """Every name of a list in its order, or None where there are more than ``limit``.

    Raises ``InvalidValue`` where the text is no node list.

    >>> expand("n[08-10],r[1-2]c0", 100)
    ('n08', 'n09', 'n10', 'r1c0', 'r2c0')
    """
    names: list[str] = []
    for host in _split(text):
        choices = [_choices(text, part, limit) for part in _alternating(host)]
        size = 1
        for choice in choices:
            if choice is None:
                return None
            size *= len(choice)
            if len(names) + size > limit:
                return None
        names.extend("".join(parts) for parts in product(*(c for c in choices if c is not None)))
    return tuple(names)


def _split(text: str) -> Iterator[str]:
    """The members of a list; a comma inside brackets separates nothing."""
    position = 0
    while True:
        found = _NAME.match(text, position)
        if not found or not found[0]:
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        yield found[0]
        position = found.end()
        if position == len(text):
            return
        if text[position] != ",":
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        position += 1


def _alternating(host: str) -> Iterator[tuple[bool, str]]:
    """Plain text and bracket contents in turn, each with whether it stood in brackets."""
    for index, part in enumerate(_PART.split(host)):
        yield index % 2 == 1, part


def _choices(text: str, part: tuple[bool, str], limit: int) -> list[str] | None:
    bracketed, content = part
    if not bracketed:
        return [content]
    chosen: list[str] = []
    for item in content.split(","):
        found = _ITEM.fullmatch(item)
        if not found:
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        low, high = found[1], found[2] or found[1]
        if int(low) > int(high):
            raise InvalidValue(text, "a node list whose ranges ascend")
        if len(chosen) + int(high) - int(low) >= limit:
            return None
        # The low bound is printed padded to the width that all names of the range have.
        chosen.extend(str(number).zfill(len(low)) for number in range(int(low), int(high) + 1))
    return chosen


def is_feature(text: str) -> bool:
    """Whether a text is the name of one feature."""
    return _IS_FEATURE.fullmatch(text) is not None


def constraint(text: str) -> tuple[tuple[str, ...], ...] | None:
    """The features that are all needed, each a choice of one or more; None of any other constraint.

    >>> constraint("ib&(a|b)"), constraint("a|b"), constraint("[a|b]"), constraint("a*2")
    ((('ib',), ('a', 'b')), (('a', 'b'),), None, None)
    """
    if not _CONSTRAINT.fullmatch(text):
        return None
    return tuple(tuple(part.strip("()").split("|")) for part in text.split("&"))
