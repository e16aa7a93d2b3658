"""A ledger for programs and notebooks: its rows as tables, read when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sssjob.accounting.report import Report, grouped_by
from sssjob.accounting.valuing import Valuation
from sssjob.document.files import source_of
from sssjob.dotted import needed
from sssjob.errors import InvalidValue, of_kind
from sssjob.ledger import questions
from sssjob.ledger import report as adding
from sssjob.ledger.engine import RUNS, told_of
from sssjob.ledger.ledger import Ledger
from sssjob.measures import Histograms, Percentiles, told_besides
from sssjob.records.clock import timezone

if TYPE_CHECKING:
    import pandas
    import polars

_LONGEST = 86_400  # seconds
Given = Sequence[Any] | Mapping[str, Any]  # values of $1, $2 or of $name in a question


@dataclass(frozen=True, slots=True)
class Rows:
    """What a question finds in a ledger; each method reads the ledger anew.

    What is not stated is null. A sum of whole numbers is a decimal of Arrow, and exact. Every
    method raises ``UnusableInput`` for what is not one SELECT, ``LimitExceeded`` where it takes
    longer than ``seconds``, and ``UnusableStore``, also where a file of the ledger is damaged.
    """

    ledger: Ledger
    text: str
    given: Given | None = None
    seconds: float | None = questions.SECONDS
    says: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The table of ``to_arrow`` in pieces, of which one is in memory."""
        with self.opened() as (_, found):
            yield from found

    def to_arrow(self) -> pa.Table:
        """The rows as a table of pyarrow."""
        with self.opened() as (fields, found):
            return pa.Table.from_batches([*found], fields)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame of pandas, of Arrow's types: what is not stated is ``<NA>``.

        Needs pandas: ``pip install 'sssjob[pandas]'``.
        """
        found = needed("pandas", "pandas", "a table of jobs")
        return self.to_arrow().to_pandas(types_mapper=found.ArrowDtype)

    def to_polars(self) -> polars.DataFrame:
        """The same as a DataFrame of polars. Needs it: ``pip install 'sssjob[polars]'``."""
        library = needed("polars", "polars", "a table of jobs")
        found: polars.DataFrame = library.from_arrow(self.to_arrow())
        return found

    @contextmanager
    def opened(self) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """The fields of the table, and its pieces as they come."""
        with questions.in_batches(self.ledger, self.text, self.given, self.seconds) as found:
            fields, batches = found
            told = pa.schema(each.with_metadata(self.says.get(each.name)) for each in fields)
            yield told, (pa.RecordBatch.from_arrays(it.columns, schema=told) for it in batches)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a ledger, with the columns of the table ``runs`` of ``sssjob ledger sql``.

    Nothing is read before somebody asks. A name that is no column raises ``InvalidValue``; what
    else is raised, ``Rows`` says.
    """

    ledger: Ledger

    def __repr__(self) -> str:
        return f"<Runs of {self.ledger.home}>"

    def select(self, *columns: str) -> Rows:
        """Every run, with these columns or all. Their metadata says the unit and the meaning."""
        known = told_of(RUNS)
        for name in columns:
            of_kind(name, str, "the name of a column")
            if name not in known:
                raise InvalidValue(name, f"a column of a ledger: {', '.join(known)}")
        wanted = dict.fromkeys(columns or known)
        names = ", ".join(f'"{name}"' for name in wanted)
        says = {name: known[name] for name in wanted}
        return Rows(self.ledger, f"SELECT {names} FROM {RUNS}", seconds=None, says=says)

    def batches(self, *columns: str) -> Iterator[pa.RecordBatch]:
        """Every run in pieces of a table, of which one is in memory."""
        return self.select(*columns).batches()

    def to_arrow(self, *columns: str) -> pa.Table:
        """Every run as a table of pyarrow."""
        return self.select(*columns).to_arrow()

    def to_pandas(self, *columns: str) -> pandas.DataFrame:
        """Every run as a DataFrame of pandas, of Arrow's types."""
        return self.select(*columns).to_pandas()

    def to_polars(self, *columns: str) -> polars.DataFrame:
        """Every run as a DataFrame of polars."""
        return self.select(*columns).to_polars()

    def sql(
        self, text: str, given: Given | None = None, *, seconds: float = questions.SECONDS
    ) -> Rows:
        """What one SELECT of DuckDB finds in ``usage`` and ``runs``, as ``sssjob ledger sql`` says.

        Values are ``given`` for ``$1`` or ``$name`` in the text, and are never part of it. It may
        take so many ``seconds``, 1 GB of memory and 4 GB of temporary files.
        """
        of_kind(text, str, "one SELECT")
        of_kind(given, Sequence | Mapping | None, "values for a question")
        of_kind(seconds, int | float, "seconds")
        if not 0 < seconds <= _LONGEST:
            raise InvalidValue(str(seconds), f"seconds, more than 0 and at most {_LONGEST}")
        return Rows(self.ledger, text, given, seconds)

    def report(
        self, *by: str, since: int | None = None, until: int | None = None, zone: str = "",
        book: str = adding.RUN, percentiles: Sequence[int | float] = (), of: Sequence[str] = (),
        histograms: bool = False, names: Sequence[str | PathLike[str]] = (),
        factors: str | PathLike[str] = "", rates: str | PathLike[str] = "",
        what_if: str | PathLike[str] = "", requested: bool = False, wait: bool = False,
    ) -> Report:  # fmt: skip
        """What ``sssjob ledger report --by`` says; without names, by user.

        Usage from ``since`` on and before ``until`` counts, in seconds since 1970; spans of time
        are those of a ``zone``, else UTC. It is divided over the time of a run, or all of it counts
        at its end (``book="end"``). ``percentiles`` such as ``(50, 99.9)`` and ``histograms`` are
        those ``of`` numbers of the jobs (``measures.DISTRIBUTIONS``), else of ``USUAL`` ones.

        Files of ``names``, ``factors``, ``rates`` and ``what_if`` are those of the options; what
        they do not tell is in the ``notes`` of the report, which has what was ``requested`` and the
        ``wait`` of jobs, too, if that is wanted. Raises ``OSError`` and ``UnusableInput`` for them,
        ``InvalidValue`` for another argument, and ``DamagedStore`` for a damaged file of the
        ledger.
        """
        for moment in (since, until):
            of_kind(moment, int | None, "seconds since 1970")
        of_kind(zone, str, "the name of a time zone")
        if book not in (adding.RUN, adding.BOOKED):
            raise InvalidValue(repr(book), f"{adding.RUN} or {adding.BOOKED}")
        where = timezone(zone)
        of_kind(names, list | tuple, "a list of files")
        files = [*names, factors, rates, what_if]
        for each in files:
            of_kind(each, str | PathLike, "the path of a file")
        *told, first, second, third = (
            str(source_of(path)) if (path := fspath(each)) else "" for each in files
        )
        valued = Valuation.read(told, first, second, third, where)
        extra = told_besides(requested=requested, wait=wait)
        found = Report(grouped_by(by, valued.names.sources), since, until, where, extra=extra)
        for number in percentiles:
            of_kind(number, int | float, "a percentile")
        if percentiles:
            found.percentiles = Percentiles.read(map(str, percentiles), of)
        if histograms:
            found.histograms = Histograms.read(of)
        fine = valued.fine(found)
        adding.add_to(fine, self.ledger, book, _raised)
        valued.fold(fine, found)
        found.notes = tuple(valued.notes)
        return found


def _raised(error: Exception) -> None:
    raise error
