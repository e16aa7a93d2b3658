"""Reports of a ledger: the numbers of ``sssjob.accounting.report``, added up by DuckDB.

Usage is divided by the rule of ``measures``, exactly to the last second: of V in D seconds, those
until t have had the whole part of V t / D. Sums are of whole numbers in 128 bits, which fail rather
than wrap. What is no whole number of 64 bits (``exact``) is added here, as fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from duckdb import OutOfRangeException

from sssjob import spans
from sssjob.accounting.report import SAME, Key, Report
from sssjob.errors import DamagedStore, UnusableStore
from sssjob.ledger import damage, rollup
from sssjob.ledger.columns import END, EXACT, GROUPED, KEPT, KEYED, KEYED_BY, START, SUBMIT, SUMMED
from sssjob.ledger.distributions import GroupedRuns, fill
from sssjob.ledger.engine import connected, over, rows_of
from sssjob.ledger.manifest import DataFile, Manifest, newest, together
from sssjob.measures import (
    DIVIDED,
    HELD_BITS,
    LONGEST,
    JobUsage,
    Number,
    Totals,
    begun_sql,
    due,
    due_sql,
    left_out,
    over_sql,
    usage_of,
)
from sssjob.spans import BEFORE, TIMED, Pieces, pieces
from sssjob.units import plain
from sssjob.workers import PartWork, Workers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from sssjob.ledger.ledger import Ledger
    from sssjob.ledger.places import Place

_ROWS = 8_000_000  # that are added at once: so many groups and pieces are in memory
RUN, BOOKED = "run", "end"  # how usage is booked: over the time of the run, or at its end
_FEW = 1_000_000  # rows of files whose rollups a report makes
_MANY = 1_000_000  # quotients that a table has, if they may be fewer that occur
_LEAST = 60  # seconds of a quotient by which pieces are found in a table
_OVER = over_sql(START, END, SUMMED["wall"], "suspended_seconds")
_ENDED = {RUN: _OVER, BOOKED: END}
_BEGUN = {
    RUN: begun_sql(START, _OVER),
    BOOKED: "NULL::BIGINT",
}

Of = Callable[[str], str]  # of a column, what of it counts here


def add_to(
    report: Report, ledger: Ledger, book: str = RUN,
    on_error: Callable[[DamagedStore], None] = lambda _: None, processes: int = 1, *,
    by_rollup: bool = True,
) -> RollupUse:  # fmt: skip
    """Add what all jobs of a ledger used to a report, booked as ``RUN`` or ``BOOKED``.

    Some million jobs are added at once, by so many ``processes``; how numbers spread is told of all
    jobs by one. Files that are torn, gone or changed are told, and the rest is added: from rollups
    where these are enough and ``by_rollup`` allows it; those of new files are made if they have few
    rows. Raises ``UnusableStore``, and ``UnusableInput`` for more spans than can be told apart.
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
    lost = 0
    if report.percentiles or report.histograms:
        rest, faults = damage.whole(ledger.home, rest)
        for fault in faults:
            on_error(fault)
        with ledger.connected(now, rest) as connection:
            _ReportAppender(report, connection, book).add()
    else:
        work = PartWork(
            "sssjob.ledger.report:adder", (report.empty(), ledger.home, now.number, book)
        )
        with Workers[list[str], _PartialReport](work, processes) as workers:
            parts = ([file.path for file in some] for some in together(sorted(rest), _ROWS))
            for _, found in workers.in_order(parts, lambda names: names[0]):
                report.merge(found.report)
                for path, reason in found.damaged:
                    on_error(DamagedStore(path, reason))
                lost += len(found.damaged)
    report.groups = {key: totals for key, totals in report.groups.items() if _tells(totals)}
    return RollupUse(len(rolled), len(rest) - lost)


# decision 432
def adder(
    empty: Report, home: Place, number: int, book: str
) -> Callable[[Sequence[str]], _PartialReport]:
    """What reports of some files of a ledger, as it was after its commit of a number."""
    now = newest(home, number)
    files = {file.path: file for file in now.files}

    def add(paths: Sequence[str]) -> _PartialReport:
        found = empty.empty()
        some, faults = damage.whole(home, [files[path] for path in paths])
        with connected(home, now, some) as connection:
            _ReportAppender(found, connection, book, within=_within(some, book)).add()
        return _PartialReport(found, [(fault.store, fault.reason) for fault in faults])

    return add


def _within(files: Sequence[DataFile], book: str) -> tuple[int, int] | None:
    """Times between which all runs of files are, by their manifest; None where it does not tell.

    A run without an end may go on behind all that is written; and a time that is wrong may be far.
    """
    if any(file.end.without for file in files):
        return None
    known = [file.end for file in files] + [file.start for file in files if book == RUN]
    least = min((each.least for each in known if each.least is not None), default=None)
    most = max((each.most for each in known if each.most is not None), default=None)
    if least is None or most is None or most - least >= LONGEST:
        return None
    return least, most


class _PartialReport(NamedTuple):
    """The report of some files, and which of them are left out, with the reason."""

    report: Report
    damaged: Sequence[tuple[str, str]]


class RollupUse(NamedTuple):
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
    grain = rollup.grain_of(report)
    missing = [file for file in files if rollups.path(file, grain) is None]
    if sum(file.rows for file in missing) <= _FEW:
        # Where it may not be written to, or a file cannot be read, the rows tell, or what is wrong.
        with suppress(OSError, UnusableStore):
            for file in missing:
                _roll_up(rollups, file)
    found = {file: path for file in files if (path := rollups.path(file, grain)) is not None}
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
    damage.refuse(rollups.ledger.home, [file])
    found = rollup.by_day()
    with rollups.ledger.connected(rollups.now, [file]) as connection:
        adding = _ReportAppender(found, connection, rollups.book)
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
            if any(rollups.path(file, grain) is None for grain in (rollup.DAY, rollup.MONTH)):
                _roll_up(rollups, file)
                made += 1
    return made


def _may_count(file: DataFile, report: Report, book: str) -> bool:
    """Whether a file may have a run that counts in the window of a report."""
    if not report.is_windowed:
        return True
    since, until = report.since, report.until
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
        _ReportAppender(report, connection, BOOKED, is_sparse=True).add()


def read_of(report: Report) -> list[str]:
    """The columns that a report booked at the end reads of rows."""
    keys = [KEYED_BY[name] for name in report.by if name not in TIMED]
    sums = [SUMMED["asked_processors"], *(each.column for each in KEPT)]
    times = () if "wait" in left_out(report.extra) else (SUBMIT, START)
    return [*dict.fromkeys((END, *keys, *times, *sums, EXACT))]


class _ReportAppender:
    """Adds what a connection has to a report.

    Of runs that are ``is_sparse`` there may be few in a long time; they are booked at the end.
    ``within`` has times between which all runs are, where it is known.
    """

    def __init__(
        self, report: Report, connection: Connection, book: str, *, is_sparse: bool = False,
        within: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self._report, self._connection, self._book = report, connection, book
        self._is_sparse, self._within = is_sparse, within
        # A name that is not stated is NULL: the groups of NULL and of "" are put together.
        self._names = [_keyed(name) for name in report.by if name not in TIMED]
        self._without = left_out(report.extra)
        self._times = (0, 0)  # the first and the last in which a run is
        self._has_exact = True  # unless it is known to have none
        self._order = _order(report.by)

    def add(self) -> None:
        """Add everything."""
        report = self._report
        if not report.is_windowed and len(self._names) == len(report.by):
            self._add_groups(self._booked("live", "NULL::BIGINT"), None)
            self._exact(None)
            self._spread("live", None)
            return
        cut = self._cut()
        if cut is None:
            return
        self._place(cut)
        if self._book == RUN and len(cut.names) > 1:
            self._add_divided(cut)
        else:
            self._add_groups(self._booked("placed", "k1"), cut)
        self._exact(cut)
        self._spread("placed", cut)

    def _cut(self) -> Pieces | None:
        """The pieces of time in which runs are; None where there is no run."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        text = f"count(*), count({EXACT})"
        if self._within is None:
            text += f", least(min({begun}), min({ended})), greatest(max({begun}), max({ended}))"
        ((count, exact, *found),) = self._rows(f"SELECT {text} FROM live")
        least, most = self._within or found
        report = self._report
        self._has_exact = exact > 0
        if not count:
            return None
        times = [self._times]
        if least is not None:
            self._times = least, most
            times = self._hours(ended) if self._is_sparse else self._spans()
        return pieces(report.by, report.zone, report.since, report.until, times, report.cuts)

    def _spans(self) -> list[tuple[int, int]]:
        """Where runs are; a time that is wrong may be far from all others."""
        least, most = self._times
        if most - least < LONGEST:
            return [self._times]
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        text = (
            f"SELECT min(first), max(over) FROM"
            f" (SELECT {ended} AS over, {_first(begun, ended)} AS first FROM live)"
            f" WHERE over IS NOT NULL GROUP BY first // {spans.APART}, over // {spans.APART}"
        )
        return spans.together(self._rows(text))

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
        """Make ``placed``: runs with the piece in which they end, ``k1``, which begins at ``low``.

        The piece before it begins at ``before``: NULL for the first one. ``pieces`` has all.
        """
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        numbers = pa.array(range(len(cut.names)), pa.int64())
        lows = pa.array(cut.bounds[:-1], pa.int64())
        before = pa.array([None, *cut.bounds[:-2]], pa.int64())
        table = pa.table({"piece": numbers, "low": lows, "before": before})
        self._connection.register("pieces", table)
        self._quotient = cut.quotient
        if self._quotient >= _LEAST:
            self._connection.register("quotients", self._places(cut))
            self._execute("places AS FROM quotients")  # of its own tables DuckDB knows more
        times = f"SELECT *, {begun} AS begun, {ended} AS over FROM live"
        for name, text in ("timed", times), ("placed", self._with_pieces("timed")):
            self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {text}")

    def _with_pieces(self, source: str) -> str:
        """Runs of a source with the piece in which they end, as SQL; see ``_place``."""
        piece = self._piece_of("over", "LEFT")
        return f"SELECT t.*, e.piece AS k1, e.low, e.before FROM {source} AS t {piece}"

    def _piece_of(self, time: str, kind: str) -> str:
        """The join with the piece of a time of ``t``, as ``e``."""
        if self._quotient < _LEAST:
            return f"ASOF {kind} JOIN pieces AS e ON t.{time} >= e.low"
        return f"{kind} JOIN places AS e ON e.place = (t.{time} + {BEFORE}) // {self._quotient}"

    def _places(self, cut: Pieces) -> pa.Table:
        """The piece of each quotient of a time, and where it begins."""
        first, last = ((time + BEFORE) // self._quotient for time in self._times)
        found = np.arange(first, last + 1)
        if last - first >= _MANY:
            times = (_BEGUN[self._book], _ENDED[self._book])
            text = " UNION ".join(
                f"SELECT ({time} + {BEFORE}) // {self._quotient} FROM live WHERE {time} IS NOT NULL"
                for time in times
            )
            found = np.array([place for (place,) in self._rows(text)], np.int64)
        bounds = np.array(cut.bounds[:-1], np.int64)
        piece = np.searchsorted(bounds, found * self._quotient - BEFORE, side="right") - 1
        before = pa.array(bounds[np.maximum(piece - 1, 0)], pa.int64(), mask=piece == 0)
        return pa.table({"place": found, "piece": piece, "low": bounds[piece], "before": before})

    def _booked(self, source: str, piece: str) -> str:
        """The sums of groups, as SQL, each run where it ended."""
        named = ", ".join((
            *(f"{name} AS n{at}" for at, name in enumerate(self._names)),
            f"{piece} AS piece", "count(*) AS jobs", *_named(self._sums()),
        ))  # fmt: skip
        return f"SELECT {named} FROM {source} WHERE {EXACT} IS NULL GROUP BY ALL"

    def _sums(self) -> dict[_Sum, str]:
        return _aggregates(lambda name: _WHOLE.get(name) or SUMMED[name], self._without)

    def _add_divided(self, cut: Pieces) -> None:
        """Add the sums of groups, each run in all pieces of time that it ran in.

        A product of 64 bits takes a third of the time: one of 128 is made where that is too small.
        """
        try:
            text = self._divided(cut, _NARROW)
        except OutOfRangeException:
            text = self._divided(cut, _WIDE)
        self._add_groups(text, cut)
        self._count_inside(cut)

    def _divided(self, cut: Pieces, kind: str) -> str:
        """The sums of groups, as SQL, of which the largest part is made in a table, ``booked``.

        Of all that is booked at the end, the piece before a boundary gets what a run had used by
        then, and the one behind it gives that away. So a boundary costs one division. One reading
        tells what is booked, and what goes over the boundary before it: few runs go over others.
        """
        keys = [f"n{at}" for at in range(len(self._names))]
        named = [f"{name} AS {key}" for name, key in zip(self._names, keys, strict=True)]
        dues = self._dues(kind)
        parts = _aggregates(lambda name: f"due_{name}", self._without)
        parts = {each: text for each, text in parts.items() if each[0] in _IN_PARTS}
        told = [f"{text} AS due_{_name(each)}" for each, text in parts.items()]
        sums = self._sums()
        here = ", ".join(f"CASE WHEN begun < low THEN {it} END AS due_{at}" for at, it in dues)
        columns = ", ".join((
            *named, "k1 AS piece", "count(*) AS jobs", *_named(sums), *told,
            "count(CASE WHEN begun < before THEN 1 END) AS others",
        ))  # fmt: skip
        some = f"SELECT *, {here} FROM placed WHERE {EXACT} IS NULL"
        self._execute(f"booked AS SELECT {columns} FROM ({some}) GROUP BY ALL")
        sources = ["booked"]
        if self._rows("SELECT sum(others) FROM booked")[0][0]:
            self._make_others(cut, dues, [*named, "piece", *told])
            sources.append("others")

        def moved(source: str, piece: str, sign: str) -> str:
            some = (f"{sign}due_{_name(each)}" if each in parts else "NULL" for each in sums)
            return f"SELECT {', '.join((*keys, piece, '0', *some))} FROM {source}"

        whole = ", ".join((*keys, "piece", "jobs", *map(_name, sums)))
        texts = [f"SELECT {whole} FROM booked"]
        for source in sources:
            texts += moved(source, "piece - 1", ""), moved(source, "piece", "-")
        added = ", ".join(f"{'max' if each[0] == _MOST else 'sum'}({_name(each)})" for each in sums)
        every = ", ".join((*keys, "piece"))
        union = " UNION ALL ".join(texts)
        return f"SELECT {every}, sum(jobs), {added} FROM ({union}) GROUP BY {every}"

    def _make_others(
        self, cut: Pieces, dues: Iterable[tuple[str, str]], told: Iterable[str]
    ) -> None:
        """Make ``others``: what ``told`` says of the boundaries but the last one of each run."""
        # A run that goes over two of them takes longer than a piece.
        shortest = min((high - low for low, high in pairwise(cut.bounds)), default=0)
        long = f"(SELECT * FROM timed WHERE {EXACT} IS NULL AND over - begun >= {shortest})"
        text = f"SELECT * EXCLUDE (low) FROM ({self._with_pieces(long)}) WHERE begun < before"
        text = f"SELECT t.*, e.piece AS k0 FROM ({text}) AS t {self._piece_of('begun', 'INNER')}"
        runs = f"SELECT *, unnest(range(k0 + 1, k1)) AS number FROM ({text})"
        every = ", ".join(f"{it} AS due_{at}" for at, it in dues)
        pieces_ = "JOIN pieces AS p ON p.piece = d.number"
        joined = f"SELECT d.*, p.piece, {every} FROM ({runs}) AS d {pieces_}"
        columns = ", ".join(told)
        self._execute(f"others AS SELECT {columns} FROM ({joined}) GROUP BY ALL")

    def _dues(self, kind: str) -> list[tuple[str, str]]:
        """What a run had used of each sum by ``low``, as SQL, by the names of the sums."""
        found = {name: _due(SUMMED[name], kind) for name in DIVIDED}
        if "asked_slots" not in self._without:
            for name, (wall, other) in _PRODUCTS.items():
                found[name] = _due_product(SUMMED[wall], found[wall], SUMMED[other])
        return [*found.items()]

    def _execute(self, text: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {text}")

    def _add_groups(self, text: str, cut: Pieces | None) -> None:
        """Add the groups that SQL finds: keys, the piece, how many jobs, and the sums."""
        names, labels = len(self._names), [*self._sums()]
        for row in self._rows(text):
            sums = dict(zip(labels, row[names + 2 :], strict=True))
            totals = Totals.of_sums(sums, jobs=row[names + 1])
            key = [each or "" for each in row[:names]]
            if not self._put(key, row[names], totals, cut):
                self._report.outside += totals.jobs

    def _count_inside(self, cut: Pieces) -> None:
        """Count runs that end behind the window, but have a part in it, as not outside."""
        within = [number for number, inside in enumerate(cut.inside) if inside]
        if not within or within[-1] == len(cut.inside) - 1:
            return
        text = (
            f"SELECT count(*) FROM placed WHERE {EXACT} IS NULL AND begun < $until AND k1 > $most"
        )
        given = {"until": cut.bounds[within[-1] + 1], "most": within[-1]}
        ((count,),) = self._rows(text, given)
        self._report.outside -= count

    def _exact(self, cut: Pieces | None) -> None:
        """Add runs whose sums are no whole numbers of 64 bits."""
        if not self._has_exact:
            return
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        wait = "NULL" if "wait" in self._without else SUMMED["wait"]
        told = ", ".join((*self._names, begun, ended, wait, EXACT))
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
            named = zip(cut.names, cut.inside, strict=True)
            keys = [name if inside or not report.is_windowed else None for name, inside in named]
            keys.append(None if report.is_windowed else ("",) * len(cut.names[0]))
        names = [KEYED[name] for name in report.by if name not in TIMED]
        placed = GroupedRuns(source, names, keys)
        fill(report.percentiles, report.histograms, self._connection, placed, self._joined)

    def _joined(self, key: Sequence[str], spans: Sequence[str]) -> Key:
        """The key of a group, of the names and the spans of it."""
        parts = (*key, *spans)
        return tuple([parts[at] for at in self._order])

    def _put(
        self, key: Sequence[str], number: int | None, more: Totals, cut: Pieces | None
    ) -> bool:
        """Add to a group; False where that is outside of the window."""
        report = self._report
        known: Sequence[str] = ()
        if cut is not None:
            if report.is_windowed and (number is None or not cut.inside[number]):
                return False
            known = ("",) * len(report.by) if number is None else cut.names[number]
        whole = self._joined(key, known)
        report.put(whole, more)
        return True

    def begun(self) -> dict[int, int]:
        """How many runs that have a date began on each day, counted from 1970; see ``rollup``."""
        begun, ended = _BEGUN[self._book], _ENDED[self._book]
        day = f"({_first(begun, ended)} + {BEFORE}) // 86400 - {BEFORE // 86400}"
        text = f"SELECT {day}, count(*) FROM live WHERE {ended} IS NOT NULL GROUP BY 1"
        return dict(self._rows(text))

    def _rows(self, text: str, given: Any = None) -> list[tuple[Any, ...]]:
        return rows_of(self._connection, text, given)


def _order(by: Sequence[str]) -> list[int]:
    """The places of what a key is made of: names first, then spans of time."""
    names = [name for name in by if name not in TIMED]
    parts = [*names, *(name for name in by if name in TIMED)]
    return [parts.index(name) for name in by]


def _keyed(name: str) -> str:
    """What a report groups by, as SQL; NULL or "" is not stated."""
    return f'"{GROUPED[SAME.get(name, name)]}"' if SAME.get(name, name) in GROUPED else KEYED[name]


def _first(begun: str, ended: str) -> str:
    """The time from which a run counts, as SQL: that of its end where it does not begin before."""
    return f"CASE WHEN {begun} < {ended} THEN {begun} ELSE {ended} END"


_MOST = "most_memory"
_NARROW, _WIDE = "BIGINT", "HUGEINT"
_HELD = f"coalesce({SUMMED['asked']}, {SUMMED['memory']}, 0)"
# What was requested by the time that a run took.
_PRODUCTS = {"asked_slots": ("wall", "asked_processors"), "asked_gpus_held": ("wall", "asked_gpus")}
_WHOLE = {
    name: f"({SUMMED[wall]}::{_WIDE} * {SUMMED[other]})"
    for name, (wall, other) in _PRODUCTS.items()
}
_LARGE = 1 << 80  # a product that can be multiplied by any time of a run in 128 bits
# The fields of ``Totals`` that are divided.
_IN_PARTS = (
    "wall", "slots", "cpu", "nodes", "gpus", "energy", "cpu_of", "held", "asked_slots",
    "asked_gpus", "cpu_of_asked", "gpus_of_asked",
)  # fmt: skip
_Sum = tuple[str, int]  # a field of ``Totals``, and the number of a side of it


def _due(column: str, kind: str) -> str:
    """What a run had used of a sum by ``low``; see above."""
    return due_sql(f"{column}::{kind}", "low", "begun", "over", "//")


def _due_product(wall: str, due: str, other: str) -> str:
    """What it had by then of wall time by another number, of a run that may have any of both."""
    product = f"({wall}::{_WIDE} * {other})"
    whole = due_sql(product, "low", "begun", "over", "//")
    return f"CASE WHEN abs({product}) <= {_LARGE} THEN {whole} ELSE ({due})::{_WIDE} * {other} END"


def _name(each: _Sum) -> str:
    return f"{each[0]}_{each[1]}"


def _named(sums: Mapping[_Sum, str]) -> Iterator[str]:
    return (f"{text} AS {_name(each)}" for each, text in sums.items())


def _aggregates(of: Of, without: Collection[str] = frozenset()) -> dict[_Sum, str]:
    """The sums of a group as SQL, by the fields of ``Totals`` and the number of the side of each.

    Fields that nobody needs are left out. Conditions are cases: FILTER takes twice the time. A sum
    of wall time by memory has two halves, so that no sum of products is beyond 128 bits.
    """
    told: dict[_Sum, str] = {}

    def put(name: str, *terms: str, where: Sequence[str] = (), by: str = "sum") -> None:
        """``where`` has a condition for each term."""
        if name in without:
            return
        for at, term in enumerate(terms):
            some = f"CASE WHEN {where[at]} THEN {term} END" if where else term
            told[name, at] = f"{by}({some})"

    def both(name: str, over: str, under: str, has_over: str, has_under: str) -> None:
        """Both sides of a part, of jobs that state both: the terms, and where there is a side."""
        put(name, over, under, where=[has_under, has_over])

    wall, cpu, memory = SUMMED["wall"], SUMMED["cpu"], SUMMED["memory"]
    asked, limit, gpus = SUMMED["asked"], SUMMED["limit"], SUMMED["gpus"]
    for name in ("wall", "slots", "cpu", "nodes", "gpus", "energy"):
        put(name, of(name))
    for name in ("processors", "memory", "limit", "asked", "wait"):
        put(name, SUMMED[name])
    for name in ("processors", "memory", "asked", "wait"):
        put(f"with_{name}", SUMMED[name], by="count")
    put(_MOST, memory, by="max")
    both("cpu_of", of("cpu"), of("slots"), f"{cpu} IS NOT NULL", f"{SUMMED['slots']} <> 0")
    both("memory_of", memory, asked, f"{memory} IS NOT NULL", f"{asked} <> 0")
    both("limit_of", wall, limit, f"{wall} IS NOT NULL", f"{limit} <> 0")
    share = f"({of('wall')})::HUGEINT"
    side = 1 << HELD_BITS
    put("held", f"{share} * (({_HELD}) // {side})", f"{share} * (({_HELD}) % {side})")
    slots, of_gpus = of("asked_slots"), of("asked_gpus_held")
    put("asked_slots", slots)
    put("asked_gpus", of_gpus)
    ran = f"{wall} <> 0"
    both("cpu_of_asked", of("cpu"), slots, f"{cpu} IS NOT NULL",
         f"{ran} AND {SUMMED['asked_processors']} <> 0")  # fmt: skip
    both("gpus_of_asked", of("gpus"), of_gpus, f"{gpus} IS NOT NULL",
         f"{ran} AND {SUMMED['asked_gpus']} <> 0")  # fmt: skip
    return told


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
