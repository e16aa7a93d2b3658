"""Readers that tables of several formats use: a text in, the text of a property or None out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.integers import whole
from sssjob.model import Property
from sssjob.nodes import RANGE, plain, spans
from sssjob.records import values
from sssjob.records.record import (
    Field,
    Found,
    Instead,
    Read,
    by_columns,
    in_bulk,
    numeric,
    varied,
)
from sssjob.records.record import plain as as_it_stands
from sssjob.records.texts import BulkColumn, Plain, WholeNumbers
from sssjob.records.values import count, is_unknown

_SEVERAL = re.compile(r"[\s,+~*]")
_NUMBER = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?")


def is_one_name(text: str) -> bool:
    """Whether no system takes a name for a list, a choice, all of them or a pattern.

    >>> is_one_name("r7"), is_one_name("r7,r8"), is_one_name("all")
    (True, False, False)
    """
    return text not in ("all", "others") and not _SEVERAL.search(text)


def extension(type: str, name: str) -> dict[str, str]:
    """The attributes of what the standard has no property for."""
    return {"type": type, "name": name}


def noted(type: str, name: str, text: str) -> Property:
    """What the standard has no property for, kept with its name."""
    return Property("Extension", text, extension(type, name))


def listed(names: Sequence[str], element: str = "Node") -> Found:
    """Names of hosts or features: the only one, or a List, which commas separate; None of none.

    >>> listed(["n1"])
    'n1'
    """
    if not names:
        return None
    if len(names) == 1:
        return names[0]
    text = ",".join(names)
    if text.count(",") >= len(names):
        raise InvalidValue(", ".join(names), "names that hold no comma")
    return (Property(element, text, {"aggregation": "List"}),)


def any_of(element: str, names: Sequence[str]) -> tuple[Property, ...]:
    """Names of which one is enough, as terms of a request."""
    return tuple(
        Property(element, name, ({"conj": "Or"} if index else {}) | _bracket(index, len(names)))
        for index, name in enumerate(names)
    )


def _bracket(index: int, size: int) -> dict[str, str]:
    return {"group": "-1" if index else "1"} if size > 1 and index in (0, size - 1) else {}


def only_queue(text: str) -> Found:
    """The queue that is asked for, which the job itself says; None of a choice (decision 494)."""
    names = [name for name in text.split(",") if name]
    return names[0] if len(names) == 1 else None


def queues(text: str) -> Found:
    """The queues of which one is enough, which are requested; None of one alone."""
    names = [name for name in text.split(",") if name]
    return any_of("Queue", names) if len(names) > 1 else None


def _as_they_stand(column: BulkColumn) -> BulkColumn | None:
    """Texts that are there in each record."""
    is_there = isinstance(column, WholeNumbers) or (
        isinstance(column, Plain) and column.sizes().min() > 0
    )
    return column if is_there else None


@in_bulk(_as_they_stand)
@varied
def single(text: str) -> Found:
    """A text that hardly any other record has."""
    return text


@varied
def identity(text: str) -> Found:
    """What a record is about: anything but blanks."""
    if not text.strip():
        raise InvalidValue(text, "an id")
    return text


def digits(column: BulkColumn) -> WholeNumbers | None:
    """Whole numbers above 0 without a zero before them."""
    if not isinstance(column, Plain) or not column.all_match("[1-9][0-9]{0,17}"):
        return None
    return WholeNumbers(column.array.cast("int64").to_numpy())


@in_bulk(digits)
@numeric(10**18 - 1)
def integer(text: str) -> Found:
    """A whole number of something; 0 is none.

    >>> integer("016"), integer("0")
    ('16', None)
    """
    if not (text.isdecimal() and text.isascii() and len(text) <= 18):
        raise InvalidValue(text, "a whole number")
    return text.lstrip("0") or None


@in_bulk(digits)
@numeric(10**18 - 1)
def number(text: str) -> Found:
    """A whole number, which may be 0."""
    if not (text.isdecimal() and text.isascii() and len(text) <= 18):
        raise InvalidValue(text, "a whole number")
    return text.lstrip("0") or "0"


PROCESSORS, NOT_KNOWN = "a number of processors", "how many the job had is not known"


def processors(text: str) -> Found:
    """How many processors a job had; 0 is what some print that do not know.

    Raises ``Instead`` for fewer: who counts such a job as one with one processor should know.
    """
    if text[:1] == "-" and values.number(text) < 0:
        raise Instead(text, PROCESSORS, (), NOT_KNOWN, keeps=True)
    return count(text)


def any_number(text: str) -> Found:
    """A number as it stands, whatever it counts."""
    values.number(text)
    return text


def decimal(text: str) -> Found:
    """A number that may be below 0, as of what is given back."""
    return units.decimal(values.number(text))


@numeric(10**15)
def duration(text: str) -> Found:
    """Seconds, half a second rounded up, or ``[days-]hours:minutes:seconds``; -1 is not known.

    >>> duration("59.5"), duration("1-00:00:01"), duration("-1")
    ('60', '86401', None)
    """
    return str(units.duration(text)) if ":" in text else values.seconds(text)


def truth(text: str) -> Found:
    """Whether something is so.

    >>> truth("1"), truth("False")
    ('true', 'false')
    """
    return str(units.boolean(text)).lower()


@cache
def names_of(element: str) -> Read:
    """The reader of names with commas between them, or of a range of nodes: an element of all.

    >>> names_of("Node")("n1"), names_of("Node")("n[1-2]")[0].attributes
    ('n1', {'aggregation': 'Range'})
    """

    def names(text: str) -> Found:
        found = values.names(text)
        if not any("[" in name or "]" in name for name in found):
            return listed(found, element)
        if len(found) > 1 or element != "Node":
            raise InvalidValue(text, "names without brackets, or one range of nodes")
        spans(found[0])
        return (Property(element, found[0], {"aggregation": RANGE}),)

    return names


_BY_NAME: Mapping[str, Read] = {
    "Processors": processors, "NodeCount": count, "TaskCount": count, "Charge": decimal,
    "SuspendDuration": duration,
}  # fmt: skip
_BY_TYPE: Mapping[str, Read] = {
    spec.INTEGER: values.integer, spec.FLOAT: values.amount, spec.BOOLEAN: truth,
    spec.DURATION: duration,
}  # fmt: skip
_SEVERAL_NAMES = ("Node", "Feature")


# decision 1176
def by_type(row: Field, *, is_number: bool = False) -> Read:
    """What reads a column whose row names no reader: that of the type of its property.

    Times are for the clock of a run, which the caller has. ``is_number``: no text but a number may
    stand in the column, whatever it becomes.
    """
    if row.beside or (element := spec.element(row.element)) is None:
        return as_it_stands
    if row.element in _SEVERAL_NAMES and not row.attributes:
        return names_of(row.element)
    found = _BY_NAME.get(row.element) or _BY_TYPE.get(element.type)
    return found or (any_number if is_number else as_it_stands)


_NO_FRACTION = ".000000"  # as Grid Engine prints whole numbers


def _whole_parts(texts: Sequence[str]) -> list[str] | None:
    """Whole numbers above 0 that are printed with a fraction of zeros."""
    found = [text[: -len(_NO_FRACTION)] for text in texts]
    if _NO_FRACTION.join(found) + _NO_FRACTION != "".join(texts):
        return None
    joined = "".join(found)
    plain = joined.isdecimal() and joined.isascii() and min(found) >= "1"
    return found if plain and max(map(len, found)) <= 15 else None


def _whole_kilobytes(texts: Sequence[str]) -> list[str] | None:
    """The same of bytes, in KB where that is a whole number."""
    if (found := _whole_parts(texts)) is None:
        return None
    sizes = [int(text) for text in found]
    return None if any(size & 1023 for size in sizes) else [str(size >> 10) for size in sizes]


@by_columns(_whole_parts)
@numeric(10**15)
def seconds(text: str) -> Found:
    """Seconds, a half rounded up; -1 is no value.

    >>> seconds("0.175397"), seconds("59.5"), seconds("-1")
    ('0', '60', None)
    """
    if not (found := _NUMBER.fullmatch(text)):
        if is_unknown(text):
            return None
        raise InvalidValue(text, "a number of seconds")
    return str(int(found[1]) + ((found[2] or "0") >= "5"))


@by_columns(_whole_parts)
def kilobytes(text: str) -> Found:
    """KB with or without decimals; 0 and -1 mean that nothing was measured.

    >>> kilobytes("17952.000000"), kilobytes("-1"), kilobytes("0.000000")
    ('17952', None, None)
    """
    found = _amount(text)
    if not found:
        return None
    return str(found) if isinstance(found, int) else units.decimal(found)


@by_columns(_whole_kilobytes)
def kilobytes_of_bytes(text: str) -> Found:
    """Bytes in KB, exactly; 0 and -1 mean that nothing was measured.

    >>> kilobytes_of_bytes("20668416.000000")
    '20184'
    """
    found = _amount(text)
    if not found:
        return None
    return (
        str(found >> 10)
        if isinstance(found, int) and not found & 1023
        else units.decimal(Fraction(found) / 1024)
    )


def _amount(text: str) -> int | Fraction:
    if not (found := _NUMBER.fullmatch(text)):
        if is_unknown(text):
            return 0
        raise InvalidValue(text, "an amount of memory")
    return Fraction(text) if found[2] and found[2].strip("0") else int(found[1])


def licences(
    text: str, *, between: str = ",", sign: str = ":", bare: bool = True
) -> list[tuple[str, str]] | None:
    """Licences such as ``foo:2,bar`` with the number of each; None of any other text.

    ``between`` stands between two of them, ``sign`` before a number; one without a number is one
    licence, unless such a ``bare`` name means something else.

    >>> licences("foo:2, bar"), licences("foo+2%bar", between="%", sign="+", bare=False)
    ([('foo', '2'), ('bar', '1')], None)
    """
    found = [part.strip().partition(sign) for part in text.split(between)]
    if not all(
        plain(name) and (whole(count) is not None or (bare and not count))
        for name, _, count in found
    ):
        return None
    return [(name, count or "1") for name, _, count in found]
