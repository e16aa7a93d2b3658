"""Reports of a ledger: the numbers of ``sssjob.accounting.report``, added up by DuckDB.

Usage is divided by the rule of ``measures``, exactly to the last second: of V in D seconds, those
until t have had the whole part of V t / D. Sums are of whole numbers in 128 bits, which fail rather
than wrap. What is no whole number of 64 bits (``exact``) is added here, as fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sssjob.accounting.report import SAME, Key, Report
from sssjob.errors import UnusableStore
from sssjob.integers import LARGEST
from sssjob.ledger import rollup
from sssjob.ledger.columns import END, EXACT, GROUPED, KEPT, KEYED, KEYED_BY, START, SUBMIT, SUMMED
from sssjob.ledger.distributions import Placed, fill
from sssjob.ledger.engine import connected, over, rows_of
from sssjob.ledger.manifest import DataFile, Manifest, newest, together
from sssjob.measures import (
    DIVIDED,
    JobUsage,
    Number,
    Totals,
    due,
    due_sql,
    left_out,
    over_sql,
    usage_of,
)
from sssjob.spans import BEFORE, TIMED, Pieces, pieces
from sssjob.units import plain
from sssjob.workers import Work, Workers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from sssjob.errors import DamagedStore
    from sssjob.ledger.ledger import Ledger
    from sssjob.ledger.places import Place

_ROWS = 8_000_000  # that are added at once: so many groups and pieces are in memory
RUN, BOOKED = "run", "end"  # how usage is booked: over the time of the run, or at its end
_FEW = 1_000_000  # rows of files whose rollups a report makes
_LEAST = 60  # seconds of a quotient by which pieces are found in a table
_BEGUN = {RUN: "start_time", BOOKED: "NULL::BIGINT"}
_ENDED = {RUN: over_sql("start_time", "end_time", SUMMED["wall"]), BOOKED: "end_time"}

Of = Callable[[str], str]  # of a column, what of it counts here


def add_to(
    report: Report, ledger: Ledger, book: str = RUN,
    on_error: Callable[[DamagedStore], None] = lambda _: None, processes: int = 1, *,
    by_rollup: bool = True,
) -> Answered:  # fmt: skip
    """Add what all jobs of a ledger used to a report, booked as ``RUN`` or ``BOOKED``.

    Some million jobs are added at once, by so many ``processes``; how numbers spread is told of all
    jobs by one. Files that are torn or gone are told, and the rest is added: from rollups where
    these are enough and ``by_rollup`` allows it; those of new files are made if they have few rows.
    Raises ``UnusableStore``, and ``UnusableInput`` for more spans than can be told apart.
    """
    now = ledger.manifest()
    whole, faults = ledger.present(now)
    for fault in faults:
        on_error(fault)
    files = []
    for file in whole:
        if _may_count(file, report, book):
            files.append(file)
        else:
            report.outside += file.rows - file.gone
    rolled: list[DataFile] = []
    if by_rollup and rollup.may_answer(report):
        rolled = _add_rollups(report, ledger, now, files, book)
    rest = [file for file in files if file not in rolled]
    if report.percentiles or report.histograms:
        with ledger.connected(now, rest) as connection:
            _Adding(report, connection, book).add()
    else:
        work = Work("sssjob.ledger.report:adder", (report.empty(), ledger.home, now.number, book))
        with Workers[list[str], Report](work, processes) as workers:
            parts = ([file.path for file in some] for some in together(sorted(rest), _ROWS))
            for _, found in workers.in_order(parts, lambda names: names[0]):
                report.merge(found)
    report.groups = {key: totals for key, totals in report.groups.items() if _tells(totals)}
    return Answered(len(rolled), len(rest))


# decision 432
def adder(empty: Report, home: Place, number: int, book: str) -> Callable[[Sequence[str]], Report]:
    """What reports of some files of a ledger, as it was after its commit of a number."""
    now = newest(home, number)
    files = {file.path: file for file in now.files}

    def add(paths: Sequence[str]) -> Report:
        found = empty.empty()
        with connected(home, now, [files[path] for path in paths]) as connection:
            _Adding(found, connection, book).add()
        return found

    return add


class Answered(NamedTuple):
    """Of how many files a report was answered by rollups, and of how many by their rows."""

    by_rollup: int
    by_rows: int

    def __str__(self) -> str:
        parts = [
            f"{count} {'file' if count == 1 else 'files'} by {what}"
            for count, what in ((self.by_rollup, "rollup"), (self.by_rows, "rows"))
            if count
        ]
        return f"answered of {' and '.join(parts) or 'nothing'}"


def _add_rollups(
    report: Report, ledger: Ledger, now: Manifest, files: Sequence[DataFile], book: str
) -> list[DataFile]:
    """Add what rollups tell of files, which are made if they are not there; which files it were."""
    rollups = rollup.Rollups(ledger, now, book)
    missing = [file for file in files if rollups.path(file) is None]
    if sum(file.rows for file in missing) <= _FEW:
        # Where it may not be written to, or a file cannot be read, the rows tell, or what is wrong.
        with suppress(OSError, UnusableStore):
            for file in missing:
                _roll_up(rollups, file)
    found = {file: path for file in files if (path := rollups.path(file)) is not None}
    if not found:
        return []
    told = report.empty()
    rows = sum(file.rows - file.gone for file in found)
    try:
        with ledger.connected(now, []) as connection:
            rollup.add_to(told, connection, [*found.values()], rows)
    except (OSError, UnusableStore, pa.ArrowException, ValueError, KeyError, TypeError):
        return []  # a rollup is gone or damaged: sssjob ledger check tells which
    report.merge(told)
    return [*found]


def _roll_up(rollups: rollup.Rollups, file: DataFile) -> None:
    """Make the rollup of a file. Raises ``UnusableStore`` and ``OSError``."""
    found = rollup.by_day()
    with rollups.ledger.connected(rollups.now, [file]) as connection:
        adding = _Adding(found, connection, rollups.book)
        adding.add()
        begun = adding.begun()
    rollups.keep(file, found, begun)


def roll_up(ledger: Ledger, books: Iterable[str] = (RUN, BOOKED)) -> int:
    """Make all rollups that are missing, of ways to book; how many.

    Raises ``UnusableStore`` and ``OSError``.
    """
    now, made = ledger.manifest(), 0
    for book in books:
        rollups = rollup.Rollups(ledger, now, book)
        for file in now.files:
            if rollups.path(file) is None:
                _roll_up(rollups, file)
                made += 1
    return made


def _may_count(file: DataFile, report: Report, book: str) -> bool:
    """Whether a file may have a run that counts in the window of a report."""
    since, until = report.since, report.until
    if since is None and until is None:
        return True
    if book == BOOKED:
        return file.end.meets(since, until)
    if file.end.without:
        return True
    begins = file.start.meets(None, until) or file.end.meets(None, until)
    return begins and file.end.meets(since, None)


def add_table(report: Report, table: pa.Table) -> None:
    """Add rows to a report that are in no ledger, booked where they end.

    They have the columns that the report reads (``read_of``). However far apart they end, time is
    cut only where they do, as for reports of job objects.
    """
    with over(table) as connection:
        _Adding(report, connection, BOOKED, is_sparse=True).add()


def read_of(report: Report) -> list[str]:
    """The columns that a report booked at the end reads of rows."""
    keys = [KEYED_BY[name] for name in report.by if name not in TIMED]
    sums = [SUMMED["asked_processors"], *(each.column for each in KEPT)]
    times = () if "wait" in left_out(report.extra) else (SUBMIT, START)
    return [*dict.fromkeys((END, *keys, *times, *sums, EXACT))]


class _Adding:
    """Adds what a connection has to a report.

    Of runs that are ``is_sparse`` there may be few in a long time; they are booked at the end.
    """

    def __init__(
        self, report: Report, connection: Connection, book: str, *, is_sparse: bool = False
    ) -> None:
        self._report, self._connection, self._book = report, connection, book
        self._is_sparse = is_sparse
        # A name that is not stated is NULL: the groups of NULL and of "" are put together.
        self._names = [_keyed(name) for name in report.by if name not in TIMED]
        self._keys = "".join(f"{name}, " for name in self._names)
        self._without = left_out(report.extra)

    def add(self) -> None:
        """Add everything."""
        report = self._report
        is_windowed = report.since is not None or report.until is not None
        if not is_windowed and len(self._names) == len(report.by):
            self._whole("live", "NULL", f"{EXACT} IS NULL", None)
            self._exact(None)
            self._spread("live", None)
            return
        cut = self._cut()
        if cut is None:
            return
        self._place(cut)
        self._whole("placed", "k1", f"{EXACT} IS NULL AND {_AT_ONCE}", cut)
        if self._book == RUN:
            self._divide(cut)
        self._exact(cut)
        self._spread("placed", cut)

    def _cut(self) -> Pieces | None:
        """The pieces of time in which runs are; None where there is no run."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        text = (
            f"SELECT least(min({begun}), min({ended})), greatest(max({begun}), max({ended})),"
            " count(*) FROM live"
        )
        ((least, most, count),) = self._rows(text)
        report = self._report
        if not count:
            return None
        times = [(0, 0)] if least is None else [(least, most)]
        if self._is_sparse and least is not None:
            times = self._hours(ended)
        return pieces(report.by, report.zone, report.since, report.until, times, report.cuts)

    def _hours(self, ended: str) -> list[tuple[int, int]]:
        """The hours in which runs end, those behind each other as one span."""
        hour = f"({ended} + {BEFORE}) // 3600"
        text = f"SELECT DISTINCT {hour} FROM live WHERE {ended} IS NOT NULL ORDER BY 1"
        found: list[tuple[int, int]] = []
        for (number,) in self._rows(text):
            low = number * 3600 - BEFORE
            begin = low
            if found and found[-1][1] == low - 1:
                begin, _ = found.pop()
            found.append((begin, low + 3599))
        return found

    def _place(self, cut: Pieces) -> None:
        """Make ``placed``: runs with the pieces in which they begin and end, ``k0`` and ``k1``."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        quotient = cut.quotient
        times = f"SELECT *, {begun} AS begun, {ended} AS over FROM live"
        if quotient < _LEAST:
            lows = pa.table({"low": cut.bounds[:-1], "piece": range(len(cut.names))})
            self._connection.register("lows", lows)
            joined = (
                f"FROM ({times}) AS t ASOF LEFT JOIN lows AS b ON t.begun >= b.low"
                " ASOF LEFT JOIN lows AS e ON t.over >= e.low"
            )
        else:
            self._connection.register("places", self._places(cut, quotient))
            joined = (
                f"FROM ({times}) AS t"
                f" LEFT JOIN places AS b ON b.place = (t.begun + {BEFORE}) // {quotient}"
                f" LEFT JOIN places AS e ON e.place = (t.over + {BEFORE}) // {quotient}"
            )
        text = f"SELECT t.*, b.piece AS k0, e.piece AS k1 {joined}"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW placed AS {text}")

    def _places(self, cut: Pieces, quotient: int) -> pa.Table:
        """The piece of each quotient that occurs."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        text = " UNION ".join(
            f"SELECT ({time} + {BEFORE}) // {quotient} AS place FROM live WHERE {time} IS NOT NULL"
            for time in (begun, ended)
        )
        found = [place for (place,) in self._rows(text)]
        of = [cut.of(place * quotient - BEFORE) for place in found]
        return pa.table({"place": pa.array(found, pa.int64()), "piece": pa.array(of, pa.int64())})

    def _whole(self, source: str, piece: str, where: str, cut: Pieces | None) -> None:
        """Add runs that are booked in one piece."""
        sums = _aggregates(lambda name: SUMMED[name], without=self._without)
        told = ", ".join((f"{self._keys}{piece}", "count(*)", *sums.values()))
        text = f"SELECT {told} FROM {source} WHERE {where} GROUP BY ALL"
        for key, number, totals in self._totals(text, sums):
            if not self._put(key, number, totals, cut):
                self._report.outside += totals.jobs

    def _divide(self, cut: Pieces) -> None:
        """Add runs that are booked in several pieces."""
        bounds = pa.table({
            "number": pa.array(range(len(cut.names)), pa.int64()),
            "low": pa.array(cut.bounds[:-1], pa.int64()),
            "high": pa.array(cut.bounds[1:], pa.int64()),
        })  # fmt: skip
        self._connection.register("bounds", bounds)
        kinds = self._kinds()
        shares = ", ".join(
            f"{_share(SUMMED[name], kind) if kind else 'NULL::BIGINT'} AS share_{name}"
            for name, kind in kinds.items()
        )
        runs = (
            f"SELECT *, unnest(range(k0, k1 + 1)) AS k FROM placed"
            f" WHERE {EXACT} IS NULL AND k0 < k1"
        )
        parts = (
            f"SELECT d.*, p.number = d.k1 AS is_last, p.number, {shares}"
            f" FROM ({runs}) AS d JOIN bounds AS p ON p.number = d.k"
        )
        sums = _aggregates(lambda name: f"share_{name}", "is_last", self._without)
        told = ", ".join((
            f"{self._keys}number", "count(CASE WHEN is_last THEN 1 END)", *sums.values(),
        ))  # fmt: skip
        text = f"SELECT {told} FROM ({parts}) GROUP BY ALL"
        for key, number, totals in self._totals(text, sums):
            self._put(key, number, totals, cut)
        self._count_outside(cut)

    def _totals(
        self, text: str, sums: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[Sequence[str], int | None, Totals]]:
        """The key, the piece and the totals of each group that SQL finds."""
        names, labels = len(self._names), [*sums]
        for row in self._rows(text):
            some = dict(zip(labels, row[names + 2 :], strict=True))
            key = [each or "" for each in row[:names]]
            yield key, row[names], _totals(row[names + 1], some)

    def _kinds(self) -> dict[str, str]:
        """The type in which each sum is divided; "" for one that no run states.

        A product of 64 bits takes a third of the time.
        """
        most = ", ".join(f"max(abs({SUMMED[name]}))" for name in DIVIDED)
        text = f"SELECT max(over - begun), {most} FROM placed WHERE {EXACT} IS NULL AND k0 < k1"
        ((longest, *largest),) = self._rows(text)
        return {
            name: "" if value is None else _WIDE if longest * value > LARGEST else _NARROW
            for name, value in zip(DIVIDED, largest, strict=True)
        }

    def _count_outside(self, cut: Pieces) -> None:
        """Count runs that are booked in several pieces, none of which is in the window."""
        within = [number for number, inside in enumerate(cut.inside) if inside]
        least, most = (within[0], within[-1]) if within else (len(cut.inside), -1)
        text = (
            f"SELECT count(*) FROM placed WHERE {EXACT} IS NULL AND k0 < k1"
            " AND (k1 < $least OR k0 > $most)"
        )
        ((count,),) = self._rows(text, {"least": least, "most": most})
        self._report.outside += count

    def _exact(self, cut: Pieces | None) -> None:
        """Add runs whose sums are no whole numbers of 64 bits."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        wait = "NULL" if "wait" in self._without else SUMMED["wait"]
        told = f"{self._keys}{begun}, {ended}, {wait}, {EXACT}"
        for *names, start, end, waited, text in self._rows(
            f"SELECT {told} FROM live WHERE {EXACT} IS NOT NULL"
        ):
            key = [each or "" for each in names]
            sums = usage_of(text)._replace(wait=waited)
            put = [
                self._put(key, number, totals, cut)
                for number, totals in _by_pieces(sums, start, end, cut, self._without)
            ]
            self._report.outside += not any(put)

    def _spread(self, source: str, cut: Pieces | None) -> None:
        """Tell how numbers spread, if that is wanted; a job counts in the piece where it ended."""
        report = self._report
        keys: list[Key | None] = [()]  # of spans, by piece; the last for runs that are in none
        if cut is not None:
            is_windowed = report.since is not None or report.until is not None
            named = zip(cut.names, cut.inside, strict=True)
            keys = [name if inside or not is_windowed else None for name, inside in named]
            keys.append(None if is_windowed else ("",) * len(cut.names[0]))
        names = [KEYED[name] for name in report.by if name not in TIMED]
        placed = Placed(source, names, keys)
        fill(report.percentiles, report.histograms, self._connection, placed, self._joined)

    def _joined(self, key: Sequence[str], spans: Sequence[str]) -> Key:
        """The key of a group, of the names and the spans of it."""
        of_spans, others = iter(spans), iter(key)
        return tuple(next(of_spans if name in TIMED else others) for name in self._report.by)

    def _put(
        self, key: Sequence[str], number: int | None, more: Totals, cut: Pieces | None
    ) -> bool:
        """Add to a group; False where that is outside of the window."""
        report = self._report
        known: Sequence[str] = ()
        if cut is not None:
            is_windowed = report.since is not None or report.until is not None
            if is_windowed and (number is None or not cut.inside[number]):
                return False
            known = ("",) * len(report.by) if number is None else cut.names[number]
        whole = self._joined(key, known)
        report.put(whole, more)
        return True

    def begun(self) -> dict[int, int]:
        """How many runs that have a date began on each day, counted from 1970; see ``rollup``."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        first = f"CASE WHEN {begun} < {ended} THEN {begun} ELSE {ended} END"
        day = f"({first} + {BEFORE}) // 86400 - {BEFORE // 86400}"
        text = f"SELECT {day}, count(*) FROM live WHERE {ended} IS NOT NULL GROUP BY 1"
        return dict(self._rows(text))

    def _rows(self, text: str, given: Any = None) -> list[tuple[Any, ...]]:
        return rows_of(self._connection, text, given)


def _keyed(name: str) -> str:
    """What a report groups by, as SQL; NULL or "" is not stated."""
    return f'"{GROUPED[SAME.get(name, name)]}"' if SAME.get(name, name) in GROUPED else KEYED[name]


_HALF = 1 << 32
_NARROW, _WIDE = "BIGINT", "HUGEINT"
_HELD = f"coalesce({SUMMED['asked']}, {SUMMED['memory']}, 0)"
_AT_ONCE = "(k0 IS NULL OR k1 IS NULL OR k0 >= k1)"


def _share(column: str, kind: str) -> str:
    """What a piece has of a sum, divided in numbers of a type; see above."""

    def until(time: str) -> str:
        return due_sql(f"{column}::{kind}", time, "begun", "over", "//")

    return f"({until('least(over, p.high)')}) - ({until('greatest(begun, p.low)')})"


def _aggregates(
    of: Of, counts: str = "", without: Collection[str] = frozenset()
) -> dict[tuple[str, int], str]:
    """The sums of a group as SQL, by the fields of ``Totals`` and the number of the side of each.

    ``counts`` is where a job is counted; without it, each is. Fields that nobody needs are left
    out. Conditions are cases: FILTER takes twice the time. A sum of wall time by memory has two
    halves, so that no sum of products is beyond 128 bits.
    """
    told: dict[tuple[str, int], str] = {}

    def put(name: str, *terms: str, where: Sequence[str] = (), by: str = "sum") -> None:
        """``where`` has a condition for each term, "" for none."""
        if name in without:
            return
        for at, term in enumerate(terms):
            condition = where[at] if where else ""
            some = f"CASE WHEN {condition} THEN {term} END" if condition else term
            told[name, at] = f"{by}({some})"

    def both(name: str, over: str, under: str, has_over: str, has_under: str) -> None:
        """Both sides of a part, of jobs that state both: the terms, and where there is a side."""
        put(name, over, under, where=[has_under, has_over])

    def here(condition: str) -> str:
        return f"{counts} AND {condition}" if counts else condition

    wall, cpu, memory = SUMMED["wall"], SUMMED["cpu"], SUMMED["memory"]
    asked, limit, gpus = SUMMED["asked"], SUMMED["limit"], SUMMED["gpus"]
    asked_processors, asked_gpus = SUMMED["asked_processors"], SUMMED["asked_gpus"]
    for name in ("wall", "slots", "cpu", "nodes", "gpus", "energy"):
        put(name, of(name))
    for name in ("processors", "memory", "limit", "asked", "wait"):
        put(name, SUMMED[name], where=[counts])
    for name in ("processors", "memory", "asked", "wait"):
        put(f"with_{name}", SUMMED[name], where=[counts], by="count")
    put("most_memory", memory, where=[counts], by="max")
    both("cpu_of", of("cpu"), of("slots"), f"{cpu} IS NOT NULL", f"{SUMMED['slots']} <> 0")
    both("memory_of", memory, asked, here(f"{memory} IS NOT NULL"), here(f"{asked} <> 0"))
    both("limit_of", wall, limit, here(f"{wall} IS NOT NULL"), here(f"{limit} <> 0"))
    share = f"({of('wall')})::HUGEINT"
    put("held", f"{share} * (({_HELD}) // {_HALF})", f"{share} * (({_HELD}) % {_HALF})")
    slots, of_gpus = f"{share} * {asked_processors}", f"{share} * {asked_gpus}"
    put("asked_slots", slots)
    put("asked_gpus", of_gpus)
    ran = f"{wall} <> 0"
    both("cpu_of_asked", of("cpu"), slots, f"{cpu} IS NOT NULL",
         f"{ran} AND {asked_processors} <> 0")  # fmt: skip
    both("gpus_of_asked", of("gpus"), of_gpus, f"{gpus} IS NOT NULL",
         f"{ran} AND {asked_gpus} <> 0")  # fmt: skip
    return told


def _totals(jobs: int, sums: Mapping[tuple[str, int], Any]) -> Totals:
    """The totals of so many jobs, of the sums of ``_aggregates``; NULL is none."""
    found = Totals(jobs)
    for (name, side), value in sums.items():
        if (name, 1) not in sums:
            if value is not None:
                setattr(found, name, value)
        elif side:
            over, under = sums[name, 0] or 0, value or 0
            setattr(found, name, over * _HALF + under if name == "held" else (over, under))
    return found


def _tells(totals: Totals) -> bool:
    """Whether there is a job, or anything was used: a run that ends at midnight used no more."""
    return totals.jobs > 0 or any((
        totals.wall, totals.slots, totals.cpu, totals.nodes, totals.gpus, totals.energy,
    ))  # fmt: skip


def _by_pieces(
    sums: JobUsage, start: int | None, end: int | None, cut: Pieces | None,
    without: Iterable[str],
) -> Iterator[tuple[int | None, Totals]]:  # fmt: skip
    """The pieces in which a run is booked, and what it used in each, but for some fields."""
    last = None if cut is None or end is None else cut.of(end)
    first = None if cut is None or start is None else cut.of(start)
    whole = Totals()
    whole.add(sums)
    found = [(last, whole)]
    if first is not None and last is not None and first < last:
        assert cut is not None
        assert start is not None
        assert end is not None
        found = [
            (
                number,
                _in_piece(
                    sums, whole, due(high, start, end) - due(low, start, end), number == last
                ),
            )
            for number in range(first, last + 1)
            for low, high in [(max(start, cut.bounds[number]), min(end, cut.bounds[number + 1]))]
        ]
    for number, totals in found:
        totals.forget(without)
        yield number, totals


def _in_piece(sums: JobUsage, whole: Totals, part: Fraction, is_last: bool) -> Totals:
    """What a run had in a part of its time; it is counted in the last one."""
    some = {name: _part(getattr(sums, name), part) for name in DIVIDED}
    found = Totals()
    if is_last:
        found.add(sums._replace(**some))
        found.limit_of = whole.limit_of
    else:
        asked = {name: getattr(sums, name) for name in ("asked_processors", "asked_gpus")}
        found.add(JobUsage(**some, **asked))
        found.jobs = 0
    found.held = plain(whole.held * part)
    return found


def _part(value: Number | None, part: Fraction) -> Number | None:
    return None if value is None else plain(Fraction(value) * part)
