"""Whichever format the records are in: told by their first bytes, and said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, TypeVar

from sssjob.errors import Severity, UnusableInput
from sssjob.model import Job
from sssjob.records import AUTO, FORMATS, Format, formats, read_records
from sssjob.records.head import looked_at
from sssjob.records.lines import clean
from sssjob.records.record import Noted, Options, Outcome
from sssjob.records.roads import OBJECTS, Road

P = TypeVar("P")
J = TypeVar("J")

HEAD = 1 << 16  # bytes that are looked at

_STAMP = re.compile(rb"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];[^;\n]*;", re.ASCII)
_NAMES = re.compile(r"JobID(?:Raw)?(?:%[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_COMPLETED = re.compile(rb"JobId=\d+ UserId=")
_LSF = re.compile(rb'"[A-Z][A-Z0-9_]{2,40}" "[0-9.]+" [0-9]+ ')


class Recognised(NamedTuple):
    """A format, and what in the records tells it."""

    format: Format
    sign: str

    def __str__(self) -> str:
        """``read as pbs: lines of stamp;letter;id;text``."""
        return f"read as {self.format.name}: {self.sign}"


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record, behind a notice that says what they were taken for.

    Raises ``UnusableInput`` where nothing is recognised.
    """
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    head, again = looked_at(stream, HEAD)
    found = recognise(head)
    yield Noted(1, str(found), severity=Severity.NOTICE)
    yield from read_records(found.format, again, options, road)


def recognise(head: bytes) -> Recognised:
    """The format of records that begin so. Raises ``UnusableInput`` where it is none."""
    if not head.strip():
        raise UnusableInput("nothing to read")
    for name, sign_of in _SIGNS:
        if name in FORMATS and (sign := sign_of(head)):
            return Recognised(FORMATS[name], sign)
    for row in formats().values():
        if row.name not in _ASKED and (sign := _sign(row, head)):
            return Recognised(row, sign)
    for row in FORMATS.values():
        if (mistaken := getattr(row.load(), "mistaken", None)) and (reason := mistaken(head)):
            raise UnusableInput(reason, 1)
    begin = clean(head[:200]).strip()[:60]
    raise UnusableInput(f"no format is recognised by {begin!r}: name it (--from FORMAT)")


def _sign(row: Format, head: bytes) -> str:
    try:
        recognises = getattr(row.load(), "recognises", None)
    except UnusableInput:
        return ""  # it will be told to whoever names the format
    return str(recognises(head)) if recognises else ""


def _by_module(name: str) -> Callable[[bytes], str]:
    return lambda head: _sign(FORMATS[name], head)


def _first_line(head: bytes, comment: bytes = b"") -> bytes:
    """The first line that is neither blank nor a comment."""
    for line in head.split(b"\n"):
        text = line.strip()
        if text and not (comment and text.startswith(comment)):
            return text
    return b""


def _pbs(head: bytes) -> str:
    return "lines of stamp;letter;id;text" if _STAMP.match(_first_line(head)) else ""


def _slurm(head: bytes) -> str:
    line = clean(_first_line(head, b"#"), b"\x1c\x1d\x1e\x1f").removeprefix("\ufeff")
    first = _WORD.match(line)
    if first is None or "JobID" not in line:
        return ""
    # Between two names of columns stands what delimits them.
    rest = line[first.end() :].removeprefix("%")
    delimiter = re.match(r"[0-9]*([^A-Za-z0-9%]{1,8})", rest)
    names = line.split(delimiter[1]) if delimiter else [line]
    found = any(_NAMES.fullmatch(name) for name in names)
    return "a header line with JobID" if found else ""


def _jobcomp(head: bytes) -> str:
    return "lines of JobId=... UserId=..." if _COMPLETED.match(_first_line(head)) else ""


def _grid_engine(head: bytes) -> str:
    fields = _first_line(head, b"#").split(b":")
    numbers = sum(field.isdigit() for field in fields)
    return "lines of 43 or more fields with colons" if len(fields) > 42 and numbers > 12 else ""


def _lsf(head: bytes) -> str:
    return 'lines of "EVENT" "version" time' if _LSF.match(_first_line(head, b"#")) else ""


# fmt: off
# In this order: what has a header or a namespace first, what is told by its shape later.
_SIGNS: tuple[tuple[str, Callable[[bytes], str]], ...] = (
    ("apel",          _by_module("apel")),
    ("car",           _by_module("car")),
    ("ur",            _by_module("ur")),
    ("sss",           _by_module("sss")),
    ("slurm-json",    _by_module("slurm-json")),
    ("condor",        _by_module("condor")),
    ("slurm-jobcomp", _jobcomp),
    ("slurm",         _slurm),
    ("pbs",           _pbs),
    ("lsf",           _lsf),
    ("blah",          _by_module("blah")),
    ("lrmsinfo",      _by_module("lrmsinfo")),
    ("sge",           _grid_engine),
    ("swf",           _by_module("swf")),
)
# fmt: on
# The others, ours or not, are asked in the order of their declarations.
_ASKED = frozenset((AUTO.name, *(name for name, _ in _SIGNS)))
