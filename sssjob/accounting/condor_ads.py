"""The job ads of HTCondor's histories, whatever they are written in, as named texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from sssjob.accounting import json_objects
from sssjob.accounting.assembly import numbered
from sssjob.accounting.condor_table import COMPLETED, NAMES
from sssjob.accounting.lines import clean, legal
from sssjob.accounting.record import Bad, Skipped
from sssjob.classads import forms, long
from sssjob.classads.errors import BadAd

LINE_LIMIT = 1 << 20  # bytes
JSON, XML, NEW, LONG, TEXT = "JSON", "XML", "new", "long", "text"

_AT = {name.lower(): place for place, name in enumerate((*NAMES, "MyType"))}
_TYPE = _AT["mytype"]
_EMPTY = [""] * len(_AT)
_EXPRESSION = ("/Expr(", ")/")
_LINE = re.compile(r"\s*+([A-Za-z_][\w.]*+)\s*+=(?!=)", re.ASCII)
_BANNER = re.compile(r"\*\*\*\s*+([A-Za-z]\w*+)(?!\s*+=)")  # one that names a kind of its own
# What a script for APEL prints of an ad; each field is ended by a |.
_COLUMNS = (
    "GlobalJobId", "Owner", "RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu",
    "JobStartDate", "EnteredCurrentStatus", "ResidentSetSize_RAW", "ImageSize_RAW", "RequestCpus",
)  # fmt: skip
_NULL = ("undefined", "error", "")


class Ad(NamedTuple):
    """An ad: the line that it begins in, and the texts of NAMES."""

    line: int
    fields: list[str]


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


def read(stream: BinaryIO, form: str) -> Iterator[Ad | Skipped | Bad]:
    """Every ad of a stream, in its form."""
    if form == JSON:
        yield from _of_json(stream)
    elif form == TEXT:
        yield from _of_text(stream)
    elif form == LONG:
        yield from _of_lines(stream)
    else:
        yield from _of_others(stream, forms.XML if form == XML else forms.NEW)


def _of_json(stream: BinaryIO) -> Iterator[Ad | Skipped | Bad]:
    place_of = _Places()
    for found in json_objects.read(stream):
        if isinstance(found, Bad):
            yield found
            continue
        fields = _EMPTY.copy()
        for name, value in found.value.items():
            place = place_of[name]
            if place >= 0:
                fields[place] = str(value) if type(value) is int else _text(value)
        yield _job(found.line, fields)


class _Places(dict[str, int]):
    """Where the attribute of a name goes, in upper or lower case; -1 for those of no use here."""

    def __missing__(self, name: str) -> int:
        if len(self) > 100_000:
            self.clear()
        place = self[name] = _AT.get(name.lower(), -1)
        return place


def _text(value: Any) -> str:
    """A value as text; an expression, and what is undefined, is none."""
    if isinstance(value, str):
        if value.startswith(_EXPRESSION[0]) and value.endswith(_EXPRESSION[1]):
            return ""
        return legal(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return ""


def _job(line: int, fields: list[Any]) -> Ad | Skipped | Bad:
    """The ad of these fields, if it is that of a job."""
    kind = fields.pop()
    if kind not in ("", "Job"):
        return Skipped(line, f"{kind} ad")
    if not fields[0] and not fields[_AT["globaljobid"]]:
        return Bad(line, "no ClusterId")
    return Ad(line, fields)


def _of_others(stream: BinaryIO, form: str) -> Iterator[Ad | Skipped | Bad]:
    wrong: list[BadAd] = []
    for ad in forms.read(stream, form, on_error=wrong.append):
        yield from _faults(wrong)
        fields = _EMPTY.copy()
        for name, value in ad.items():
            if (place := _AT.get(name.lower(), -1)) >= 0:
                fields[place] = _text(value)
        yield _job(ad.line, fields)
    yield from _faults(wrong)


def _faults(wrong: list[BadAd]) -> Iterable[Bad]:
    found = [Bad(error.line, error.reason) for error in wrong]
    wrong.clear()
    return found


def _of_lines(stream: BinaryIO) -> Iterator[Ad | Skipped | Bad]:
    """Lines of the long form; an empty line or a banner ends an ad."""
    fields: list[str] | None = None
    begun, wrong = 0, ""
    for number, raw in numbered(stream, LINE_LIMIT):
        text = clean(raw)
        if not text.strip() or text.startswith(("***", "-----")):
            if fields is not None:
                yield _ended(begun, fields, wrong, text)
            fields, wrong = None, ""
            continue
        if fields is None:
            fields, begun = _EMPTY.copy(), number
        if len(raw) > LINE_LIMIT:
            wrong = wrong or f"line {number} has more than {LINE_LIMIT} bytes"
            continue
        found = _LINE.match(text)
        if found is None:
            wrong = wrong or f"line {number} is no attribute: {text[:40]!r}"
        elif (place := _AT.get(found[1].lower(), -1)) >= 0:
            try:
                fields[place] = _text(long.attribute(text, lazy=True)[1])
            except BadAd as error:
                wrong = wrong or f"line {number}: {error.reason}"
    if fields is not None:
        yield _ended(begun, fields, wrong, "")


def _ended(begun: int, fields: list[str], wrong: str, text: str) -> Ad | Skipped | Bad:
    banner = _BANNER.match(text)
    if banner:
        return Skipped(begun, f"{banner[1]} of a job")
    return Bad(begun, wrong) if wrong else _job(begun, fields)


def _of_text(stream: BinaryIO) -> Iterator[Ad | Skipped | Bad]:
    """Lines of the fields that APEL asks for."""
    for number, raw in numbered(stream, LINE_LIMIT):
        text = clean(raw).strip()
        if not text:
            continue
        parts = text.removesuffix("|").split("|")
        if len(parts) not in (len(_COLUMNS), len(_COLUMNS) + 1):
            yield Bad(number, f"{len(parts)} fields where there are {len(_COLUMNS)}")
            continue
        fields = _EMPTY.copy()
        for name, part in zip(_COLUMNS, parts, strict=False):
            fields[_AT[name.lower()]] = "" if part.lower() in _NULL else part
        fields[_AT["jobstatus"]] = COMPLETED  # such scripts select jobs that ended
        yield _job(number, fields)
