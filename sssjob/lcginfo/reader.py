"""Readers of batch systems: chosen by name, their commands run; options, slots, times and JSON."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

import orjson

from sssjob import commands, registry
from sssjob.array_indices import ELEMENTS, beginning
from sssjob.commands import CommandFailed, CommandLimits
from sssjob.errors import InvalidValue, Severity, UnusableInput, unheard
from sssjob.json_text import why
from sssjob.lcginfo.jobs import READ, from_job
from sssjob.lcginfo.snapshot import (
    Pool,
    QueuedJob,
    QueueRules,
    Remark,
    Report,
    Scheduling,
    SlotReservation,
    Snapshot,
    UnusableOutput,
)
from sssjob.model import Job
from sssjob.records import read_records
from sssjob.records.builders import JobBuilder
from sssjob.records.clock import ctime
from sssjob.records.recognition import HEAD
from sssjob.records.record import JOB, Bad, Converted, Noted, Options, Skipped
from sssjob.registry import Format

TASKS_LIMIT = 10 * ELEMENTS  # array tasks of all arrays together that are counted one by one

_NO_TIME = frozenset(("", "0", "none"))  # beside what systems call a time that is not known


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """What the outputs do not say.

    ``zone`` is that of times which state none; None is UTC, which is told of jobs. ``now`` is the
    time of the snapshot, where no output tells. ``queue`` is that of jobs which name none.
    ``group`` says what jobs are grouped by: ``group``, ``account`` or ``user``.
    ``name_of_group`` names a number.
    """

    zone: tzinfo | None = None
    now: float | None = None
    queue: str = ""
    group: str = "group"
    cycle: float | None = None
    slots: int | None = None
    name_of_group: Callable[[int], str] = str


class QueueReader(ABC):
    """Takes the outputs of a batch system, and gives the snapshot that they show together.

    ``groups`` are the properties that can stand for the group, by the option; ``no_group`` is that
    of jobs which have none of them, "" where such jobs are left out; ``no_queue`` the same of their
    queue, where no option names one. ``reads`` are properties of a
    job that ``entry`` looks at beside ``sssjob.lcginfo.jobs.READ``: see ``Builder.needs``.
    """

    groups: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"group": ("Group",), "account": ("Project",), "user": ("User",)}
    )
    no_group = no_queue = ""
    reads: frozenset[str] = frozenset()

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        self.options, self.report = options, report
        self.jobs: list[QueuedJob] = []
        self.counted = 0  # tasks of arrays
        self.slots: Fraction | int | None = None
        self.free: Fraction | int | None = None
        self.pools: dict[tuple[str, ...], tuple[Fraction | int, Fraction | int]] = {}
        self.rules: list[QueueRules] = []
        self.reserved: list[SlotReservation] = []
        self.keeps = True
        self.now: float | None = None
        self.cycle: float | None = None

    @abstractmethod
    def take(self, text: str) -> None:
        """Read one output. Raises ``UnusableOutput`` if it is none that is known."""

    def read(self, format_: Format, text: str) -> Iterator[QueuedJob]:
        """The jobs of an output in a format of status, as ``sssjob status`` reads them.

        Raises ``UnusableOutput``.
        """
        stream = io.BytesIO(text.encode("utf-8", "replace"))
        builder = JobBuilder({**READ, JOB: READ[JOB] | self.reads})
        try:
            for outcome in read_records(
                format_, stream, Options(zone=self.options.zone or ""), builder
            ):
                if isinstance(outcome, Converted):
                    if entry := self.entry(outcome.job):
                        yield entry
                else:
                    self._said(outcome)
        except UnusableInput as error:
            raise UnusableOutput(str(error)) from error

    def entry(self, job: Job) -> QueuedJob | None:
        """A job as one line of lrmsinfo, by the group that was asked for."""
        options = self.options
        remarks: list[Remark] = []
        entry = from_job(
            job, queue=options.queue or self.no_queue, groups=self.groups[options.group],
            group=self.no_group, report=remarks.append,
        )  # fmt: skip
        for remark in remarks:
            self.report(remark if entry else remark._replace(severity=Severity.ERROR))
        if entry and options.group == "group" and (number := count(entry.group)) is not None:
            return entry._replace(group=options.name_of_group(number))
        return entry

    def _said(self, outcome: Bad | Skipped | Noted) -> None:
        if not isinstance(outcome, Noted):
            self.lost(outcome.reason, outcome.line)
        elif outcome.severity is Severity.WARNING and (not outcome.once or outcome.assumes_utc):
            self.report(Remark(outcome.line, outcome.message))

    def tasks(self, jobid: str, text: str) -> Iterator[int]:
        """The tasks of an array that wait, one by one; that there are more is reported."""
        array, is_whole = beginning(text)
        if not is_whole:
            self.remark(f"job {jobid!r}: more array tasks wait than {text!r} shows")
        wanted, left = min(len(array), ELEMENTS), TASKS_LIMIT - self.counted
        if not array.few and left >= wanted:
            self.remark(f"job {jobid!r}: only {ELEMENTS} array tasks are counted")
        if left < wanted:
            self.remark(
                f"job {jobid!r}: {left} of its {len(array)} array tasks are counted, since all "
                f"arrays together may have {TASKS_LIMIT}"
            )
        self.counted += min(wanted, left)
        return islice(array, min(wanted, left))

    def snapshot(self) -> Snapshot:
        """The state after everything that was taken; what the caller stated comes first."""
        options = self.options
        nactive, nfree = (None if each is None else int(each) for each in (self.slots, self.free))
        pools = tuple(Pool(queues, int(up), int(free)) for queues, (up, free) in self.pools.items())
        if options.slots is not None and options.slots != nactive:
            nactive, nfree = options.slots, None
            pools = ()
        if not any(pool.queues for pool in pools):
            pools = ()  # of all queues, as the header has it
        # "The maximum amount of real time the execution of a job in this queue may take."
        longest = {rules.name: rules.maxwalltime for rules in self.rules}
        found = Snapshot(
            tuple(
                job._replace(maxwalltime=longest.get(job.queue)) if job.maxwalltime is None else job
                for job in self.jobs
            ),
            nactive=nactive,
            nfree=nfree,
            now=self.now if options.now is None else options.now,
            cycle=self.cycle if options.cycle is None else options.cycle,
            scheduling=Scheduling(pools, tuple(self.rules), tuple(self.reserved), self.keeps),
        )
        return replace(found, nfree=found.free)

    def add_slots(
        self, up: Fraction | int, free: Fraction | int, queues: Iterable[str] = ()
    ) -> None:
        """Count the slots of one node or queue, which these queues may use; all, if none is named.

        A part of the nodes of which only sums are told may have parts of slots.
        """
        free = max(min(free, up), 0)
        self.slots = (self.slots or 0) + up
        self.free = (self.free or 0) + free
        pool = tuple(sorted(queues))
        had = self.pools.get(pool, (0, 0))
        self.pools[pool] = had[0] + up, had[1] + free

    def seen_at(self, time: float | None) -> None:
        """Remember when the snapshot was taken: the latest time that an output gives for it."""
        if time is not None and (self.now is None or time > self.now):
            self.now = time

    def lost(self, message: str, line: int = 0) -> None:
        """Report something that is left out."""
        self.report(Remark(line, message, Severity.ERROR))

    def remark(self, message: str) -> None:
        """Report something worth knowing."""
        self.report(Remark(0, message))

    def unknown(self, system: str, text: str) -> UnusableOutput:
        """The error for an output that is none of the system's."""
        shown = text.strip()[:40].splitlines()
        return UnusableOutput(
            f"output that begins with {shown[0]!r} is no output of {system}"
            if shown
            else f"an output of {system} is empty"
        )

    def time(self, text: str) -> float | None:
        """A time as seconds since the epoch, an ISO time, or as ctime prints it."""
        if text in _NO_TIME or text in registry.said_of_jobs().no_time:
            return None
        if text.isascii() and text.isdigit() and len(text) <= 12:
            return float(text)
        try:
            moment = ctime(text) or datetime.fromisoformat(text)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=self.options.zone or UTC)
            return float(int(moment.timestamp()))
        except (ValueError, OverflowError):
            raise InvalidValue(text, "a time such as 2026-11-20T14:29:34") from None


def json_object(text: str) -> dict[str, Any]:
    """The object of a JSON text. Raises ``UnusableOutput``."""
    found = json_value(text)
    if not isinstance(found, dict):
        raise UnusableOutput("the JSON is no object")
    return found


def json_value(text: str) -> Any:
    """What a JSON text holds. Raises ``UnusableOutput``."""
    with suppress(orjson.JSONDecodeError):  # NaN, and what is wrong, is for the slower one
        return orjson.loads(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableOutput(f"the JSON cannot be read: {why(error)}") from error


def span(read: Callable[[str], Fraction | int | None], text: str) -> float | None:
    """A time in seconds, as the words of a batch system have it; None is no limit.

    Raises ``InvalidValue``.
    """
    value = read(text) if text else None
    return None if value is None else float(value)


def count(text: str) -> int | None:
    """A whole number in a text, or None."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def ask(name: str, *, text: bool = False, limits: CommandLimits | None = None) -> Iterator[bytes]:
    """What the commands of a batch system print.

    Raises ``CommandFailed``, and ``UnusableInput`` for a system that has no such commands.
    """
    queue = _queue(name)
    for arguments in (text and queue.ask_text) or queue.ask:
        yield commands.run(arguments, arguments[0], limits, _environment(queue))


def ask_rules(
    name: str, limits: CommandLimits | None = None, report: Report = unheard
) -> Iterator[bytes]:
    """What the commands print that tell how slots are given away; one that fails is reported.

    Raises ``UnusableInput`` for a system that has no such commands.
    """
    queue = _queue(name)
    for arguments in queue.rules:
        try:
            yield commands.run(arguments, arguments[0], limits, _environment(queue))
        except CommandFailed as error:
            report(_less(error))


def _queue(name: str) -> registry.Queue:
    queue = registry.system(name).queue
    if queue is None:
        raise UnusableInput(f"the system {name} has no queue")
    return queue


def _environment(queue: registry.Queue) -> dict[str, str]:
    return {"LC_ALL": "C", **dict(queue.environment)}


def _less(error: Exception) -> Remark:
    return Remark(0, f"estimates know less of the scheduler: {error}", Severity.NOTICE)


def snapshot(
    name: str,
    outputs: Iterable[bytes],
    options: ReaderOptions,
    report: Report = unheard,
    rules: Iterable[bytes] = (),
) -> Snapshot:
    """The state that the outputs of a batch system show together.

    What cannot be read of ``rules``, which tell how slots are given away, is reported. Raises
    ``UnusableOutput``, and ``UnusableInput`` for a system whose queue cannot be read.
    """
    reader: QueueReader = registry.system(name).load("queue")(options, report)
    for output in outputs:
        reader.take(output.decode("utf-8", "replace"))
    for output in rules:
        try:
            reader.take(output.decode("utf-8", "replace"))
        except UnusableOutput as error:
            report(_less(error))
    return reader.snapshot()


def recognised(
    outputs: Sequence[bytes], options: ReaderOptions, report: Report = unheard
) -> tuple[str, Snapshot]:
    """The same for outputs of which nobody says what printed them, with the name of the system.

    That is the first one which knows them all; those come first whose listings of jobs the first
    bytes of some output look like. Raises ``UnusableOutput`` if none does.
    """
    for name in sorted(_queues(), key=partial(_is_unlike, outputs)):
        remarks: list[Remark] = []
        try:
            found = snapshot(name, outputs, options, remarks.append)
        except UnusableOutput:
            continue
        for remark in remarks:
            report(remark)
        return name, found
    raise UnusableOutput("no batch system is known to print this")


def _queues() -> list[str]:
    return [name for name, system in registry.all_systems().items() if system.queue is not None]


def _is_unlike(outputs: Sequence[bytes], name: str) -> bool:
    """Whether no output looks like a listing of jobs of a batch system."""
    status = registry.all_systems()[name].status
    asked = [each.load().recognises for each in status.formats] if status is not None else []
    return not any(
        recognises(each[:HEAD]) for recognises in asked if recognises for each in outputs
    )
