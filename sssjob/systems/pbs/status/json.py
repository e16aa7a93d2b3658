"""What ``qstat -f -F json`` of OpenPBS and PBS Professional prints, one job after another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from sssjob.records.json_objects import MembersBeside, NamedObject, WrittenNumber, read_named, sign
from sssjob.records.layout import Piece
from sssjob.records.lines import legal
from sssjob.systems.pbs.status import table

_JOBS = "Jobs"
_BESIDE = MembersBeside({"the answer itself": ("timestamp", "pbs_version", "pbs_server")})
_KEYS = (b'"pbs_version"', b'"pbs_server"', b'"Jobs"')


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of OpenPBS printed it, or ""."""
    return sign(head, _KEYS)


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """Every job. Raises ``UnusableInput`` for what is no object."""
    for found in read_named(stream, _JOBS, first, _BESIDE):
        if isinstance(found, NamedObject):
            attributes = dict(_attributes(found.value))
            yield found.line, table.ListedJob(legal(found.name), attributes)
        else:
            yield found


def _attributes(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The attributes, those of a list by the names of both: ``Resource_List.mem``."""
    for name, value in job.items():
        if name == table.VARIABLES and isinstance(value, dict):
            yield name, tuple((legal(key), _text(each)) for key, each in value.items())
        elif name == table.VARIABLES:
            yield name, table.variables(_text(value))
        elif isinstance(value, dict):
            yield from ((f"{legal(name)}.{legal(key)}", _text(each)) for key, each in value.items())
        else:
            yield legal(name), _text(value)


def _text(value: Any) -> str:
    """A value as text: a number as it is written, and what is no single value as JSON has it.

    qstat leaves out the quotes of whatever looks like a number, names of jobs too.
    """
    if value is None:
        return ""
    if isinstance(value, WrittenNumber):
        return value.text
    return legal(value) if isinstance(value, str) else json.dumps(value)


LAYOUT = table.of_jobs(pieces, recognises)
