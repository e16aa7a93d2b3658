"""Live jobs as a table: how each stands, and what it has used of what it asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sssjob import units
from sssjob.accounting.efficiency import BYTES, amount
from sssjob.drawing.columns import aligned
from sssjob.errors import InvalidValue
from sssjob.model import Job, Properties
from sssjob.states import STEPS, step
from sssjob.visible import visible

_HEAD = ("id", "name", "user", "state", "queue", "time", "processors", "memory")
_WIDEST = {"name": 30, "id": 30}
_NOT_KNOWN = "-"


def table(jobs: Sequence[Job], now: float, room: int = 0) -> Iterator[str]:
    """A line for each job, below their headings; ``now`` tells how long a job has run.

    Where lines would be longer than ``room``, unless that is 0, a job has one for each column.

    >>> job = Job.of(Id="7", State="Running", StartTime=1700000000)
    >>> print("\\n".join(table([job], 1700003661)))
    id  name  user  state    queue     time  processors  memory
    7   -     -     Running  -      1:01:01           -       -
    """
    cells = [_HEAD, *(_cells(job, now) for job in jobs)]
    yield from aligned(cells, _HEAD.index("time"), room, 1)


def _cells(job: Job, now: float) -> tuple[str, ...]:
    asked, given = job.requested, job.delivered
    user, queue = (
        given.text(name) or job.get(name) or asked.text(name) for name in ("User", "Queue")
    )
    texts = (job.id, job.get("Name"), user, job.get("State"), queue)
    processors = given.text("Processors") or asked.text("Processors")
    return (
        *(_short(name, visible(text)) for name, text in zip(_HEAD, texts, strict=False)),
        _of(_clock(_ran(job, now)), _clock(_number(asked, "Duration"))),
        visible(processors) or _NOT_KNOWN,
        _of(_size(_bytes(given)), _size(_bytes(asked))),
    )


def _short(column: str, text: str) -> str:
    widest = _WIDEST.get(column, len(text))
    return (f"{text[: widest - 1]}…" if len(text) > widest else text) or _NOT_KNOWN


def _of(used: str, asked: str) -> str:
    """``0:10:05/1:00:00``: used, and asked for."""
    return f"{used or _NOT_KNOWN}/{asked}" if asked else used or _NOT_KNOWN


def _ran(job: Job, now: float) -> Fraction | None:
    """For how many seconds a job has run."""
    told = _number(job.delivered, "Duration")
    start = _number(job.properties, "StartTime")
    if told or start is None or step(job.get("State")) != STEPS["Running"]:
        return told
    return max(Fraction(int(now)) - start, Fraction(0))  # HTCondor says 0 until the job ends


def _number(properties: Properties, name: str) -> Fraction | None:
    try:
        value = properties.value(name)
    except InvalidValue:
        return None
    return None if value is None or isinstance(value, str) else Fraction(value)


def _bytes(properties: Properties) -> Fraction | None:
    """Memory that was used at most, or was asked for."""
    found = properties.get("Memory", metric="Max") or properties.get("Memory", metric="")
    try:
        return None if found is None else found.bytes
    except InvalidValue:
        return None


def _clock(seconds: Fraction | None) -> str:
    """``26:04:09``, hours first."""
    return "" if seconds is None else units.clock(int(seconds), days=False, digits=1)


def _size(number: Fraction | None) -> str:
    return "" if number is None else amount(number, BYTES)
