"""What ``qstat -f -F json`` of OpenPBS and PBS Professional prints, one job after another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, TypeVar

from sssjob.model import Job
from sssjob.records.json_objects import Named, read_named
from sssjob.records.lines import legal
from sssjob.records.record import Bad, Options, Outcome
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.pbs.status import table

P = TypeVar("P")
J = TypeVar("J")

_JOBS = "Jobs"
_KEYS = (b'"pbs_version"', b'"pbs_server"', b'"Jobs"')


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each job, in its order. Raises ``UnusableInput`` for what is no object."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    return table.outcomes(_listed(stream), options, road)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of OpenPBS printed it, or ""."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return ""
    found = [key.decode() for key in _KEYS if key in head]
    return f"a JSON object with {found[0]} and {found[1]}" if len(found) > 1 else ""


def _listed(stream: BinaryIO) -> Iterator[table.Listed | Bad]:
    for found in read_named(stream, _JOBS):
        if isinstance(found, Named):
            yield table.Listed(found.line, legal(found.name), dict(_attributes(found.value)))
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
    """A value as text: a number, and what is no single value, as JSON has it."""
    if value is None:
        return ""
    return legal(value) if isinstance(value, str) else json.dumps(value)
