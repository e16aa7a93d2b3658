"""How the numbers of jobs spread, for a report: percentiles and histograms, by DuckDB.

Percentiles are those of ``quantile_disc``: exact, and always the number of a job. Each distribution
is a query of its own, so that the memory is some 8 bytes for each job. Runs whose sums are no whole
numbers of 64 bits (``exact``) are few; their numbers are worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sssjob.ledger.columns import EXACT, START, SUBMIT, SUMMED
from sssjob.ledger.engine import rows_of
from sssjob.measures import (
    Distribution,
    Histogram,
    Histograms,
    Percentiles,
    Spread,
    has_both_sql,
    usage_of,
    wait_sql,
)
from sssjob.units import double_or_none

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

Key = tuple[str, ...]
Joined = Callable[[Sequence[str], Sequence[str]], Key]
# What is asked of a distribution, for each group.
Grouped = Callable[[Distribution, str], Iterator[tuple[Key, Sequence[Any]]]]

# Of distributions that are of no sums.
_COLUMNS = {"wait": wait_sql(SUBMIT, START), "nodes": "used_nodes"}
_UNIT = 10**5  # a percentile has 3 decimals, so a part of 1 has 5
_NOWHERE = -1  # the piece of runs that are in none


class GroupedRuns(NamedTuple):
    """Where runs are: the view that has them, and what they are grouped by: columns, as SQL, and
    spans.

    ``spans`` are the keys of the pieces ``k1`` of the view; None is a piece that does not count.
    The last one is that of runs in no piece. A view without pieces has that one only.
    """

    view: str
    columns: Sequence[str]
    spans: Sequence[Key | None]


def fill(
    percentiles: Percentiles | None, histograms: Histograms | None, connection: Connection,
    placed: GroupedRuns, joined: Joined,
) -> None:  # fmt: skip
    """Fill in what is wanted; ``joined`` makes the key of a group of its columns and spans."""
    of = dict.fromkeys(each for wanted in (percentiles, histograms) if wanted for each in wanted.of)
    if not of:
        return
    spans = [*dict.fromkeys(key for key in placed.spans if key is not None)]
    has_exact = _counted(connection, placed, spans, [*of])
    numbers = {
        each: f"(SELECT *, {_number_sql(each, has_exact)} AS number FROM counted)" for each in of
    }
    keys = "".join(f"{name}, " for name in placed.columns)

    def grouped(each: Distribution, asked: str) -> Iterator[tuple[Key, Sequence[Any]]]:
        text = f"SELECT {keys}place, {asked} FROM {numbers[each]} GROUP BY ALL"
        for row in rows_of(connection, text):
            names = len(placed.columns)
            yield joined(row[:names], spans[row[names]]), row[names + 1 :]

    if percentiles is not None:
        _fill_percentiles(percentiles, connection, numbers, grouped)
    if histograms is not None:
        _fill_histograms(histograms, grouped)


def _fill_percentiles(
    wanted: Percentiles, connection: Connection, numbers: Mapping[Distribution, str],
    grouped: Grouped,
) -> None:  # fmt: skip
    parts = ", ".join(_decimal(each.part) for each in wanted.wanted)
    asked = f"count(*) - count(number), quantile_disc(number, [{parts}])"
    groups: dict[Key, list[Spread]] = {}
    total: list[Spread] = []
    for each in wanted.of:
        for key, (not_stated, values) in grouped(each, asked):
            groups.setdefault(key, []).append(_spread(wanted, not_stated, values))
        (whole,) = rows_of(connection, f"SELECT {asked} FROM {numbers[each]}")
        total.append(_spread(wanted, *whole))
    wanted.groups = {key: tuple(spreads) for key, spreads in groups.items()}
    wanted.total = tuple(total)


def _fill_histograms(wanted: Histograms, grouped: Grouped) -> None:
    groups: dict[Key, list[Histogram]] = {}
    for each in wanted.of:
        counts = (f"count(*) FILTER (WHERE {within})" for within in _parts(each))
        asked = f"count(*) - count(number), {', '.join(counts)}"
        for key, (not_stated, *found) in grouped(each, asked):
            groups.setdefault(key, []).append(Histogram(not_stated, tuple(found)))
    wanted.groups = {key: tuple(some) for key, some in groups.items()}


def _parts(of: Distribution) -> Iterator[str]:
    """Whether a number is in each part of a histogram."""
    bounds = [f"CAST('{float(bound)!r}' AS DOUBLE)" for bound in of.bounds]
    for low, high in zip_longest(bounds, bounds[1:]):
        yield f"number >= {low}" + (f" AND number < {high}" if high else "")


def _counted(
    connection: Connection, placed: GroupedRuns, spans: Sequence[Key], of: Sequence[Distribution]
) -> bool:
    """Make ``counted``: the runs that count, with the place of their span in ``spans``.

    True where some are ``exact``: their numbers stand beside them.
    """
    numbers = {key: number for number, key in enumerate(spans)}
    where = [*range(len(placed.spans) - 1), _NOWHERE]
    known = [
        (piece, numbers[key]) for piece, key in zip(where, placed.spans, strict=True)
        if key is not None
    ]  # fmt: skip
    fields = pa.schema([("piece", pa.int64()), ("place", pa.int64())])
    rows = [{"piece": piece, "place": place} for piece, place in known]
    connection.register("spans", pa.Table.from_pylist(rows, fields))
    piece = f"coalesce(k1, {_NOWHERE})" if len(placed.spans) > 1 else f"{_NOWHERE}"
    told = f"FROM {placed.view} AS t JOIN spans ON spans.piece = {piece}"
    text = f'SELECT t.file, t."row", {EXACT} {told} WHERE {EXACT} IS NOT NULL'
    exact = rows_of(connection, text)
    beside = ""
    if exact:
        connection.register("exact_numbers", _exact_numbers(exact, of))
        told += ' LEFT JOIN exact_numbers AS e ON e.in_file = t.file AND e.in_row = t."row"'
        beside = ", e.*"
    connection.execute(f"CREATE TEMP VIEW counted AS SELECT t.*, spans.place{beside} {told}")
    return bool(exact)


def _exact_numbers(rows: Sequence[tuple[Any, ...]], of: Sequence[Distribution]) -> pa.Table:
    """The numbers of runs that have fractions, or more than 64 bits."""
    sums = [usage_of(told) for _, _, told in rows]
    return pa.table({
        "in_file": pa.array([file for file, _, _ in rows], pa.string()),
        "in_row": pa.array([row for _, row, _ in rows], pa.int64()),
        **{
            _beside(each): pa.array([double_or_none(each.of(job)) for job in sums], pa.float64())
            for each in of
            if each.sums
        },
    })  # fmt: skip


def _number_sql(of: Distribution, has_exact: bool) -> str:
    """The number of a run, NULL where it is not stated or below 0."""
    columns = [SUMMED[name] for name in of.sums] or [_COLUMNS[of.name]]
    number = f"{columns[0]}::DOUBLE"
    if len(columns) > 1:
        number = f"CASE WHEN {has_both_sql(*columns)} THEN {number} / {columns[1]}::DOUBLE END"
    if has_exact and of.sums:
        number = f"CASE WHEN {EXACT} IS NULL THEN {number} ELSE {_beside(of)} END"
    return f"CASE WHEN {number} >= 0 THEN {number} END"


def _beside(of: Distribution) -> str:
    return f"exact_{of.name}"


def _decimal(part: Fraction) -> str:
    """A part of 1 as a decimal of SQL: DuckDB counts by doubles otherwise, which may be one off."""
    whole, rest = divmod(int(part * _UNIT), _UNIT)
    return f"{whole}.{rest:05d}"


def _spread(wanted: Percentiles, not_stated: int, values: list[float] | None) -> Spread:
    return Spread(not_stated, tuple(values or [None] * len(wanted.wanted)))
