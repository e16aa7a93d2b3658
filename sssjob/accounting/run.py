"""A run of a job as accounting tells it from others, and what may be said of it later anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from typing import Any, NamedTuple

from sssjob.accounting.report import GROUPINGS, JobProperties, wall_time
from sssjob.formats.sss import jobs_of
from sssjob.known_by import job_of, of_one, owner
from sssjob.measures import Number
from sssjob.model import Block, Job, Property

CHARGED = ("user", "project")  # what ``GROUPINGS`` calls whom a run is charged to
_NUMBER = re.compile(r"[0-9]{1,18}")


class StatedRun(NamedTuple):
    """A run of a job, as one side knows it; None and "" are not stated.

    ``said`` is what may be changed later: names with their values. ``number`` is the one that the
    batch system counted its job by, ``place`` that of the run in its listing. ``is_usage`` says
    that it has all that usage records of grids demand: both times, a duration, and CPU time.
    ``one`` is the id that holds for its job everywhere, ``whose`` its user (``known_by``). One that
    ``is_cut`` may be cut short: another of the run that tells as much counts instead.
    """

    machine: str
    id: str
    submit: int | None
    start: int | None
    end: int | None
    said: tuple[tuple[str, str], ...] = ()
    number: int | None = None
    submit_host: str = ""
    wall: Number | None = None
    processors: Number | None = None
    place: int = 0
    is_usage: bool = True
    one: str = ""
    whose: str = ""
    is_cut: bool = False

    @property
    def job(self) -> str:
        """Its id on its machine, by which other records may tell of it, too."""
        return job_of(self.machine, self.id, self.one).id

    # decision 1200
    @property
    def teller(self) -> str:
        """Its user, where it is told that users have runs of their own."""
        return self.whose if self.one else ""


def run_of(job: Job, raw_ids: Iterable[tuple[str, str]] = ()) -> StatedRun:
    """The run that a job object tells of.

    ``raw_ids`` are types and names of Extensions that hold the number a system counts by.
    """
    facts = JobProperties(job)
    return made(
        (facts.text("Machine"), job.id, facts.time("SubmitTime"), facts.time("StartTime"),
         facts.ended),
        (wall_time(facts), facts.given("Processors"), facts.given("CpuDuration")),
        facts.text("ExitCode"), tuple(GROUPINGS[name](facts, UTC) for name in CHARGED),
        _number(facts, set(raw_ids)), facts.text("SubmitHost"), facts.text("GlobalId"),
    )  # fmt: skip


def made(
    key: tuple[str, str, int | None, int | None, int | None],
    amounts: tuple[Number | None, Number | None, Number | None],
    exit_code: str, charged: tuple[str, ...], number: int | None, submit_host: str = "",
    global_id: str = "",
) -> StatedRun:  # fmt: skip
    """The run of what tells it (the first five of ``StatedRun``), and what it used: wall time,
    processors, CPU time. ``charged`` is whom, by ``CHARGED``; "" is not stated.
    """
    _, id_, _, begun, ended = key
    wall, processors, cpu = amounts
    said: dict[str, Any] = {
        "EndTime": ended, "Duration": wall, "Processors": processors, "ExitCode": exit_code,
        **dict(zip(("User", "Project"), charged, strict=True)),
    }  # fmt: skip
    return StatedRun(
        *key,
        tuple((name, str(value)) for name, value in said.items() if value not in (None, "")),
        number, submit_host, wall, processors, is_usage=None not in (begun, ended, wall, cpu),
        one=of_one(id_, global_id), whose=owner(id_, global_id, said["User"]),
    )  # fmt: skip


def runs_of(
    blocks: Iterable[Block], raw_ids: Sequence[tuple[str, str]] = ()
) -> Iterator[StatedRun]:
    """The runs of jobs, and of those in groups."""
    return (run_of(job, raw_ids) for block in blocks for job in jobs_of(block))


def _number(facts: JobProperties, raw_ids: set[tuple[str, str]]) -> int | None:
    """What the Extension with the raw id says, or the first number of the Id."""
    for item in facts.own.get("Extension", ()):
        attributes = item.attributes
        if (attributes.get("type", ""), attributes.get("name", "")) in raw_ids:
            return _first_number(item)
    found = facts.own.get("Id")
    return _first_number(found[0]) if found else None


def _first_number(item: Property) -> int | None:
    return number_in(item.text)


def number_in(text: str) -> int | None:
    """The number that an id begins with, by which a batch system counted the job."""
    found = _NUMBER.match(text.strip())
    return int(found[0]) if found else None
