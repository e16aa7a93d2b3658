"""What the jobs of a store used: by SQL over rows that were made of its documents once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, NamedTuple

from sssjob.accounting.report import ROW_NAMES, SAME, JobRow, Key, Report
from sssjob.document import loads
from sssjob.errors import SSSJobError, UnusableStore
from sssjob.formats.sss import jobs_of
from sssjob.measures import left_out
from sssjob.spans import BEFORE, TIMED, Pieces, key_of, pieces
from sssjob.store import parts
from sssjob.store.used import Follow, StoreUsage, UsageRow

if TYPE_CHECKING:
    from sssjob.store import Store
    from sssjob.store.documents import PackedRows
    from sssjob.store.engine import ReadTransaction

_TOGETHER = 5000  # documents whose rows are written together

OnError = Callable[[SSSJobError], None]


class PartRows(NamedTuple):
    """The rows of the jobs of a part, the versions of its documents, and what cannot be read."""

    rows: list[UsageRow]
    versions: dict[int, int]
    damaged: list[SSSJobError]


Mapped = Callable[[Iterable["PackedRows"]], Iterator[PartRows]]


def followed(jobs: Store) -> AbstractContextManager[Follow]:
    """Keep the rows of what an import adds to a store, while it goes on; for ``Store.keep``."""
    return StoreUsage(jobs.engine, jobs.packing, ROW_NAMES).followed()


def rows_of(part: PackedRows) -> PartRows:
    """What reports read of the documents of a part."""
    found = PartRows([], {}, [])
    for stored in part.stored(found.damaged.append):
        found.versions[stored.number] = stored.version
        for job in jobs_of(loads(stored.document)):
            found.rows.append(UsageRow(stored.number, *JobRow.of(job)))
    return found


def add_to(report: Report, jobs: Store, mapped: Mapped, on_error: OnError) -> None:
    """Add the jobs of a store to a report; ``mapped`` is ``rows_of`` for many parts.

    Rows are kept for the next report, if the store may be written to. The report is of one moment.
    """
    usage = StoreUsage(jobs.engine, jobs.packing, ROW_NAMES)
    if not jobs.engine.read_only:
        # Of somebody else, in use, or on a full disk: the documents tell the same.
        with suppress(UnusableStore):
            _keep(usage, jobs, mapped)
    with jobs.engine.reading() as moment:
        if not usage.is_there:
            _add_parts(report, mapped(_packed(report, jobs, on_error)), on_error)
            return
        stale = usage.stale(moment)
        _add_groups(report, usage, moment, [*stale])
        shown = [number for number, (_, hidden) in stale.items() if not hidden]
        _add_parts(report, mapped(usage.documents(moment, shown)), on_error)


def _keep(usage: StoreUsage, jobs: Store, mapped: Mapped) -> None:
    """Make the rows that are missing. Raises ``UnusableStore``."""
    usage.make()
    with jobs.engine.reading() as moment:
        counts, stale = parts.counts(moment), usage.stale(moment)
    hidden = {number: version for number, (version, gone) in stale.items() if gone}
    if hidden:
        usage.write(hidden, [])
    shown = [number for number, (_, gone) in stale.items() if not gone]
    left = {*shown}
    for start in range(0, len(shown), _TOGETHER):
        with jobs.engine.reading() as moment:
            some = [*usage.documents(moment, shown[start : start + _TOGETHER])]
        versions: dict[int, int] = {}
        rows: list[UsageRow] = []
        for part in mapped(some):
            versions |= part.versions
            rows += part.rows
        usage.write(versions, rows)
        left -= versions.keys()
    usage.settled(counts, left)


def _packed(report: Report, jobs: Store, on_error: OnError) -> Iterator[PackedRows]:
    """All documents in parts, but for those that ended outside of the time, which are counted."""
    if not report.is_windowed:
        return jobs.packed(on_error=on_error)

    def outside(count: int) -> None:
        report.outside += count

    return jobs.ended_within(report.since, report.until, outside, on_error=on_error)


def _add_groups(
    report: Report, usage: StoreUsage, moment: ReadTransaction, without: Sequence[int]
) -> None:
    """Add the rows of all documents but some."""
    window = report.since, report.until
    least, most, outside = usage.span(moment, window, without)
    report.outside += outside
    names = [SAME.get(name, name) for name in report.by if name not in TIMED]
    times = [name for name in report.by if name in TIMED]
    cut = quotient = None
    if times:
        low, high = (0, 0) if least is None or most is None else (least, most)
        cut = pieces(report.by, report.zone, None, None, [(low, high)], report.cuts)
        quotient = cut.quotient
    fields = left_out(report.extra)
    for group in usage.groups(moment, names, quotient, window, without, fields):
        spans = _spans(cut, quotient, group.place, len(times))
        report.put(key_of(report.by, group.texts, spans), group.totals)


def _spans(cut: Pieces | None, quotient: int | None, place: int | None, count: int) -> Key:
    """What a report calls a quotient of time."""
    if cut is None or quotient is None or place is None:
        return ("",) * count
    return cut.names[cut.of(place * quotient - BEFORE)]


def _add_parts(report: Report, some: Iterable[PartRows], on_error: OnError) -> None:
    """Add rows that are not kept."""
    for part in some:
        for row in part.rows:
            report.add_row(JobRow(row.texts, row.end, row.sums))
        for error in part.damaged:
            on_error(error)
