"""Pieces of usage records as XML text, always escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache

from sssjob import nodes, units
from sssjob.accounting.writers.losses import NOT_WHOLE, TakenJob
from sssjob.accounting.writers.parts import EnclosingElement, RecordPart
from sssjob.accounting.writers.writer import WriterOptions
from sssjob.document.text import escape, escaped, quoted
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.formats.usage_values import PROCESSOR_TIME
from sssjob.integers import LARGEST
from sssjob.model import Property, stripped
from sssjob.records.builders import Column, Tagged

HOSTS = 4096  # of one job
TAIL = "</urf:UsageRecords>\n"

# What the schema of GFD.98 takes for a domain name.
_DOMAIN = re.compile(
    r"([a-zA-Z0-9][a-zA-Z0-9'\-]*[a-zA-Z0-9]\.)*[a-zA-Z0-9][a-zA-Z0-9'\-]*[a-zA-Z0-9]"
)
_DOMAIN_LENGTH = 255
HOLE = "\0"  # stands for a text in what is written around it; no document holds it
_EPOCH = date(1970, 1, 1)
TIME_DIGITS = 11  # of any second up to the year 5138
_DIGITS = 18  # of any number that is not too large
_MEASURED = ("units", "metric")  # the attributes of an amount
_LISTED = ("aggregation", "delimiter", "count")  # the attributes of nodes
_STORAGE = ("B", "KB", "MB", "GB", "PB", "EB")  # without TB, says the schema
_SMALLER = ("EB", "PB", "TB", "GB", "MB", "KB", "B")


def head(namespace: str) -> str:
    """What stands before usage records of this namespace; ``TAIL`` stands behind them."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urf:UsageRecords xmlns:urf="{namespace}">\n'


class ElementWriter:
    """Elements of one namespace, under a prefix."""

    def __init__(self, prefix: str, any_host: bool = False) -> None:
        self.prefix, self.any_host = prefix, any_host

    def element(self, name: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
        """An element with text; "" for an empty text."""
        if text == "":
            return ""
        tag = f"{self.prefix}:{name}"
        return f"<{tag}{self.attributes(attributes or {})}>{escape(text)}</{tag}>"

    def around(self, name: str, inner: str, attributes: Mapping[str, str] | None = None) -> str:
        """An element with elements; "" without any and without attributes."""
        tag = f"{self.prefix}:{name}"
        if not inner:
            return f"<{tag}{self.attributes(attributes)}/>" if attributes else ""
        return f"<{tag}{self.attributes(attributes or {})}>{inner}</{tag}>"

    def attributes(self, values: Mapping[str, str]) -> str:
        """Attributes that have a value."""
        return "".join(
            f" {self.prefix}:{name}={quoted(value)}" for name, value in values.items() if value
        )

    def text(self, name: str, as_: str = "") -> RecordPart:
        """A property as an element."""
        element = as_ or name

        def many(texts: Sequence[str], attributes: Mapping[str, str]) -> Column | None:
            found = None if attributes else plain_texts(texts)
            return None if found is None else self._tagged(element, HOLE, escaped(found))

        return RecordPart((name,), lambda job, _: self.element(element, job.text(name)), many=many)

    def duration(self, name: str, as_: str, **attributes: str) -> RecordPart:
        """Seconds as an ISO 8601 duration."""

        def write(job: TakenJob, _: WriterOptions) -> str:
            value = job.amount(name)
            return "" if value is None else self.element(as_, f"PT{value}S", attributes)

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            fits = not told and are_numbers(texts)
            return self._tagged(as_, f"PT{HOLE}S", texts, attributes) if fits else None

        return RecordPart((name,), write, many=many)

    def time(self, name: str, as_: str, **attributes: str) -> RecordPart:
        """A time as xsd:dateTime."""

        def write(job: TakenJob, _: WriterOptions) -> str:
            value = job.time(name)
            return "" if value is None else self.element(as_, iso(value), attributes)

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            if told or not are_numbers(texts) or len(max(texts, key=len)) > TIME_DIGITS:
                return None
            return self._tagged(as_, HOLE, [iso(int(text)) for text in texts], attributes)

        return RecordPart((name,), write, many=many)

    def integer(self, name: str, as_: str) -> RecordPart:
        """A whole number, of either sign."""

        def write(job: TakenJob, _: WriterOptions) -> str:
            value = job.integer(name)
            return "" if value is None else self.element(as_, str(value))

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            return self._tagged(as_, HOLE, texts) if not told and are_numbers(texts) else None

        return RecordPart((name,), write, many=many)

    def number(self, job: TakenJob, item: Property, as_: str, attributes: Mapping[str, str]) -> str:
        """A number of either sign as xsd:float."""
        return self.element(
            as_, stripped(item.text) if job.number(item, signed=True) else "", attributes
        )

    def count(self, name: str, *held: str) -> RecordPart:
        """A positive number; the parts of a job on several machines are added up.

        ``held`` are attributes that the element has, too, which are numbers.
        """

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            fits = not told and are_numbers(texts) and "0" not in texts
            return self._tagged(name, HOLE, texts) if fits else None

        return RecordPart((name,), lambda job, _: self._counted(job, name, held), many=many)

    # decision 710
    def processor_time(self) -> RecordPart:
        """The seconds of all processors, where no number of them says it for the whole Duration.

        Only a ``duration`` makes that so, and jobs that have one are written one by one.
        """

        def write(job: TakenJob, _: WriterOptions) -> str:
            seconds = job.processor_time()
            text = "" if seconds is None else f"PT{seconds}S"
            return self.element("TimeDuration", text, {"type": PROCESSOR_TIME})

        return RecordPart((), write)

    def _counted(self, job: TakenJob, name: str, held: Sequence[str]) -> str:
        amounts: list[tuple[Property, int | Fraction]] = []
        found = job.all(name, "group")
        for item in found:
            try:
                value = job.for_the_whole(item)
            except InvalidValue as error:
                job.lose(item, str(error))
                continue
            is_whole = isinstance(value, int) or "duration" in item.attributes
            if not isinstance(value, int | Fraction) or not is_whole or value <= 0:
                job.lose(item, "no positive whole number")
            else:
                amounts.append((item, value))
        total = units.plain(sum((Fraction(value) for _, value in amounts), Fraction(0)))
        fits = isinstance(total, int) and total <= LARGEST
        for item, _ in amounts if not fits else ():
            job.lose(item, "too large a number" if total > LARGEST else NOT_WHOLE)
        attributes = {}
        for key in held if len(found) == 1 else ():
            if _is_number(found[0].attributes.get(key, "")):
                attributes[key] = stripped(job.hold(found[0], key))
        return self.element(name, str(total) if fits and total else "", attributes)

    def volumes(self, name: str, **attributes: str) -> RecordPart:
        """Amounts with their metric, in the largest unit at or below their own that is whole."""

        def write(job: TakenJob, _: WriterOptions) -> str:
            return "".join(
                volume(item.text, item.attributes)
                for item in job.all(name, *_MEASURED)
                if _is_volume(job, item)
            )

        def volume(text: str, told: Mapping[str, str]) -> str:
            size, unit = _in_units(text, told.get("units") or units.DEFAULT_UNITS.get(name, ""))
            values = {"storageUnit": unit, "metric": told.get("metric", "").lower(), **attributes}
            return self.element(name, size, values)

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            try:
                return None if {*told} - {*_MEASURED} else [volume(text, told) for text in texts]
            except InvalidValue:
                return None

        return RecordPart((name,), write, many=many, is_each=True)

    def hosts(self) -> RecordPart:
        """The nodes of a job, each as a host, or as a resource where it has no domain name."""

        def write(job: TakenJob, _: WriterOptions) -> str:
            return "".join(
                self.host(name, "Host")
                for item in job.all("Node", *_LISTED)
                for name in _hosts(job, item)
            )

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            if {*told} - {*_LISTED}:
                return None
            try:
                return [
                    "".join([self.host(name, "Host") for name in _names(item)])
                    for item in (Property.read("Node", text, told) for text in texts)
                ]
            except (InvalidValue, LimitExceeded):
                return None

        return RecordPart(("Node",), write, many=many, is_each=True)

    def group(self, name: str, *parts: RecordPart | EnclosingElement) -> EnclosingElement:
        """An element around parts."""
        return EnclosingElement(f"{self.prefix}:{name}", parts)

    def _tagged(
        self, name: str, around: str, texts: Sequence[str],
        attributes: Mapping[str, str] | None = None,
    ) -> Column:  # fmt: skip
        """Elements with texts in the hole of what is around them."""
        before, behind = self.element(name, around, attributes).split(HOLE)
        return Tagged(before, texts, behind)

    def host(self, name: str, as_: str) -> str:
        """A host; where it has to be a domain name and is none, a resource of that description."""
        if self.any_host or _is_domain(name):
            return self.element(as_, name)
        return self.element("Resource", name, {"description": as_})


def iso(seconds: int) -> str:
    """A time as xsd:dateTime.

    >>> iso(1051557713)
    '2003-04-28T19:21:53Z'
    """
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    return f"{_day(days)}T{hours:02}:{rest // 60:02}:{rest % 60:02}Z"


@lru_cache(4096)
def _day(days: int) -> str:
    return (_EPOCH + timedelta(days)).isoformat()


@lru_cache(4096)
def _is_domain(name: str) -> bool:
    return len(name) <= _DOMAIN_LENGTH and _DOMAIN.fullmatch(name) is not None


def are_numbers(texts: Sequence[str]) -> bool:
    """Whether all texts are whole numbers of no sign as they are printed, and not too large."""
    joined = "".join(texts)
    if not (joined.isdecimal() and joined.isascii()) or len(max(texts, key=len)) > _DIGITS:
        return False
    return min(texts) >= "1" or not any(text[0] == "0" and text != "0" for text in texts)


def plain_texts(texts: Sequence[str]) -> Sequence[str] | None:
    """Texts without white space around them, or None where one is nothing else, or of old lines."""
    joined = "".join(texts)
    if joined.split(None, 1) == [joined]:
        return texts
    found = [*map(stripped, texts)]
    return found if all(found) and "\r" not in joined else None


def _is_number(text: str) -> bool:
    try:
        return units.number(text) >= 0
    except InvalidValue:
        return False


def _is_volume(job: TakenJob, item: Property) -> bool:
    """Whether an amount can be written; what cannot is lost."""
    unit = item.attributes.get("units") or units.DEFAULT_UNITS.get(item.name, "")
    try:
        _in_units(item.text, unit)
    except _NoVolume as error:
        job.lose(item, error.text)
        return False
    except InvalidValue as error:
        job.lose(item, str(error))
        return False
    return True


class _NoVolume(InvalidValue):
    """An amount that no usage record can hold; its text says why."""

    def __init__(self, why: str) -> None:
        super().__init__(why, "an amount")


@lru_cache(4096)
def _in_units(text: str, unit: str) -> tuple[str, str]:
    """An amount in the largest unit at or below its own in which it is whole.

    Raises ``InvalidValue``.
    """
    if not unit:
        raise InvalidValue(text, "an amount with units")
    unit = units.unit(unit)
    size = round(units.bytes_of(text, unit))
    if not 1 <= size <= LARGEST:
        raise _NoVolume("no positive whole number" if size < 1 else "too large a number")
    start = _SMALLER.index(unit) if unit in _SMALLER else 0
    for smaller in _SMALLER[start:]:
        scale = 1 << (10 * (len(_SMALLER) - 1 - _SMALLER.index(smaller)))
        if smaller in _STORAGE and size % scale == 0:
            return str(size // scale), smaller
    raise AssertionError(text)  # any size is whole in bytes


def _hosts(job: TakenJob, item: Property) -> Sequence[str]:
    try:
        return _names(item)
    except _NoHosts as error:
        job.lose(item, error.text)
    except (InvalidValue, LimitExceeded) as error:
        job.lose(item, str(error))
    return ()


class _NoHosts(InvalidValue):
    """What stands for nodes and is no list of them; its text says so."""


def _names(item: Property) -> Sequence[str]:
    """The names of nodes. Raises ``InvalidValue`` and ``LimitExceeded``."""
    if "aggregation" not in item.attributes:
        return (stripped(item.text),)
    found = nodes.expand(item)
    if not isinstance(found, nodes.Names) or len(found) > HOSTS:
        raise _NoHosts(f"no list of at most {HOSTS} names", "names of nodes")
    return [*found]
