"""Flux: what ``flux jobs --json`` prints, of all jobs or of one, one job after another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, TypeVar

from sssjob.model import Job
from sssjob.records import json_objects
from sssjob.records.assembly import Assembly, Ready, assembled
from sssjob.records.head import looked_at
from sssjob.records.lines import legal
from sssjob.records.record import Bad, Options, Outcome, Skipped
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.flux.accounting import table

P = TypeVar("P")
J = TypeVar("J")

_HEAD = 1 << 12  # bytes that tell whether there is one job or an array of them
_ARRAY = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"jobs"\s*+:')
_KEYS = (b'"t_submit"', b'"t_depend"', b'"waitstatus"', b'"urgency"')
_INNER = "job of an instance that is a job itself"
_STATE, _RUN, _DEPENDENCIES = map(table.NAMES.index, ("state", "t_run", "dependencies"))


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each job, in its order. Raises ``UnusableInput`` for what is no JSON."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    head, again = looked_at(stream, _HEAD)
    found = json_objects.read(again, "jobs" if _ARRAY.match(head) else "")
    yield from assembled(_ready(found, options, road))


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that ``flux jobs`` printed it, or ""."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return ""
    found = [key.decode() for key in _KEYS if key in head]
    return f"a JSON object with {found[0]} and {found[1]}" if len(found) > 1 else ""


def _ready(
    found: Iterable[json_objects.Found | Bad], options: Options, road: Road[P, J]
) -> Iterator[Ready[P, J] | Skipped | Bad]:
    """The jobs with what they become; one that was never started has been given nothing."""
    started = Assembly((*table.ALWAYS, *table.STARTED), table.NAMES, road, table.TYPE)
    waiting = Assembly((*table.ALWAYS, *table.WAITING), table.NAMES, road, table.TYPE)
    for item in found:
        if isinstance(item, Bad):
            yield item
            continue
        line, job = item
        fields: list[object] = [_text(_at(job, name)) for name in table.NAMES]
        fields[_DEPENDENCIES] = _texts(job.get("dependencies"))
        if options.ended_only and fields[_STATE] != "INACTIVE":
            yield Skipped(line, "not ended")
        else:
            yield Ready(line, started if str(fields[_RUN]).strip("0.") else waiting, fields)
        yield from _inner(line, job)


def _inner(line: int, job: dict[str, Any]) -> Iterator[Skipped]:
    """The jobs of a job that is an instance of Flux (--recursive): their ids hold in it only."""
    jobs = job.get("jobs")
    for inner in jobs if isinstance(jobs, list) else ():
        yield Skipped(line, _INNER)
        if isinstance(inner, dict):
            yield from _inner(line, inner)


def _at(job: dict[str, Any], name: str) -> Any:
    outer, _, inner = name.partition(".")
    value = job.get(outer)
    return value.get(inner) if inner and isinstance(value, dict) else None if inner else value


def _text(value: Any) -> str:
    """A value as text, a number as JSON has it; "" for none, and for what is no single value."""
    if value is None or isinstance(value, dict | list):
        return ""
    return legal(value) if isinstance(value, str) else str(value)


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of a list."""
    return (
        tuple(legal(item) for item in value if isinstance(item, str))
        if isinstance(value, list)
        else ()
    )
