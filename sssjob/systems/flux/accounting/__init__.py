"""Flux: what ``flux jobs --json`` prints, of all jobs or of one, one job after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from sssjob.records.json_objects import MembersBeside, sign
from sssjob.records.json_parts import objects
from sssjob.records.layout import (
    NEVER,
    NO_STATE,
    KnownColumns,
    Layout,
    Read,
    Record,
    RunKey,
    alone,
    goes_on,
    mapping,
)
from sssjob.records.lines import legal
from sssjob.records.record import Noted, Skipped
from sssjob.records.unread import unread
from sssjob.states import COMPLETED
from sssjob.systems.flux import words
from sssjob.systems.flux.accounting import table

_ARRAY = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"jobs"\s*+:')
_NONE = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"jobs"\s*+:\s*+\[\s*+\]\s*+\}\s*+')
_KEYS = (b'"t_submit"', b'"t_depend"', b'"waitstatus"', b'"urgency"')
_INNER = "job of an instance that is a job itself"
_NEVER = (*table.NAMES, NEVER)
_EXCEPTION = "exception"
_IDS = tuple(map(table.NAMES.index, ("id", "jobid")))
_STATE, _RUN, _OVER, _DEPENDENCIES, _RESULT = map(
    table.NAMES.index, ("state", "t_run", "t_inactive", "dependencies", "result")
)
_OF_STARTED = ("COMPLETED", "TIMEOUT")  # results; a job that waits may fail, or be cancelled


def array(head: bytes) -> str:
    """Where the jobs stand: in an array, or there is one job alone."""
    return "jobs" if _ARRAY.match(head) else ""


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that ``flux jobs`` printed it, or ""."""
    return "an object with no jobs" if _NONE.fullmatch(head) else sign(head, _KEYS)


def records(line: int, job: dict[str, Any]) -> list[Read]:
    """A job, and those within it; one that was never started has been given nothing."""
    fields: list[Any] = [_text(_at(job, name)) for name in table.NAMES]
    for place in _IDS:
        if isinstance(job.get(table.NAMES[place]), dict | list):
            fields[place] = ""  # which is no id
    fields[_DEPENDENCIES] = _texts(job.get("dependencies"))
    has_run = fields[_RUN].strip("0.") or fields[_RESULT] in _OF_STARTED
    names = table.NAMES if has_run else _NEVER
    notes = unread(line, "keys of a job", [*_keys(job)], table.KNOWN)
    if not fields[_STATE]:
        notes += (Noted(line, NO_STATE, once=True),)
    elif words.STATES.get(fields[_STATE], COMPLETED) != COMPLETED and table.tells_a_time(
        fields[_OVER]
    ):
        fields[_OVER] = ""
        notes += (goes_on(line),)
    record = Record(line, names, fields, fields[_STATE] == "INACTIVE", notes=notes)
    return [record, *_inner(line, job)]


def _keys(job: dict[str, Any]) -> Iterator[str]:
    """The keys that say something, those of an exception with its name."""
    for name, value in job.items():
        if name == _EXCEPTION and isinstance(value, dict):
            yield from (f"{name}.{key}" for key in value)
        elif name != _EXCEPTION or value:
            yield name


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
    """A value as text, a number and what is no single value as JSON has it; "" for none."""
    if value is None or value == {} or value == []:
        return ""
    if isinstance(value, dict | list):
        return legal(json.dumps(value))
    return legal(value) if isinstance(value, str) else str(value)


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or the only one."""
    return tuple(filter(None, map(_text, value if isinstance(value, list) else (value,))))


LAYOUT = Layout(
    type=table.TYPE,
    cut=objects(array, MembersBeside()),
    reader=alone(records),
    rows=mapping((*table.ALWAYS, *table.STARTED), (*table.ALWAYS, *table.WAITING)),
    known=KnownColumns(table.NAMES),
    run=RunKey("t_submit", "t_run", "t_inactive"),
    recognises=recognises,
)
