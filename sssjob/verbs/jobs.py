"""The jobs of whatever was named, for programs and notebooks: as values, tables and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssjob.accounting.report import Report, grouped_by
from sssjob.document.files import source_of
from sssjob.document.sources import NamedSource, UnusableSource
from sssjob.dotted import NOTEBOOK, loaded, needed
from sssjob.errors import SSSJobError, UnusableInput, hand_over, of_kind
from sssjob.formats.sss import jobs_of_each
from sssjob.model import Block, Job
from sssjob.records import AUTO, find
from sssjob.records.clock import timezone
from sssjob.records.record import Bad, Noted
from sssjob.records.runs import Knowing, SeenRuns
from sssjob.verbs import report as adding
from sssjob.verbs.documents import by_format
from sssjob.verbs.records import RecordReading

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Given = str | PathLike[str] | Block
OnError = Callable[[SSSJobError], None]


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of sources, with the defaults of their groups; whoever asks reads the sources.

    ``given`` are files, directories and stores of job objects, accounting records of a
    ``format`` or of one that is recognised, and job objects. ``zone`` is for times of records that
    state none. What cannot be read is raised, or handed to ``on_error``, and the rest goes on.
    """

    given: tuple[Given, ...]
    format: str = AUTO.name
    zone: str = ""
    on_error: OnError | None = None

    def __post_init__(self) -> None:
        """Refuse what can be no source. Raises ``InvalidValue`` and ``UnusableInput``."""
        of_kind(self.given, tuple, "a tuple of sources")
        for each in self.given:
            of_kind(each, str | PathLike | Block, "a path or a job object")
            if not isinstance(each, Block):
                source_of(each)
        of_kind(self.format, str, "the name of a format")
        of_kind(self.zone, str, "the name of a time zone")
        of_kind(self.on_error, Callable | None, "a function of an error")  # type: ignore[arg-type]
        find(self.format)
        timezone(self.zone)

    def __iter__(self) -> Iterator[Job]:
        yield from self._jobs(SeenRuns())

    def _jobs(self, seen: Knowing) -> Iterator[Job]:
        for each in self.given:
            blocks = (each,) if isinstance(each, Block) else self._read(each, seen)
            yield from jobs_of_each(blocks, self._fail)

    def __repr__(self) -> str:
        names = [repr(each) if isinstance(each, Block) else os.fspath(each) for each in self.given]
        return f"<Jobs of {', '.join(names) or 'nothing'}>"

    def _repr_html_(self) -> str:
        """The first jobs for a notebook."""
        return str(loaded(f"{NOTEBOOK}:jobs")(self))

    def to_arrow(self) -> pyarrow.Table:
        """The jobs as a table of pyarrow, with the columns of ``convert --to parquet``.

        Needs pyarrow: ``pip install 'sssjob[parquet]'``.
        """
        _needed("pyarrow", "parquet")
        return loaded("sssjob.accounting.table:table")(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame of pandas, of Arrow's types: what is not stated is ``<NA>``.

        Needs pandas: ``pip install 'sssjob[pandas]'``.
        """
        found = _needed("pandas", "pandas")
        return self.to_arrow().to_pandas(types_mapper=found.ArrowDtype)

    def to_polars(self) -> polars.DataFrame:
        """The same as a DataFrame of polars. Needs it: ``pip install 'sssjob[polars]'``."""
        found: polars.DataFrame = _needed("polars", "polars").from_arrow(self.to_arrow())
        return found

    def report(self, *by: str) -> Report:
        """What the jobs used, added up by names such as user or month; without any, by user.

        Raises ``InvalidValue`` for a name that jobs are not grouped by.
        """
        found = Report(grouped_by(by))

        def read(report: Report, seen: Knowing, _: bool) -> None:
            for job in self._jobs(seen):
                report.add(job)

        adding.add_once(found, read)
        return found

    def _read(self, given: str | PathLike[str], seen: Knowing) -> Iterator[Block]:
        source, reading = NamedSource(os.fspath(given), Path(given)), RecordReading(self._tell)
        with ExitStack() as stack:
            for name, some in self._by_format(source, stack):
                yield from adding.ReportedJobs(
                    some,
                    self._fail,
                    name,
                    self.zone,
                    reading,
                    seen=seen,
                    compares_stores=len(self.given) > 1,
                )

    def _by_format(
        self, source: NamedSource, stack: ExitStack
    ) -> Iterator[tuple[str, Iterable[NamedSource]]]:
        if self.format != AUTO.name:
            return iter([(self.format, (source,))])
        return by_format((source,), stack, self._tell)

    def _tell(self, name: str, item: Bad | Noted) -> None:
        if isinstance(item, Bad):
            self._fail(UnusableSource(name, UnusableInput(item.reason, item.line)))

    def _fail(self, error: SSSJobError) -> None:
        hand_over(error, self.on_error)


def jobs(
    *sources: Given, format: str = AUTO.name, zone: str = "", on_error: OnError | None = None
) -> Jobs:
    """The jobs of files, directories, stores, accounting records, and of job objects.

    >>> from sssjob import Job, jobs
    >>> [job.id for job in jobs(Job.of(Id="1"), Job.of(Id="2"))]
    ['1', '2']
    """
    return Jobs(sources, format, zone, on_error)


def _needed(library: str, extra: str) -> Any:
    return needed(library, extra, "a table of jobs")
