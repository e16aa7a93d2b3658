"""Rollups of a ledger: what was used by day and the names that monthly reports ask for.

Strategy. A report of a year by project adds up a hundred million rows to some thousand numbers, and
the next one does it again. Sums by day, machine, group, project, user, queue and QoS are a
hundredth of the rows, and most reports are sums of them.

The idea is a rollup of each file of rows: files never change, so it is made once, by the report
that needs it first, and beside the file. Its name has that of the file, which of its rows were
replaced, and the digest of its own bytes. A second one is by month, for reports that need no days:
it is a twentieth of that by day.

Why it is right: it is the report by day over the rows of one file, by the code that adds up every
report, and what a run had by the end of a day is the same however days are put together. A file
with another name, or of which other rows count, has another rollup: so none is ever stale, whatever
was added, replaced, put together or left behind. A ledger that may not be written to, or a rollup
that is gone or damaged, costs time: the rows tell the same. Whoever reads one compares its bytes
with the digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from fractions import Fraction
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob.accounting.report import SAME, Report
from sssjob.errors import DamagedStore
from sssjob.ledger import columns, engine, lookup, places
from sssjob.ledger.damage import digest_of, digest_of_bytes
from sssjob.ledger.manifest import DataFile, Manifest
from sssjob.ledger.places import Place
from sssjob.measures import EXTRA, Number, Totals, left_out
from sssjob.spans import DATED, PERIOD, TIMED, key_of, pieces, together
from sssjob.units import plain

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from sssjob.ledger.ledger import Ledger

FOLDER = "rollup"
GRAIN = ("machine", "group", "project", "user", "queue", "qos")
DAY, MONTH = "day", "month"  # of which time a rollup has sums
_VERSION = 3  # of what rollups say: others are made anew
_DAY = 86_400
_ROWS = 500_000  # of rollups that are added up at once
_SPANS = ("day", "week", "month", "year", PERIOD)
_BEGUN = b"begun"  # of the metadata: how many runs began on each day
_NONE = "0"  # in the name of a rollup of all rows of a file
_MOST = "most_memory"
_PAIRS = ("cpu_of", "memory_of", "limit_of", "cpu_of_asked", "gpus_of_asked")


@dataclass(slots=True)
class Rollups:
    """The rollups of a ledger that a report of one way to book may use."""

    ledger: Ledger
    now: Manifest
    book: str
    _known: dict[tuple[str, str], Place] = field(default_factory=dict)
    _gone: dict[str, str] = field(default_factory=dict)  # digests, by names of files

    def __post_init__(self) -> None:
        for grain in (DAY, MONTH):
            for name in sorted(places.names(self._home(grain))):
                self._known[grain, name.rsplit(".", 2)[0]] = self._home(grain) / name

    def _home(self, grain: str) -> Place:
        return self.ledger.home / FOLDER / f"{self.book}-{_VERSION}-{grain}"

    def path(self, file: DataFile, grain: str) -> Place | None:
        """The rollup of a file by day or month; None where there is none."""
        return self._known.get((grain, self._stem(file)))

    def keep(self, file: DataFile, found: Report, begun: Mapping[int, int]) -> None:
        """Write the rollups of a file: its report ``by_day``, and when its runs began.

        Raises ``OSError``.
        """
        for grain, told in ((DAY, found), (MONTH, _by_month(found))):
            data = _parquet(told, begun)
            path = self._home(grain) / f"{self._stem(file)}.{digest_of_bytes(data)}.parquet"
            places.put(path, data)
            self._known[grain, self._stem(file)] = path

    def _stem(self, file: DataFile) -> str:
        gone = _NONE
        if file.gone:
            if not self._gone:
                self._gone = _digests(lookup.gone(self.ledger.home, self.now))
            gone = self._gone.get(file.name, _NONE)
        return f"{file.name.removesuffix('.parquet')}.{gone}"


def is_former(path: str) -> bool:
    """Whether a file in a ledger is a rollup of an earlier version, which nobody reads any more.

    >>> is_former("rollup/run-2/a.0.parquet"), is_former(f"rollup/run-{_VERSION}-day/a.0.parquet")
    (True, False)
    """
    found = _HOME.match(path)
    return found is not None and int(found[1]) < _VERSION


_HOME = re.compile(rf"{FOLDER}/[a-z]+-([0-9]{{1,9}})[-/]")


def by_day() -> Report:
    """The report that a rollup keeps of a file."""
    return Report((DAY, *GRAIN), zone=UTC, extra=tuple(EXTRA))


def _by_month(days: Report) -> Report:
    """The same by month: what a run had in all days of a month is what it had in the month."""
    found = Report((MONTH, *GRAIN), zone=UTC, extra=days.extra)
    for (day, *names), totals in days.groups.items():
        found.put((day.rpartition("-")[0], *names), replace(totals))
    return found


def may_answer(report: Report) -> bool:
    """Whether sums by day are enough for a report."""
    if report.percentiles is not None or report.histograms is not None:
        return False
    if report.since is not None and report.since == report.until:
        return False
    names = [SAME.get(name, name) for name in report.by if name not in TIMED]
    spans = [name for name in report.by if name in TIMED]
    if any(name not in GRAIN for name in names) or any(name not in _SPANS for name in spans):
        return False
    if any(name != PERIOD for name in spans) and report.zone is not UTC:
        return False
    return all(each % _DAY == 0 for each in _moments(report))


def _moments(report: Report) -> list[int]:
    """The times at which a report cuts runs, besides at spans of time."""
    cuts = report.cuts if PERIOD in report.by else ()
    return [*cuts, *(each for each in (report.since, report.until) if each is not None)]


def grain_of(report: Report) -> str:
    """What a report that rollups may answer needs: sums by day, or by month."""
    spans = {name for name in report.by if name in TIMED}
    are_months = spans <= {MONTH, "year", PERIOD} and all(map(_begins_month, _moments(report)))
    return MONTH if are_months else DAY


def _begins_month(midnight: int) -> bool:
    return abs(midnight) < DATED and datetime.fromtimestamp(midnight, UTC).day == 1


def add_to(report: Report, connection: Connection, paths: Iterable[Place], rows: int) -> None:
    """Add what rollups tell of so many runs.

    Raises ``DamagedStore`` for one that is not what was written, and what DuckDB and Arrow do.
    """
    wanted = _wanted(report)
    some: list[pa.Table] = []
    begun: list[dict[int, int]] = []
    for path in paths:
        table, told = _read(path, wanted)
        some.append(table)
        begun.append(told)
        if sum(map(len, some)) >= _ROWS:
            _add(report, connection, pa.concat_tables(some))
            some = []
    if some:
        _add(report, connection, pa.concat_tables(some))
    if report.is_windowed:
        report.outside += rows
    if report.until is not None:
        for told in begun:
            report.outside += sum(runs for day, runs in told.items() if day * _DAY >= report.until)


def _names(report: Report) -> list[str]:
    """The columns of what a report groups by, but for times."""
    return [SAME.get(name, name) for name in report.by if name not in TIMED]


def _wanted(report: Report) -> list[str]:
    """The columns that a report reads."""
    fields = _fields(left_out(report.extra))
    numbers = [number for each in fields for number in _numbers_of(each)]
    return [DAY, *dict.fromkeys(_names(report)), *numbers, "exact"]


def _read(path: Place, wanted: Sequence[str]) -> tuple[pa.Table, dict[int, int]]:
    """Columns of a rollup, and how many of its runs began on each day."""
    with places.stream(path) as stream:
        data = stream.read()
    if digest_of_bytes(data) != path.name.rsplit(".", 2)[1]:
        raise DamagedStore(str(path), "is not what was written")
    with places.parquet(data) as file:
        told = json.loads(file.metadata.metadata[_BEGUN])
        return file.read([*wanted], use_threads=False).replace_schema_metadata(None), dict(told)


def _add(report: Report, connection: Connection, table: pa.Table) -> None:
    """Add what rows of rollups tell."""
    names = _names(report)
    connection.register("rollup", table)
    keys = "".join(f'"{name}", ' for name in names)
    piece, joined, known = "NULL", "", None
    if report.is_windowed or len(names) < len(report.by):
        known = _pieces(report, connection)
        piece, joined = "piece", " LEFT JOIN days ON days.number = rollup.day"
    told = f"FROM rollup{joined} WHERE {'inside' if report.is_windowed else 'true'}"
    fields = _fields(left_out(report.extra))
    numbers = [number for each in fields for number in _numbers_of(each)]
    sums = ", ".join(f'{"max" if name == _MOST else "sum"}("{name}")' for name in numbers)
    text = f"SELECT {keys}{piece}, {sums} {told} AND exact IS NULL GROUP BY ALL"
    odd = f"SELECT {keys}{piece}, exact {told} AND exact IS NOT NULL"
    for asked, are_texts in ((text, False), (odd, True)):
        for row in engine.rows_of(connection, asked):
            key, number, some = row[: len(names)], row[len(names)], row[len(names) + 1 :]
            spans = ("",) * len(report.by) if number is None or known is None else known[number]
            values = _of_text(*some) if are_texts else dict(zip(numbers, some, strict=True))
            report.put(key_of(report.by, key, spans), _totals(values, fields))
    if report.is_windowed:
        report.outside -= _not_before(report, connection)


def _pieces(report: Report, connection: Connection) -> Sequence[Sequence[str]]:
    """Make ``days``, with the piece of time of each; what the pieces are called."""
    days = [day for (day,) in engine.rows_of(connection, "SELECT DISTINCT day FROM rollup")]
    some = sorted(day for day in days if day is not None)
    times = together((day * _DAY, day * _DAY + _DAY - 1) for day in some) or [(0, 0)]
    cut = pieces(report.by, UTC, report.since, report.until, times, report.cuts)
    found = [cut.of(day * _DAY) for day in some]
    connection.register("days", pa.table({
        "number": pa.array(some, pa.int64()),
        "piece": pa.array(found, pa.int64()),
        "inside": pa.array([cut.inside[piece] for piece in found], pa.bool_()),
    }))  # fmt: skip
    return cut.names


def _not_before(report: Report, connection: Connection) -> int:
    """How many runs that have a date did not end before the window."""
    every = "SELECT coalesce(sum(jobs), 0) FROM rollup WHERE day IS NOT NULL"
    ((dated,),) = engine.rows_of(connection, every)
    before = 0
    if report.since is not None:
        ((before,),) = engine.rows_of(connection, f"{every} AND day < {report.since // _DAY}")
    return int(dated) - int(before)


def _fields(without: Collection[str] = ()) -> list[str]:
    """The fields of ``Totals`` that a rollup has, but for some."""
    return [name for name in Totals.__dataclass_fields__ if name != "more" and name not in without]


def _numbers_of(name: str) -> tuple[str, ...]:
    """The columns of a field of ``Totals``: of a pair two."""
    return (f"{name}_over", f"{name}_under") if name in _PAIRS else (name,)


def _totals(told: Mapping[str, Any], fields: Iterable[str]) -> Totals:
    found = Totals()
    for name in fields:
        values = [told[each] for each in _numbers_of(name)]
        if name in _PAIRS:
            setattr(found, name, tuple(each or 0 for each in values))
        elif values[0] is not None:
            setattr(found, name, values[0])
    return found


def _of_text(text: str) -> dict[str, Number | None]:
    every = (None if it == "-" else plain(Fraction(it)) for it in text.split())
    return dict(zip(_NUMBERS, every, strict=True))


def _parquet(found: Report, begun: Mapping[int, int]) -> memoryview:
    """A rollup as a file."""
    keys = [*found.groups]
    numbers = [_numbers(totals) for totals in found.groups.values()]
    fits = [columns.fit(each) for each in numbers]
    exact = [
        None if is_whole else " ".join("-" if it is None else str(it) for it in each)
        for is_whole, each in zip(fits, numbers, strict=True)
    ]
    whole = [
        each if is_whole else (each[0], *(None,) * (len(_NUMBERS) - 1))  # jobs are counted by all
        for is_whole, each in zip(fits, numbers, strict=True)
    ]
    table = pa.table({
        DAY: pa.array([_day(key[0]) for key in keys], pa.int64()),
        **{
            name: pa.array([key[found.by.index(name)] for key in keys], pa.string())
            for name in GRAIN
        },
        **{
            name: pa.array([each[at] for each in whole], pa.int64())
            for at, name in enumerate(_NUMBERS)
        },
        "exact": pa.array(exact, pa.string()),
    })  # fmt: skip
    told = json.dumps(sorted(begun.items())).encode()
    stream = BytesIO()
    pq.write_table(
        table.replace_schema_metadata({_BEGUN: told}), stream, compression="zstd",
        use_dictionary=[*GRAIN, "day", "exact"],
    )  # fmt: skip
    return stream.getbuffer()


def _numbers(totals: Totals) -> tuple[Number | None, ...]:
    return tuple(
        value
        for name in _fields()
        for value in (getattr(totals, name) if name in _PAIRS else (getattr(totals, name),))
    )


def _day(name: str) -> int | None:
    """The number of a day, or of the first one of a month, counted from 1970."""
    if not name:
        return None
    year, month, *rest = map(int, name.split("-"))
    day = rest[0] if rest else 1
    return date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()


def _digests(gone: pa.Table) -> dict[str, str]:
    """A digest of which rows were replaced, by the names of files."""
    rows: dict[str, list[int]] = {}
    for file, row in zip(gone["file"].to_pylist(), gone["row"].to_pylist(), strict=True):
        rows.setdefault(file, []).append(row)
    return {
        file: digest_of(json.dumps(sorted({*some})).encode()).hexdigest()
        for file, some in rows.items()
    }


def source(name: str) -> str:
    """The file of rows that a rollup of this name is of, without its ending.

    >>> source("2026-11-0a1b.0.99aa.parquet")
    '2026-11-0a1b'
    """
    return name.split(".", 1)[0]


def damaged(ledger: Ledger) -> Iterator[Place]:
    """Rollups whose bytes are not those that their names tell of."""
    for name in sorted(places.below(ledger.home / FOLDER)):
        path = ledger.home / FOLDER / name
        digest = path.name.rsplit(".", 2)[1]
        try:
            with places.stream(path) as stream:
                data = stream.read()
        except OSError:
            yield path
            continue
        if digest_of_bytes(data) != digest:
            yield path


_NUMBERS = tuple(number for name in _fields() for number in _numbers_of(name))

assert _NUMBERS[0] == "jobs"
