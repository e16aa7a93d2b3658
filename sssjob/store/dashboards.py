"""Sums over the jobs of a store: what they used by the days of their run, and how they spread.

Strategy. A run that goes over midnight used both days (``ledger.report``). A store is asked once
for the jobs of each value, first day and last day of a run, with what was had on the first day, on
the last, and in all; what lies between is the same on each day. Days, weeks, months and years in
UTC all begin with a day, so a caller divides by any of them without asking for a job again. The
sums are of numbers as columns have them, which are doubles.

A value is what the table of jobs shows (``browsing``): delivered, else the job's own, else
requested; but amounts that were used are never taken from a request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.store import browsing
from sssjob.store.browsing import expression, remembered, whole_jobs
from sssjob.store.condition import TRUE, Condition, all_of
from sssjob.store.engine import Engine, ReadTransaction
from sssjob.store.sql import SqlDialect, sql
from sssjob.suggestions import nearest

DAY = 86_400
_DATED = "BETWEEN -62135596800 AND 253370764799"  # the years 1 to 9998: each has a next one

# fmt: off
_WALL  = "coalesce(delivered_duration, duration)"
_SLOTS = f"{_WALL} * coalesce(delivered_processors, processors, 1)"
_CPU   = f"CASE WHEN {_WALL} IS NOT NULL THEN cpu_duration END"
# What can be summed up, and of which sums it is made: the second one divides the first.
MEASURES: dict[str, tuple[str, ...]] = {
    "processor_seconds": (_SLOTS,),
    "wall_seconds":      (_WALL,),
    "cpu_seconds":       ("cpu_duration",),
    "jobs":              (),
    "efficiency":        (_CPU, f"CASE WHEN cpu_duration IS NOT NULL THEN {_SLOTS} END"),
}
DIMENSIONS = ("user", "project", "queue", "machine", "state", "exit")
# What distributions are of, and the lower bounds of their parts.
_SECONDS = (0, 1, 10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, DAY, 3 * DAY, 7 * DAY)
SPREAD: dict[str, tuple[int, ...]] = {
    "wait":       _SECONDS,
    "wall":       _SECONDS,
    "processors": (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 1025, 4097),
    "nodes":      (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 1025, 4097),
    "memory":     (0, *(1 << power for power in range(26, 43, 2))),
}
# fmt: on


class Sum(NamedTuple):
    """A sum over some runs: on their first day, on their last, and in all."""

    first: float
    last: float
    whole: float


class Runs(NamedTuple):
    """Jobs of one value whose runs began on one day and ended on one, as days from 1970 on.

    None for both is jobs that tell no end. ``sums`` are those of the measure.
    """

    value: str | float | None
    begun: int | None
    ended: int | None
    jobs: int
    sums: tuple[Sum, ...]


class Part(NamedTuple):
    """How many jobs lie from a number up to the next part; None for those that tell none."""

    low: int | None
    jobs: int


def measure_of(name: str) -> tuple[str, ...]:
    """The sums of a measure, as SQL. Raises ``InvalidValue``."""
    return MEASURES[_known(name, MEASURES, "a measure")]


def _known(name: str, known: Collection[str], what: str) -> str:
    if name in known:
        return name
    meant = nearest(name, known)
    told = f"; did you mean {meant}?" if meant else f", one of {', '.join(known)}"
    raise InvalidValue(name, f"{what} of this page{told}")


def runs(
    moment: ReadTransaction, dialect: SqlDialect, by: str, measure: str, where: Condition = TRUE
) -> Iterator[Runs]:
    """What jobs used, by a column and the days on which they ran.

    Raises ``InvalidValue`` for no dimension and no measure.
    """
    value = expression(_known(by, DIMENSIONS, "a dimension"))
    wanted = measure_of(measure)
    whole = dialect.floor.format
    over = f"CASE WHEN end_time {_DATED} THEN end_time END"
    begun = (
        f"CASE WHEN start_time < end_time AND start_time {_DATED} THEN start_time ELSE {over} END"
    )
    jobs = sql(all_of(whole_jobs(), where), dialect)
    amounts = "".join(f", {amount} AS v{number}" for number, amount in enumerate(wanted))
    sums = "".join(_sums(f"v{number}") for number in range(len(wanted)))
    text = (
        f"SELECT value, d0, d1, count(*){sums} FROM (SELECT *, {whole(f's / {DAY}')} AS d0, "
        f"{whole(f'e / {DAY}')} AS d1 FROM (SELECT {value} AS value, {begun} AS s, {over} AS e"
        f"{amounts} FROM job WHERE {jobs.text}) AS told) AS parted GROUP BY value, d0, d1"
    )

    return map(_runs, moment.stream(text, jobs.values))


def spread(engine: Engine, name: str, where: Condition = TRUE) -> list[Part]:
    """How many jobs have a number between the bounds of ``SPREAD``. Raises ``InvalidValue``."""
    bounds = SPREAD[_known(name, SPREAD, "a number")]
    number = "start_time - submit_time" if name == "wait" else expression(name)
    cases = " ".join(f"WHEN n >= {low} THEN {low}" for low in reversed(bounds))
    jobs = sql(all_of(whole_jobs(), where), engine.dialect)
    text = (
        f"SELECT CASE {cases} END, count(*) FROM (SELECT {number} AS n FROM job "
        f"WHERE {jobs.text}) AS told GROUP BY 1"
    )

    def asked(moment: ReadTransaction) -> list[Part]:
        found: dict[int | None, int] = dict(moment.fetch(text, jobs.values))
        told = [Part(low, found.get(low, 0)) for low in bounds]
        return [*told, Part(None, found.get(None, 0))]

    return remembered(engine, ("spread", name, where), asked)


def between(name: str, low: float, high: float | None) -> Condition:
    """Jobs of a part of a distribution. Raises ``InvalidValue``."""
    if _known(name, SPREAD, "a number") == "wait":
        return browsing.waited(low, high)
    return browsing.ranging(name, low, high)


def _sums(name: str) -> str:
    several = f"d0 < d1 THEN {name}"
    return (
        f", sum(CASE WHEN {several} * ((d0 + 1) * {DAY} - s) / (e - s) END)"
        f", sum(CASE WHEN {several} * (e - d1 * {DAY}) / (e - s) END), sum({name})"
    )


def _runs(row: Sequence[object]) -> Runs:
    value, begun, ended, jobs, *sums = row
    numbers = [float(each) if isinstance(each, int | float) else 0.0 for each in sums]
    told = tuple(Sum(*numbers[at : at + 3]) for at in range(0, len(numbers), 3))
    assert value is None or isinstance(value, str | int | float)
    assert isinstance(jobs, int)
    return Runs(value, _day(begun), _day(ended), jobs, told)


def _day(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
