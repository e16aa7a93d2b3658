"""The state of a batch system: asked by its commands, or read from whatever was named.

Sources are outputs of a batch system, all of which are parts of one state; or documents, records
and ledgers of jobs; or stores; or lrmsinfo itself.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from sssjob import registry
from sssjob.commands import OUTPUT_LIMIT, CommandLimits
from sssjob.document import opened, read
from sssjob.document.files import looked_at
from sssjob.document.sources import NamedSource, content, naming
from sssjob.errors import UnreadableDocument, UnusableInput, unheard
from sssjob.lcginfo import jobs, lrmsinfo, reader
from sssjob.lcginfo.reader import ReaderOptions
from sssjob.lcginfo.snapshot import (
    QueuedJob,
    Report,
    Snapshot,
    UnusableOutput,
    about_source,
    unread,
)
from sssjob.model import Block
from sssjob.records.clock import timezone
from sssjob.records.recognition import HEAD
from sssjob.records.record import Options
from sssjob.users import group_name
from sssjob.verbs import documents
from sssjob.verbs.records import Tell, nothing

if TYPE_CHECKING:
    from sssjob.lcginfo.backtest import Past

AUTO = "auto"
DOCUMENTS, STORE, LRMSINFO = "sss", "store", "lrmsinfo"
KINDS = (DOCUMENTS, STORE, LRMSINFO)  # what is no output of a batch system
DAY = 86400


E = TypeVar("E", covariant=True)


class EntriesOf(Protocol[E]):
    """What makes entries of job objects, such as ``jobs.from_blocks``."""

    def __call__(self, blocks: Iterable[Block], /, *, queue: str, report: Report) -> Iterable[E]:
        """The entries; ``queue`` is that of jobs that name none."""


def _nobody(name: str) -> Report:
    return unheard


@dataclass(frozen=True, slots=True)
class QueueReading:
    """How sources are read, and whom to tell of what.

    ``about`` gives whom to tell of the source of a name, or of a batch system. ``tell`` is told of
    records of accounting. Of a store jobs count, too, that ended at most ``done_within`` seconds
    before the time of the state.
    """

    options: ReaderOptions = field(default_factory=ReaderOptions)
    about: Callable[[str], Report] = _nobody
    tell: Tell = nothing
    done_within: int = DAY

    def shown(
        self, kind: str, sources: Sequence[NamedSource], *, text: bool = False,
        limits: CommandLimits | None = None,
    ) -> Snapshot:  # fmt: skip
        """What sources show; without any, what the commands of the batch system that it names do.

        Raises what ``asked`` and ``read`` do.
        """
        if sources or not is_asked(kind):
            return self.read(kind, sources)
        return self.asked(kind, text=text, limits=limits)

    def asked(
        self, name: str, *, text: bool = False, limits: CommandLimits | None = None
    ) -> Snapshot:
        """What the commands of a batch system show; ``text`` where JSON is usual.

        Raises ``CommandFailed``, ``UnusableOutput``, and ``UnusableInput`` for what is no system.
        """
        report = self.about(name)
        outputs = list(reader.ask(name, text=text, limits=limits))
        rules = reader.ask_rules(name, limits, report)
        queue = registry.system(name).queue
        zone = dict(queue.environment).get("TZ") if queue is not None else None
        options = self.options
        if zone and options.zone is None:
            options = replace(options, zone=timezone(zone))
        return _dated(reader.snapshot(name, outputs, options, report, rules))

    def read(self, kind: str, sources: Sequence[NamedSource]) -> Snapshot:
        """What sources show together: one of ``KINDS``, what a batch system printed, or ``auto``.

        Raises ``OSError`` and ``SSSJobError``.
        """
        if kind == AUTO:
            kind, sources = recognised(sources)
        if kind == STORE:
            return self._of(self._stores(sources))
        if kind == LRMSINFO:
            return self._lrmsinfo(sources)
        with ExitStack() as stack:
            if kind == DOCUMENTS:
                return self._of(self._documents(sources, stack))
            return self._printed(kind, sources, stack)

    def _printed(self, name: str, sources: Sequence[NamedSource], stack: ExitStack) -> Snapshot:
        """What a batch system printed; of ``auto`` the one that prints this, or such records."""
        outputs = [content(source, OUTPUT_LIMIT) for source in sources]
        names = ", ".join(source.name for source in sources)
        if name != AUTO:
            with about_source(names):
                return _dated(reader.snapshot(name, outputs, self.options, self.about(name)))
        try:
            return _dated(reader.recognised(outputs, self.options, self.about(names))[1])
        except UnusableOutput as error:
            for source, each in zip(sources, outputs, strict=True):
                with naming(source.name):
                    if not documents.recognise(each):
                        raise UnusableOutput(f"{names}: {error}") from error
        again = [
            source._replace(given=io.BufferedReader(io.BytesIO(each)))
            for source, each in zip(sources, outputs, strict=True)
        ]
        return self._of(self._documents(again, stack))

    def past(self, sources: Iterable[NamedSource]) -> list[Past]:
        """The jobs of documents, records, ledgers and stores that have run, as one log: those that
        were ready first come first.

        Raises ``OSError`` and ``SSSJobError``.
        """
        from sssjob.lcginfo import backtest  # with estimators, which a state needs not

        with ExitStack() as stack:
            found = self._each(sources, stack, backtest.history)
        return sorted(found, key=lambda job: job.ready)

    def _documents(self, sources: Iterable[NamedSource], stack: ExitStack) -> list[QueuedJob]:
        return self._each(sources, stack, jobs.from_blocks)

    def _each(
        self, sources: Iterable[NamedSource], stack: ExitStack, entries_of: EntriesOf[E]
    ) -> list[E]:
        """What is made of the job objects of each source, in one list."""
        entries: list[E] = []
        options = Options(self.options.zone or "")
        for name, source in documents.streams(sources, stack, self.tell, options):
            report = self.about(name)
            blocks = read(source, on_error=_as_remarks(report))
            entries += entries_of(blocks, queue=self.options.queue, report=report)
        return entries

    def _stores(self, sources: Iterable[NamedSource]) -> list[QueuedJob]:
        from sssjob import store  # it takes long to import, and most sources are none

        now = time.time() if self.options.now is None else self.options.now
        entries: list[QueuedJob] = []
        for address, given in sources:
            if not isinstance(given, Path):
                raise UnusableInput("name a store: --from store FILE")
            with store.open(address, read_only=True) as stored:
                entries += jobs.from_store(
                    stored, since=int(now) - self.done_within, queue=self.options.queue,
                    report=self.about(stored.address),
                )  # fmt: skip
        return entries

    def _lrmsinfo(self, sources: Sequence[NamedSource]) -> Snapshot:
        options = self.options
        report = self.about(", ".join(source.name for source in sources))
        joined = b"\n".join(content(source, OUTPUT_LIMIT) for source in sources)
        found = lrmsinfo.read(io.BytesIO(joined), report)
        cycle = found.cycle if options.cycle is None else options.cycle
        if options.slots is not None:
            found = replace(found, nactive=options.slots, nfree=None)
        return replace(found, nfree=found.free, cycle=cycle)

    def _of(self, entries: Sequence[QueuedJob]) -> Snapshot:
        """The snapshot of job objects, which say nothing of slots."""
        options = self.options
        found = Snapshot(tuple(entries), options.slots, None, options.now, options.cycle)
        return _dated(replace(found, nfree=found.free))


def is_asked(kind: str) -> bool:
    """Whether a kind is a batch system, whose commands are run where no source is named."""
    return kind not in (AUTO, *KINDS)


def recognised(sources: Sequence[NamedSource]) -> tuple[str, Sequence[NamedSource]]:
    """What sources are, and the sources from their beginning: one of ``KINDS``, or ``auto`` for
    what batch systems print, of which each source may be a part.

    Raises ``OSError`` and ``SSSJobError``.
    """
    found = [_kind(source) for source in sources]
    kinds = {kind for kind, _ in found}
    again = [source for _, source in found]
    if kinds == {DOCUMENTS, STORE}:
        return DOCUMENTS, again
    return (kinds.pop() if len(kinds) == 1 else AUTO), again


def _kind(source: NamedSource) -> tuple[str, NamedSource]:
    if source.is_store:
        return STORE, source
    if source.is_directory or source.is_ledger:
        return DOCUMENTS, source
    if isinstance(source.given, Path):
        with naming(source.name), opened(source.given) as stream:
            head = stream.read(HEAD)
    else:
        head, stream = looked_at(source.given, HEAD)
        source = source._replace(given=stream)
    if lrmsinfo.begins(head):
        return LRMSINFO, source
    return (DOCUMENTS if documents.are_documents(head) else AUTO), source


def name_of_group(number: int) -> str:
    """The name that a group has on this machine, or its number."""
    return group_name(number) or str(number)


def _as_remarks(report: Report) -> Callable[[UnreadableDocument], None]:
    """What tells why a job object cannot be read, as a remark."""

    return lambda error: report(unread(error))


def _dated(snapshot: Snapshot) -> Snapshot:
    """A snapshot of which nobody said when it was taken was taken now."""
    return snapshot if snapshot.now is not None else replace(snapshot, now=int(time.time()))
