"""Of which properties the values of reports, ledgers and tables are made, and how they are read.

What is declared here is read from columns of many jobs by ``column_values``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any, NamedTuple

from sssjob.accounting import report
from sssjob.accounting.report import EXIT, GROUPINGS, NAMED, NODES, JobProperties
from sssjob.records.record import DELIVERED, JOB, REQUESTED

OWN, GIVEN, ASKED = frozenset((JOB,)), frozenset((JOB, DELIVERED)), frozenset((REQUESTED,))
ANY = GIVEN | ASKED
_LATEST = 10**9 * 9  # of a time, in digits


class ColumnReading(NamedTuple):
    """How a value is read from a job, and of properties of which names and places it is made.

    ``places`` are those of ``Field``. Of a number, plain digits are so many times what the digit
    1 is, except for 0, and none where they stand for more than ``most``.
    """

    of: Callable[[JobProperties], Any]
    names: tuple[str, ...]
    places: frozenset[str]
    is_number: bool = False
    most: int | None = None


def time_reading(name: str) -> ColumnReading:
    """A time of the job itself."""
    return ColumnReading(lambda job: job.time(name), (name,), OWN, is_number=True, most=_LATEST)


def grouping(name: str, nothing: str | None = None) -> ColumnReading:
    """What a report groups by: a text, or what it makes of a number; or else ``nothing``."""
    made = {EXIT: (("ExitCode",), ANY), NODES: (("NodeCount",), GIVEN)}
    names, places = made.get(name) or (NAMED[name], ANY)
    return ColumnReading(
        lambda job: GROUPINGS[name](job, UTC) or nothing, names, places, name in made
    )


# What sums are made of, by ``used_of``.
AMOUNTS = tuple(
    ColumnReading(each.of, each.names, ASKED if each.is_asked else GIVEN, is_number=True)
    for each in report.AMOUNTS
)
