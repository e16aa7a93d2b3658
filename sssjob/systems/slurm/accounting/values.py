"""The values that only sacct prints, each read by one small parser; others are in ``words``.

A parser gives None where the text says that there is no value (``Unknown``, ``UNLIMITED``,
``16?``), and raises ``InvalidValue`` where the text is no such value at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.records.readers import digits
from sssjob.records.record import by_columns, in_bulk, numeric
from sssjob.records.values import is_whole
from sssjob.resource_names import named
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import Amount, clock, clocks, duration, memory, size, time_limit

MEMORY = 1 << 11  # texts of one kind that are remembered with their values
_SHORT = 1 << 8  # characters of a list that is remembered
NODE_LIMIT = 4096  # names that a List spells out; a longer list is kept as it was printed

_EXIT = re.compile(r"([0-9]{1,10}):([0-9]{1,5})(?::[0-9]{1,10})?")
_PER_CPU_FLAG = 1 << 31  # MEM_PER_CPU, left in the number by some versions of sacct


def _clock_seconds(texts: Sequence[str]) -> list[str] | None:
    try:
        return [str(_rounded(text)) for text in texts]
    except (KeyError, InvalidValue):
        return None


def _rounded(text: str) -> int:
    """Seconds of ``HH:MM:SS`` and ``MM:SS.mmm``, half up. Raises ``KeyError`` for other forms."""
    if text[5:6] != ".":
        return clock(text)
    fraction = text[6:]
    if not (fraction.isdecimal() and fraction.isascii() and len(fraction) < 10):
        raise KeyError
    return clock(f"00:{text[:5]}") + (fraction >= "5")


@in_bulk(clocks)
@by_columns(_clock_seconds)
def clock_seconds(text: str) -> str | None:
    """A duration as whole seconds, half a second rounded up."""
    value = duration(text)
    return None if value is None else str(units.rounded(value))


def limit_seconds(text: str) -> str | None:
    """A limit of elapsed time as whole seconds; TimelimitRaw counts minutes."""
    value = time_limit(text)
    return None if value is None else str(value)


@in_bulk(digits)
@numeric(10**18 - 1)
def integer(text: str) -> str | None:
    """A whole number."""
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= 18:
        return text
    if text in NO_VALUE:
        return None
    if not is_whole(text):
        raise InvalidValue(text, "a whole number")
    return str(int(text))


@lru_cache(MEMORY)
def count(text: str) -> str | None:
    """How many of something: 0 is none; ``2K`` is 2048, as sacct shortens counts.

    >>> count("2K")
    '2048'
    """
    value = size(text)
    if value and value.denominator > 1 and text[-1] in "0123456789":  # nothing was shortened
        raise InvalidValue(text, "a whole number")
    return str(units.rounded(value)) if value else None


def _without_letter(texts: Sequence[str]) -> list[str] | None:
    """``448836K`` in KB; 0 has no letter."""
    found = ["0" if text == "0" else text[:-1] for text in texts]
    joined = "".join(found)
    are_plain = (
        joined.isdecimal()
        and joined.isascii()
        and {text for text in found if text < "1"} <= {"0"}  # none begins with 0, or is empty
        and "".join(texts).count("K") == len(texts) - texts.count("0")
    )
    return found if are_plain and max(map(len, found)) <= 18 else None


@by_columns(_without_letter)
def kibibytes(text: str) -> str | None:
    """A size in KB; sacct prints bytes where there is no letter."""
    value = size(text)
    return None if value is None else in_kilobytes(value)


def in_kilobytes(size: Amount) -> str:
    """Bytes as an exact number of KB.

    >>> in_kilobytes(1536)
    '1.5'
    """
    return units.decimal(Fraction(size, 1024)) if size % 1024 else str(size // 1024)


class PerUnit(NamedTuple):
    """Memory as it was requested: MB for the job, for each CPU ("c") or for each node ("n")."""

    megabytes: Amount
    per: str


@lru_cache(MEMORY)
def requested_memory(text: str, *, flagged: bool = False) -> PerUnit | None:
    """Read ReqMem; 0 means no request. ``flagged``: 2^31 in the number means for each CPU.

    >>> requested_memory("2147486648Mn", flagged=True), requested_memory("2147486648Mn")
    (PerUnit(megabytes=3000, per='c'), PerUnit(megabytes=2147486648, per='n'))
    """
    if text in NO_VALUE:
        return None
    per = text[-1] if text[-1] in "cn" else ""
    value = memory(text.removesuffix(per))
    if not value:
        return None
    megabytes: Amount = Fraction(value, 1 << 20)
    if megabytes == int(megabytes):
        megabytes = int(megabytes)
    if flagged and megabytes >= _PER_CPU_FLAG:
        megabytes, per = megabytes - _PER_CPU_FLAG, "c"
    return PerUnit(megabytes, per) if megabytes else None


@lru_cache(MEMORY)
def exit_code(text: str) -> tuple[int, int] | None:
    """Read ``code:signal``."""
    if text in NO_VALUE:
        return None
    if not (found := _EXIT.fullmatch(text)):
        raise InvalidValue(text, "an exit code such as 0:9")
    return int(found[1]), int(found[2])


def resources(text: str) -> Iterator[tuple[str, str, str]]:
    """Read a TRES list into (name, type, amount) of what is neither cpu, mem, node nor billing.

    A typed and an untyped count of one resource name the same devices: the untyped one keeps
    what the typed ones leave.

    >>> list(resources("billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=3,license/essl=1"))
    [('GPU', 'a100', '2'), ('GPU', '', '1'), ('License', 'essl', '1')]
    """
    amounts = tres(text)
    typed: dict[str, Amount] = {}
    for name, amount in amounts.items():
        base, colon, _ = name.partition(":")
        if colon:
            typed[base] = typed.get(base, 0) + amount
    for name, amount in amounts.items():
        family, slash, rest = name.partition("/")
        base, colon, kind = rest.partition(":")
        if slash and not colon:
            amount = max(amount - typed.get(name, 0), 0)
        if not amount or not rest:
            continue
        shown = units.decimal(amount)
        if family == "gres":
            yield named(base), kind, shown
        elif family == "license":
            yield "License", rest, shown
        else:
            yield family, rest, shown


def tres(text: str) -> Mapping[str, Amount]:
    """Read ``cpu=4,mem=62.50G,energy=12`` by name; what has no amount is left out."""
    # What is requested and what is given are mostly one text, which several readers read.
    return _tres_known(text) if len(text) < _SHORT else _tres(text)


@lru_cache(MEMORY)
def _tres_known(text: str) -> Mapping[str, Amount]:
    return _tres(text)


def _tres(text: str) -> Mapping[str, Amount]:
    found: dict[str, Amount] = {}
    if text in NO_VALUE:
        return found
    for item in text.split(","):
        name, equals, amount = item.partition("=")
        if not equals or not name:
            raise InvalidValue(text, "a list of resources such as cpu=4,mem=2G")
        value = duration(amount) if ":" in amount else size(amount)
        if value is not None:
            found[name] = value
    return found


def in_all(name: str, text: str) -> str | None:
    """How many of something a TRES list tells; None of a list that cannot be read.

    >>> in_all("cpu", "billing=4,cpu=16,node=2"), in_all("cpu", "cpu"), in_all("node", "cpu=4")
    ('16', None, None)
    """
    try:
        amount = tres(text).get(name)
    except InvalidValue:
        return None
    return str(units.rounded(amount)) if amount else None


def generic_resources(text: str) -> Iterator[tuple[str, str, str]]:
    """Read AllocGRES and ReqGRES of older versions: ``gpu:a100:2,craynetwork:1``."""
    if text in NO_VALUE or text in ("0", "1"):
        return
    for item in text.split(","):
        parts = item.split(":")
        amount = parts.pop() if len(parts) > 1 else "1"
        kind = ":".join(parts[1:])
        if value := count(amount):
            yield named(parts[0]), kind, value
