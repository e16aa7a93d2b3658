"""The job ads of HTCondor's histories, whatever they are written in, as named texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from sssjob.classads import forms, long
from sssjob.classads.errors import BadAd
from sssjob.document.files import looked_at
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.records import json_objects
from sssjob.records.cuts import cut_short
from sssjob.records.layout import Piece
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, Blocks, clean, legal
from sssjob.records.record import Bad, Noted, Skipped
from sssjob.records.values import number
from sssjob.systems.condor.accounting.table import NAMES
from sssjob.systems.condor.accounting.values import (
    COMPLETED,
    NUMBERS,
    is_expression,
    worked_out,
)

_HEAD = 1 << 14  # bytes that tell the form
JSON, XML, NEW, LONG, TEXT = "JSON", "XML", "new", "long", "text"

_READ = (*NAMES, "MyType")
_AT = {name.lower(): place for place, name in enumerate(_READ)}
_GLOBAL_ID = _AT["globaljobid"]
_NOTHING: list[Any] = [None] * len(_READ)
_LINE = re.compile(r"\s*+([A-Za-z_][\w.]*+)\s*+=(?!=)", re.ASCII)
_BANNER = re.compile(r"\*\*\*\s*+([A-Za-z]\w*+)(?!\s*+=)")  # one that names a kind of its own
# What a script for APEL prints of an ad; each field is ended by a |.
_COLUMNS = (
    "GlobalJobId", "Owner", "RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu",
    "JobStartDate", "EnteredCurrentStatus", "ResidentSetSize_RAW", "ImageSize_RAW", "RequestCpus",
)  # fmt: skip
_NULL = ("undefined", "error", "")


def form_of(head: bytes) -> str:
    """What the ads that begin so are written in, or "" for what cannot be ads of jobs."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        return XML if b"<classads" in head or b"<c>" in head else ""
    if begin.startswith((b"[", b"{")):
        rest = begin[1:].lstrip()
        return JSON if rest[:1] in (b"{", b"]", b'"', b"}") else NEW
    line = clean(begin.split(b"\n", 1)[0])
    if line.count("|") >= len(_COLUMNS) - 1 and "#" in line.partition("|")[0]:
        return TEXT
    return LONG if _LINE.match(line) or line.startswith("***") else ""


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """The values of every ad of a stream, in the form that its first bytes tell.

    Raises ``UnusableInput`` where it is in none.
    """
    head, again = looked_at(stream, _HEAD)
    form = form_of(head)
    if form == JSON:
        yield from _of_json(again, first)
    elif form in (NEW, XML):
        yield from _of_others(again, forms.XML if form == XML else forms.NEW, first)
    elif form:
        blocks = Blocks(again, first)
        yield from (_of_lines if form == LONG else _of_text)(blocks.lines())
        yield from cut_short(blocks.cut_short)
    elif head.strip():
        raise UnusableInput("no ClassAds: neither long form nor JSON nor XML", 1)


def _of_json(stream: BinaryIO, first: int) -> Iterator[Piece]:
    seen: set[str] = set()
    others: dict[str, int] = {}  # names in other cases of letters, and what they stand for
    for found in json_objects.read(stream, "", first):
        if isinstance(found, Bad | Noted):
            yield found
            continue
        line, ad = found
        if not ad.keys() <= seen:
            new = ad.keys() - seen
            seen |= new
            others |= {name: _AT[name.lower()] for name in new if name.lower() in _AT}
            others = {name: place for name, place in others.items() if _READ[place] != name}
        values = list(map(ad.get, _READ))
        for name, place in others.items():
            if values[place] is None:
                values[place] = ad.get(name)
        yield line, values


def fields_of(line: int, values: list[Any]) -> list[str] | Skipped | Bad:
    """The texts of NAMES and of WORKED_OUT, if the ad of these values is that of a job.

    Raises ``InvalidValue``.
    """
    fields = [
        ""
        if value is None
        else value
        if (kind := type(value)) is str and value[:1] != "/" and value.isprintable()
        else str(value)
        if kind is int
        else _text(value)
        for value in values
    ]
    if (of := fields.pop()) not in ("", "Job"):
        return Skipped(line, f"{of} ad")
    fields += worked_out(values)
    if values[0] is None and not fields[_GLOBAL_ID]:
        return Bad(line, "no ClusterId")
    return fields


def _text(value: Any) -> str:
    """A value as text; an expression, and what is undefined, is none."""
    if isinstance(value, str):
        return "" if is_expression(value) else legal(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return ""


def _of_others(stream: BinaryIO, form: str, first: int) -> Iterator[Piece]:
    wrong: list[BadAd] = []
    for ad in forms.read(stream, form, on_error=wrong.append):
        yield from _faults(wrong, first)
        values = _NOTHING.copy()
        for name, value in ad.items():
            if (place := _AT.get(name.lower(), -1)) >= 0:
                values[place] = _plain(value)
        yield ad.line + first - 1, values
    yield from _faults(wrong, first)


def _plain(value: Any) -> Any:
    """A value that is a number or a text; what is an expression, a list or an ad is none."""
    return value if isinstance(value, (str, int, float)) else None


def _faults(wrong: list[BadAd], first: int) -> Iterable[Bad]:
    found = [Bad(error.line + first - 1, error.reason) for error in wrong]
    wrong.clear()
    return found


def _of_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Lines of the long form; an empty line or a banner ends an ad."""
    values: list[Any] | None = None
    begun, wrong = 0, ""
    for line, text in lines:
        if not text.strip() or text.startswith(("***", "-----")):
            if values is not None:
                yield _ended(begun, values, wrong, text)
            values, wrong = None, ""
            continue
        if values is None:
            values, begun = _NOTHING.copy(), line
        if len(text) > LINE_LIMIT:
            wrong = wrong or f"line {line} is {TOO_LONG}"
            continue
        found = _LINE.match(text)
        if found is None:
            wrong = wrong or f"line {line} is no attribute: {text[:40]!r}"
        elif (place := _AT.get(found[1].lower(), -1)) >= 0:
            try:
                values[place] = _plain(long.attribute(text, lazy=True)[1])
            except BadAd as error:
                wrong = wrong or f"line {line}: {error.reason}"
    if values is not None:
        yield _ended(begun, values, wrong, "")


def _ended(begun: int, values: list[Any], wrong: str, text: str) -> Piece:
    banner = _BANNER.match(text)
    if banner:
        return Skipped(begun, f"{banner[1]} of a job")
    return Bad(begun, wrong) if wrong else (begun, values)


def _of_text(lines: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Lines of the fields that APEL asks for."""
    for line, text in lines:
        if not text.strip():
            continue
        parts = text.strip().removesuffix("|").split("|")
        if len(parts) not in (len(_COLUMNS), len(_COLUMNS) + 1):
            yield Bad(line, f"{len(parts)} fields where there are {len(_COLUMNS)}")
            continue
        values = _NOTHING.copy()
        values[_AT["jobstatus"]] = COMPLETED  # such scripts select jobs that ended
        for name, part in zip(_COLUMNS, parts, strict=False):
            values[_AT[name.lower()]] = _number(part) if name in NUMBERS else part
        yield line, values


def _number(text: str) -> Any:
    """A number, if it is one; None for the words that say that nothing is known."""
    if text.lower() in _NULL:
        return None
    try:
        return float(number(text))
    except InvalidValue:
        return text
