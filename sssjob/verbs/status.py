"""What batch systems say of the jobs that they have: asked by their commands, or read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, TypeVar

from sssjob import commands, registry
from sssjob.commands import CommandFailed, CommandLimits
from sssjob.document.files import looked_at
from sssjob.errors import Severity, UnusableInput
from sssjob.records import read_records
from sssjob.records.builders import Builder
from sssjob.records.recognition import HEAD, recognise
from sssjob.records.record import Noted, Options, Outcome
from sssjob.registry import Format, Status

P = TypeVar("P")
J = TypeVar("J")

AUTO = "auto"
NO_JOBS = "no jobs: nothing was printed"


def formats(name: str = AUTO) -> tuple[Format, ...]:
    """The formats of a batch system's status, the one of that name, or all.

    Raises ``UnusableInput`` for a name that is none of these, which lists them.
    """
    known, every = registry.all_statuses(), registry.all_status_formats()
    if name == AUTO:
        return tuple(every.values())
    if status := _asked(name):
        return status.formats
    if name in every:
        return (every[name],)
    names = dict.fromkeys((*known, *every))
    raise registry.unknown(name, "system or format of status", names, lambda row: row.status)


def require_asked(name: str) -> None:
    """Raise ``UnusableInput`` for what is no system that can be asked."""
    status = _asked(name)
    if status is None or not status.ask:
        raise UnusableInput(f"{name!r} is no system that can be asked")


def asked(name: str, limits: CommandLimits | None = None) -> BinaryIO:
    """What the commands of a batch system print.

    Of several ways to ask the first counts that works. Raises ``CommandFailed`` where none does,
    and ``UnusableInput`` for what cannot be asked.
    """
    require_asked(name)
    status = _asked(name)
    assert status is not None
    environment = {"LC_ALL": "C", **dict(status.environment)}
    failed: CommandFailed | None = None
    for way in status.ask:
        try:
            printed = [commands.run(each, " ".join(each), limits, environment) for each in way]
        except CommandFailed as error:
            failed = error
            if error.status is None:  # it is not there, or it hangs
                raise
        else:
            return io.BytesIO(b"\n".join(printed))
    assert failed is not None
    raise failed


def options(name: str) -> Options:
    """How to read what the commands of a system print: its environment may state the zone."""
    status = _asked(name)
    return Options(zone=dict(status.environment).get("TZ", "") if status else "")


def _asked(name: str) -> Status | None:
    """What a batch system says of its jobs, by a word for it."""
    system = registry.called(name)
    return system.status if system is not None else None


def outcomes(
    stream: BinaryIO, rows: Sequence[Format], options: Options, builder: Builder[P, J]
) -> Iterator[Outcome[J]]:
    """What becomes of each job of an output in one of some formats; an empty one has no jobs.

    Raises ``UnusableInput`` where the output is in none of them.
    """
    head, again = looked_at(stream, HEAD)
    if not head.strip():
        yield Noted(1, NO_JOBS, severity=Severity.NOTICE)
        return
    found = rows[0] if len(rows) == 1 else recognise(head, rows).format
    yield from read_records(found, again, options, builder)
