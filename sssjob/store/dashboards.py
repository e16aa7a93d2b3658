"""Sums over the jobs of a store: what they used by the days of their run, and how they spread.

Strategy. A run that goes over midnight used both days (``measures`` has the rule). A store is asked
once for the jobs of each value, first day and last day of a run, with what was had on the first
day, on the last, and in all; what lies between is the same on each day. Days, weeks, months and
years in UTC all begin with a day, so a caller divides by any of them without asking for a job
again. The sums are of numbers as columns have them, which are doubles.

A value is what the table of jobs shows (``browsing``): delivered, else the job's own, else
requested; but amounts that were used are never taken from a request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import isnan
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.measures import (
    BY_NAME,
    DISTRIBUTIONS,
    begun_sql,
    dated_sql,
    due_sql,
    has_both_sql,
    held_sql,
    over_sql,
    wait_sql,
)
from sssjob.store import browsing
from sssjob.store.browsing import (
    OUTCOME,
    SUSPENDED,
    WALL,
    expression,
    remembered,
    value_of,
    whole_jobs,
)
from sssjob.store.condition import TRUE, Condition, all_of
from sssjob.store.engine import CountedIn, ReadTransaction
from sssjob.store.sql import SqlDialect, sql
from sssjob.suggestions import nearest

DAY = 86_400

# fmt: off
_WALL = f"coalesce({', '.join(WALL)})"
# What columns tell of the sums of ``measures``.
_SUMS = {
    "wall":  _WALL,
    "slots": held_sql(_WALL, "delivered_processors, processors"),
    "cpu":   "cpu_duration",
}
# What can be summed up.
MEASURES = ("processor_seconds", "wall_seconds", "cpu_seconds", "jobs", "efficiency")
DIMENSIONS = ("user", "project", "queue", "machine", "state", OUTCOME, "exit", "status")
# What distributions are of, and the lower bounds of their parts: those that are one column.
SPREAD = {
    each.name: [*map(int, each.bounds)] for each in DISTRIBUTIONS.values() if len(each.sums) < 2
}
# fmt: on


class RunsSum(NamedTuple):
    """A sum over some runs: on their first day, on their last, and in all."""

    first: float
    last: float
    whole: float


class DailyRuns(NamedTuple):
    """Jobs of one value whose runs began on one day and ended on one, as days from 1970 on.

    A run up to midnight ends on the day before, but counts on the day of its end. None for both is
    jobs of which nobody knows when they ran. ``sums`` are those of the measure, () of a count; None
    where no job states what is added up.
    """

    value: str | float | None
    begun: int | None
    ended: int | None
    jobs: int
    sums: tuple[RunsSum, ...] | None


class Bin(NamedTuple):
    """How many jobs lie from a number up to the next part; None for those that tell none."""

    low: int | None
    jobs: int


def measure_of(name: str) -> tuple[str, ...]:
    """The sums of a measure, as SQL, of amounts from 0 on. Raises ``InvalidValue``."""
    told = [_SUMS[each] for each in BY_NAME[_known(name, MEASURES, "a measure")].sums]
    sums = [f"CASE WHEN {each} >= 0 THEN {each} END" for each in told]  # as reports read them
    if len(sums) < 2:
        return (*sums,)
    has_both = has_both_sql(*sums)
    return tuple(f"CASE WHEN {has_both} THEN {each} END" for each in sums)


def _known(name: str, known: Collection[str], what: str) -> str:
    if name in known:
        return name
    meant = nearest(name, known)
    told = f"; did you mean {meant}?" if meant else f", one of {', '.join(known)}"
    raise InvalidValue(name, f"{what} of this page{told}")


def runs(
    moment: ReadTransaction, dialect: SqlDialect, by: str, measure: str, where: Condition = TRUE
) -> Iterator[DailyRuns]:
    """What jobs used, by a column and the days on which they ran.

    Raises ``InvalidValue`` for no dimension and no measure.
    """
    value = value_of(_known(by, DIMENSIONS, "a dimension"), dialect)
    wanted = measure_of(measure)
    whole = dialect.floor.format
    told = (
        f"{dated_sql('start_time')} AS t0, {dated_sql('end_time')} AS t1, {_WALL} AS wall,"
        f" {SUSPENDED} AS away"
    )
    over, begun = over_sql("t0", "t1", "wall", "away"), begun_sql("t0", "e")
    jobs = sql(all_of(whole_jobs(), where), dialect)
    amounts = "".join(f", {amount} AS v{number}" for number, amount in enumerate(wanted))
    sums = "".join(_sums(f"v{number}") for number in range(len(wanted)))
    numbers = "".join(f", v{number}" for number in range(len(wanted)))
    last = whole(f"e / {DAY}")
    if wanted:
        last = f"CASE WHEN s < e AND {last} * {DAY} = e THEN {last} - 1 ELSE {last} END"
    text = (
        f"SELECT value, d0, d1, count(*){sums} FROM (SELECT *, {whole(f's / {DAY}')} AS d0, "
        f"{last} AS d1 FROM (SELECT value, e{numbers}, "
        f"CASE WHEN {begun} < e THEN t0 ELSE e END AS s FROM (SELECT *, {over} AS e FROM "
        f"(SELECT {value.text} AS value, {told}{amounts} FROM job WHERE {jobs.text}) AS told"
        ") AS ended) AS begun) AS parted GROUP BY value, d0, d1"
    )
    return map(_runs, moment.stream(text, (*value.values, *jobs.values)))


def spread(engine: CountedIn, name: str, where: Condition = TRUE) -> list[Bin]:
    """How many jobs have a number between the bounds of ``SPREAD``. Raises ``InvalidValue``."""
    bounds = SPREAD[_known(name, SPREAD, "a number")]
    number = wait_sql("submit_time", "start_time") if name == "wait" else expression(name)
    cases = " ".join(f"WHEN n >= {low} THEN {low}" for low in reversed(bounds))
    jobs = sql(all_of(whole_jobs(), where), engine.dialect)
    text = (
        f"SELECT CASE {cases} END, count(*) FROM (SELECT {number} AS n FROM job "
        f"WHERE {jobs.text}) AS told GROUP BY 1"
    )

    def asked(moment: ReadTransaction) -> list[Bin]:
        found: dict[int | None, int] = dict(moment.fetch(text, jobs.values))
        told = [Bin(low, found.get(low, 0)) for low in bounds]
        return [*told, Bin(None, found.get(None, 0))]

    return remembered(engine, ("spread", name, where), asked)


def between(name: str, low: float, high: float | None) -> Condition:
    """Jobs of a part of a distribution. Raises ``InvalidValue``."""
    if _known(name, SPREAD, "a number") == "wait":
        return browsing.waited(low, high)
    return browsing.ranging(name, low, high)


def _sums(name: str) -> str:
    first = due_sql(name, f"((d0 + 1) * {DAY})", "s", "e")
    last = f"{name} - {due_sql(name, f'(d1 * {DAY})', 's', 'e')}"
    return "".join((
        *(f", sum(CASE WHEN d0 < d1 THEN {each} END)" for each in (first, last)),
        f", sum({name})",
    ))  # fmt: skip


def _runs(row: Sequence[object]) -> DailyRuns:
    value, begun, ended, jobs, *sums = row
    # Infinity less infinity is nothing in SQLite, and no number elsewhere.
    numbers = [float(e) if isinstance(e, int | float) and not isnan(e) else 0.0 for e in sums]
    told: tuple[RunsSum, ...] | None
    told = tuple(RunsSum(*numbers[at : at + 3]) for at in range(0, len(numbers), 3))
    if sums and all(each is None for each in sums[2::3]):
        told = None
    assert value is None or isinstance(value, str | int | float)
    assert isinstance(jobs, int)
    return DailyRuns(value, _day(begun), _day(ended), jobs, told)


def _day(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
