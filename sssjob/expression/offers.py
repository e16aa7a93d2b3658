"""Offers as JSON: objects of property name to value.

>>> [node] = read(b'[{"id": "n1", "Memory": "2 GB", "Feature": ["ib", "ssd"]}]')
>>> node.amounts["Memory"], node.names["Feature"]
(2147483648, ('ib', 'ssd'))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import BinaryIO, NoReturn

from sssjob import spec, suggestions, units
from sssjob.errors import SSSJobError, hand_over
from sssjob.expression.offer import AMOUNTS, MODES, Mode, Offer, keys
from sssjob.json_text import each_once, why
from sssjob.model import Property
from sssjob.model import text as spelled

SIZE_LIMIT = 256 << 20  # bytes of one file of offers
_VALUES_LIMIT = 100_000  # values of one property

_CONTEXTS = spec.attributes("Memory")["context"].values


class BadOffer(SSSJobError, ValueError):
    """An offer that cannot be read; ``index`` counts from 0, as in the file, None is the file."""

    def __init__(self, index: int | None, name: str, reason: str) -> None:
        super().__init__(index, name, reason)
        self.index, self.name, self.reason = index, name, reason

    def __str__(self) -> str:
        if self.index is None:
            return f"offers: {self.reason}"
        return f"offers[{self.index}]{f' ({self.name})' * bool(self.name)}: {self.reason}"


OnError = Callable[[BadOffer], None]


def read(
    source: bytes | BinaryIO, *, mode: Mode = "fit", on_error: OnError | None = None
) -> Iterator[Offer]:
    """The offers in a JSON array, or the one in a JSON object.

    Numbers are in the default unit of their property, text may name a unit ("2 GB"), an array
    holds the members of a set, null is not known. ``id`` names the offer, ``mode`` says whether
    its numbers are capacities (fit) or to be compared as they are (exact). What differs by
    context is an object: ``{"Configured": 64, "Available": 32}``; so are resources by name:
    ``{"Resource": {"matlab": 3}}``; ``{"value": ..., ATTRIBUTE: ...}`` sets any attribute.

    Raises ``BadOffer``, or hands it to ``on_error`` and goes on with the next offer.
    """
    rows = parsed(source)
    yield from made(rows if isinstance(rows, list) else [rows], mode, on_error)


def made(rows: Iterable[object], mode: Mode, on_error: OnError | None = None) -> Iterator[Offer]:
    """The offers of plain data, as ``read`` gives those of its text; it raises so, too."""
    for index, row in enumerate(rows):
        try:
            yield offer(row, index, mode)
        except BadOffer as error:
            hand_over(error, on_error)


def offer(row: object, index: int = 0, mode: Mode = "fit") -> Offer:
    """One offer of the plain data that JSON gives. Raises ``BadOffer``."""
    if not isinstance(row, dict):
        raise BadOffer(index, "", f"expected an object of property name to value, not {_kind(row)}")
    if others := [given for given in row if not isinstance(given, str)]:
        raise BadOffer(index, "", f"the key {others[0]!r} is no name of a property")
    name = str(row.get("id", index))

    def refuse(reason: object) -> NoReturn:
        raise BadOffer(index, name, str(reason))

    if not isinstance(row.get("id", ""), str | int) or isinstance(row.get("id"), bool):
        refuse(f"id is {_kind(row['id'])}, not a text")
    stated = row.get("mode", mode)
    if stated not in MODES:
        refuse(f"mode {stated!r} is neither {' nor '.join(MODES)}")
    facts: dict[str, list[Property]] = {}
    for given, value in row.items():
        if given in ("id", "mode") or value is None:
            continue
        alias = spec.alias(given, "Requested")
        element = alias.canonical if alias else given
        try:
            items = tuple(_properties(element, value))
        except ValueError as error:
            refuse(f"{given}: {error}")
        for item in items:
            for each in keys(item):
                facts.setdefault(each, []).append(item)
        if not items:
            facts[element] = []
    try:
        return Offer(name, {each: tuple(some) for each, some in facts.items()}, stated)
    except ValueError as error:
        refuse(error)


def unknown(offers: Iterable[Offer]) -> Iterator[str]:
    """What to say of each property name that no request can mean; each is said once."""
    said: set[str] = set()
    known = {**spec.properties("Requested"), **spec.properties("TaskGroup")}
    for each in offers:
        for items in each.facts.values():
            for item in items[:1]:
                if item.name not in known and item.name not in said:
                    said.add(item.name)
                    meant = suggestions.nearest(item.name, known)
                    advice = f"; did you mean {meant}?" if meant else ""
                    yield f"{item.name} is not a property that can be requested{advice}"


def parsed(source: bytes | BinaryIO) -> object:
    """What a JSON text says, with each number exactly as it is written. Raises ``BadOffer``."""
    data = source if isinstance(source, bytes) else source.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise BadOffer(None, "", f"more than {SIZE_LIMIT >> 20} MiB")
    try:
        found: object = json.loads(
            data, parse_int=_Number, parse_float=_Number, parse_constant=_Number,
            object_pairs_hook=each_once,
        )  # fmt: skip
    except RecursionError:
        raise BadOffer(None, "", "arrays or objects too deep inside each other") from None
    except UnicodeDecodeError:
        raise BadOffer(None, "", "no JSON: it is no text in UTF-8") from None
    except ValueError as error:
        raise BadOffer(None, "", f"no JSON: {why(error)}") from None
    return found


class _Number(str):
    """A number exactly as it is written, told apart from a text."""

    __slots__ = ()


def _properties(name: str, value: object) -> Iterator[Property]:
    """The properties that one member of an offer stands for."""
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)  # in one order, so that answers are the same each time
    if isinstance(value, list | tuple):
        if len(value) > _VALUES_LIMIT:
            raise ValueError(f"more than {_VALUES_LIMIT} values")
        for member in value:
            if isinstance(member, list | tuple | set | frozenset):
                raise ValueError("an array in an array")
            yield from _properties(name, member)
    elif not isinstance(value, dict):
        yield _property(name, value, {})
    elif "value" in value:
        attributes = {each: _text(inner) for each, inner in value.items() if each != "value"}
        yield _property(name, value["value"], attributes)
    elif name == "Resource":
        for inner, held in value.items():
            yield _property(name, held, {"name": inner})
    elif name in AMOUNTS and value.keys() <= set(_CONTEXTS):
        for inner, held in value.items():
            yield _property(name, held, {"context": inner})
    else:
        raise ValueError(
            f"an object without value, or with other names than {', '.join(_CONTEXTS)}"
        )


def _property(name: str, value: object, attributes: Mapping[str, str]) -> Property:
    text = _text(value)
    if name in AMOUNTS and type(value) is str and (found := units.with_unit(text)):
        text, unit = found
        sized = name in units.DEFAULT_UNITS
        attributes = {**attributes, "units": units.unit(unit) if sized else unit}
    if name in AMOUNTS and not text.isdecimal():
        units.duration(text) if name == "Duration" else units.number(text)
    return Property(name, text, attributes)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Decimal | Fraction | datetime | timedelta):
        return spelled(value)
    if not isinstance(value, str):
        raise ValueError(f"{_kind(value)} where a text or a number is due")
    return str(value)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, _Number | int | float):
        return "a number"
    if value is None:
        return "null"
    kinds = ((dict, "an object"), (list, "an array"), (str, "a text"))
    other = f"a value of Python's {type(value).__name__}"
    return next((name for kind, name in kinds if isinstance(value, kind)), other)
